"""One delivery to a stored actor system, and the system as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import StatechartError
from ..interpreter.actors import (
    OBSERVABLE_COMPLETED,
    observable_failure,
    observable_value,
    promise_failure,
    promise_result,
)
from ..interpreter.deliveries import Delivery
from ..interpreter.effects import ActorRef
from ..interpreter.envelope import open_envelope, seal
from ..interpreter.snapshot import ACTIVE, ERROR, Snapshot
from ..interpreter.system import RUNNING, System
from ..interpreter.system_state import SystemState, freeze_system, thaw_system
from ..json_text import dumps, loads
from ..machine import Machine
from ..values import freeze
from .payloads import Limits, storable


@dataclass(frozen=True, slots=True)
class Held:
    """An actor system at rest, as a value, as plain JSON and as text."""

    state: SystemState
    sealed: dict[str, Any]
    text: str
    states: tuple[str, ...]
    """The active leaves of the root."""

    @property
    def snapshot(self) -> Any:
        """The root's snapshot."""
        return self.state.snapshot

    @property
    def next_due(self) -> int | None:
        """When the first timer is due, in ms."""
        timers = self.state.timers
        return None if not timers else int(-(-min(timer.due for timer in timers) // 1))

    def due(self, now: int) -> list[Any]:
        """The timers that are due, first first; those of one moment in the order in which they were set."""
        return sorted(
            (timer for timer in self.state.timers if timer.due <= now), key=lambda timer: (timer.due, timer.handle)
        )

    def actor(self, session: int) -> ActorRef | None:
        """The actor with this number, unless it is over."""
        for actor in self.state.actors:
            if actor.ref.session == session:
                return actor.ref if actor.status == RUNNING and actor.snapshot.status == ACTIVE else None
        return None

    def at(self, path: str) -> ActorRef | None:
        """The machine below the root at ``path`` (ids with slashes between them), unless it is over."""
        snapshot: Any = self.snapshot
        ref: ActorRef | None = None
        for name in path.split("/"):
            if not isinstance(snapshot, Snapshot):
                return None
            ref = snapshot.children.get(name)
            if ref is None:
                return None
            snapshot = self.state.actor(ref.session).snapshot
        return ref if snapshot.status == ACTIVE else None


VALUE, COMPLETE, FAILURE, CRASH, EMIT, BACK = "value", "complete", "failure", "crash", "emit", "back"
"""What an actor that stays reports: a value of an observable, its end, its failure; that a callback raised; an event for those
who listen, an event for its parent."""


class Poisoned(StatechartError):
    """A delivery cannot be applied: the user's code raised, or what came of it cannot be kept. Its cause is the fault."""

    def __init__(self, message: str) -> None:
        super().__init__(storable(message))


Taken = tuple[Held, tuple[Delivery, ...]]
"""A system after a delivery, and what it asks for."""


def begun(machine: Machine[Any, Any], input: Any, now: int, limits: Limits, strict: bool) -> Taken:
    """A new system, started. Raises :class:`Poisoned`."""
    try:
        system = System(machine, now=now)
        system.boot(freeze(input))
        system.max_events = limits.deliveries
        system.start()
        return _at_rest(system, limits, strict)
    except Poisoned:
        raise
    except Exception as error:
        raise _poisoned(error) from error


def resumed(machine: Machine[Any, Any], text: str) -> Held:
    """A stored system. Its actors run already, so nothing comes of starting it. Raises :class:`SnapshotError`."""
    sealed = loads(text)
    system = System(machine)
    open_envelope(system, sealed)
    system.start()
    while system.run():
        pass
    return _held(system, sealed, text)


class Stepper:
    """A stored system taking one delivery. Make one, :meth:`deliver`, call :meth:`rest`."""

    __slots__ = ("_held", "_limits", "_strict", "system")

    def __init__(self, held: Held, now: int, limits: Limits, strict: bool) -> None:
        self._held = held
        self.system = thaw_system(held.state)
        self.system.now = max(now, held.state.now)
        self.system.max_events = limits.deliveries
        self._limits = limits
        self._strict = strict and held.snapshot.status == ACTIVE

    def deliver(self, delivery: dict[str, Any]) -> bool:
        """Let the system have ``delivery``, in the form the log keeps it in; false when there is nobody to have it.

        ``{"event", "to"?}`` (``to``: an actor's number), ``{"fire": handle}`` (a
        timer that is due), ``{"drop": handle}`` (one whose event cannot be
        applied: as if it had never been set), ``{"result": [number, "done" |
        "error", data]}`` (of a promise), ``{"report": [number, what, data]}`` (of an
        actor that stays), ``{"stop": true}``.
        """
        system = self.system
        if "event" in delivery:
            to = delivery.get("to")
            system.send(freeze(delivery["event"]), None if to is None else self._held.actor(to))
            return to is None or self._held.actor(to) is not None
        if "result" in delivery:
            session, status, data = delivery["result"]
            ref = self._held.actor(session)
            if ref is not None:
                system.send(promise_result(data) if status == "done" else promise_failure(data), ref, ref)
            return ref is not None
        if "report" in delivery:
            return self._report(*delivery["report"])
        if "stop" in delivery:
            system.stop()
            return True
        timer = system.timers.pending.get(delivery["fire"] if "fire" in delivery else delivery["drop"])
        if timer is None:
            return False
        if "fire" in delivery:
            system.fire(timer)
        else:
            system.timers.take(timer)
        return True

    def _report(self, session: int, what: str, data: Any) -> bool:
        """What an actor that stays has to say: :data:`VALUE` and the others."""
        system, ref = self.system, self._held.actor(session)
        if ref is None:
            return False
        if what == VALUE:
            system.send(observable_value(data), ref, ref)
        elif what == COMPLETE:
            system.send(OBSERVABLE_COMPLETED, ref, ref)
        elif what == FAILURE:
            system.send(observable_failure(data), ref, ref)
        elif what == CRASH:
            system.abort(ref, freeze(data))
        elif what == EMIT:
            system.emit(ref, freeze(data))
        else:
            parent = self._held.state.actor(session).parent
            assert parent is not None  # only machines are roots
            system.send(freeze(data), self._held.state.actor(parent).ref, ref)
        return True

    def rest(self) -> Taken:
        """The system when all is done. Raises :class:`Poisoned`."""
        try:
            return _at_rest(self.system, self._limits, self._strict)
        except Poisoned:
            raise
        except Exception as error:
            raise _poisoned(error) from error


def _at_rest(system: System, limits: Limits, strict: bool) -> Taken:
    asked: list[Delivery] = []
    while batch := system.run():
        asked.extend(batch)
    snapshot = system.root.snapshot
    if strict and snapshot.status == ERROR:
        raise _poisoned(snapshot.error)
    sealed = seal(system)
    text = dumps(sealed)
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > limits.state:
        raise Poisoned(f"the state would have {size} bytes; {limits.state} are allowed. Keep large data elsewhere, and a reference here")
    return _held(system, sealed, text), tuple(asked)


def _held(system: System, sealed: dict[str, Any], text: str) -> Held:
    snapshot = system.root.snapshot
    states = snapshot.atomic_states if isinstance(snapshot, Snapshot) else ()
    return Held(freeze_system(system), sealed, text, states)


def _poisoned(error: Any) -> Poisoned:
    if isinstance(error, BaseException):
        made = Poisoned(f"{type(error).__name__}: {error}")
        made.__cause__ = error
        return made
    return Poisoned(f"nobody handled the failure of an actor: {dumps(error)}")
