"""Differences that only regions show: who goes first, and how far a step reaches.

Sismic runs each transition of a step to its end before the next, enters all
regions before what is in them, and leaves the deepest states first. The
functions here compare both orders for each pair of states or transitions
whose code could tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from statecharts.values import js_keys

from .sismic_chart import DEEP, ORTHOGONAL, Chart, ChartState, ChartTransition, Code
from .sismic_code import NO_NAMES, names_in
from .sismic_document import reenters_in_place
from .sismic_guards import GuardReader


@dataclass(frozen=True, slots=True)
class RegionPair:
    """Two transitions or states in different regions of ``orthogonal``."""

    orthogonal: str
    first: str
    second: str


class Orders:
    """The order of states in the document that is written, against sismic's.

    ``contracts``: conditions are checked, so they too see what has run before them.
    """

    def __init__(self, chart: Chart, guards: GuardReader, *, contracts: bool) -> None:
        self.chart = chart
        self._guards = guards
        self._contracts = contracts
        self._sees_active = "active" not in guards.shadowed
        self.rank: dict[str, int] = {}
        self._number(chart.root)

    def _number(self, name: str) -> None:
        """Document order: regions by name, and integer-like keys first, as in JavaScript."""
        self.rank[name] = len(self.rank)
        state = self.chart.states[name]
        listed = sorted(state.children) if state.kind == ORTHOGONAL else state.children
        for child in js_keys(listed):
            self._number(child)

    def parted_by(self, first: str, second: str) -> str | None:
        """The orthogonal state in whose different regions the two states lie, if there is one."""
        if first == second:
            return None
        meeting = self.chart.meeting(first, second)
        if meeting in (first, second) or self.chart.states[meeting].kind != ORTHOGONAL:
            return None
        return meeting

    # ---------------------------------------------------------------- entries

    def entries(self) -> Iterator[RegionPair]:
        """Pairs of states with entry code that sismic enters in the other order."""
        coded = [state for state in self.chart.states.values() if self._enters(state)]
        for one, other in combinations(coded, 2):
            if not _can_tell(self._enters(one), self._enters(other)):
                continue
            orthogonal = self.parted_by(one.name, other.name)
            if orthogonal is None or not {one.name, other.name} <= self._entered_with(orthogonal):
                continue
            ours = self.rank[one.name] < self.rank[other.name]
            orders = {self._default_order(orthogonal, one, other)}
            if self._may_be_restored(orthogonal):
                orders.add((one.depth, one.name) < (other.depth, other.name))
            if orders != {ours}:
                yield RegionPair(orthogonal, one.name, other.name)

    def _default_order(self, orthogonal: str, one: ChartState, other: ChartState) -> bool:
        """Whether sismic enters ``one`` before ``other``: regions first, then what is in them, by region's name."""
        left = self.chart.child_towards(orthogonal, one.name)
        right = self.chart.child_towards(orthogonal, other.name)
        if (one.name == left) != (other.name == right):
            return one.name == left
        return left < right

    def _entered_with(self, orthogonal: str) -> set[str]:
        """States that may be entered in the step that enters ``orthogonal``."""
        if self._may_be_restored(orthogonal):
            return set(self.chart.subtree(orthogonal))
        return self.chart.entered_with(orthogonal)

    def _may_be_restored(self, orthogonal: str) -> bool:
        """Whether a deep history puts back the states below ``orthogonal``."""
        around = self.chart.ancestors(orthogonal)
        return any(state.kind == DEEP and state.parent in around for state in self.chart.states.values())

    # ------------------------------------------------------------------ exits

    def exits(self) -> Iterator[RegionPair]:
        """Pairs of states with exit code that sismic leaves in the other order."""
        coded = [state for state in self.chart.states.values() if self._exits(state)]
        for one, other in combinations(coded, 2):
            orthogonal = self.parted_by(one.name, other.name)
            if orthogonal is None or not _can_tell(self._exits(one), self._exits(other)):
                continue
            theirs = (-one.depth, one.number) < (-other.depth, other.number)
            if theirs != (self.rank[one.name] > self.rank[other.name]):
                yield RegionPair(orthogonal, one.name, other.name)

    # ------------------------------------------------- transitions of one step

    def together(self) -> Iterator[tuple[str, ChartTransition, ChartTransition]]:
        """Pairs of transitions in different regions that one event (or none) enables together."""
        found = [transition for transition in self.chart.transitions if self._guards.wait(transition) is None]
        for one, other in combinations(found, 2):
            if one.event == other.event:
                orthogonal = self.parted_by(one.source, other.source)
                if orthogonal is not None:
                    yield orthogonal, one, other

    def leaves_region(self, transition: ChartTransition, orthogonal: str) -> bool:
        """Whether the target lies outside the region of ``orthogonal`` that holds the source."""
        if transition.target is None:
            return False
        region = self.chart.child_towards(orthogonal, transition.source)
        return transition.target != region and not self.chart.is_below(transition.target, region)

    def differ(self, one: ChartTransition, other: ChartTransition) -> bool:
        """Whether code could tell that ``one`` and ``other`` run in one step here, and one after the other in sismic."""
        states = self.chart.states
        first, second = sorted((one, other), key=lambda t: (-states[t.source].depth, t.source))
        a, b = self._code_of(first), self._code_of(second)
        ours_first = self.rank[first.source] < self.rank[second.source]
        if (a.asks and second.target is not None) or (b.asks and first.target is not None):
            return True
        return (
            (ours_first and _can_tell(a.exits, b.exits))
            or _can_tell(max(a.acts, a.enters), b.exits)
            or _can_tell(a.enters, b.acts)
            # eventless transitions act in the order in which their states became active
            or ((one.event is None or not ours_first) and _can_tell(a.acts, b.acts))
            or (not ours_first and _can_tell(a.enters, b.enters))
        )

    # --------------------------------------------------------- code and checks

    def _enters(self, state: ChartState) -> int:
        return _weight(state.on_entry, self._contracts and bool(state.contract))

    def _exits(self, state: ChartState) -> int:
        return _weight(state.on_exit, self._contracts and any(c.kind == "after" for c in state.contract))

    def _code_of(self, transition: ChartTransition) -> _Code:
        states = self.chart.states
        acts = _weight(transition.action, self._contracts and bool(transition.contract))
        in_place = reenters_in_place(self.chart, self._guards, transition)
        leaving: list[ChartState] = []
        entering: list[ChartState] = []
        if transition.target is not None:
            top = self.chart.top_exited(transition)
            assert top is not None
            leaving = [states[name] for name in self.chart.subtree(top)]
            entering = [states[name] for name in self._may_enter(transition)]
        codes = [transition.action, *(s.on_exit for s in leaving), *(s.on_entry for s in entering)]
        if self._contracts:
            owners: list[ChartState | ChartTransition] = [transition, *leaving, *entering]
            codes += [condition.code for owner in owners for condition in owner.contract]
        if in_place:  # the region's own code is written among the transition's actions
            region = states[transition.source]
            acts = max(acts, self._exits(region), self._enters(region))
            leaving.remove(region)
            entering.remove(region)
        return _Code(
            max(map(self._exits, leaving), default=0),
            acts,
            max(map(self._enters, entering), default=0),
            self._sees_active and any(code is not None and _asks_states(code) for code in codes),
        )

    def _may_enter(self, transition: ChartTransition) -> set[str]:
        *above, target = self.chart.entered_path(transition)
        return {*above, *self.chart.entered_with(target)}


@dataclass(frozen=True, slots=True)
class _Code:
    """What of a transition has code: leaving, acting, entering (weights); whether some of it asks for active states.

    The three are told apart as the machine runs them here, all of one kind before all of the next.
    """

    exits: int
    acts: int
    enters: int
    asks: bool


def _weight(code: Code | None, is_checked: bool) -> int:
    """2 for code, which changes things; 1 for checks, which only look; 0 for nothing."""
    return 2 if code is not None else int(is_checked)


def _can_tell(one: int, other: int) -> bool:
    """Whether the order of the two shows: both are something, and one of them changes things."""
    return one > 0 and other > 0 and one + other > 2


def _asks_states(code: Code) -> bool:
    names = (
        names_in(code.text) if names_in(code.text) is not NO_NAMES else names_in(code.text, expression=True)
    )
    return "active" in names.reads
