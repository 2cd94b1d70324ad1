"""Watching a system: one observer protocol, XState's inspection events.

An observer is called with each event as it happens. The shapes are those of
XState's ``inspect`` option; ``actor`` and ``source`` are addresses.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from .effects import ActorRef


class ActorInspection(NamedTuple):
    """``@xstate.actor``: an actor was created."""

    actor: ActorRef
    type: str = "@xstate.actor"


class EventInspection(NamedTuple):
    """``@xstate.event``: an event was sent to ``actor``; ``source`` is ``None`` from outside."""

    actor: ActorRef
    source: ActorRef | None
    event: Any
    type: str = "@xstate.event"


class MicrostepInspection(NamedTuple):
    """``@xstate.microstep``: one microstep ended in ``snapshot``; ``transitions`` are event types."""

    actor: ActorRef
    event: Any
    snapshot: Any
    transitions: tuple[Any, ...]
    type: str = "@xstate.microstep"


class ActionInspection(NamedTuple):
    """``@xstate.action``: an action is executed."""

    actor: ActorRef
    action_type: str
    params: Any
    type: str = "@xstate.action"


class SnapshotInspection(NamedTuple):
    """``@xstate.snapshot``: ``actor`` has settled in ``snapshot`` after ``event``."""

    actor: ActorRef
    event: Any
    snapshot: Any
    type: str = "@xstate.snapshot"


InspectionEvent = (
    ActorInspection | EventInspection | MicrostepInspection | ActionInspection | SnapshotInspection
)


class Observer(Protocol):
    """Anything that can be called with an inspection event."""

    def __call__(self, event: InspectionEvent, /) -> None: ...
