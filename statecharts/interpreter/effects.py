"""Effects: what a step asks its host to do, as frozen values.

Every effect carries the data *of its moment* and a stable ``position``
``(transition number, effect number)``: the how-many-th macrostep of this
actor, and the place among that macrostep's effects. Effects are of two
phases. *Inline* effects (:class:`RunAction`, :class:`LogMessage`) are what
XState runs at once; an in-process host runs them, in order, before it
publishes the new snapshot. *Deferred* ones follow when the macrostep is
over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..values import UNDEFINED

record: Final = tuple.__new__
"""``record(RunAction, (...))`` with all members is ``RunAction(...)`` in half the time."""

Position = tuple[int, int]
INLINE = "inline"
DEFERRED = "deferred"


@dataclass(frozen=True, slots=True, init=False)
class ActorRef:
    """An actor's address. ``session`` is unique in its system and never reused.

    ``id`` is the name its parent knows it by, ``src`` the name of its logic
    (or an inline source), ``sync_snapshot`` whether the parent hears of its
    snapshots (``UNDEFINED`` when nobody said).
    """

    session: int
    id: str
    src: Any = None
    system_id: str | None = None
    sync_snapshot: Any = UNDEFINED

    def __init__(
        self,
        session: int,
        id: str,
        src: Any = None,
        system_id: str | None = None,
        sync_snapshot: Any = UNDEFINED,
    ) -> None:
        set_session, set_id, set_src, set_system_id, set_sync_snapshot = _SETTERS
        set_session(self, session)
        set_id(self, id)
        set_src(self, src)
        set_system_id(self, system_id)
        set_sync_snapshot(self, sync_snapshot)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ActorRef):
            return NotImplemented
        return self.session == other.session and (
            (self.id, self.src, self.system_id, self.sync_snapshot)
            == (other.id, other.src, other.system_id, other.sync_snapshot)
        )

    def __hash__(self) -> int:
        return hash((self.session, self.id, self.src, self.system_id, self.sync_snapshot))

    @property
    def session_id(self) -> str:
        """XState's session id, ``x:<n>``."""
        return f"x:{self.session}"

    def to_json(self) -> dict[str, Any]:
        """How a reference stands in a persisted context."""
        return {"xstate$$type": 1, "id": self.id}

    def __copy__(self) -> ActorRef:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> ActorRef:
        return self


_SETTERS: Final = tuple(getattr(ActorRef, name).__set__ for name in ActorRef.__slots__)
"""How the members of a new address are set: past the guard against changes, which takes twice as long."""


class NewActor(NamedTuple):
    """What an actor is made of. ``id`` is ``None`` to be named after its session."""

    src: Any
    logic: Any
    id: Any = None
    system_id: str | None = None
    input: Any = UNDEFINED
    sync_snapshot: Any = UNDEFINED


def is_delay(value: Any) -> bool:
    """Whether a delay is one: only a number delays (XState: ``typeof delay === "number"``)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class RunAction(NamedTuple):
    """Run a named or inline action. ``function`` takes (context, event, params, self, system); ``None`` if unbound."""

    position: Position
    type: str
    params: Any
    context: Any
    event: Any
    function: Callable[..., Any] | None

    @property
    def phase(self) -> str:
        return INLINE


class LogMessage(NamedTuple):
    """Write a line to the host's logger. ``type`` is ``xstate.log``."""

    position: Position
    value: Any
    label: Any

    @property
    def phase(self) -> str:
        return INLINE

    @property
    def type(self) -> str:
        return "xstate.log"


class RaiseEvent(NamedTuple):
    """An event for the actor itself. Unless ``delay`` is a number (ms), the core has consumed it already."""

    position: Position
    event: Any
    id: Any
    delay: Any

    @property
    def phase(self) -> str:
        return DEFERRED

    @property
    def type(self) -> str:
        return "xstate.raise"


class SendEvent(NamedTuple):
    """Send ``event`` to ``target`` (``None`` when the reference led nowhere), after ``delay`` ms if given."""

    position: Position
    target: ActorRef | None
    target_id: Any
    event: Any
    id: Any
    delay: Any

    @property
    def phase(self) -> str:
        return DEFERRED

    @property
    def type(self) -> str:
        return "xstate.sendTo"


class EmitEvent(NamedTuple):
    """Hand ``event`` to the actor's listeners."""

    position: Position
    event: Any

    @property
    def phase(self) -> str:
        return DEFERRED

    @property
    def type(self) -> str:
        return "xstate.emit"


class CancelEvent(NamedTuple):
    """Drop the timer with this send id."""

    position: Position
    send_id: Any

    @property
    def phase(self) -> str:
        return DEFERRED

    @property
    def type(self) -> str:
        return "xstate.cancel"


class StartActor(NamedTuple):
    """Start the child ``ref`` (``None`` for an unknown source). ``by_assign``: spawned inside an update."""

    position: Position
    ref: ActorRef | None
    id: Any
    src: Any
    input: Any
    system_id: str | None
    by_assign: bool

    @property
    def phase(self) -> str:
        return DEFERRED

    @property
    def type(self) -> str:
        return "xstate.spawnChild"


class StopActor(NamedTuple):
    """Stop the child ``ref``; ``None`` when there was nothing to stop."""

    position: Position
    ref: ActorRef | None

    @property
    def phase(self) -> str:
        return DEFERRED

    @property
    def type(self) -> str:
        return "xstate.stopChild"


class ActorCreated(NamedTuple):
    """Inspection only: an actor came into being."""

    ref: ActorRef


class MicrostepTaken(NamedTuple):
    """Inspection only: a microstep ended in ``snapshot``. ``transitions`` are the event types taken."""

    ref: ActorRef
    event: Any
    snapshot: Any
    transitions: tuple[Any, ...]


Effect = RunAction | LogMessage | RaiseEvent | SendEvent | EmitEvent | CancelEvent | StartActor | StopActor
Record = Effect | ActorCreated | MicrostepTaken
