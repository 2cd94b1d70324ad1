"""A machine made ready to run: bound operations, interned configurations, kept plans.

A statechart whose guards are pure is a finite automaton in disguise. Like a
lazy DFA in a regular-expression engine, its states are built on demand and
kept: for a configuration and an event type the candidates, for a
configuration and a set of transitions the plan. Correctness never depends on
what is kept; :attr:`Program.memo_limit` of 0 keeps nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ..actions import Action
from ..callables import ACTION_ARGUMENTS
from ..definition import XSTATE_EXACT, InlineSource
from ..errors import ExecutionError, ImplementationError
from ..events import matching_descriptors
from ..expressions import Template
from ..machine import Machine
from ..nodes import StateNode, Transition
from ..values import UNDEFINED, freeze
from . import semantics as profiles
from .algorithm import HistoryView, remove_conflicting_transitions
from .children import SpawnOperation, StopOperation
from .compiler import (
    NO_VALUE,
    ActionCompiler,
    GuardCompiler,
    GuardFunction,
    constant,
    fitted,
    guard_name,
    value_getter,
)
from .configuration import Configuration, Order, in_document_order, is_regular, mask_of
from .operations import CancelOperation, Frame, Getter, Operation, RaiseOperation
from .planner import Plan, Planner, flat_actions, with_deferred_targets
from .snapshot import History

DEFAULT_MEMO_LIMIT = 100_000
NO_TYPE = "\0"


class Selector:
    """What may be taken for one event type in one configuration: own candidates, after the children's."""

    __slots__ = ("candidates", "children", "node")

    def __init__(
        self,
        node: StateNode,
        candidates: tuple[tuple[GuardFunction | None, Transition], ...],
        children: tuple[Selector, ...],
    ) -> None:
        self.node = node
        self.candidates = candidates
        self.children = children


class GuardFailure(ImplementationError):
    """A guard raised while an event's transitions were selected."""


