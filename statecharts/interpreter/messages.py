"""Events between SCXML sessions, and between those and everybody else (SCXML §5.10.1).

Inside an actor system every event is an object with a ``type``. What SCXML
knows of an event beyond name and data (its kind, ``sendid``, ``origin`` …)
travels in one member, ``$scxml``; the expressions of a document see all of it
as ``_event``. An event that comes from elsewhere has no such member: its
other members are then its data, or ``data`` is, when that is its only one.
XState's ``xstate.done.actor.<id>`` is ``done.invoke.<id>`` here, and
``xstate.error.actor.<id>`` is ``error.communication``.
"""

from __future__ import annotations

from typing import Any, Final

from ..errors import ExecutionError
from ..events import INIT
from ..values import UNDEFINED, FrozenDict, freeze, plain
from .effects import ActorRef

META: Final = "$scxml"
PROCESSOR: Final = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor"
SHORT_PROCESSOR: Final = "scxml"
EXECUTION: Final = "error.execution"
COMMUNICATION: Final = "error.communication"
DONE_ACTOR: Final = "xstate.done.actor."
ERROR_ACTOR: Final = "xstate.error.actor."
FIELDS: Final = ("type", "sendid", "origin", "origintype", "invokeid")
EXTERNAL: Final = FrozenDict({"type": "external"})


class ContentError(ExecutionError):
    """An element of a document cannot do what it says; becomes an error event of name ``event``."""

    def __init__(self, message: str, *, event: str = EXECUTION, send_id: str | None = None) -> None:
        super().__init__(message)
        self.event = event
        self.send_id = send_id


def location_of(ref: ActorRef) -> str:
    """Where a session can be reached (§C.1): ``#_scxml_<session id>``."""
    return f"#_scxml_{ref.session_id}"


def message(name: str, data: Any = UNDEFINED, **meta: Any) -> FrozenDict:
    """An event with its kind (``type=``) and whatever else is known of it; ``None`` members are left out."""
    known = FrozenDict({key: value for key, value in meta.items() if value is not None})
    if data is UNDEFINED:
        return FrozenDict({"type": name, META: known})
    return FrozenDict({"type": name, "data": freeze(data), META: known})


def platform_event(name: str, data: Any = UNDEFINED, **meta: Any) -> FrozenDict:
    """An event the platform itself makes: ``done.state.…`` and errors."""
    return message(name, data, type="platform", **meta)


def received(event: FrozenDict) -> FrozenDict:
    """``event`` as an SCXML session sees it, whoever sent it."""
    if META in event:
        return event
    name = event["type"]
    if name.startswith(DONE_ACTOR):
        actor = event.get("actorId", name[len(DONE_ACTOR) :])
        return platform_event(f"done.invoke.{actor}", event.get("output", UNDEFINED), invokeid=actor)
    if name.startswith(ERROR_ACTOR):
        actor = event.get("actorId", name[len(ERROR_ACTOR) :])
        return platform_event(COMMUNICATION, _shown(event.get("error", UNDEFINED)), invokeid=actor)
    return FrozenDict({"type": name, "data": data_of(event), META: EXTERNAL})


def data_of(event: FrozenDict) -> Any:
    """What an event without ``$scxml`` carries: its ``data`` if that is all, else its members; or ``UNDEFINED``."""
    members = {key: value for key, value in event.items() if key != "type"}
    if not members:
        return UNDEFINED
    if len(members) == 1 and "data" in members:
        return members["data"]
    return FrozenDict(members)


def _shown(error: Any) -> Any:
    """A failure as data: an exception is its type and message."""
    if isinstance(error, BaseException):
        return {"name": type(error).__name__, "message": str(error)}
    return error


def from_actor(event: FrozenDict, source: ActorRef | None, is_child: bool) -> FrozenDict:
    """``event`` for a session, with where it came from (§5.10.1 ``origin``, ``invokeid``)."""
    if META in event or source is None:
        return event
    name = event.get("type")
    if not isinstance(name, str) or name.startswith(("xstate.", "scxml.")):
        return event
    invoked = source.id if is_child else None
    return message(
        name, data_of(event), type="external", origin=location_of(source), origintype=PROCESSOR, invokeid=invoked
    )


def for_others(event: FrozenDict) -> FrozenDict:
    """A session's event for an actor that knows nothing of SCXML: its data are its members, as plain JSON."""
    data = freeze(plain(event.get("data", UNDEFINED)))
    if data is UNDEFINED:
        return FrozenDict({"type": event["type"]})
    if isinstance(data, dict) and "type" not in data:
        return FrozenDict({"type": event["type"], **data})
    return FrozenDict({"type": event["type"], "data": data})


def event_object(event: FrozenDict) -> FrozenDict | None:
    """The ``_event`` of a session's event (§5.10.1); ``None`` before there is one."""
    if event.get("type") == INIT:
        return None
    known = event.get(META, EXTERNAL)
    members: dict[str, Any] = {"name": event["type"]}
    for field in FIELDS:
        members[field] = known.get(field, UNDEFINED)
    members["data"] = event.get("data", UNDEFINED)
    return FrozenDict(members)


def token_match(event_type: str, descriptor: str) -> bool:
    """Whether a (normalised) descriptor names ``event_type``: token by token from the front (§3.12.1)."""
    return (
        descriptor == "*"
        or event_type == descriptor
        or (event_type.startswith(descriptor) and event_type[len(descriptor)] == ".")
    )
