"""Checking contracts where sismic checks them: actions around the chart's code, each looking at the context of its moment.

What has to be remembered (``__old__``, times of entry) is kept in the context
under :data:`KEPT`, so that a saved machine can go on. What an action cannot
see, the event of the step it belongs to, is noted by a guard beside each
transition, which is asked just before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from statecharts.actions import Enqueue
from statecharts.guards import StateIn
from statecharts.values import FrozenDict, js_keys, thaw

from .sismic_chart import ORTHOGONAL, Chart, ChartState, ChartTransition
from .sismic_conditions import Clause, Clauses, Old, key_of
from .sismic_document import Checks
from .sismic_guards import target_of
from .sismic_names import Moment
from .sismic_outbox import update_with
from .sismic_python import Event, PythonCode, event_of
from .sismic_values import variables_of

KEPT: Final = "sismic.contracts"
"""The member of the context that holds what the checks remember."""
_MOST_STEPS: Final = 10_000
_TAKEN: Final = "contract: transition taken"
Active = Callable[[Any], bool]


class Broken(NamedTuple):
    """A condition that did not hold inside a step, with how many steps had begun (0: only the first entry)."""

    step: int
    error: Exception


class ContractChecks(Checks):
    """The checks of one chart, as actions and one guard by name."""

    def __init__(
        self, chart: Chart, clauses: Clauses, python: PythonCode, clock: Callable[[], float] | None
    ) -> None:
        self._chart = chart
        self._clauses = clauses
        self._python = python
        self._clock = clock
        self._keeps_times = clauses.has(lambda clause: bool(clause.asks & {"after", "idle"}))
        self._has_clauses = clauses.has(lambda clause: True)
        self._first_leaf = _last_entered(chart, chart.root)
        self._taken: list[ChartTransition] = []
        self._was_taken = True
        self._step = 0
        self._transitions = {key_of(transition): transition for transition in chart.transitions}
        self.actions: dict[str, Enqueue] = {}
        self.guards: dict[str, Callable[..., bool]] = {}
        self.broken: Broken | None = None
        self._sent: dict[int, set[str]] = {}

    # ------------------------------------------------- what the writer asks for

    def before_entry(self, state: ChartState) -> list[str]:
        clauses = self._clauses.of(state, "before")
        keeps = self._clauses.keeps_old(state)
        if not clauses and not keeps:
            return []
        return [
            self._at(
                f"contract: before entry of {state.name}", Moment("entry", state.name), clauses, state, keeps
            )
        ]

    def after_entry(self, state: ChartState) -> list[str]:
        names = []
        if self._keeps_times:
            names.append(
                self._bind(f"contract: time of entry of {state.name}", self._time_keeper(state.name, True))
            )
        if state.name == self._first_leaf and self._clauses.has(
            lambda clause: clause.condition.kind == "always"
        ):
            names.append(self._bind("contract: when everything has been entered", self._check_first))
        return names

    def after_exit(self, state: ChartState) -> list[str]:
        clauses = self._clauses.of(state, "after")
        if not clauses:
            return []
        return [
            self._at(
                f"contract: after exit of {state.name}", Moment("left", state.name), clauses, state, False
            )
        ]

    def before_action(self, transition: ChartTransition) -> list[str]:
        clauses = [*self._clauses.of(transition, "before"), *self._clauses.of(transition, "always")]
        keeps = self._clauses.keeps_old(transition)
        if not clauses and not keeps:
            return []
        moment = Moment("transition", transition.source, transition)
        return [self._at(f"contract: before {_numbered(transition)}", moment, clauses, transition, keeps)]

    def after_action(self, transition: ChartTransition) -> list[str]:
        names = []
        clauses = [*self._clauses.of(transition, "after"), *self._clauses.of(transition, "always")]
        if clauses:
            moment = Moment("transition", transition.source, transition)
            names.append(
                self._at(f"contract: after {_numbered(transition)}", moment, clauses, transition, False)
            )
        if self._keeps_times:
            keeper = self._time_keeper(transition.source, False)
            names.append(self._bind(f"contract: time of {_numbered(transition)}", keeper))
        if self._has_clauses:
            names.append(self._bind("contract: transition under way", self._end_of_selection))
        return names

    def guarded(self, transition: ChartTransition, guard: Any) -> Any:
        if not self._has_clauses:
            return guard
        self.guards[_TAKEN] = self._note
        noted = {"type": _TAKEN, "params": {"transition": key_of(transition)}}
        return noted if guard is None else {"type": "@xstate.and", "guards": [guard, noted]}

    # ------------------------------------------------------ steps and their event

    def _note(self, params: Mapping[str, Any]) -> bool:
        """A transition is going to be taken, for all its own guard has to say."""
        if self._was_taken:  # what was noted before belongs to a step that is over
            self._was_taken = False
            self._taken = []
            self._step += 1
        self._taken.append(self._transitions[params["transition"]])
        return True

    def _end_of_selection(self) -> None:
        self._was_taken = True

    def note_sent(self, name: str) -> None:
        """Code of the step that is under way sends an event."""
        if len(self._sent) > _MOST_STEPS:  # nobody asks: there is no observer
            self._sent.clear()
        self._sent.setdefault(self._step, set()).add(name)

    def sent_in(self, step: int) -> frozenset[str]:
        """What was sent in the ``step``-th step that took transitions; forgotten once it has been told."""
        return frozenset(self._sent.pop(step, ()))

    def _step_event(self, moment: Moment, event: Mapping[str, Any]) -> Event | None:
        """Sismic's event of the micro step: none without one, nor for states entered by default."""
        if moment.transition is not None:
            return event_of(event) if moment.has_event else None
        taken = [transition for transition in self._taken if transition.event is not None]
        if not taken or event["type"].startswith("xstate."):
            return None
        if moment.kind == "entry" and not any(
            self._leads_to(transition, moment.state) for transition in taken
        ):
            return None
        return event_of(event)

    def _leads_to(self, transition: ChartTransition, state: str) -> bool:
        return transition.target is not None and state in self._chart.entered_path(transition)

    # --------------------------------------------------------------- the actions

    def _bind(self, name: str, function: Callable[..., None]) -> str:
        self.actions[name] = Enqueue(function)
        return name

    def _at(
        self,
        name: str,
        moment: Moment,
        clauses: list[Clause],
        owner: ChartState | ChartTransition,
        keeps: bool,
    ) -> str:
        def look(context: Any, event: Any, enqueue: Any, check: Active) -> None:
            if keeps:
                kept = self._with_old(context, key_of(owner))
                enqueue(update_with({KEPT: kept}))
                context = FrozenDict({**context, KEPT: kept})
            step = self._step_event(moment, event)
            self._checked(
                lambda: self.evaluate(
                    clauses, context, step, lambda name: self._python.is_active(moment, name, check)
                )
            )

        return self._bind(name, look)

    def _checked(self, check: Callable[[], None]) -> None:
        """Run a check inside a step, and keep what is broken for the observer, which is told later."""
        try:
            check()
        except Exception as error:
            self.broken = self.broken or Broken(self._step, error)
            raise

    def evaluate(
        self,
        clauses: list[Clause],
        context: Any,
        event: Event | None,
        active: Active,
        sent: frozenset[str] = frozenset(),
    ) -> None:
        """Check ``clauses`` against ``context``. Raises :class:`ContractError`."""
        shown = {name: value for name, value in context.items() if name != KEPT}
        for clause in clauses:
            variables = variables_of(shown, self._python.constants)
            given = {
                "active": lambda name: bool(active(name)),
                "event": event,
                "received": lambda name: event is not None and event.name == name,
                "sent": lambda name: name in sent,
                **self._time_of(context, clause),
            }
            if clause.condition.kind != "before":
                old = _kept(context, "old").get(clause.key)
                given["__old__"] = None if old is None else Old(thaw(old))
            clause.check(given, variables, shown)

    def _with_old(self, context: Any, key: str) -> dict[str, Any]:
        values = {name: value for name, value in context.items() if name != KEPT}
        return {**context.get(KEPT, {}), "old": {**_kept(context, "old"), key: values}}

    # ---------------------------------------------------------------------- time

    def _time_keeper(self, state: str, entered: bool) -> Callable[..., None]:
        def keep(context: Any, enqueue: Any) -> None:
            now = self._now()
            kept = {**context.get(KEPT, {}), "idle": {**_kept(context, "idle"), state: now}}
            if entered:
                kept["entered"] = {**_kept(context, "entered"), state: now}
            enqueue(update_with({KEPT: kept}))

        return keep

    def _now(self) -> float:
        """Seconds, as sismic counts."""
        return self._clock() / 1000 if self._clock is not None else 0.0

    def _time_of(self, context: Any, clause: Clause) -> dict[str, Any]:
        if self._clock is None:
            return {}
        now = self._now()
        if clause.condition.kind == "before":
            return {"time": now}
        since = {name: _kept(context, name).get(clause.state, now) for name in ("entered", "idle")}
        return {
            "time": now,
            "after": lambda seconds: now - seconds >= since["entered"],
            "idle": lambda seconds: now - seconds >= since["idle"],
        }

    # ---------------------------------------------------------------- invariants

    def _check_first(self, context: Any, event: Any, check: Any) -> None:
        """Invariants when the machine has just been entered, which no observer is told of."""
        children = self._chart.states[self._chart.root].children
        if event["type"] != "xstate.init" or any(check(StateIn(target_of(child))) for child in children):
            return
        active = _default_states(self._chart, self._chart.root)
        self._checked(lambda: self.check_invariants(active, context, None, self.sent_in(0)))

    def check_invariants(
        self, active: frozenset[str], context: Any, event: Event | None, sent: frozenset[str] = frozenset()
    ) -> None:
        """The invariants of all ``active`` states, outermost first, then by name. Raises :class:`ContractError`."""
        states = self._chart.states
        for name in sorted(active, key=lambda name: (states[name].depth, name)):
            clauses = self._clauses.of(states[name], "always")
            if clauses:
                self.evaluate(clauses, context, event, lambda asked: asked in active, sent)


def _kept(context: Any, what: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = context.get(KEPT, {}).get(what, {})
    return found


def _numbered(transition: ChartTransition) -> str:
    return f"{Moment('transition', transition.source, transition).place} ({transition.number + 1})"


def _default_states(chart: Chart, name: str) -> frozenset[str]:
    """``name`` and all that is entered with it by default, when there is no history yet."""
    state = chart.states[name]
    if state.is_history:
        return _default_states(chart, state.memory) if state.memory is not None else frozenset()
    below = state.children if state.kind == ORTHOGONAL else [state.initial] if state.initial else []
    return frozenset({name}).union(*(_default_states(chart, child) for child in below))


def _last_entered(chart: Chart, name: str) -> str:
    """The state that is entered last when ``name`` is entered by default for the first time."""
    state = chart.states[name]
    if state.is_history and state.memory is not None:
        return _last_entered(chart, state.memory)
    if state.kind == ORTHOGONAL:
        return _last_entered(chart, js_keys(sorted(state.children))[-1])
    return _last_entered(chart, state.initial) if state.initial else name
