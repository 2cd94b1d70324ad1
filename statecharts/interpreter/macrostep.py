"""Running: from one event to the next state of rest.

:func:`macrostep` and :func:`initial_step` are the whole behaviour of one
actor. They take a snapshot and return a :class:`Step`; nothing outside is
touched. ``always`` transitions are tried before raised events, and one that
changed nothing is not tried again before the next event (XState compares
snapshot objects; here an explicit bit, ``frame.changed``, says it).
"""

from __future__ import annotations

from typing import Any

from ..callables import CONTEXT_ARGUMENTS, names
from ..errors import EndlessLoopError, ExecutionError, caused_by
from ..events import ERROR_ACTOR_PREFIX, INIT, STOP, init_event
from ..expressions import Template
from ..nodes import Transition
from ..values import EMPTY_OBJECT, UNDEFINED, FrozenDict, freeze
from .children import stop_child
from .compiler import fitted
from .courses import Detour
from .effects import MicrostepTaken, record
from .failures import failed
from .invocation import start_invocations
from .messages import received
from .operations import Frame, Scope
from .planner import Plan, PlanFailure
from .program import Program
from .residence import begin_session
from .sending import DISPATCH, dispatch
from .session import SessionFrame
from .snapshot import (
    ACTIVE,
    DONE,
    ERROR,
    NO_CHILDREN,
    NO_HISTORY,
    STOPPED,
    Rest,
    Snapshot,
    Step,
)
from .updates import Spawner, apply_changes

MAX_QUEUE = 100_000
"""Raised events that wait; a macrostep with more of them only makes more."""


def macrostep(
    program: Program,
    snapshot: Snapshot[Any],
    event: FrozenDict,
    scope: Scope,
    selected: tuple[Transition, ...] | Detour | None = None,
) -> Step:
    """Everything ``event`` leads to, until the machine rests.

    ``selected`` are the transitions it enables, when they are known already,
    or how far it has led.
    The snapshot's status is not looked at (as in XState); a host does not
    deliver to an actor that is over. On an error the step carries the
    exception, the effects up to it, and the snapshot before the event with
    status ``error``.
    """
    begin = selected.there if isinstance(selected, Detour) else snapshot
    rest = begin._rest
    frame = program.frame(
        program,
        scope,
        begin._configuration,
        begin.kept_order,
        begin._context,
        rest.children,
        rest.history,
        snapshot._sequence + 1,
        event,
    )
    frame.rest = rest
    frame.status = rest.status
    frame.output = rest.output
    frame.error = rest.error
    try:
        if isinstance(selected, Detour):
            frame.records = selected.records
            frame.queue = selected.raised
            _settle(frame)
            _end_children(frame)
        else:
            _run_macrostep(frame, event, selected)
    except Exception as error:
        return failed(snapshot, frame.operation, error, tuple(frame.records))
    return record(Step, (_snapshot_of(frame), tuple(frame.records), None))


def _run_macrostep(frame: Frame, event: FrozenDict, selected: tuple[Transition, ...] | None) -> None:
    kind = event.get("type", UNDEFINED)
    if type(kind) is not str:
        raise _not_a_type(kind)
    if isinstance(frame, SessionFrame):
        run_session(frame, event)
        return
    if kind == STOP:
        _stop_children(frame)
        frame.status = STOPPED
        _observe(frame, ())
        return
    if kind != INIT:
        if selected is None:
            selected = frame.select()
        if not selected and kind.startswith(ERROR_ACTOR_PREFIX):
            _stop_children(frame)
            frame.status = ERROR
            frame.error = event.get("error", UNDEFINED)
            _observe(frame, ())
            return
        microstep(frame, selected)
        if frame.scope.observed:
            _observe(frame, selected)
    _settle(frame)
    _end_children(frame)


def _end_children(frame: Frame) -> None:
    """A machine that is over stops its children, though its snapshot goes on listing them."""
    if frame.status != ACTIVE:
        kept = frame.children
        _stop_children(frame)
        frame.children = kept


def _not_a_type(kind: Any) -> ExecutionError:
    """What XState dies of when an event without a string type reaches a mailbox."""
    if kind is UNDEFINED or kind is None:
        shown = "undefined" if kind is UNDEFINED else "null"
        return ExecutionError(
            f"Cannot read properties of {shown} (reading 'startsWith')", js_name="TypeError"
        )
    return ExecutionError("event.type.startsWith is not a function", js_name="TypeError")


