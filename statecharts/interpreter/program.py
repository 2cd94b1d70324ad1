"""A machine made ready to run: bound operations, interned configurations, kept plans.

A statechart whose guards are pure is a finite automaton in disguise. Like a
lazy DFA in a regular-expression engine, its states are built on demand and
kept: for a configuration and an event type what may be taken, for a
configuration and a set of transitions the plan (:mod:`.routes` and
:mod:`.regions` have the ways to it). Correctness never depends on what is
kept, and :class:`.memo.Memo` bounds it in bytes; a limit of 0 keeps nothing,
and every step is then computed from the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import maxunicode
from typing import Any

from ..definition import XSTATE_EXACT, Definition, InlineSource
from ..errors import ExecutionError, ImplementationError
from ..expressions import Template
from ..machine import Machine
from ..nodes import StateNode, Transition
from ..values import UNDEFINED
from . import semantics as profiles
from .algorithm import initial_transition_of
from .bindings import Bindings, ScxmlBindings, XStateBindings, is_content
from .compiler import ActionCompiler, GuardCompiler, GuardFunction, caller, value_getter
from .configuration import (
    Configuration,
    Order,
    in_document_order,
    is_chain,
    is_legal,
    is_regular,
    mask_of,
    subtree_mask,
)
from .datamodel import Datamodel
from .documents import Documents
from .effects import ActorRef
from .getters import NOTHING, OFFERED, Getter, shape_of
from .memo import DEFAULT_LIMIT, Memo
from .operations import Frame, Operation
from .planner import Plan, Planner
from .regions import Regions
from .routes import FIRST_VISITS
from .selection import SELECTOR_SIZE, Candidate, LeafSelection, Selection, Selector
from .session import SessionFrame
from .snapshot import History, Rest

REST_SIZE = 700
"""Bytes of a remembered history, what is known about it, and its place among others: an estimate, rounded up."""


class Program:
    """A bound machine. Shared by all its instances; safe to use from several threads.

    ``memo_limit`` is in bytes (:class:`.memo.Memo`).
    """

    def __init__(self, machine: Machine[Any, Any], memo_limit: int = DEFAULT_LIMIT) -> None:
        definition = machine.definition
        self.machine = machine
        self.definition = definition
        self.semantics = profiles.BY_NAME[definition.semantics]
        self.memo = Memo(memo_limit, self._forget)
        self.dialects = definition.semantics != XSTATE_EXACT
        self.datamodel: Datamodel | None = None if definition.scxml is None else datamodel_of(machine)
        self.bits = len(definition.nodes)
        self.always_below = 0
        for node in definition.nodes:
            if node.always:
                self.always_below |= subtree_mask(node)
        self._guards = GuardCompiler(
            machine.implementations, definition.node, machine.is_pure, self.datamodel
        )
        self._actions = ActionCompiler(machine.implementations, machine.is_pure)
        self.planner = Planner(self)
        self.root_ref = ActorRef(0, "x:0", definition.id)
        self.known: dict[Any, Configuration] = {}
        self._initial: Plan | None = None
        self.restored: dict[Any, tuple[Configuration, Order | None]] = {}
        """State values that were met in saved snapshots (:mod:`.state_values`)."""
        self.texts: dict[str, tuple[Configuration, Order | None]] = {}
        """The same by how the text of such a snapshot begins."""
        self._rests: dict[Any, Rest] = {}
        """What is remembered beside states and context, by the history in it."""
        self.seal = ""
        """How the text of an envelope begins (:mod:`.envelope_text`); made when it is needed."""
        self._delays: dict[str, Getter] = {}
        self._logics: dict[str, tuple[Any, Any]] = {}
        self.first_context: tuple[Any, Any] | None = None
        """The function that makes the first context, and how to call it (:mod:`.macrostep`)."""
        self.selection: Selection = Selection(self)
        self.bindings: Bindings = XStateBindings(self)
        self.frame: type[Frame] = Frame
        self.session_bindings: ScxmlBindings | None = None
        if self.datamodel is not None:
            self._follow_scxml()
        self.first_visits = FIRST_VISITS if definition.max_iterations >= 1 else 0
        self.regions: Regions | None = Regions(self) if _has_regions(definition) else None

    def _follow_scxml(self) -> None:
        self.selection = LeafSelection(self)
        self.bindings = self.session_bindings = ScxmlBindings(self)
        self.frame = SessionFrame
        self.documents = Documents(self.machine)
        self.finalizers = self.session_bindings.finalizers()

    def _forget(self) -> None:
        """Drop all that can be made again (called by the memo, under its lock)."""
        for configuration in self.known.values():
            configuration.forget()
        self.known = {}
        self._initial = None
        self.restored = {}
        for rest in self._rests.values():
            rest.known = None
        self._rests = {}
        self.texts = {}
        if self.regions is not None:
            self.regions.forget()

    # ------------------------------------------------------ configurations

    def intern(self, nodes: Sequence[StateNode]) -> Configuration:
        """The one configuration with these active nodes."""
        given = tuple(nodes)
        if self.regions is None and is_chain(given):
            found = self.known.get(given[-1])
            return self._keep(given[-1], Configuration(self, given, -1, True, True)) if found is None else found
        mask = mask_of(given)
        regular = is_regular(given)
        key: Any = mask if regular else (mask, given)
        found = self.known.get(key)
        if found is None:
            ordered = in_document_order(given) if regular else given
            made = Configuration(self, ordered, mask, regular, is_legal(given, mask))
            if not made.legal:
                made.complete()
            found = self._keep(key, made)
        return found

    def configuration(self, mask: int) -> Configuration:
        """The one configuration with the active nodes of a bit set, which is known to be legal (of a chart with regions)."""
        found = self.known.get(mask)
        if found is None:
            found = self._keep(mask, Configuration(self, None, mask, True, True))
        return found

    def _keep(self, key: Any, made: Configuration) -> Configuration:
        if not self.memo.keeps:
            return made
        self.memo.charge(made.size)
        return self.known.setdefault(key, made)

    def own(self, configuration: Configuration) -> Configuration:
        """The configuration that is kept now for the same nodes; another one after all was forgotten."""
        if self.regions is None or not configuration.regular:
            return self.intern(configuration.nodes)
        found = self.known.get(configuration.mask)
        if found is None:
            found = self._keep(configuration.mask, configuration)
        return found

    def remembering(self, rest: Rest, records: History) -> Rest:
        """``rest`` with ``records`` in its history; one and the same for all instances that hold nothing else there."""
        history = {**rest.history, **records}
        if rest.children or rest.output is not UNDEFINED or rest.error is not UNDEFINED or not self.memo.keeps:
            return Rest(rest.children, history, rest.status, rest.output, rest.error)
        key = _history_key(history)
        found = self._rests.get(key)
        if found is None:
            self.memo.charge(REST_SIZE + 120 * len(history))
            found = Rest(rest.children, history)
            found.known = {}
            found = self._rests.setdefault(key, found)
        return found

    # ------------------------------------------------------------ selection

    def select(self, configuration: Configuration, context: Any, event: Any) -> tuple[Transition, ...]:
        """The transitions ``event`` enables (:mod:`.selection`)."""
        return self.selection.select(configuration, context, event)

    def selector(self, configuration: Configuration, event_type: str) -> Selector | None:
        """What may be taken for an event type in a configuration, kept for the next time."""
        try:
            return configuration.selectors[event_type]
        except KeyError:
            pass
        if not self.memo.keeps:
            return self.selection.make(configuration, event_type)
        if configuration.is_plain and self.regions is not None:
            selector = self.regions.selector(configuration, event_type)
            size = 0
        else:
            selector = self.selection.make(configuration, event_type)
            size = 0 if selector is None else selector.size
        self.memo.charge(SELECTOR_SIZE + len(event_type) + size)
        self.own(configuration).keep_selector(event_type, selector)
        return selector

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
            if not (plan.asks or plan.depends_on_order):
                return plan
            key = (transitions, order, _history_key(history))
            plan = configuration.plans.get(key)
            if plan is not None:
                return plan
        plan = self._composed(configuration, transitions)
        if plan is None:
            nodes = configuration.nodes if order is None else order
            plan = self.planner.plan(configuration, nodes, transitions, dict(history), False)
        if self.memo.keeps:
            self.memo.charge(plan.size)
            own = self.own(configuration)
            own.keep_plan(transitions, plan)
            if plan.asks or plan.depends_on_order:
                self.memo.charge(300 + 16 * len(history) + 8 * len(order or ()))
                own.keep_plan((transitions, order, _history_key(history)), plan)
        return plan

    def _composed(self, configuration: Configuration, transitions: tuple[Transition, ...]) -> Plan | None:
        """The plan put together from those of its regions, if it can be."""
        if self.regions is None or not self.memo.keeps or not configuration.is_plain:
            return None
        return self.regions.compose(configuration, transitions)

    def initial_plan(self) -> Plan:
        """The plan that enters the machine."""
        plan = self._initial
        if plan is None:
            root = self.intern((self.definition.root,))
            plan = self.planner.plan(root, (), (initial_transition_of(root.nodes[0], self.semantics),), {}, True)
            if self.memo.keeps:
                self.memo.charge(plan.size)
                self._initial = plan
        return plan

    # ----------------------------------------------------------- operations

    def candidate(self, transition: Transition) -> Candidate:
        """``transition`` with its guard bound."""
        guard = transition.guard
        if guard is None:
            return Candidate(transition, None, NOTHING, None)
        direct = self._guards.direct(guard)
        shape = OFFERED if direct is None else shape_of(direct)
        return Candidate(transition, self._guards.compile(guard), shape, direct and direct.function)

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
        known = self._logics.get(src) if type(src) is str else None
        if known is not None and known[0] is self.machine.implementations.actors.get(src):
            return known[1]
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
        if found is None:
            if self.session_bindings is not None:
                found = self.machine.environment.processors.get(src) or self.documents.logic(src)
            return None if found is None else as_logic(found, src)
        made = as_logic(found, src)
        self._logics[src] = (found, made)  # looking at a function's parameters takes long
        return made

    def _invoked_inline(self, name: str) -> Any:
        for node in self.definition.nodes:
            for invoke in node.invokes:
                if isinstance(invoke.src, InlineSource) and invoke.src.name == name:
                    return self.actor_logic(invoke.src)
        return None

    def delay(self, name: str) -> Getter:
        """The value of a named delay; that is ``UNDEFINED`` (no delay at all, in XState) if nobody bound it."""
        known = self._delays.get(name)
        if known is not None:
            return known
        delay = self.machine.implementations.delays.get(name, UNDEFINED)
        if delay is UNDEFINED and self.semantics.unknown_delay_is_error:
            raise ExecutionError(
                f"delay {name!r} is not implemented in machine {self.definition.id!r}; bind it under `delays`"
            )
        made: Getter
        if callable(delay) and not isinstance(delay, Template):
            made = caller(delay, f"delay {name!r}", self.machine.is_pure, freezes=False)
        else:
            made = value_getter(delay, f"delay {name!r}")
        self._delays[name] = made  # looking at a function's parameters takes long
        return made


def callable_or_logic(value: Any) -> bool:
    """Whether an inline source can be an actor's logic at all (JSON values cannot)."""
    return not isinstance(value, (str, int, float, bool, dict, list, tuple))


def _has_regions(definition: Definition) -> bool:
    """Whether plans of regions can be put together: there are some, and nodes are sorted as they are numbered."""
    nodes = definition.nodes
    return (
        any(node.type == "parallel" for node in nodes)
        and all(node.order == node.index for node in nodes)
        and len(nodes) <= maxunicode  # an order is kept as text
    )


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


def memo_of(machine: Machine[Any, Any]) -> Memo:
    """What ``machine`` keeps of earlier steps, for all its instances: ``bytes``, and a ``limit`` in bytes that may be set.

    A limit of 0 keeps nothing; every step is then computed from the definition.
    """
    return program_of(machine).memo


__all__ = ["Program", "memo_of", "program_of"]
