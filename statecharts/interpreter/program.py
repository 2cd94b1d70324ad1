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

from ..callables import ACTION_ARGUMENTS
from ..definition import XSTATE_EXACT, InlineSource
from ..errors import ExecutionError, ImplementationError
from ..expressions import Template
from ..machine import Machine
from ..nodes import StateNode, Transition
from ..values import UNDEFINED
from . import semantics as profiles
from .bindings import Bindings, ScxmlBindings, XStateBindings, is_content
from .compiler import ActionCompiler, GuardCompiler, GuardFunction, fitted
from .configuration import Configuration, Order, in_document_order, is_regular, mask_of
from .datamodel import Datamodel
from .documents import Documents
from .operations import Frame, Operation
from .planner import Plan, Planner
from .selection import LeafSelection, Selection, Selector
from .session import SessionFrame
from .snapshot import History

DEFAULT_MEMO_LIMIT = 100_000


class Program:
    """A bound machine. Shared by all its instances; safe to use from several threads."""

    def __init__(self, machine: Machine[Any, Any], memo_limit: int = DEFAULT_MEMO_LIMIT) -> None:
        self.machine = machine
        self.definition = machine.definition
        self.semantics = profiles.BY_NAME[machine.definition.semantics]
        self.memo_limit = memo_limit
        self.dialects = machine.definition.semantics != XSTATE_EXACT
        self.datamodel: Datamodel | None = None if machine.definition.scxml is None else datamodel_of(machine)
        self._guards = GuardCompiler(
            machine.implementations, machine.definition.node, machine.is_pure, self.datamodel
        )
        self._actions = ActionCompiler(machine.implementations, machine.is_pure)
        self._planner = Planner(self)
        self._configurations: dict[Any, Configuration] = {}
        self._kept = 0
        self._lock = threading.Lock()
        self._delays: dict[str, Any] = {}
        self.selection: Selection = Selection(self)
        self.bindings: Bindings = XStateBindings(self)
        self.frame: type[Frame] = Frame
        self.session_bindings: ScxmlBindings | None = None
        if self.datamodel is not None:
            self._follow_scxml()

    def _follow_scxml(self) -> None:
        self.selection = LeafSelection(self)
        self.bindings = self.session_bindings = ScxmlBindings(self)
        self.frame = SessionFrame
        self.documents = Documents(self.machine)
        self.finalizers = self.session_bindings.finalizers()

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
        """The transitions ``event`` enables (:mod:`.selection`)."""
        return self.selection.select(configuration, context, event)

    def keep_selector(
        self, configuration: Configuration, event_type: str, selector: Selector | None
    ) -> None:
        """Remember what may be taken for an event type in a configuration."""
        if self.memo_limit > 0:
            with self._lock:
                self._count()
                if len(configuration.selectors) < max(64, self.memo_limit // 8):
                    configuration.selectors[event_type] = selector

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
        if self.session_bindings is not None and is_content(action):
            return self.session_bindings.compile(action)
        return self._actions.compile(action, dialects=self.dialects)

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
        if found is None and self.session_bindings is not None:
            found = self.machine.environment.processors.get(src) or self.documents.logic(src)
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


def datamodel_of(machine: Machine[Any, Any]) -> Datamodel:
    """The datamodel of an SCXML machine. Raises :class:`ImplementationError` when nobody provides it."""
    definition = machine.definition
    scxml = definition.scxml
    assert scxml is not None
    factory = machine.environment.datamodels.get(scxml.datamodel)
    if factory is None:
        known = ", ".join(machine.environment.datamodels) or "none; load the document with load_machine()"
        raise ImplementationError(
            f"machine {definition.id!r} needs the datamodel {scxml.datamodel!r}; known are {known}"
        )
    ids = [node.id if node.own_id else None for node in definition.nodes]
    variables = [data.id for node in definition.nodes for data in node.data]
    made: Datamodel = factory(ids=ids, variables=variables, scripts=scxml.scripts)
    return made


def program_of(machine: Machine[Any, Any]) -> Program:
    """The program of ``machine``, made once."""
    program = machine._program
    if program is None:
        program = Program(machine)
        machine._program = program
    return program  # type: ignore[no-any-return]


__all__ = ["Program", "program_of"]
