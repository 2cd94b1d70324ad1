"""Plans: everything about a microstep that can be known before it runs.

A plan is one flat tuple of operations plus the configuration that results.
It depends on the configuration and the transitions, on history only if a
history state is involved, and on the order of active nodes only if that
order shows in the state value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import ExecutionError, caused_by
from ..nodes import StateNode, Transition
from .algorithm import (
    Domains,
    HistoryView,
    compute_entry_set,
    compute_exit_set,
    get_transition_domain,
    is_in_final_state,
    remove_conflicting_transitions,
)
from .configuration import Configuration, KeptOrder, Order, mask_of, moved, nodes_in
from .operations import HistoryEntry, Operation, RecordHistory

if TYPE_CHECKING:
    from .program import Program


class Plan:
    """A prepared microstep.

    ``left`` are the nodes left, innermost and last first; ``entered`` are the
    nodes appended to the order. ``exits`` and ``entries`` are the same as bit
    sets, in charts with regions. The operations stand in four parts, so
    that plans of different regions can be put together: ``records`` (history
    to remember), ``leaving``, ``acting``, ``entering``; ``operations`` is all
    of them. ``same_set``: the active nodes stay what they were, and so does
    their order. ``asks`` are the history states that were looked at.
    """

    __slots__ = (
        "acting", "asks", "changes", "completes", "depends_on_order", "entered", "entering", "entries", "exits", "final_order",
        "leaving", "left", "operations", "order_step", "records", "same_set", "target", "transitions",
    )  # fmt: skip

    def __init__(self, transitions: tuple[Transition, ...]) -> None:
        self.transitions = transitions
        self.operations: tuple[Operation, ...] = ()
        self.records: tuple[HistoryEntry, ...] = ()
        self.leaving: tuple[Operation, ...] = ()
        self.acting: tuple[Operation, ...] = ()
        self.entering: tuple[Operation, ...] = ()
        self.exits = 0
        self.left: Order = ()
        self.entries = 0
        self.entered: Order = ()
        self.final_order: Order | None = None
        self.order_step: tuple[KeptOrder, Order] | None = None
        self.same_set = True
        self.changes = False
        self.completes = False
        self.target: Configuration | None = None
        self.asks: tuple[str, ...] = ()
        self.depends_on_order = False

    def order_after(self, order: KeptOrder, before: Configuration) -> Order | None:
        """The order of active nodes after this microstep; ``None`` when it is that of the document anyway.

        The last answer is kept: instances that go round the same states ask the same.
        """
        target = self.target
        assert target is not None
        if target.is_chain:
            return None
        known = self.order_step
        if known is not None and (known[0] is order or known[0] == order):
            return known[1]
        if isinstance(order, str):
            nodes = nodes_in(order, before.program.definition.nodes)
        else:
            nodes = before.nodes if order is None else order
        after = moved(nodes, self.left, self.entered)
        self.order_step = (order, after)
        return after

    @property
    def size(self) -> int:
        """Bytes that keeping it takes, without its operations, which belong to the nodes: an estimate, rounded up."""
        listed = 2 * len(self.operations) + 2 * len(self.left) + 3 * len(self.entered)
        return 520 + 8 * listed + (self.exits.bit_length() + self.entries.bit_length()) // 7


class PlanFailure(Exception):
    """A plan that cannot be made after its first operations: XState fails in mid-microstep there."""

    def __init__(self, operations: tuple[Operation, ...], cause: Exception) -> None:
        super().__init__(str(cause))
        self.operations = operations
        self.cause = cause


class Planner:
    """Makes plans for one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._rules = program.semantics

    def plan(
        self,
        configuration: Configuration,
        order: Order,
        transitions: Sequence[Transition],
        history_values: dict[str, tuple[StateNode, ...]],
        initial: bool,
        alone: bool = False,
    ) -> Plan:
        """The plan for taking ``transitions`` together (the spec's ``microstep``).

        ``alone``: for a region whose states, with those around it, are all that ``order`` has; where the plan leads
        is then left open.
        """
        history = HistoryView(history_values)
        chosen = remove_conflicting_transitions(transitions, order, history, self._rules)
        plan = Plan(tuple(chosen))
        active: dict[StateNode, None] = {} if initial else dict.fromkeys(order)
        entering: list[Operation] = []
        try:
            if not initial:
                history_values = self._exit(plan, chosen, order, active, history)
            self._act(plan, chosen)
            seen = HistoryView(history_values)
            domains = self._domains(chosen, history)
            done = self._enter(plan, chosen, active, seen, entering, initial, domains)
            plan.asks = tuple(history.asked | seen.asked)
            plan.completes = done
            if not alone:
                self._finish(plan, configuration, active, done, entering, initial)
        except ExecutionError as error:
            raise caused_by(PlanFailure((*flat(plan), *entering), error), error)
        plan.entering = tuple(entering)
        plan.operations = flat(plan)
        return plan

    def _domains(self, chosen: Sequence[Transition], history: HistoryView) -> Domains | None:
        """The domains the exit went by, where entry has to go by the same."""
        if not self._rules.one_domain_per_transition:
            return None
        return {transition: get_transition_domain(transition, history, self._rules) for transition in chosen}

    def _exit(
        self,
        plan: Plan,
        chosen: Sequence[Transition],
        order: Order,
        active: dict[StateNode, None],
        history: HistoryView,
    ) -> dict[str, tuple[StateNode, ...]]:
        """History first, all of it; then per node exit actions and the end of its invokes."""
        exit_set = compute_exit_set(chosen, order, history, self._rules)
        leaving = sorted(exit_set, key=lambda node: -node.order)
        values = dict(history.values)
        records: list[HistoryEntry] = []
        for node in leaving:
            for memory in node.history_children:
                deep = memory.history == "deep"
                records.append((memory.id, deep, node))
                if deep:
                    values[memory.id] = tuple(n for n in order if n.is_leaf and n.is_below(node))
                else:
                    values[memory.id] = tuple(n for n in order if n.parent is node)
        plan.records = tuple(records)
        plan.changes = bool(records)
        for node in leaving:
            plan.leaving += self._program.bindings.leaving(node)
            active.pop(node, None)
        plan.left = tuple(leaving)
        if self._program.regions is not None:
            plan.exits = mask_of(leaving)
        return values

    def _act(self, plan: Plan, chosen: Sequence[Transition]) -> None:
        for transition in chosen:
            plan.acting += self._program.bindings.taking(transition)

    def _enter(
        self,
        plan: Plan,
        chosen: Sequence[Transition],
        active: dict[StateNode, None],
        history: HistoryView,
        operations: list[Operation],
        initial: bool,
        domains: Domains | None,
    ) -> bool:
        """Entry in document order; returns whether the machine is done."""
        entry = compute_entry_set(chosen, history, self._rules, domains)
        if initial:
            entry.add(self._program.definition.root)
            entry.by_name(self._program.definition.root)
        completed: set[int] = set()
        bindings = self._program.bindings
        complete = self._complete_session if self._rules.completes_after_macrostep else self._complete
        legal = self._rules.one_domain_per_transition
        done = False
        entered: list[StateNode] = []
        for node in sorted(entry.states, key=lambda state: state.order):
            if legal and not _may_enter(node, active):
                continue
            if node not in active:
                active[node] = None
                entered.append(node)
            operations.extend(bindings.entering(node, node in entry.default, entry.histories.get(node)))
            if node.type == "final":
                done = complete(node, active, completed, operations) or done
        plan.entered = tuple(entered)
        if self._program.regions is not None:
            plan.entries = mask_of(entered)
        return done

    def _complete(
        self, node: StateNode, active: dict[StateNode, None], completed: set[int], operations: list[Operation]
    ) -> bool:
        """Done events of a final state and of what it completes; true when that is the machine."""
        parent = node.parent
        marker = (
            parent if parent is not None and parent.type == "parallel" else parent.parent if parent else None
        )
        completion = marker or node
        if parent is not None and parent.type == "compound":
            operations.append(self._program.bindings.done(parent, node))
        while (
            marker is not None
            and marker.type == "parallel"
            and marker.index not in completed
            and is_in_final_state(marker, active)
        ):
            completed.add(marker.index)
            operations.append(self._program.bindings.done(marker, None))
            completion = marker
            marker = marker.parent
        if marker is not None:
            return False
        operations.extend(self._program.bindings.complete(completion))
        return True

    def _complete_session(
        self, node: StateNode, active: dict[StateNode, None], completed: set[int], operations: list[Operation]
    ) -> bool:
        """The same as SCXML's ``enterStates`` has it: one parallel up, and a session ends without a done event."""
        parent = node.parent
        if parent is None or parent.parent is None:
            operations.extend(self._program.bindings.complete(node))
            return True
        operations.append(self._program.bindings.done(parent, node))
        around = parent.parent
        if around.type == "parallel" and is_in_final_state(around, active):
            operations.append(self._program.bindings.done(around, None))
        return False

    def _finish(
        self,
        plan: Plan,
        configuration: Configuration,
        active: dict[StateNode, None],
        done: bool,
        operations: list[Operation],
        initial: bool,
    ) -> None:
        nodes: Order = tuple(active)
        if done:
            nodes = tuple(sorted(nodes, key=lambda node: -node.order))
            operations.extend(self._program.bindings.end(nodes))
        same = (
            not initial
            and len(nodes) == len(configuration.nodes)
            and all(n in active for n in configuration.nodes)
        )
        plan.same_set = same and not plan.changes
        if same and not plan.changes:
            plan.target = configuration
            return
        plan.target = self._program.intern(nodes)
        plan.changes = True
        if done or initial:
            plan.final_order = nodes if nodes != plan.target.nodes else None
        plan.depends_on_order = not plan.target.regular or not configuration.regular


def flat(plan: Plan) -> tuple[Operation, ...]:
    """All operations of ``plan``, in the order in which they run."""
    records = (RecordHistory(plan.records),) if plan.records else ()
    return (*records, *plan.leaving, *plan.acting, *plan.entering)


def _may_enter(node: StateNode, active: dict[StateNode, None]) -> bool:
    """A state is entered when it is not active, below one that is (through history, XState does otherwise)."""
    return node not in active and (node.parent is None or node.parent in active)
