"""Refusing events that nobody handles, for hosts that ask for it."""

from __future__ import annotations

from typing import Any

from ...errors import InvalidTransition
from ...interpreter.program import program_of
from ...interpreter.snapshot import Snapshot
from ...machine import Machine


def refuse_unhandled(machine: Machine[Any, Any], snapshot: Snapshot[Any], event: Any) -> None:
    """Raise :class:`InvalidTransition` when no active state selects a transition for ``event``.

    The error names the state, the event, the guard that refused, and what is
    allowed instead. A forbidden transition handles its event (by ignoring it).
    """
    found = program_of(machine).select(snapshot._configuration, snapshot.context, event)
    if found and snapshot.status == "active":
        return
    options = snapshot.next_events()
    allowed = [option.type for option in options if option.enabled]
    refusal = next((option for option in options if option.type == event["type"]), None)
    why = f" ({refusal.reason})" if refusal is not None and refusal.reason else ""
    states = ", ".join(snapshot.atomic_states)
    raise InvalidTransition(
        f"{event['type']!r} is not handled in {states} [{snapshot.status}]{why}; "
        f"allowed now: {', '.join(allowed) or 'nothing'}",
        state=snapshot.value,
        event=event["type"],
        allowed=allowed,
    )
