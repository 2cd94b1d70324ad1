"""Event descriptors and the names of events that XState makes itself.

An event is a frozen JSON object with a string ``type``. A *descriptor* is
the key under which a state lists its transitions: an exact type, ``*``, or a
prefix ending in ``.*`` that also matches the bare prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .errors import UsageError
from .values import UNDEFINED, FrozenDict, freeze, js_number

Event = FrozenDict
"""A frozen event object: ``event["type"]`` is its name."""

INIT: Final = "xstate.init"
STOP: Final = "xstate.stop"
ERROR: Final = "xstate.error"
ROUTE: Final = "xstate.route"
ERROR_ACTOR_PREFIX: Final = "xstate.error.actor"

INTERNED: Final[dict[str, FrozenDict]] = {}
"""Events that are nothing but their type, once they have been met."""
_INTERNED_TYPES = 4096


def to_event(event: str | Mapping[str, Any], data: Mapping[str, Any] | None = None) -> FrozenDict:
    """``event`` as a frozen event object.

    A string is the type; ``data`` adds members to it. Raises
    :class:`UsageError` when there is no string ``type``.
    """
    if type(event) is str:
        if not data:
            known = INTERNED.get(event)
            if known is None:
                known = FrozenDict({"type": event})
                if len(INTERNED) < _INTERNED_TYPES:
                    INTERNED[event] = known
            return known
        if "type" in data:
            raise UsageError("an event's type is its first argument; `type=` among the data would replace it")
        return freeze({"type": event, **data})  # type: ignore[no-any-return]
    if isinstance(event, str):  # an enum's member, for one
        return to_event(str.__str__(event), data)
    if type(event) is FrozenDict and not data:
        frozen = event
    elif type(event) is dict and not data:
        frozen = freeze(event)
    elif isinstance(event, Mapping):
        frozen = freeze({**event, **(data or {})})
    else:
        raise UsageError(f"an event is a type name or an object with a 'type', not {type(event).__name__}")
    if type(frozen.get("type")) is not str:
        raise UsageError(f"an event needs a string 'type': {dict(frozen)!r}")
    return frozen


def init_event(input: Any) -> FrozenDict:
    """The event an actor starts with. ``input`` may be ``UNDEFINED``."""
    return FrozenDict({"type": INIT, "input": input})


def after_event_type(delay: int | float | str, node_id: str) -> str:
    """The event (and timer id) of an ``after`` entry of the state ``node_id``."""
    return f"xstate.after.{delay if isinstance(delay, str) else js_number(delay)}.{node_id}"


def done_state_event(node_id: str, output: Any = UNDEFINED) -> FrozenDict:
    """Raised when the state ``node_id`` completes."""
    return FrozenDict({"type": f"xstate.done.state.{node_id}", "output": output})


def done_actor_event(actor_id: str, output: Any) -> FrozenDict:
    """Sent to the parent of an actor that finished with ``output``."""
    return FrozenDict({"type": f"xstate.done.actor.{actor_id}", "output": output, "actorId": actor_id})


def error_actor_event(actor_id: str, error: Any) -> FrozenDict:
    """Sent to the parent of an actor that failed with ``error``."""
    return FrozenDict({"type": f"xstate.error.actor.{actor_id}", "error": error, "actorId": actor_id})


def snapshot_event(actor_id: str, snapshot: Any) -> FrozenDict:
    """Sent to the parent of an actor whose snapshots it follows."""
    return FrozenDict({"type": f"xstate.snapshot.{actor_id}", "snapshot": snapshot})


STOP_EVENT: Final = FrozenDict({"type": STOP})


def descriptor_matches(event_type: str, descriptor: str) -> bool:
    """Whether ``descriptor`` names ``event_type``.

    ``a.*`` matches ``a``, ``a.b`` and ``a.b.c``, not ``ab``; a ``*`` that is
    not the last token never matches anything.
    """
    if descriptor in (event_type, "*"):
        return True
    if not descriptor.endswith(".*"):
        return False
    prefix = descriptor[:-2]
    if "*" in prefix.split("."):
        return False
    return event_type == prefix or event_type.startswith(prefix + ".")


def matching_descriptors(event_type: str, descriptors: list[str]) -> list[str]:
    """The ``descriptors`` that match, in the order in which their transitions are tried.

    The exact name first, then the longest (stable), as in XState's
    ``getCandidates``.
    """
    wild = [d for d in descriptors if d != event_type and descriptor_matches(event_type, d)]
    wild.sort(key=len, reverse=True)
    return [event_type, *wild] if event_type in descriptors else wild