class Program:
    """A bound machine. Shared by all its instances; safe to use from several threads."""

    def __init__(self, machine: Machine[Any, Any], memo_limit: int = DEFAULT_MEMO_LIMIT) -> None:
        self.machine = machine
        self.definition = machine.definition
        self.semantics = profiles.BY_NAME[machine.definition.semantics]
        self.memo_limit = memo_limit
        self.dialects = machine.definition.semantics != XSTATE_EXACT
        self._guards = GuardCompiler(machine.implementations, machine.definition.node, machine.is_pure)
        self._actions = ActionCompiler(machine.implementations, machine.is_pure)
        self._planner = Planner(self)
        self._configurations: dict[Any, Configuration] = {}
        self._kept = 0
        self._lock = threading.Lock()
        self._guard_cache: dict[int, GuardFunction | None] = {}
        self._named_operations: dict[str, Operation] = {}
        self._delays: dict[str, Any] = {}

    # ------------------------------------------------------ configurations

    def intern(self, nodes: Sequence[StateNode]) -> Configuration:
        """The one configuration with these active nodes."""
        given = tuple(nodes)
        mask = mask_of(given)
        regular = is_regular(given)
        key: Any = mask if regular else (mask, given)
        found = self._configurations.get(key)
        if found is None:
            ordered = in_document_order(given) if regular else given
            found = Configuration(ordered, mask, regular, self.definition.root)
            with self._lock:
                found = self._configurations.setdefault(key, found)
                self._count()
        return found

    def _count(self) -> None:
        """One more thing kept; over the bound, forget all plans (called under the lock)."""
        self._kept += 1
        if self._kept > self.memo_limit:
            self._kept = 0
            for configuration in self._configurations.values():
                configuration.plans = {}
                configuration.selectors = {}
            self._configurations = {}

    # ------------------------------------------------------------ selection

    def select(self, configuration: Configuration, context: Any, event: Any) -> tuple[Transition, ...]:
        """The transitions ``event`` enables, innermost first (the spec's ``selectTransitions``).

        If any region of a parallel state handles the event, the parallel and
        its ancestors are not asked (SCXML: each region asks them for itself).
        """
        try:
            event_type = event["type"]
            selector = configuration.selectors[event_type]
        except (KeyError, TypeError):
            event_type = event.get("type")
            if type(event_type) is not str:  # a raised object without a type: only "*" matches it
                event_type = NO_TYPE
            selector = self.selector(configuration, event_type)
        if selector is None:
            return ()
        return self.evaluate(selector, context, event, configuration)

    def evaluate(
        self, selector: Selector, context: Any, event: Any, configuration: Configuration
    ) -> tuple[Transition, ...]:
        """Ask the guards, children before their parent, regions left to right."""
        found: tuple[Transition, ...] = ()
        for child in selector.children:
            found += self.evaluate(child, context, event, configuration)
        if found:
            return found
        for guard, transition in selector.candidates:
            if guard is None:
                return (transition,)
            try:
                passed = guard(context, event, configuration)
            except Exception as error:
                raise _guard_failure(transition, event["type"], error) from error
            if passed:
                return (transition,)
        return ()

    def selector(self, configuration: Configuration, event_type: str) -> Selector | None:
        """What may be taken for ``event_type`` in ``configuration``; ``None`` if nothing names it."""
        selector = self._build_selector(self.definition.root, configuration.value, event_type)
        if self.memo_limit > 0:
            with self._lock:
                self._count()
                if len(configuration.selectors) < max(64, self.memo_limit // 8):
                    configuration.selectors[event_type] = selector
        return selector

    def _build_selector(self, node: StateNode, value: Any, event_type: str) -> Selector | None:
        """Walk the state value as XState does; branches without candidates are left out."""
        children: list[Selector] = []
        if isinstance(value, str):
            leaf = self._selector_of(node.children[value], event_type, ())
            children = [leaf] if leaf else []
        else:
            for key, inner in value.items():
                child = self._build_selector(node.children[key], inner, event_type)
                if child is not None:
                    children.append(child)
        return self._selector_of(node, event_type, tuple(children))

    def _selector_of(
        self, node: StateNode, event_type: str, children: tuple[Selector, ...]
    ) -> Selector | None:
        candidates = tuple(
            (self.guard_of(transition), transition)
            for descriptor in matching_descriptors(event_type, list(node.transitions))
            for transition in node.transitions[descriptor]
        )
        if not candidates:
            return (
                None if not children else children[0] if len(children) == 1 else Selector(node, (), children)
            )
        return Selector(node, candidates, children)

    def guard_of(self, transition: Transition) -> GuardFunction | None:
        """The bound guard of ``transition``; ``None`` without one."""
        guard = transition.guard
        if guard is None:
            return None
        key = transition.number
        if key not in self._guard_cache:
            self._guard_cache[key] = self._guards.compile(guard)
        return self._guard_cache[key]

    def select_eventless(
        self, configuration: Configuration, order: Order | None, context: Any, event: Any, history: History
    ) -> tuple[Transition, ...]:
        """Enabled ``always`` transitions, leaves in configuration order (SCXML: document order)."""
        if not configuration.always:
            return ()
        enabled: dict[Transition, None] = {}
        leaves = configuration.leaves if order is None else [node for node in order if node.is_leaf]
        for leaf in leaves:
            found = self._first_always(leaf, context, event, configuration)
            if found is not None:
                enabled[found] = None
        if len(enabled) < 2:
            return tuple(enabled)
        nodes = configuration.nodes if order is None else order
        return tuple(remove_conflicting_transitions(list(enabled), nodes, HistoryView(history)))

    def _first_always(
        self, leaf: StateNode, context: Any, event: Any, configuration: Configuration
    ) -> Transition | None:
        node: StateNode | None = leaf
        while node is not None:
            for transition in node.always or ():
                guard = self.guard_of(transition)
                if guard is None or guard(context, event, configuration):
                    return transition
            node = node.parent
        return None

    # ---------------------------------------------------------------- plans

    def plan(
        self,
        configuration: Configuration,
        order: Order | None,
        transitions: tuple[Transition, ...],
        history: History,
    ) -> Plan:
        """The plan for taking ``transitions``, kept for the next time."""
        key: Any = transitions
        plan = configuration.plans.get(key)
        if plan is not None:
            if not (plan.depends_on_history or plan.depends_on_order):
                return plan
            key = (transitions, order, _history_key(history))
            plan = configuration.plans.get(key)
            if plan is not None:
                return plan
        nodes = configuration.nodes if order is None else order
        plan = self._planner.plan(configuration, nodes, transitions, dict(history), False)
        if self.memo_limit > 0:
            with self._lock:
                self._count()
                configuration.plans[transitions] = plan
                if plan.depends_on_history or plan.depends_on_order:
                    configuration.plans[(transitions, order, _history_key(history))] = plan
        return plan

    def initial_plan(self, transition: Transition) -> Plan:
        """The plan that enters the machine."""
        root = self.intern((self.definition.root,))
        return self._planner.plan(root, (), (transition,), {}, True)

    # ----------------------------------------------------------- operations

    def compile_guard(self, guard: Any) -> GuardFunction:
        """A guard given at run time (``check`` in an enqueue function)."""
        return self._guards.compile(guard)

    def compile_action(self, action: Any) -> Operation:
        """An action given in a list or at run time."""
        return self._actions.compile(action, dialects=self.dialects)

    def actions_of(self, actions: Sequence[Action], node: StateNode) -> list[Operation]:
        """Operations of a transition's actions."""
        return flat_actions(self, actions, node)

    def exit_actions(self, node: StateNode) -> list[Operation]:
        """A state's own exit actions, then the cancels of its ``after`` timers."""
        operations = flat_actions(self, node.exit, node)
        for delayed in node.delayed:
            operations.append(CancelOperation("after", constant(delayed.event_type), NO_VALUE))
        return operations

    def exit_operations(self, node: StateNode) -> list[Operation]:
        """Exit actions, then the end of each invoke in definition order."""
        operations = self.exit_actions(node)
        for invoke in node.invokes:
            operations.append(StopOperation(f"invoke {invoke.id!r}", constant(invoke.id), NO_VALUE))
        return operations

    def entry_operations(self, node: StateNode, by_default: bool) -> list[Operation]:
        """Entry actions, ``after`` timers, invokes, then ``initial`` actions if entered by default."""
        operations = flat_actions(self, node.entry, node)
        for delayed in node.delayed:
            event = freeze({"type": delayed.event_type})
            identity = constant(delayed.event_type)
            operations.append(
                RaiseOperation("after", constant(event), identity, constant(delayed.delay), NO_VALUE)
            )
        for invoke in node.invokes:
            given = self.machine.implementations.invoke_inputs.get(invoke.id, invoke.input)
            label = f"input of invoke {invoke.id!r}"
            operations.append(
                SpawnOperation(
                    label,
                    invoke.src,
                    constant(invoke.id),
                    invoke.system_id,
                    value_getter(given, label, self.machine.is_pure),
                    invoke.sync_snapshot,
                    NO_VALUE,
                )
            )
        if by_default and node.initial is not None:
            if node.initial.error is not None:
                raise ExecutionError(node.initial.error)
            operations.extend(flat_actions(self, node.initial.actions, node))
        for operation in operations:
            operation.state = node.id
        ids = tuple(invoke.id for invoke in node.invokes)
        return with_deferred_targets(operations, ids)

    def output_of(self, node: StateNode) -> Getter | None:
        """How a final state's (or the root's) output is computed; ``None`` without one."""
        output = self.machine.implementations.outputs.get(node.id, node.output)
        return (
            None
            if output is UNDEFINED
            else value_getter(output, f"output of {node.id!r}", self.machine.is_pure)
        )

    # -------------------------------------------------------------- sources

    def actor_logic(self, src: Any) -> Any:
        """The logic a source names, or ``None``."""
        from .actors import as_logic

        if isinstance(src, InlineSource):
            return (
                as_logic(src.logic, src.name)
                if src.logic is not None and callable_or_logic(src.logic)
                else None
            )
        if not isinstance(src, str):
            return as_logic(src, "inline") if src is not None else None
        if src.startswith("xstate.invoke."):
            return self._invoked_inline(src)
        found = self.machine.implementations.actors.get(src)
        return None if found is None else as_logic(found, src)

    def _invoked_inline(self, name: str) -> Any:
        for node in self.definition.nodes:
            for invoke in node.invokes:
                if isinstance(invoke.src, InlineSource) and invoke.src.name == name:
                    return self.actor_logic(invoke.src)
        return None

    def named_delay(self, name: str, frame: Frame, params: Any) -> Any:
        """The value of a named delay now; ``UNDEFINED`` (no delay at all, in XState) if nobody bound it."""
        delay = self.machine.implementations.delays.get(name, UNDEFINED)
        if delay is UNDEFINED and self.semantics.unknown_delay_is_error:
            raise ExecutionError(
                f"delay {name!r} is not implemented in machine {self.definition.id!r}; bind it under `delays`"
            )
        if isinstance(delay, Template):
            return delay.evaluate({"context": frame.context, "event": frame.event})
        if callable(delay):
            function = self._delays.get(name)
            if function is None:
                function = self._delays[name] = fitted(
                    delay, ACTION_ARGUMENTS, f"delay {name!r}", self.machine.is_pure
                )
            return function(frame.context, frame.event, params, frame.scope.self_ref, frame.scope.view)
        return delay


def callable_or_logic(value: Any) -> bool:
    """Whether an inline source can be an actor's logic at all (JSON values cannot)."""
    return not isinstance(value, (str, int, float, bool, dict, list, tuple))


def _history_key(history: History) -> tuple[Any, ...]:
    return tuple(history.items())


def _guard_failure(transition: Transition, event_type: str, error: Exception) -> GuardFailure:
    name = guard_name(transition.guard)
    shown = f"'{name}' " if name is not None else ""
    return GuardFailure(
        f"Unable to evaluate guard {shown}in transition for event '{event_type}' in state node "
        f"'{transition.source.id}':\n{error}",
        name=name,
        state=transition.source.id,
    )


def program_of(machine: Machine[Any, Any]) -> Program:
    """The program of ``machine``, made once."""
    program = machine._program
    if program is None:
        program = Program(machine)
        machine._program = program
    return program  # type: ignore[no-any-return]


__all__ = ["Program", "Selector", "program_of"]
