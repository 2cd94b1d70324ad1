"""Binding: from guards, actions and values as declared to what a plan can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..actions import (
    Action,
    Assign,
    Cancel,
    Emit,
    Enqueue,
    InlineAction,
    Log,
    NamedAction,
    NullAction,
    Raise,
    SendTo,
    SpawnChild,
    StopChild,
    parse_action,
)
from ..callables import (
    ACTION_ARGUMENTS,
    ENQUEUE_ARGUMENTS,
    GUARD_ARGUMENTS,
    UPDATE_ARGUMENTS,
    Fitted,
    fit,
    fitting,
    made_when_called,
    names,
)
from ..errors import DefinitionError, ExecutionError, caused_by
from ..expressions import Template
from ..guards import (
    AllOf,
    AnyOf,
    Condition,
    ExpressionGuard,
    Guard,
    InlineGuard,
    NamedGuard,
    Negation,
    StateIn,
    parse_guard,
)
from ..implementations import Implementations
from ..nodes import StateNode
from ..purity import pure_wrapper
from ..values import UNDEFINED, freeze
from .acting import (
    CancelOperation,
    EmitOperation,
    EnqueueOperation,
    LogOperation,
    NullOperation,
    RaiseOperation,
    RunNamed,
    SendOperation,
)
from .children import SpawnOperation, StopOperation
from .configuration import Configuration
from .datamodel import Datamodel, Moment
from .getters import (
    BOTH,
    NO_VALUE,
    OFFERED,
    VALUE,
    Computed,
    Filled,
    Getter,
    Known,
    shape_of,
)
from .operations import Frame, Operation
from .snapshot import matches_state
from .updates import (
    AssignAll,
    AssignEach,
    Part,
    spawning_getter,
)

GuardFunction = Callable[[Any, Any, Any], Any]
"""A bound guard: ``(context, event, configuration) -> truth``. Of the configuration it looks at set and value."""


def fitted(function: Callable[..., Any], offered: Sequence[str], what: str, pure: bool) -> Callable[..., Any]:
    """``function`` over all of ``offered``; in pure mode watched while it runs."""
    return fit(watched(function, what) if pure else function, offered, what)


watched = pure_wrapper
"""A function held to purity while it runs (:mod:`statecharts.purity`)."""


def value_getter(value: Any, what: str, pure: bool = False) -> Getter:
    """A getter for a constant, a template or a user's function."""
    if isinstance(value, Template):
        return Filled(value)
    if callable(value):
        return caller(value, what, pure)
    return Known(value)


def caller(function: Callable[..., Any], what: str, pure: bool, freezes: bool = True) -> Getter:
    """A user's function as a getter. What it does not ask for is not looked up."""
    found = fitting(watched(function, what) if pure else function, ACTION_ARGUMENTS, what)
    shape, call = shape_of(found), found.call
    if shape != OFFERED:
        return Computed(found.function, shape, freezes)

    def offer_all(frame: Frame, params: Any) -> Any:
        scope = frame.scope
        value = call(frame.context, frame.event, params, scope.self_ref, scope.view)
        return freeze(value) if freezes else value

    return offer_all


# ----------------------------------------------------------------- guards


