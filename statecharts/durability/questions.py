"""What a stored actor system would take now."""

from __future__ import annotations

from typing import Any

from ..interpreter.queries import next_events
from ..interpreter.snapshot import Snapshot
from ..values import freeze
from .stepping import Held, Poisoned


def allowed_events(held: Held) -> tuple[str, ...]:
    """The events that the root would take now (as far as that can be told without their data)."""
    snapshot = held.snapshot
    if not isinstance(snapshot, Snapshot):
        return ()
    return tuple(option.type for option in next_events(snapshot) if option.enabled is not False)


def selects(snapshot: Any, event: Any) -> bool:
    """Whether a machine takes ``event``. Raises :class:`Poisoned` when a guard does."""
    if not isinstance(snapshot, Snapshot):
        return False
    program = snapshot._program
    selector = program.selection.selector(snapshot._configuration, event["type"])
    if selector is None or program.session_bindings is not None:
        return selector is not None  # an SCXML session's conditions see more than there is here
    try:
        return bool(program.selection.evaluate(selector, snapshot._context, freeze(event), snapshot._configuration))
    except Exception as error:
        raise Poisoned(f"{type(error).__name__}: {error}") from error


def why_not(held: Held, target: str | None, event: Any) -> str:
    kind = event["type"]
    if target is not None:
        return f"the machine at {target!r} does not take {kind!r} now"
    takers = [path for path, snapshot in machines_below(held) if selects(snapshot, event)]
    if takers:
        return f"no state takes {kind!r} now, but a machine below would: address it with to={takers[0]!r}" + (
            "" if len(takers) == 1 else f" (or {', '.join(map(repr, takers[1:]))})"
        )
    return f"no state takes {kind!r} now"


def machines_below(held: Held) -> list[tuple[str, Any]]:
    """The machines below the root, by their paths."""
    found: list[tuple[str, Any]] = []
    waiting: list[tuple[str, Any]] = [("", held.snapshot)]
    while waiting:
        path, snapshot = waiting.pop(0)
        if not isinstance(snapshot, Snapshot):
            continue
        for name, ref in snapshot.children.items():
            if ref is not None:
                below = (f"{path}/{name}".lstrip("/"), held.state.actor(ref.session).snapshot)
                waiting.append(below)
                if isinstance(below[1], Snapshot):
                    found.append(below)
    return found
