"""A machine being played with: one simulation, its past, and a report of each step. No terminal in here."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from ..adapters.engines.simulation import Simulation
from ..adapters.engines.simulation_actors import Started
from ..errors import StatechartError, UsageError
from ..interpreter.effects import RunAction
from ..interpreter.snapshot import EventOption, Snapshot
from ..machine import Machine
from ..values import UNDEFINED, plain
from .changes import differences
from .doings import ADVANCE, SEND, SEND_BACK, SEND_TO, TO_ACTOR, WITH_VALUE, Doing
from .guard_answers import GuardAnswers, UnansweredGuard, tidied
from .recording_clock import RecordingClock
from .step_report import Fired, Performed, Refusal, StepReport, Waiting

UNDO_DEPTH = 200


@dataclass(frozen=True)
class _Mark:
    """How long the simulation's records were before a step."""

    starts: int
    ended: int
    effects: int
    logged: int
    emitted: int
    fired: int
    armed: int
    disarmed: int

    @classmethod
    def of(cls, simulation: Simulation[Any], clock: RecordingClock) -> _Mark:
        """Where the records end now."""
        return cls(
            len(simulation.starts),
            len(simulation.ended),
            len(simulation.effects),
            len(simulation.logged),
            len(simulation.emitted_events),
            len(clock.fired),
            len(clock.armed),
            len(clock.disarmed),
        )


