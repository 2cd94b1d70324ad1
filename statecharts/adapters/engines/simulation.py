"""A synchronous host on a virtual clock: for tests, prompts and pictures.

Nothing outside runs unless the caller says so: an invoked promise or
observable waits until it is resolved, rejected or fed (or told to
:meth:`Simulation.run`), time stands still until it is advanced. Bound
actions and callbacks do run, since they are synchronous and the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import get_ident
from typing import Any, Final, TypeVar

from ...errors import ExecutionError, UsageError
from ...events import INTERNED, to_event
from ...interpreter import envelope, envelope_text
from ...interpreter.deliveries import Begin, Emitted, End, Failed, Perform, Published
from ...interpreter.effects import ActorRef, RunAction
from ...interpreter.inspection import Observer
from ...interpreter.persistence import persisted_plainly, persisted_text, restore
from ...interpreter.program import program_of
from ...interpreter.routes import leap
from ...interpreter.snapshot import Snapshot
from ...interpreter.system import System
from ...interpreter.text_reading import snapshot_in_text
from ...json_text import loads
from ...machine import Machine
from ...native import mypyc_attr
from ...values import UNDEFINED
from .clocks import ExactClock, JumpingClock, VirtualClock
from .simulation_actors import Shown, Started, run_to_its_end
from .simulation_steps import Stepping
from .stubs import StubbedAction, stubbed
from .unhandled import refuse_unhandled

C = TypeVar("C")
THREAD: Final = get_ident
"""Kept as a constant, which compiled code need not look up."""
SETTLE_LIMIT = 100_000
ENDLESS = 200_000
"""Events exchanged on one occasion before the actors are taken to feed each other for ever."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Simulation(Stepping[C]):
    """A running machine whose time and outside world are in the caller's hands.

    ``snapshot`` restores: an envelope (:meth:`save`), XState's persisted form
    (both also as JSON text), or a :class:`Snapshot` without children. ``clock`` is ``"exact"``
    (each timer at its own time) or ``"jumping"`` (XState's SimulatedClock).
    ``stubs=True`` lets an unbound machine run: unbound actions are recorded,
    ``guards`` answers for unbound guards. ``on_unhandled="raise"`` makes an
    event that nobody handles an :class:`InvalidTransition`. ``pure=True``
    holds guards and updates to purity (:meth:`Machine.in_pure_mode`).
    """

    __slots__ = (
        "_effects", "_emitted", "_logged", "_logger", "_observer", "_on_unhandled", "machine", "stub_record",
    )  # fmt: skip

    def __init__(
        self,
        machine: Machine[C, Any],
        input: Any = None,
        snapshot: Any = None,
        *,
        clock: str | VirtualClock = "exact",
        stubs: bool = False,
        guards: Mapping[str, Any] | Callable[..., bool] | None = None,
        on_unhandled: str = "ignore",
        inspect: Observer | None = None,
        logger: Callable[..., None] | None = None,
        system_id: str | None = None,
        first_session: int = 0,
        max_events: int | None = None,
        pure: bool = False,
    ) -> None:
        if on_unhandled not in ("ignore", "raise"):
            raise UsageError(f"on_unhandled is 'ignore' or 'raise', not {on_unhandled!r}")
        self.stub_record: Sequence[StubbedAction] = ()
        if stubs:
            stubbed_actions: list[StubbedAction] = []
            self.stub_record = stubbed_actions
            machine = stubbed(machine, stubbed_actions, guards)
        elif machine.semantics != "xstate-exact":
            machine.require_complete()
        self.machine = machine = machine.in_pure_mode() if pure else machine
        # lists are made when they are asked for: there may be very many simulations
        self._emitted: list[Any] | None = None
        self._effects: list[RunAction] | None = None
        self._logged: list[tuple[Any, Any]] | None = None
        self._on_unhandled = on_unhandled
        self._observer = inspect
        self._logger = logger
        system = System(machine, observed=inspect is not None, first_session=first_session)
        super().__init__(system, ExactClock() if type(clock) is str and clock == "exact" else _clock(clock))
        self._counts_anew = max_events is None
        self._is_plain = (
            self._counts_anew and not self.schemas and inspect is None and on_unhandled == "ignore"
        )
        self.system.max_events = ENDLESS if max_events is None else max_events
        given = self.checked_input(UNDEFINED if input is None else input)
        if not (isinstance(snapshot, str) and not system_id and self._resume(snapshot)):
            self._boot(given, snapshot, system_id)

    def _boot(self, input: Any, snapshot: Any, system_id: str | None) -> None:
        if isinstance(snapshot, str):
            snapshot = loads(snapshot)
        if snapshot is None:
            self.system.boot(input, system_id=system_id)
        else:
            self._restore(snapshot, system_id)
        self.system.now = self.clock.now
        self.check_start()
        self.system.start(quietly=True)
        if self.system.at_rest:
            self._is_quick = self._is_plain and self.system.is_quick
        else:
            self._drive()

    def _resume(self, text: str) -> bool:
        """Go on from the text of a lone running machine, exactly as we write it; false when it is something else."""
        system = self.system
        if system.observed or system.next_session or not self._is_plain:
            return False
        found = snapshot_in_text(program_of(self.machine), text)
        if found is not None:
            system.resume(found)
        else:
            sealed = envelope_text.sealed_in_text(self.machine, text)
            if sealed is None:
                return False
            root, now, next_session, next_timer = sealed
            self.clock.now = max(self.clock.now, now)
            system.resume(root)
            system.next_session = max(system.next_session, next_session)
            if next_timer:
                system.timers.next_handle = next_timer
        system.now = self.clock.now
        self._is_quick = True
        return True

    def _restore(self, snapshot: Any, system_id: str | None) -> None:
        if envelope.is_envelope(snapshot):
            self.clock.now = max(self.clock.now, envelope.saved_time(snapshot))
            self.system.now = self.clock.now
            envelope.open_envelope(self.system, snapshot)
            timers = self.system._timers
            if timers is not None:
                for timer in timers.pending.values():
                    self.clock.arm(timer)
        else:
            document = snapshot.to_xstate() if isinstance(snapshot, Snapshot) else snapshot
            restore(self.system, document, strict=self.machine.semantics != "xstate-exact", system_id=system_id)

    # -------------------------------------------------------------- reading

    @property
    def emitted_events(self) -> list[Any]:
        """What the root emitted, oldest first."""
        if self._emitted is None:
            self._emitted = []
        return self._emitted

    @property
    def effects(self) -> list[RunAction]:
        """The actions that ran, oldest first."""
        if self._effects is None:
            self._effects = []
        return self._effects

    @property
    def logged(self) -> list[tuple[Any, Any]]:
        """What ``log`` actions wrote, as (label, value), oldest first."""
        if self._logged is None:
            self._logged = []
        return self._logged

    @property
    def now(self) -> float:
        """Virtual time in milliseconds."""
        return self.clock.now

    # -------------------------------------------------------------- driving

    def send(self, event: str | Mapping[str, Any], **data: Any) -> Shown[C]:
        """Send an event and run to rest; returns the snapshot after it."""
        system = self.system
        if self._is_quick and not self._running and not system.tasks:
            if THREAD() != self._owner:
                self._refuse_stranger()
            if type(event) is str and event in INTERNED and not data:
                made = INTERNED[event]
            else:
                made = to_event(event, data)
            root = system.root
            self._running = True
            try:
                taken = leap(root.snapshot, made)
            except BaseException:  # an interrupt in a guard or an update: its step never happened
                system.roll_back()
                self._running = False
                raise
            if isinstance(taken, Snapshot) and not self._subscribers and not system.tasks:
                self._running = False
                root.snapshot = taken
                return taken
            return self._go_on(made, taken)
        made = self.checked_event(event, data)
        if self._on_unhandled == "raise":
            refuse_unhandled(self.machine, self.snapshot, made)
        self._put(made, None)
        return self._drive()

    def send_to(self, path: str, event: str | Mapping[str, Any], **data: Any) -> Shown[C]:
        """Send an event straight to a child."""
        self._put(to_event(event, data), self._cell(path).ref)
        return self._drive()

    def advance(self, ms: float | None = None, *, seconds: float | None = None) -> Shown[C]:
        """Let virtual time pass: milliseconds, or ``seconds=``."""
        if (ms is None) == (seconds is None):
            raise UsageError("advance() takes milliseconds, or seconds=…, not both or neither")
        span = ms if ms is not None else (seconds or 0) * 1000
        if span < 0:
            raise UsageError("time cannot go backwards")
        self._require_thread()
        self.clock.advance(span, self._fire)
        self.system.now = self.clock.now
        return self.snapshot

    def settle(self) -> Shown[C]:
        """Advance to each pending timer in turn until none is left.

        Raises :class:`ExecutionError` after 100,000 timers: the machine then
        keeps setting new ones for ever.
        """
        for _ in range(SETTLE_LIMIT):
            due = self.clock.next_due()
            if due is None:
                return self.snapshot
            self.advance(max(0.0, due - self.clock.now))
        raise ExecutionError(
            f"the machine still sets timers after {SETTLE_LIMIT} of them; use advance() for machines that never rest"
        )

    def stop(self) -> Shown[C]:
        """Stop the machine and its children. Exit actions do not run, as in XState."""
        self._require_thread()
        self.system.stop()
        return self._drive()

    # ------------------------------------------------------------- saving

    def to_xstate(self) -> dict[str, Any]:
        """XState's persisted snapshot, which Node can restore. Timers and queues are not in it."""
        self._require_rest("to_xstate()")
        return persisted_plainly(self.system)

    def save(self) -> dict[str, Any]:
        """Everything needed to go on later (:mod:`statecharts.interpreter.envelope`), as plain JSON."""
        self._require_rest("save()")
        return envelope.seal(self.system)

    def to_xstate_text(self) -> str:
        """:meth:`to_xstate` as JSON text, byte for byte what ``JSON.stringify`` makes of it."""
        self._require_rest("to_xstate_text()")
        return persisted_text(self.system)

    def save_text(self) -> str:
        """:meth:`save` as JSON text; quicker than the two by themselves."""
        self._require_rest("save_text()")
        return envelope_text.system_text(self.system)

    def _require_rest(self, what: str) -> None:
        if self._running:
            raise UsageError(
                f"{what} in the middle of a step would save half of it; call it after the send returns"
            )
        if self._is_quick and not self.system.tasks and THREAD() == self._owner:
            self.system.now = self.clock.now
            return
        self._drive()  # to its end, should an interrupt have left something behind the step that never happened

    # ------------------------------------------------------------- watching

    def subscribe(self, listener: Callable[[Snapshot[C]], Any]) -> Callable[[], None]:
        """Call ``listener`` with each published snapshot; returns the unsubscribe function."""
        if self._subscribers is None:
            self._subscribers = []
        listeners = self._subscribers
        listeners.append(listener)
        return lambda: listeners.remove(listener) if listener in listeners else None

    @property
    def stubbed_actions(self) -> Iterable[StubbedAction]:
        """Unbound actions that would have run (``stubs=True``)."""
        return tuple(self.stub_record)

    # ------------------------------------------------- what the driver asks

    def post_send(self, source: ActorRef | None, target: ActorRef | None, event: Any) -> None:
        self._is_quick = False  # what was sent comes first
        super().post_send(source, target, event)

    def post_emit(self, ref: ActorRef, event: Any) -> None:
        self._is_quick = False
        super().post_emit(ref, event)

    def begin(self, delivery: Begin) -> None:
        self.starts.append(Started(self.path(delivery.actor), delivery.actor, delivery.logic, delivery.input))
        if delivery.logic.kind == "callback":
            self.begin_callback(delivery)

    def end(self, delivery: End) -> None:
        self.ended.append(delivery.actor)
        self.end_callback(delivery.actor)

    def arm(self, timer: Any) -> None:
        self.clock.arm(timer)

    def disarm(self, timer: Any) -> None:
        self.clock.disarm(timer)

    def log(self, ref: ActorRef, value: Any, label: Any) -> None:
        self.logged.append((label, value))
        if self._logger is not None:
            self._logger(*([label] if label is not UNDEFINED else []), value)

    def _perform(self, delivery: Perform) -> Any:
        if isinstance(delivery.effect, RunAction):
            self.effects.append(delivery.effect)
        result = super()._perform(delivery)
        if hasattr(result, "__await__"):
            run_to_its_end(result)
        return None

    def emitted(self, delivery: Emitted) -> None:
        if delivery.actor.session == self.system.root.ref.session:
            self.emitted_events.append(delivery.event)

    def published(self, delivery: Published) -> None:
        self._publish(delivery.snapshot)

    def _publish(self, snapshot: Snapshot[Any]) -> None:
        for listener in list(self._subscribers or ()):
            listener(snapshot)

    def failed(self, delivery: Failed) -> None:
        self.ended.append(delivery.actor)

    def inspected(self, event: Any) -> None:
        if self._observer is not None:
            self._observer(event)


def _clock(clock: str | VirtualClock) -> VirtualClock:
    if not isinstance(clock, str):
        return clock
    if clock == "exact":
        return ExactClock()
    if clock == "jumping":
        return JumpingClock()
    raise UsageError(f"clock is 'exact', 'jumping' or a clock of your own, not {clock!r}")