def _settle(frame: Frame) -> None:
    """Eventless transitions and raised events, until there are none."""
    program = frame.program
    limit = program.definition.max_iterations
    check_always = True
    count = 0
    while frame.status == ACTIVE:
        count += 1
        if count > limit or (not count & 1023 and len(frame.queue) > MAX_QUEUE):
            raise _endless(frame, limit)
        enabled: tuple[Transition, ...] = ()
        if check_always and frame.configuration.always:
            enabled = frame.select_eventless()
        eventless = bool(enabled)
        if not enabled:
            if not frame.queue:
                break
            frame.event = frame.queue.pop(0)
            enabled = frame.select()
        frame.changed = False
        microstep(frame, enabled)
        check_always = frame.changed or not eventless or program.semantics.eventless_until_none
        if frame.scope.observed:
            _observe(frame, enabled)


# ------------------------------------------------------- an SCXML session


def run_session(frame: SessionFrame, event: FrozenDict) -> None:
    """What one external event leads to (appendix D ``mainEventLoop``)."""
    program = frame.program
    if event["type"] == STOP:
        if frame.status == ACTIVE:
            _exit_interpreter(frame)
            frame.status = STOPPED
            _observe(frame, ())
        return
    if frame.status != ACTIVE:
        return
    if event["type"] == DISPATCH:
        dispatch(frame, event)
    elif event["type"] != INIT:
        frame.event = received(event)
        program.finalizers.run(frame)
        selected = frame.select()
        microstep(frame, selected)
        _observe(frame, selected)
    while True:
        _settle(frame)
        if frame.status != ACTIVE:
            break
        start_invocations(frame)
        if not frame.queue:
            return
    _stop_children(frame)


def _exit_interpreter(frame: SessionFrame) -> None:
    """Leave every state, innermost and last first; what is cancelled is told nothing of it (``exitInterpreter``)."""
    for node in sorted(frame.configuration.nodes, key=lambda node: -node.index):
        _run_operations(frame, frame.program.bindings.leave(node))
    _stop_children(frame)


def microstep(frame: Frame, transitions: tuple[Transition, ...]) -> None:
    """Take ``transitions`` together: exit, act, enter (SCXML ``microstep``)."""
    if not transitions:
        return
    try:
        plan = frame.program.plan(frame.configuration, frame.order, transitions, frame.history)
    except PlanFailure as failure:
        _run_operations(frame, failure.operations)
        raise caused_by(failure.cause, None)
    configuration, context = frame.configuration, frame.context
    _apply(frame, plan)
    if isinstance(frame, SessionFrame) and (
        frame.configuration is not configuration or frame.context is not context
    ):
        frame.reported.clear()  # a condition that failed may be asked, and reported, again


def _apply(frame: Frame, plan: Plan) -> None:
    again = frame.status == DONE and not plan.completes
    if plan.operations:
        _run_operations(frame, plan.operations)
    if again:
        _leave_again(frame, plan)
        return
    if plan.same_set:
        return
    target = plan.target
    assert target is not None
    if frame.program.semantics.leaves_in_document_order:
        frame.order = None
    elif frame.status == DONE:
        frame.order = plan.final_order
    else:
        frame.order = plan.order_after(frame.order, frame.configuration)
    frame.configuration = target
    frame.changed = True


def _leave_again(frame: Frame, plan: Plan) -> None:
    """A step on a snapshot that is done already runs all exit actions once more, as XState's does."""
    nodes = frame.configuration.nodes if frame.order is None else frame.order
    kept = [node for node in nodes if node not in plan.left]
    ordered = tuple(sorted([*kept, *plan.entered], key=lambda node: -node.order))
    _run_operations(frame, frame.program.bindings.end(ordered))
    if not plan.same_set:
        frame.configuration = frame.program.intern(ordered)
        frame.order = None if ordered == frame.configuration.nodes else ordered
        frame.changed = True


def _run_operations(frame: Frame, operations: Any) -> None:
    for operation in operations:
        frame.operation = operation
        operation.run(frame)
    frame.operation = None


def _stop_children(frame: Frame) -> None:
    for ref in list(frame.children.values()):
        stop_child(frame, ref)