class GuardCompiler:
    """Turns guards into functions of ``(context, event, configuration)``."""

    def __init__(
        self,
        implementations: Implementations,
        node: Callable[[str], StateNode],
        pure: bool,
        datamodel: Datamodel | None = None,
    ) -> None:
        self._datamodel = datamodel
        self._bound = implementations.guards
        self._pure = pure
        self._node = node

    def compile(self, guard: Any) -> GuardFunction:
        """The function behind ``guard``, which may be anything a transition may carry."""
        spec = parse_guard(guard)
        if isinstance(spec, NamedGuard):
            return self._named(spec)
        if isinstance(spec, InlineGuard):
            return _plain_guard(spec.function, UNDEFINED, "guard", self._pure)
        if isinstance(spec, AllOf):
            parts = tuple(self.compile(part) for part in spec.guards)
            return lambda c, e, active: all(part(c, e, active) for part in parts)
        if isinstance(spec, AnyOf):
            parts = tuple(self.compile(part) for part in spec.guards)
            return lambda c, e, active: any(part(c, e, active) for part in parts)
        if isinstance(spec, Negation):
            inner = self.compile(spec.guard)
            return lambda c, e, active: not inner(c, e, active)
        if isinstance(spec, StateIn):
            return self._state_in(spec.state)
        if isinstance(spec, ExpressionGuard):
            test = spec.expression.test
            return lambda c, e, _active: test({"context": c, "event": e})
        if isinstance(spec, Condition):
            return self._condition(spec.source)
        return _null_guard

    def direct(self, guard: Any) -> Fitted | None:
        """The user's own function behind ``guard``, when calling it with context and event is all there is to it."""
        spec = parse_guard(guard)
        if isinstance(spec, NamedGuard) and spec.params is UNDEFINED:
            function = self._bound.get(spec.name)
            what = f"guard {spec.name!r}"
        elif isinstance(spec, InlineGuard):
            function, what = spec.function, "guard"
        else:
            return None
        if not callable(function) or isinstance(function, Guard):
            return None
        return fitting(watched(function, what) if self._pure else function, GUARD_ARGUMENTS, what)

    def _named(self, spec: NamedGuard) -> GuardFunction:
        bound = self._bound.get(spec.name, UNDEFINED)
        if bound is UNDEFINED or bound is None or (bound is False and spec.builtin is not None):
            if spec.builtin is not None:
                return self.compile(spec.builtin)
            return _missing_guard(spec.name)
        if isinstance(bound, bool):
            return lambda _c, _e, _active: bound
        if callable(bound) and not isinstance(bound, Guard):
            return _plain_guard(bound, spec.params, f"guard {spec.name!r}", self._pure)
        # an implementation may itself be a name or an object; followed when used, so a cycle fails then
        return made_when_called(lambda: self.compile(bound))

    def _condition(self, source: str) -> GuardFunction:
        """A condition in the document's own language; it sees the session too (:class:`.selection.Sight`)."""
        datamodel = self._datamodel
        assert datamodel is not None

        def test(context: Any, _event: Any, sight: Any) -> bool:
            return datamodel.test(source, Moment(context, sight.seen, sight.mask, sight.session))

        return test

    def _index(self, state: str) -> int:
        try:
            return self._node(state).index
        except DefinitionError as error:
            raise caused_by(ExecutionError(error.problems[0].message), None)

    def _state_in(self, state: Any) -> GuardFunction:
        if isinstance(state, str) and state.startswith("#"):
            bit: list[int] = []

            def active_by_id(_c: Any, _e: Any, active: Configuration) -> bool:
                if not bit:
                    bit.append(self._index(state))
                return bool(active.mask >> bit[0] & 1)

            return active_by_id
        return lambda _c, _e, active: matches_state(state, active.value)


def _plain_guard(function: Callable[..., Any], params: Any, what: str, pure: bool) -> GuardFunction:
    takes = fitted(function, GUARD_ARGUMENTS, what, pure)
    if isinstance(params, Template):

        def with_template(context: Any, event: Any, _active: Configuration) -> Any:
            return takes(context, event, freeze(params.evaluate({"context": context, "event": event})))

        return with_template
    if callable(params):
        compute = fitted(params, ("context", "event"), f"params of {what}", pure)
        return lambda c, e, _active: takes(c, e, freeze(compute(c, e)))
    return lambda c, e, _active: takes(c, e, params)


def _missing_guard(name: str) -> GuardFunction:
    def fail(_c: Any, _e: Any, _active: Configuration) -> bool:
        raise ExecutionError(f"Guard '{name}' is not implemented.'.")

    return fail


def _null_guard(_c: Any, _e: Any, _active: Configuration) -> bool:
    raise ExecutionError("Cannot read properties of null (reading 'type')", js_name="TypeError")


def guard_name(guard: Guard | None) -> str | None:
    """What a guard shows in messages: its name, or a condition's text; ``None`` for functions and combinators."""
    if isinstance(guard, Condition):
        return guard.source.strip()
    return guard.name if isinstance(guard, NamedGuard) else None


# ---------------------------------------------------------------- actions


