"""Regions: what can be known of one without looking at the others.

A chart with eight regions of four states has 65,536 configurations, so what
is kept per configuration is seldom met again. Two things are therefore kept
apart from configurations:

* which transitions an event type may take depends only on which of the
  states that name it are active (:class:`Answering`);
* what a transition inside a region does depends only on the active states of
  its domain (:meth:`Regions.local`), and the plan for several such
  transitions is put together from theirs (:meth:`Regions.compose`). States
  are numbered in document order and a subtree is a range of numbers, so the
  exits of disjoint subtrees follow each other from last to first, and their
  entries from first to last.

Whatever does not fit (history, completion seen from outside, configurations
that no chart allows) is planned as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ExecutionError
from ..events import ERROR_ACTOR_PREFIX, INIT, STOP
from ..nodes import StateNode, Transition
from .algorithm import HistoryView, get_transition_domain
from .configuration import Configuration, is_legal, is_regular, mask_of, nodes_of, order_text, subtree_mask
from .planner import Plan, PlanFailure, flat
from .sending import DISPATCH
from .updates import lean_updates

if TYPE_CHECKING:
    from .program import Program
    from .selection import Selector

NOWHERE = -1
"""The span of a transition whose effect is not confined to a region."""


class Answers:
    """Who may answer to one event type: states as a bit set, and selectors by which of them are active.

    ``special``: the event does more than select transitions
    (:func:`is_special`). ``moves`` are plans of the one transition
    that is taken in any case, by the active states of ``span``.
    """

    __slots__ = ("mask", "moves", "selectors", "span", "special")

    def __init__(self, mask: int, special: bool) -> None:
        self.mask = mask
        self.special = special
        self.selectors: dict[int, Selector | None] = {}
        self.span = mask
        self.moves: dict[int, Local] = {}


class Local:
    """A plan that holds wherever the active states of its domain are these.

    ``span``: the domain's subtree. ``updates``: its operations, when all of
    them are lean updates, else ``None``. The rest is the plan once more, as
    :mod:`.wandering` needs it: ``stays`` and ``enters`` are bit sets,
    ``left`` and ``entered`` are nodes as in :func:`.configuration.order_text`.
    """

    __slots__ = ("entered", "enters", "left", "plan", "selected", "span", "stays", "updates")

    def __init__(self, plan: Plan, span: int) -> None:
        self.plan = plan
        self.span = span
        self.updates = lean_updates(plan.operations)
        self.selected = plan.transitions
        self.stays = ~plan.exits
        self.enters = plan.entries
        self.left = tuple(order_text(plan.left))
        self.entered = order_text(plan.entered)


class Regions:
    """What one program keeps about regions."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._nodes = program.definition.nodes
        self.keeps_order = not program.semantics.leaves_in_document_order
        self.known: dict[str, Answers] = {}
        self._locals: dict[tuple[Transition, int], Local | None] = {}
        self._spans: dict[Transition, int] = {}
        self._descriptors: dict[str, int] | None = None

    def forget(self) -> None:
        """Drop everything that can be made again."""
        self.known = {}
        self._locals = {}

    # ------------------------------------------------------------ selection

    def answers(self, event_type: str) -> Answers:
        """Who answers to ``event_type``."""
        answers = self.known.get(event_type)
        if answers is None:
            answers = Answers(self._answering(event_type), is_special(self._program, event_type))
            self._program.memo.charge(500 + len(event_type) + self._program.bits // 4)
            self.known[event_type] = answers
        return answers

    def selector(self, configuration: Configuration, event_type: str) -> Selector | None:
        """What may be taken for ``event_type``, shared by all configurations in which the same states answer."""
        answers = self.answers(event_type)
        asked = configuration.mask & answers.mask
        if not asked:
            return None
        found = answers.selectors.get(asked)
        if found is None:
            found = self._program.selection.make(configuration, event_type)
            self._program.memo.charge(600 + self._program.bits // 4)
            answers.selectors[asked] = found
        return found

    def _answering(self, event_type: str) -> int:
        """The states that matter for ``event_type``."""
        selection = self._program.selection
        if self._descriptors is None:
            known: dict[str, int] = {}
            for node in self._program.definition.nodes:
                for descriptor in node.transitions:
                    known[descriptor] = known.get(descriptor, 0) | selection.reach(node)
            self._descriptors = known
        mask = 0
        for descriptor, states in self._descriptors.items():
            if selection.names(event_type, descriptor):
                mask |= states
        return mask

    # ---------------------------------------------------------------- plans

    def local(self, configuration: Configuration, transition: Transition) -> Local | None:
        """The plan of ``transition`` alone, if it depends on its own region only. ``configuration`` is legal."""
        span = self._spans.get(transition)
        if span is None:
            span = self._spans[transition] = self._span(transition)
        if span == NOWHERE:
            return None
        key = (transition, configuration.mask & span)
        try:
            return self._locals[key]
        except KeyError:
            made = self._make(configuration, transition, span)
            program = self._program
            program.memo.charge(700 + program.bits // 4 + (0 if made is None else made.plan.size))
            self._locals[key] = made
            return made

    def _span(self, transition: Transition) -> int:
        """The subtree outside of which ``transition`` changes nothing; 0 when it moves nothing at all."""
        if not transition.targets:
            return 0
        history = HistoryView({})
        try:
            domain = get_transition_domain(transition, history, self._program.semantics)
        except ExecutionError:
            return NOWHERE
        if domain is None or history.asked or not _is_in_region(domain):
            return NOWHERE
        return subtree_mask(domain)

    def _make(self, configuration: Configuration, transition: Transition, span: int) -> Local | None:
        """Planned as if the region and what is around it were all there is."""
        around = transition.source
        nodes = nodes_of(configuration.mask & (span | mask_of([around, *around.proper_ancestors()])), self._nodes)
        try:
            plan = self._program.planner.plan(configuration, nodes, (transition,), {}, False, alone=True)
        except PlanFailure:
            return None
        if plan.asks or plan.completes or (plan.exits | plan.entries) & ~span:
            return None
        if _completes_outside(plan.entered, span):
            return None
        gone = set(plan.left)
        after = [*(node for node in nodes if node not in gone), *plan.entered]
        inside = [node for node in after if span >> node.index & 1]
        if not is_regular(after) or not is_legal(inside, configuration.mask & ~plan.exits | plan.entries):
            return None
        return Local(plan, span)

    def compose(self, configuration: Configuration, transitions: Sequence[Transition]) -> Plan | None:
        """The plan of taking ``transitions`` together, from their own; ``None`` when they are not that independent."""
        found: list[Local] = []
        covered = 0
        for transition in transitions:
            local = self.local(configuration, transition)
            if local is None or local.span & covered:
                return None
            covered |= local.span
            found.append(local)
        plan = Plan(tuple(transitions))
        plan.acting = _joined([one.plan.acting for one in found])
        for one in found:
            plan.exits |= one.plan.exits
            plan.entries |= one.plan.entries
        found.sort(key=_by_span)
        plan.entering = _joined([one.plan.entering for one in found])
        plan.entered = _joined([one.plan.entered for one in found])
        found.reverse()
        plan.records = _joined([one.plan.records for one in found])
        plan.leaving = _joined([one.plan.leaving for one in found])
        plan.left = _joined([one.plan.left for one in found])
        plan.operations = flat(plan)
        mask = configuration.mask & ~plan.exits | plan.entries
        plan.same_set = mask == configuration.mask and not plan.records
        plan.changes = not plan.same_set
        plan.target = configuration if plan.same_set else self._program.configuration(mask)
        return plan


def is_special(program: Program, event_type: str) -> bool:
    """Whether an event of this type does more than select transitions."""
    if program.session_bindings is not None:
        return program.finalizers.has_any or event_type.startswith("xstate.") or event_type == DISPATCH
    return event_type in (INIT, STOP) or event_type.startswith(ERROR_ACTOR_PREFIX)


def _joined(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """One after the other. (Adding tuples would copy what is there for each of thousands of regions.)"""
    return tuple([one for part in parts for one in part])


def _by_span(local: Local) -> int:
    return local.span


def _is_in_region(domain: StateNode) -> bool:
    node: StateNode | None = domain
    while node is not None:
        if node.parent is not None and node.parent.type == "parallel":
            return True
        node = node.parent
    return False


def _completes_outside(entered: Sequence[StateNode], span: int) -> bool:
    """Whether some final state was entered that may complete a parallel state around the span."""
    return any(
        ancestor.type == "parallel" and not span >> ancestor.index & 1
        for node in entered
        if node.type == "final"
        for ancestor in node.proper_ancestors()
    )