class Session:
    """One run of a machine. Each :meth:`do` returns what happened; :meth:`undo` takes it back."""

    def __init__(
        self,
        machine: Machine[Any, Any],
        answers: GuardAnswers | None = None,
        *,
        input: Any = UNDEFINED,
        snapshot: Any = None,
        clock: str = "exact",
    ) -> None:
        self.machine = machine
        self.answers = answers if answers is not None else GuardAnswers()
        self.stubbed_actions = frozenset(m.name for m in machine.missing if m.kind == "action")
        self.number = 0
        self._clock_kind = clock
        self._past: deque[tuple[int, Any]] = deque(maxlen=UNDO_DEPTH)
        self.simulation, self.clock = self._simulate(input, snapshot)
        self.first = self._report("start", _Mark(0, 0, 0, 0, 0, 0, 0, 0), {}, 0.0)

    def _simulate(self, given: Any, snapshot: Any) -> tuple[Simulation[Any], RecordingClock]:
        clock = RecordingClock(self._clock_kind)
        self.answers.new_step()
        made: Simulation[Any] = Simulation(
            self.machine, given, snapshot, clock=clock, stubs=True, guards=self.answers
        )
        if self.answers.unanswered is not None:
            raise UnansweredGuard(self.answers.unanswered)
        return made, clock

    # --------------------------------------------------------------- doing

    def do(self, doing: Doing) -> StepReport:
        """Do one thing and report on it.

        Raises :class:`UnansweredGuard` when an unbound guard was needed and
        nobody answered, and whatever the simulation raises; then nothing has
        happened.
        """
        simulation = self.simulation
        self.answers.new_step()
        saved = self._saved()
        mark = self._mark()
        context = self._context()
        time = simulation.now
        note = self._note(doing)
        refusal = self._refusal(doing)
        try:
            self._perform(doing)
        except StatechartError:
            self._go_back_to(saved)
            raise
        if self.answers.unanswered is not None:
            name = self.answers.unanswered
            self._go_back_to(saved)
            raise UnansweredGuard(name)
        self._past.append((self.number, saved))
        self.number += 1
        return self._report(doing, mark, context, time, refusal, note)

    def _context(self) -> Any:
        context = plain(self.simulation.snapshot.context)
        return {} if context is UNDEFINED else context

    def _perform(self, doing: Doing) -> None:
        method = getattr(self.simulation, doing.verb)
        arguments = [] if doing.actor is None else [doing.actor]
        if doing.verb in (SEND, ADVANCE) or doing.verb in WITH_VALUE:
            arguments.append(doing.value)
        method(*arguments)

    def _refusal(self, doing: Doing) -> Refusal | None:
        """Who would refuse the event, asked before it is sent; ``None`` when it is taken or a guard breaks."""
        if doing.verb != SEND:
            return None
        option = self.option(doing.value)
        if self.answers.unanswered is not None:
            raise UnansweredGuard(self.answers.unanswered)
        if option.enabled is not False:
            return None
        return Refusal(option.refused_by, option.reason or "no transition")

    def option(self, event: Any) -> EventOption:
        """Whether ``event``, with its data, is enabled now and who says no."""
        snapshot: Any = self.simulation.snapshot
        if not isinstance(snapshot, Snapshot):
            return EventOption(event["type"], False, (), f"the machine is {snapshot.status}")
        # `Snapshot.next_events` asks without data; the program can be asked with it
        return snapshot.option(event)

    def _note(self, doing: Doing) -> str | None:
        if doing.verb not in TO_ACTOR or doing.verb in (SEND_BACK, SEND_TO):
            return None
        live = [s for s in self.simulation.waiting if doing.actor in (s.path, s.path.rpartition("/")[2])]
        was_started = any(doing.actor in (s.path, s.path.rpartition("/")[2]) for s in self.simulation.starts)
        if live or not was_started:
            return None
        return f"{doing.actor} is not running any more; what it says now changes nothing"

    # ---------------------------------------------------------------- past

    def _saved(self) -> Any:
        snapshot: Any = self.simulation.snapshot
        if not isinstance(snapshot, Snapshot):  # failed before it had a state: nothing could take it up again
            return None
        return self.simulation.save()

    def _go_back_to(self, saved: Any) -> None:
        if saved is not None:
            self.simulation, self.clock = self._simulate(UNDEFINED, saved)

    def undo(self) -> StepReport:
        """Take the last step back. Raises :class:`UsageError` when there is none."""
        if not self._past:
            raise UsageError("there is nothing to undo")
        number, saved = self._past[-1]
        if saved is None:
            raise UsageError("the step before cannot be restored")
        context, time = self._context(), self.simulation.now
        self._go_back_to(saved)
        self._past.pop()
        self.number = number
        return self._report("undo", self._mark(), context, time)

    def load(self, snapshot: Any) -> StepReport:
        """Go on from a saved snapshot; can be undone."""
        saved, context, time = self._saved(), self._context(), self.simulation.now
        self.simulation, self.clock = self._simulate(UNDEFINED, snapshot)
        self._past.append((self.number, saved))
        self.number += 1
        return self._report("load", self._mark(), context, time)

    # ------------------------------------------------------------- looking

    def now(self) -> StepReport:
        """The present without a step."""
        return self._report("now", self._mark(), self._context(), self.simulation.now)

    def options(self) -> tuple[EventOption, ...]:
        """Events the active states name, without XState's own and the clock's."""
        snapshot: Any = self.simulation.snapshot
        if not isinstance(snapshot, Snapshot):  # failed before it had a state
            return ()
        with self.answers.peeking():
            found = snapshot.next_events()
        return tuple(tidied(option) for option in found if not option.type.startswith("xstate."))

    def _mark(self) -> _Mark:
        return _Mark.of(self.simulation, self.clock)

    def _report(
        self,
        doing: Doing | str,
        mark: _Mark,
        context: Any,
        time: float,
        refusal: Refusal | None = None,
        note: str | None = None,
    ) -> StepReport:
        simulation, clock = self.simulation, self.clock
        snapshot = simulation.snapshot
        begun = {s.ref.session: _waiting(s) for s in simulation.starts}
        over = [begun[ref.session] for ref in simulation.ended[mark.ended :] if ref.session in begun]
        told = doing.actor if isinstance(doing, Doing) else None  # that this one is over is no news
        return StepReport(
            number=self.number,
            label=doing if isinstance(doing, str) else doing.verb,
            doing=None if isinstance(doing, str) else doing,
            time=simulation.now,
            time_before=time,
            snapshot=snapshot,
            changes=differences(context, {} if snapshot.context is UNDEFINED else snapshot.context),
            refusal=refusal,
            note=note,
            options=self.options(),
            waiting=[_waiting(s) for s in simulation.waiting],
            started=[_waiting(s) for s in simulation.starts[mark.starts :]],
            ended=[one for one in over if told not in (one.id, one.id.rpartition("/")[2])],
            timers=sorted(simulation.system.timers.pending.values(), key=lambda timer: timer.due),
            fired=[Fired(at, timer) for at, timer in clock.fired[mark.fired :]],
            armed=clock.armed[mark.armed :],
            disarmed=clock.disarmed[mark.disarmed :],
            performed=[self._performed(e) for e in simulation.effects[mark.effects :]],
            logged=[(label, value) for label, value in simulation.logged[mark.logged :]],
            emitted=list(simulation.emitted_events[mark.emitted :]),
        )

    def _performed(self, effect: RunAction) -> Performed:
        return Performed(effect.type, effect.params, effect.type in self.stubbed_actions)


def _waiting(started: Started) -> Waiting:
    return Waiting(started.path, started.ref.src, started.logic.kind, started.input)