class ActionCompiler:
    """Turns actions into operations."""

    def __init__(self, implementations: Implementations, pure: bool) -> None:
        self._bound = implementations.actions
        self._pure = pure

    def compile(self, action: Any, *, dialects: bool = True) -> Operation:
        """The operation behind ``action``, which may be anything an action list may hold."""
        spec: Action = parse_action(action, dialects=dialects)
        if isinstance(spec, NullAction):
            return NullOperation("null")
        if isinstance(spec, NamedAction):
            return self._named(spec)
        return self._operation(spec, NO_VALUE, _label(spec))

    def _named(self, spec: NamedAction) -> Operation:
        params: Getter = NO_VALUE
        if spec.params is not UNDEFINED:
            params = self._value(spec.params, f"params of action {spec.type!r}")
        bound = self._bound.get(spec.type)
        if bound is None:
            if spec.builtin is not None:
                return self._operation(spec.builtin, NO_VALUE, spec.type)
            return RunNamed(f"action {spec.type!r}", spec.type, None, params)
        return self._operation(bound, params, f"action {spec.type!r}", name=spec.type)

    def _operation(self, spec: Any, params: Getter, label: str, name: str | None = None) -> Operation:
        if isinstance(spec, InlineAction):
            return RunNamed(label, name or spec.type, spec.call, params)
        if isinstance(spec, Assign):
            return self._assign(spec, params, label)
        if isinstance(spec, Raise):
            return RaiseOperation(
                label,
                self._value(spec.event, label),
                self._value(spec.id, label),
                self._delay(spec.delay, label),
                params,
            )
        if isinstance(spec, SendTo):
            return SendOperation(
                label,
                self._value(spec.target, label),
                self._value(spec.event, label),
                self._value(spec.id, label),
                self._delay(spec.delay, label),
                params,
            )
        return self._plain(spec, params, label)

    def _plain(self, spec: Any, params: Getter, label: str) -> Operation:
        if isinstance(spec, Emit):
            return EmitOperation(label, self._value(spec.event, label), params)
        if isinstance(spec, Cancel):
            return CancelOperation(label, self._value(spec.id, label), params)
        if isinstance(spec, Log):
            return LogOperation(label, self._value(spec.value, label), self._value(spec.label, label), params)
        if isinstance(spec, StopChild):
            return StopOperation(label, self._value(spec.target, label), params)
        if isinstance(spec, SpawnChild):
            return SpawnOperation(
                label,
                spec.src,
                self._value(spec.id, label),
                spec.system_id,
                self._value(spec.input, label),
                spec.sync_snapshot,
                params,
            )
        assert isinstance(spec, Enqueue)
        return EnqueueOperation(label, fit(spec.function, ENQUEUE_ARGUMENTS, label), params, self._pure)

    def _value(self, value: Any, label: str) -> Getter:
        return value_getter(value, label, self._pure)

    def _delay(self, delay: Any, label: str) -> Getter | None:
        return None if delay is UNDEFINED else self._value(delay, label)

    def _assign(self, spec: Assign, params: Getter, label: str) -> Operation:
        assignment = spec.assignment
        given = None if params is NO_VALUE else params
        if isinstance(assignment, Template):
            update = _template_update(assignment)
            lean = Fitted(update, update, None if given else (0, 1))
            return AssignAll(label, lean, given, False)
        if callable(assignment):
            spawns = bool(names(assignment) & {"spawn", "self", "system"})
            # making a child twice would not be the same as making it once
            function = watched(assignment, label) if self._pure and not spawns else assignment
            return AssignAll(label, fitting(function, UPDATE_ARGUMENTS, label), given, spawns)
        parts = tuple(self._part(key, value, f"{label}, key {key!r}") for key, value in assignment.items())
        return AssignEach(label, parts, given)

    def _part(self, key: str, value: Any, label: str) -> Part:
        """One key's new value; its function may spawn, as a whole update may."""
        if isinstance(value, Template):
            return Part(key, BOTH, _frozen_template(value), self._value(value, label))
        if not callable(value):
            return Part(key, VALUE, value, Known(value))
        if "spawn" in names(value):
            return Part(key, OFFERED, None, spawning_getter(fit(value, UPDATE_ARGUMENTS, label)))
        found = fitting(watched(value, label) if self._pure else value, ACTION_ARGUMENTS, label)
        return Part(key, shape_of(found), found.function, self._value(value, label))


def _label(spec: Any) -> str:
    return spec.type if isinstance(spec, InlineAction) else type(spec).__name__


def _frozen_template(template: Template) -> Callable[..., Any]:
    return lambda context, event: freeze(template.evaluate({"context": context, "event": event}))


def _template_update(template: Template) -> Callable[..., Any]:
    def update(context: Any, event: Any, params: Any = UNDEFINED, *_rest: Any) -> Any:
        variables = {"context": context, "event": event}
        if params is not UNDEFINED:
            variables["params"] = params
        return template.evaluate(variables)

    return update
