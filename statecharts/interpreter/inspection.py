"""Watching a system: one observer protocol, XState's inspection events.

An observer is called with each event as it happens. The events are those of
XState's ``inspect`` option; ``actor`` and ``source`` are addresses, and
``to_json()`` gives XState's own shape (``actorRef``, ``sourceRef``,
``rootId`` …).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from ..values import UNDEFINED, plain
from .effects import ActorRef


def _ref(ref: ActorRef | None) -> Any:
    return UNDEFINED if ref is None else ref.to_json()


class ActorInspection(NamedTuple):
    """``@xstate.actor``: an actor was created."""

    actor: ActorRef
    root_id: str = "x:0"
    type: str = "@xstate.actor"

    def to_json(self) -> dict[str, Any]:
        """XState's shape, as plain JSON."""
        return _shape(self)


class EventInspection(NamedTuple):
    """``@xstate.event``: an event was sent to ``actor``; ``source`` is ``None`` from outside."""

    actor: ActorRef
    source: ActorRef | None
    event: Any
    root_id: str = "x:0"
    type: str = "@xstate.event"

    def to_json(self) -> dict[str, Any]:
        """XState's shape, as plain JSON."""
        return _shape(self, sourceRef=_ref(self.source), event=self.event)


class MicrostepInspection(NamedTuple):
    """``@xstate.microstep``: one microstep ended in ``snapshot``; ``transitions`` are event types."""

    actor: ActorRef
    event: Any
    snapshot: Any
    transitions: tuple[Any, ...]
    root_id: str = "x:0"
    type: str = "@xstate.microstep"

    def to_json(self) -> dict[str, Any]:
        """XState's shape, as plain JSON; transitions with their event type only."""
        taken = [{"eventType": kind} for kind in self.transitions]
        return _shape(self, event=self.event, snapshot=self.snapshot, _transitions=taken)


class ActionInspection(NamedTuple):
    """``@xstate.action``: an action is executed."""

    actor: ActorRef
    action_type: str
    params: Any
    root_id: str = "x:0"
    type: str = "@xstate.action"

    def to_json(self) -> dict[str, Any]:
        """XState's shape, as plain JSON."""
        return _shape(self, action={"type": self.action_type, "params": self.params})


class SnapshotInspection(NamedTuple):
    """``@xstate.snapshot``: ``actor`` has settled in ``snapshot`` after ``event``."""

    actor: ActorRef
    event: Any
    snapshot: Any
    root_id: str = "x:0"
    type: str = "@xstate.snapshot"

    def to_json(self) -> dict[str, Any]:
        """XState's shape, as plain JSON."""
        return _shape(self, event=self.event, snapshot=self.snapshot)


def _shape(seen: InspectionEvent, /, **members: Any) -> dict[str, Any]:
    shape = {"type": seen.type, "rootId": seen.root_id, "actorRef": seen.actor.to_json(), **members}
    return plain(shape)  # type: ignore[no-any-return]


InspectionEvent = (
    ActorInspection | EventInspection | MicrostepInspection | ActionInspection | SnapshotInspection
)


class Observer(Protocol):
    """Anything that can be called with an inspection event."""

    def __call__(self, event: InspectionEvent, /) -> None: ...