def _snapshot_of(frame: Frame) -> Snapshot[Any]:
    rest = frame.rest
    if (
        frame.children is not rest.children
        or frame.history is not rest.history
        or frame.status != rest.status
        or frame.output is not rest.output
        or frame.error is not rest.error
    ):
        rest = frame.rest = Rest(frame.children, frame.history, frame.status, frame.output, frame.error)
    return Snapshot(frame.configuration, frame.order, frame.context, rest, frame.sequence)


def _observe(frame: Frame, transitions: tuple[Transition, ...]) -> None:
    if frame.scope.observed:
        types = tuple(t.event_type for t in transitions)
        frame.records.append(MicrostepTaken(frame.scope.self_ref, frame.event, _snapshot_of(frame), types))


def _endless(frame: Frame, limit: float) -> ExecutionError:
    shown = int(limit) if limit == int(limit) else limit
    message = (
        f"Infinite loop detected: the machine has processed more than {shown} microsteps without reaching a stable "
        "state. This usually happens when there's a cycle of transitions (e.g., eventless transitions or raised "
        "events causing state A -> B -> C -> A)."
    )
    return EndlessLoopError(message, _states_of_a_loop(frame) if frame.program.dialects else ())


def _states_of_a_loop(frame: Frame) -> list[str]:
    """The leaves met while the loop goes round a little longer."""
    seen: dict[str, None] = {}
    try:
        for _ in range(64):
            before = len(seen)
            seen.update(dict.fromkeys(node.id for node in frame.configuration.leaves))
            enabled = frame.select_eventless()
            if not enabled:
                if not frame.queue:
                    break
                frame.event = frame.queue.pop(0)
                enabled = frame.select()
            kept = len(frame.records)
            microstep(frame, enabled)
            del frame.records[kept:]
            if len(seen) == before and len(seen) > 1:
                break
    except Exception:  # the loop is reported, whatever else goes wrong in it
        pass
    return list(seen)


# ------------------------------------------------------------------ start


def initial_step(program: Program, input: Any, scope: Scope) -> Step:
    """The first macrostep: initial context, default entry, and what follows from it.

    Never raises for the machine's own faults: the step then carries the error
    and a snapshot with status ``error``, as XState's does.
    """
    event = init_event(input)
    root = program.intern((program.definition.root,))
    frame = program.frame(program, scope, root, None, EMPTY_OBJECT, NO_CHILDREN, NO_HISTORY, 0, event)
    before = _snapshot_of(frame)
    try:
        if isinstance(frame, SessionFrame):
            frame.active = 0
            begin_session(frame, input)
        else:
            frame.context = _initial_context(frame, input)
        before = _snapshot_of(frame)
        _enter_root(frame, program)
        _run_macrostep(frame, event, None)
    except Exception as error:
        return failed(before, frame.operation, error, tuple(frame.records))
    return record(Step, (_snapshot_of(frame), tuple(frame.records), None))


def _enter_root(frame: Frame, program: Program) -> None:
    try:
        plan = program.initial_plan()
    except PlanFailure as failure:
        _run_operations(frame, failure.operations)
        raise caused_by(failure.cause, None)
    _run_operations(frame, plan.operations)
    assert plan.target is not None
    frame.configuration = plan.target
    frame.order = plan.final_order


def _context_function(program: Program, declared: Any) -> Any:
    """``declared`` over all that is offered to it, kept: looking at a function's parameters takes long."""
    known = program.first_context
    if known is None or known[0] is not declared:
        watched = program.machine.is_pure and "spawn" not in names(declared)
        function = fitted(declared, CONTEXT_ARGUMENTS, "the initial context", watched)
        known = program.first_context = (declared, function)
    return known[1]


def _initial_context(frame: Frame, input: Any) -> Any:
    """The context before anything is entered. A function's result replaces nothing but ``{}``."""
    given = frame.program.machine.implementations.initial_context
    declared = frame.program.definition.context if given is UNDEFINED else given
    if isinstance(declared, Template):
        variables = {} if input is UNDEFINED else {"input": input}
        return freeze(declared.evaluate(variables))
    if callable(declared):
        spawner = Spawner(frame)
        changes = _context_function(frame.program, declared)(input, frame.scope.self_ref, spawner)
        apply_changes(frame, changes, "the initial context")
        spawner.adopt()
        return frame.context
    return freeze(declared)
