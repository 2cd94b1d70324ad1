"""What a chart does in sismic and not here: one problem for each place, with code, line and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from statecharts.errors import Problem

from .sismic_chart import DEEP, FINAL, ORTHOGONAL, Chart, ChartTransition
from .sismic_code import NO_NAMES, names_in
from .sismic_code_differences import code_differences, left_out
from .sismic_codes import SismicCode
from .sismic_document import reenters_in_place
from .sismic_exclusive import are_exclusive
from .sismic_guards import GuardReader
from .sismic_orders import Orders
from .sismic_text import Path, YamlText


class Differences:
    """Finds the differences of one chart. ``contracts``: its contracts are checked."""

    def __init__(self, chart: Chart, text: YamlText, guards: GuardReader, *, contracts: bool = False) -> None:
        self._chart = chart
        self._text = text
        self._guards = guards
        self._contracts = contracts
        self._orders = Orders(chart, guards, contracts=contracts)

    def find(self, *, trusted: bool) -> list[Problem]:
        """All of them, by line. ``trusted``: the file's code runs."""
        found = [
            *self._choices(),
            *self._eventless(),
            *self._steps_together(),
            *self._orders_of_regions(),
            *self._reach(),
            *self._histories(),
            *self._timers(),
            *self._finals(),
            *code_differences(self._chart, self._text, self._guards, contracts=self._contracts),
            *left_out(self._chart, self._text, self._guards, trusted=trusted, contracts=self._contracts),
        ]
        unique = {(problem.code, problem.pointer, problem.message): problem for problem in found}
        return sorted(unique.values(), key=lambda problem: problem.line or 0)

    def _problem(self, code: SismicCode, path: Path, message: str, hint: str) -> Problem:
        return self._text.problem(code, path, message, hint)

    # ------------------------------------------------------------------ choice

    def _choices(self) -> Iterator[Problem]:
        """Two transitions of one state for one event, with the same priority."""
        for state in self._chart.states.values():
            for one, other in combinations(state.transitions, 2):
                waits, other_waits = self._guards.wait(one), self._guards.wait(other)
                if (one.event, one.priority) != (other.event, other.priority) or waits != other_waits:
                    continue
                if waits is not None or not are_exclusive(one.guard, other.guard):
                    yield self._problem(
                        SismicCode.EQUAL_PRIORITY,
                        other.path,
                        f"{other} and the transition on line {one.line} have the same priority; if both are enabled, "
                        "sismic raises NonDeterminismError and the first of them is taken here.",
                        "Give one a higher `priority`, or guards that exclude each other.",
                    )

    def _eventless(self) -> Iterator[Problem]:
        yield from self._repeating()
        always = [t for t in self._chart.transitions if t.event is None and self._guards.wait(t) is None]
        for outer in always:
            for inner in always:
                if self._asks_past(outer, inner):
                    yield self._problem(
                        SismicCode.EVENTLESS_ANCESTOR,
                        outer.path,
                        f"{outer} is asked for regions without an answer even if {inner} is taken in another region; "
                        "sismic then takes the inner one only.",
                        f"Guard it so that it waits for {inner.source!r}, or move it into the regions.",
                    )
                    break

    def _asks_past(self, outer: ChartTransition, inner: ChartTransition) -> bool:
        """Whether here both may be taken: regions between the two sources, and nothing that makes them conflict."""
        stays = inner.target is None or reenters_in_place(self._chart, self._guards, inner)
        if outer.target is not None and not stays:
            return False
        if not self._chart.is_below(inner.source, outer.source):
            return False
        between = self._chart.ancestors(inner.source)
        between = between[: between.index(outer.source) + 1]
        return any(self._chart.states[name].kind == ORTHOGONAL for name in between)

    def _repeating(self) -> Iterator[Problem]:
        for transition in self._chart.transitions:
            if transition.event is not None or self._moves_on(transition):
                continue
            yield self._problem(
                SismicCode.EVENTLESS_REPEATS,
                transition.path,
                f"{transition} can be taken again at once, and nothing in it makes its guard false; sismic never comes "
                "to rest, and here it is taken once (or, if it changes a variable or sends, until the limit of steps).",
                "Give it an event, or let its action change what the guard asks.",
            )

    def _moves_on(self, transition: ChartTransition) -> bool:
        """Whether taking ``transition`` leads elsewhere, or may change what its guard reads."""
        chart = self._chart
        codes = [transition.action]
        if transition.target is not None:
            if not self._may_lead_back(transition.source, transition.target):
                return True
            if self._guards.wait(transition) is not None:
                return True  # the waiting time starts again
            for name in self._entered_again(transition):
                codes += [chart.states[name].on_entry, chart.states[name].on_exit]
        written: set[str] = set()
        for code in codes:
            names = names_in(code.text) if code is not None else NO_NAMES
            written |= names.writes | (names.reads if names.mutates else frozenset())
        guard = transition.guard
        return guard is not None and bool(names_in(guard.text, expression=True).reads & written)

    def _entered_again(self, transition: ChartTransition) -> set[str]:
        """What ``transition`` enters if it leads back to its source, and therefore leaves when it is taken again."""
        chart = self._chart
        *above, target = chart.entered_path(transition)
        around = chart.states[target].parent
        if chart.states[target].is_history and around in chart.ancestors(transition.source):
            return {*above, *chart.subtree(chart.child_towards(around, transition.source))}
        return {*above, *chart.entered_with(target)}

    def _may_lead_back(self, source: str, target: str) -> bool:
        """Whether ``source`` may be active again when ``target`` has been entered from it."""
        chart = self._chart
        around = chart.states[target].parent if chart.states[target].is_history else target
        assert around is not None
        return source == around or chart.is_below(source, around) or chart.is_below(around, source)

    # ------------------------------------------------------------------ steps

    def _steps_together(self) -> Iterator[Problem]:
        for orthogonal, one, other in self._orders.together():
            leaving = next((t for t in (one, other) if self._orders.leaves_region(t, orthogonal)), None)
            if leaving is not None:
                rest = other if leaving is one else one
                yield self._problem(
                    SismicCode.CONFLICTING_REGIONS,
                    leaving.path,
                    f"{leaving} leaves its region of {orthogonal!r} while {rest} (line {rest.line}) may be taken too; "
                    "sismic raises ConflictingTransitionsError, and here the deeper or first one wins.",
                    "Use another event, or move the transition out of the regions.",
                )
            elif self._orders.differ(one, other):
                yield self._problem(
                    SismicCode.PARALLEL_ORDER,
                    other.path,
                    f"{one} (line {one.line}) and {other} are taken in one step of {orthogonal!r}; sismic finishes one "
                    "before the other, here both leave, then both act, then both enter.",
                    "Let only one of the two regions run code for this event.",
                )

    def _orders_of_regions(self) -> Iterator[Problem]:
        states = self._chart.states
        for pair in self._orders.entries():
            yield self._problem(
                SismicCode.REGION_ENTRY_ORDER,
                (*states[pair.second].path, "on entry"),
                f"The entry code of {pair.first!r} and of {pair.second!r}, in different regions of "
                f"{pair.orthogonal!r}, runs in the other order than in sismic when they are entered together.",
                "Do not let one of them rely on the other.",
            )
        for pair in self._orders.exits():
            yield self._problem(
                SismicCode.REGION_EXIT_ORDER,
                (*states[pair.second].path, "on exit"),
                f"The exit code of {pair.first!r} and of {pair.second!r}, in different regions of {pair.orthogonal!r}, "
                "runs in the other order than in sismic when they are left together.",
                "Do not let one of them rely on the other.",
            )

    # ------------------------------------------------------------------ reach

    def _reach(self) -> Iterator[Problem]:
        for transition in self._chart.transitions:
            if transition.target is not None:
                yield from self._reach_of(transition)

    def _reach_of(self, transition: ChartTransition) -> Iterator[Problem]:
        chart = self._chart
        path: Path = (*transition.path, "target")
        *above, target = chart.entered_path(transition)
        around = next((name for name in above if chart.states[name].kind == ORTHOGONAL), None)
        if around is not None:
            yield self._problem(
                SismicCode.ONE_REGION_ENTRY,
                path,
                f"{transition} enters {around!r} by way of one of its regions; sismic leaves the other regions "
                "inactive, and here they are entered too.",
                f"Target {around!r}, and let `initial` lead to {target!r}.",
            )
        domain = chart.domain(transition)
        if domain is None or chart.states[domain].kind != ORTHOGONAL:
            return
        if self._orders.leaves_region(transition, domain):
            yield self._problem(
                SismicCode.CROSS_REGION,
                path,
                f"{transition} leads from one region of {domain!r} into another; sismic then has two active states in "
                "the one and none in the other, and here all regions are left and entered.",
                f"Target {domain!r}, or let the other region react to an event.",
            )
        elif not reenters_in_place(chart, self._guards, transition):
            yield self._problem(
                SismicCode.REGION_REENTRY,
                path,
                f"{transition} leaves and enters the whole region {chart.child_towards(domain, target)!r}; here that "
                f"restarts the other regions of {domain!r} as well.",
                "Put the region's states into one more state, and target that.",
            )

    def _histories(self) -> Iterator[Problem]:
        chart = self._chart
        for state in chart.states.values():
            if not state.is_history:
                continue
            if state.on_entry or state.on_exit or state.contract:
                yield self._problem(
                    SismicCode.HISTORY_CODE,
                    state.path,
                    f"The code and contract of the history state {state.name!r} are left out.",
                    "Put the code into the states that it restores, or into the transitions that lead to it.",
                )
            used = any(t.target == state.name for t in chart.transitions)
            if state.memory is None and used:
                yield self._problem(
                    SismicCode.HISTORY_WITHOUT_MEMORY,
                    state.path,
                    f"{state.name!r} has no `memory`; reached before {state.parent!r} was ever left, sismic fails, and "
                    "here the initial state is entered.",
                    "Add `memory:` with the state to start in.",
                )
        for transition in chart.transitions:
            target = chart.states[transition.target] if transition.target is not None else None
            if target is None or target.kind != DEEP or target.parent is None:
                continue
            if target.parent in chart.ancestors(transition.source)[1:]:
                yield self._problem(
                    SismicCode.HISTORY_FROM_INSIDE,
                    (*transition.path, "target"),
                    f"{transition} restores {target.parent!r} from deep inside it; sismic leaves all of it first, here "
                    "what is to be restored and active already may stay.",
                    f"Start the transition at a child of {target.parent!r}.",
                )

    # ------------------------------------------------------- timers and finals

    def _timers(self) -> Iterator[Problem]:
        waiting = [
            t for t in self._chart.transitions if self._guards.wait(t) is not None or self._guards.times_in(t)
        ]
        for one, other in combinations(waiting, 2):
            if self._may_be_active_together(one.source, other.source):
                yield self._problem(
                    SismicCode.TIMER_ORDER,
                    other.path,
                    f"{one} (line {one.line}) and {other} wait in states that may be active together; due at the same "
                    "moment, sismic looks at the deeper state first, and here the timer that was set first comes first.",
                    "Use times that cannot meet, if it matters.",
                )

    def _may_be_active_together(self, first: str, second: str) -> bool:
        if first == second:
            return False
        chart = self._chart
        related = chart.is_below(first, second) or chart.is_below(second, first)
        return related or self._orders.parted_by(first, second) is not None

    def _finals(self) -> Iterator[Problem]:
        root = self._chart.states[self._chart.root]
        if root.kind != ORTHOGONAL:
            return
        for name in root.children:
            state = self._chart.states[name]
            if state.kind == FINAL:
                yield self._problem(
                    SismicCode.FINAL_REGION,
                    state.path,
                    f"The region {name!r} of the root is a final state; sismic leaves it and the root at once, and here "
                    "it stays.",
                    "Put the regions into a state below the root, beside a final state.",
                )
