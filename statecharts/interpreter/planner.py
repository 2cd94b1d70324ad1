"""Plans: everything about a microstep that can be known before it runs.

A plan is one flat tuple of operations plus the configuration that results.
It depends on the configuration and the transitions, on history only if a
history state is involved, and on the order of active nodes only if that
order shows in the state value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..actions import Action
from ..errors import ExecutionError
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
from .configuration import Configuration, Order
from .operations import (
    CompleteMachine,
    EnqueueOperation,
    Operation,
    RaiseDone,
    RecordHistory,
    SendOperation,
    SettleSends,
)

if TYPE_CHECKING:
    from .program import Program


class Plan:
    """A prepared microstep.

    ``exits`` is the set of nodes left, as a bit set; ``entered`` the nodes
    appended to the order. ``same_set``: the active nodes stay what they were,
    and so does their order.
    """

    __slots__ = (
        "changes", "completes", "depends_on_history", "depends_on_order", "entered", "exits", "final_order", "operations", "same_set",
        "target", "transitions",
    )  # fmt: skip

    def __init__(self, transitions: tuple[Transition, ...]) -> None:
        self.transitions = transitions
        self.operations: tuple[Operation, ...] = ()
        self.exits = 0
        self.entered: Order = ()
        self.final_order: Order | None = None
        self.same_set = True
        self.changes = False
        self.completes = False
        self.target: Configuration | None = None
        self.depends_on_history = False
        self.depends_on_order = False


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

    def plan(
        self,
        configuration: Configuration,
        order: Order,
        transitions: Sequence[Transition],
        history_values: dict[str, tuple[StateNode, ...]],
        initial: bool,
    ) -> Plan:
        """The plan for taking ``transitions`` together (the spec's ``microstep``)."""
        history = HistoryView(history_values)
        chosen = remove_conflicting_transitions(transitions, order, history)
        plan = Plan(tuple(chosen))
        operations: list[Operation] = []
        active: dict[StateNode, None] = {} if initial else dict.fromkeys(order)
        try:
            if not initial:
                history_values = self._exit(plan, chosen, order, active, history, operations)
            for transition in chosen:
                operations.extend(self._program.actions_of(transition.actions, transition.source))
            entering = HistoryView(history_values)
            domains = self._domains(chosen, history)
            done = self._enter(plan, chosen, active, entering, operations, initial, domains)
            plan.depends_on_history = history.used or entering.used
            plan.completes = done
            self._finish(plan, configuration, active, done, operations, initial)
        except ExecutionError as error:
            raise PlanFailure(tuple(operations), error) from error
        plan.operations = tuple(operations)
        return plan

    def _domains(self, chosen: Sequence[Transition], history: HistoryView) -> Domains | None:
        """The domains the exit went by, where entry has to go by the same."""
        if not self._program.semantics.one_domain_per_transition:
            return None
        return {transition: get_transition_domain(transition, history) for transition in chosen}

    def _exit(
        self,
        plan: Plan,
        chosen: Sequence[Transition],
        order: Order,
        active: dict[StateNode, None],
        history: HistoryView,
        operations: list[Operation],
    ) -> dict[str, tuple[StateNode, ...]]:
        """History first, all of it; then per node exit actions and the end of its invokes."""
        leaving = sorted(compute_exit_set(chosen, order, history), key=lambda node: -node.order)
        values = dict(history.values)
        records: list[tuple[str, bool, StateNode]] = []
        for node in leaving:
            for memory in node.history_children:
                deep = memory.history == "deep"
                records.append((memory.id, deep, node))
                if deep:
                    values[memory.id] = tuple(n for n in order if n.is_leaf and n.is_below(node))
                else:
                    values[memory.id] = tuple(n for n in order if n.parent is node)
        if records:
            operations.append(RecordHistory(tuple(records)))
            plan.changes = True
        for node in leaving:
            operations.extend(self._program.exit_operations(node))
            active.pop(node, None)
            plan.exits |= 1 << node.index
        return values

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
        entry = compute_entry_set(chosen, history, domains)
        if initial:
            entry.default[self._program.definition.root] = None
        completed: set[int] = set()
        legal = self._program.semantics.one_domain_per_transition
        done = False
        entered: list[StateNode] = []
        for node in sorted(entry.states, key=lambda state: state.order):
            if legal and not _may_enter(node, active):
                continue
            if node not in active:
                active[node] = None
                entered.append(node)
            operations.extend(self._program.entry_operations(node, node in entry.default))
            if node.type == "final":
                done = self._complete(node, active, completed, operations) or done
        plan.entered = tuple(entered)
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
            operations.append(RaiseDone(parent.id, self._program.output_of(node)))
        while (
            marker is not None
            and marker.type == "parallel"
            and marker.index not in completed
            and is_in_final_state(marker, active)
        ):
            completed.add(marker.index)
            operations.append(RaiseDone(marker.id, None))
            completion = marker
            marker = marker.parent
        if marker is not None:
            return False
        inner = self._program.output_of(completion) if completion.parent is not None else None
        operations.append(
            CompleteMachine(completion.id, inner, self._program.output_of(self._program.definition.root))
        )
        return True

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
            for node in nodes:
                operations.extend(self._program.exit_actions(node))
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


def _may_enter(node: StateNode, active: dict[StateNode, None]) -> bool:
    """A state is entered when it is not active, below one that is (through history, XState does otherwise)."""
    return node not in active and (node.parent is None or node.parent in active)


def flat_actions(program: Program, actions: Sequence[Action], node: StateNode) -> list[Operation]:
    """Operations for a list of actions, labelled with the state they stand in."""
    operations = []
    for action in actions:
        operation = program.compile_action(action)
        operation.state = node.id
        operations.append(operation)
    return operations


def with_deferred_targets(operations: list[Operation], ids: tuple[str, ...]) -> list[Operation]:
    """Let sends in this list name children that the same list spawns."""
    for operation in operations:
        if isinstance(operation, (SendOperation, EnqueueOperation)):
            operation.deferred_ids = ids
    return [*operations, SettleSends("settle")] if ids else operations
