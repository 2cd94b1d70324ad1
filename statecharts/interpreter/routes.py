"""Routes: from an event in a configuration straight to the snapshot after it.

Most events of most machines lead through a macrostep in which nothing is
open but guards and what is made of context and event: no children, no end.
Such a macrostep is worked out once, to its end (raised events included), and
kept as a :class:`Stride`, or with its effects as a :class:`Course`.
:func:`leap` then takes an event by asking the guards, running the updates and
making the new snapshot.

What it cannot take it hands over: ``leap`` answers ``None``, or with the
transitions that were selected (guards are asked once), and
:func:`.macrostep.macrostep` goes on from there. That is the reference: with a
memo of 0 bytes nothing is kept and every event goes that way.
"""

from __future__ import annotations

from typing import Any, Final

from ..nodes import Transition
from ..values import ATOMS, FrozenDict
from .configuration import Configuration
from .courses import ACTING, know, remembering, take
from .failures import failed
from .getters import BOTH, CONTEXT
from .regions import is_special
from .selection import Candidate, Selector, guard_failure
from .snapshot import Rest, Snapshot, Step
from .strides import FIXED, STRIDE_SIZE, Stride
from .updates import merged
from .wandering import wander
from .ways import stride_of

ROUTE_SIZE: Final = 450
"""Bytes of a route, its place in a dict, and what it refers to that is its own: an estimate, rounded up."""
FROZEN: Final = FrozenDict
SIMPLE: Final = ATOMS
"""Kept as constants, which compiled code need not look up."""
BRANCHES: Final = 1
TREE: Final = 2
HISTORY: Final = 3
ELSEWHERE: Final = 4
"""How a route goes on that is not just a stride: by one list of guards, by several, by what is remembered, or not by leaps."""
FIRST_VISITS: Final = 16
"""So often a configuration with regions is passed through before anything is kept of it."""


class Branch:
    """One candidate of a route, and the stride or course that follows if it is taken."""

    __slots__ = ("chosen", "course", "direct", "guard", "ready", "shape", "stride")

    def __init__(self, candidate: Candidate) -> None:
        self.guard = candidate.guard
        self.shape = candidate.shape
        self.direct = candidate.direct
        self.chosen = (candidate.transition,)
        self.ready = False
        self.stride: Stride | None = None
        self.course: Stride | None = None


class Route(Stride):
    """What one event type leads to in one configuration, when that is more than one stride.

    As a stride it is the one of an event that nobody takes. ``stride`` is
    that, or ``None`` when it is not known.
    """

    __slots__ = ("branches", "selected", "selector", "stride", "strides")

    def __init__(self, place: Configuration, selector: Selector | None) -> None:
        super().__init__(place, ELSEWHERE)
        self.selector = selector
        self.selected: tuple[Transition, ...] | None = None
        """What is selected in any case; ``None`` when that is open."""
        self.stride: Stride | None = None
        self.branches: tuple[Branch, ...] = ()
        self.strides: dict[Any, Stride | None] = {}


def leap(snapshot: Snapshot[Any], event: FrozenDict) -> Any:
    """Take ``event``: the new :class:`Snapshot`, or a :class:`Step` that has effects or failed.

    ``None``, the selected transitions or a :class:`Detour` when the macrostep has to be computed
    (``event`` has a string ``type``; nobody observes microsteps).
    """
    rest = snapshot._rest
    if not rest.is_active:
        return None
    configuration = snapshot._configuration
    event_type = event["type"]
    if event_type is configuration.first_type:
        stride = configuration.first_route
    else:
        stride = configuration.routes.get(event_type)
    if stride is None:
        program = configuration.program
        regions = program.regions
        if regions is not None and configuration.visits < program.first_visits and configuration.is_plain:
            answers = regions.known.get(event_type)
            if answers is None:
                answers = regions.answers(event_type)
            if not answers.special and program.memo.keeps:
                configuration.visits += 1
                return wander(snapshot, event, answers, regions)
        found = _discover(snapshot, event)
        if not isinstance(found, Stride):
            return found
        stride = found
    context = snapshot._context
    if stride.kind != FIXED:
        if stride.kind == ACTING:
            return take(snapshot, event, stride)  # type: ignore[arg-type]  # only courses are of this kind
        route: Route = stride  # type: ignore[assignment]  # and routes of the others
        stride = route.stride
        if route.kind == BRANCHES:
            for branch in route.branches:
                try:
                    shape = branch.shape
                    if shape == CONTEXT:
                        passed = branch.direct(context)  # type: ignore[misc]
                    elif shape == BOTH:
                        passed = branch.direct(context, event)  # type: ignore[misc]
                    else:
                        guard = branch.guard
                        passed = guard is None or guard(context, event, configuration)
                except Exception as error:
                    return _refused(snapshot, branch.chosen[0], event, error)
                if passed:
                    stride = branch.stride
                    if stride is None:
                        stride = _followed(snapshot, branch)
                        if stride is None:
                            return branch.chosen
                        if stride.kind == ACTING:
                            return take(snapshot, event, stride)  # type: ignore[arg-type]
                    break
            if stride is None:
                return ()
        else:
            known = rest.known
            onward: Stride | None = None if known is None else known.get(route)
            if onward is None:
                asked = _ask(snapshot, event, route)
                if not isinstance(asked, Stride):
                    return asked
                onward = asked
            if onward.kind == ACTING:
                return take(snapshot, event, onward)  # type: ignore[arg-type]
            stride = onward
    # all is known from here on, but for the new context; see :class:`.strides.Stride` (below is :func:`.courses.arrived` without a call)
    for update in stride.updates:
        try:
            direct = update.direct
            if direct is None:
                changes = update.changes(context, event)
            else:
                changes = direct(context)
            if not isinstance(changes, dict) or type(context) is not FROZEN:
                context = merged(context, changes, update.label)
                continue
            for key in changes:
                if type(changes[key]) not in SIMPLE or key not in context:
                    context = merged(context, changes, update.label)
                    break
            else:  # nothing to freeze, and every key has its place already
                context = FROZEN(changes if len(context) == 1 == len(changes) else {**context, **changes})
        except Exception as error:
            return failed(snapshot, update, error)
    if stride.is_move:
        order = stride.order_after(snapshot._order) if stride.keeps_order else None
        if stride.records is not None:
            known = rest.known
            after: Rest | None = None if known is None else known.get(stride)
            rest = remembering(configuration.program, rest, stride) if after is None else after
        return Snapshot(stride.target, order, context, rest, snapshot._sequence + 1)
    return Snapshot(configuration, snapshot._order, context, rest, snapshot._sequence + 1)


# ------------------------------------------------------------- less common


def _refused(snapshot: Snapshot[Any], transition: Transition, event: FrozenDict, error: Exception) -> Step:
    """A guard raised: the macrostep that never was."""
    failure = guard_failure(transition, event["type"], error)
    failure.__cause__ = error
    return failed(snapshot, None, failure)


def _ask(snapshot: Snapshot[Any], event: FrozenDict, route: Route) -> Any:
    """The stride of a route with several lists of guards, or one that goes by history; else what :func:`leap` answers."""
    if route.kind == ELSEWHERE:
        return route.selected
    configuration = snapshot._configuration
    program = configuration.program
    key: Any
    if route.kind == HISTORY:
        selected = route.selected
        assert selected is not None
        history = snapshot._history
        key = tuple([history.get(name) for name in route.asks])
    else:
        assert route.selector is not None
        try:
            selected = program.selection.evaluate(route.selector, snapshot._context, event, configuration)
        except Exception as error:
            return failed(snapshot, None, error)
        if not selected:
            return route.stride if route.stride is not None else ()
        key = selected
    try:
        stride = route.strides[key]
    except KeyError:
        stride = _stride(snapshot, selected)
        if stride is not None and not set(stride.asks) <= set(route.asks):
            stride = None  # whether it is right depends on more than is in the key
        program.memo.charge(STRIDE_SIZE if stride is None else stride.size)
        route.strides[key] = stride
    if stride is None:
        return selected
    if route.kind == HISTORY:
        know(program, snapshot._rest, route, stride)
    return stride


def _discover(snapshot: Snapshot[Any], event: FrozenDict) -> Any:
    """The stride or route of an event that is new to a configuration; else what :func:`leap` answers."""
    configuration = snapshot._configuration
    program = configuration.program
    if not program.memo.keeps:
        return None
    event_type = event["type"]
    if is_special(program, event_type):
        return None
    stride = _prepared(snapshot, Route(configuration, program.selector(configuration, event_type)))
    program.memo.charge(ROUTE_SIZE + len(event_type) + stride.size - STRIDE_SIZE)
    program.own(configuration).keep_route(event_type, stride)
    return stride


def _prepared(snapshot: Snapshot[Any], route: Route) -> Stride:
    """How ``route`` goes on: itself, or the one stride that it comes to."""
    configuration = snapshot._configuration
    program = configuration.program
    selector = route.selector
    if selector is None:
        route.selected = ()
        return stride_of(program, configuration, (), {}) or route
    if selector.fixed is not None:
        return _fixed(snapshot, route, selector.fixed)
    if program.session_bindings is None:  # a session's conditions see more than context and event
        route.stride = stride_of(program, configuration, (), {})
        if selector.children:
            route.kind = TREE
        else:
            route.branches = tuple([Branch(candidate) for candidate in selector.candidates])
            route.kind = BRANCHES
    return route


def _fixed(snapshot: Snapshot[Any], route: Route, selected: tuple[Transition, ...]) -> Stride:
    """The same for an event whose transitions are selected in any case."""
    stride = _stride(snapshot, selected)
    if stride is not None and not stride.asks:
        return stride
    route.selected = selected
    if stride is not None:
        route.asks = stride.asks
        route.kind = HISTORY
    elif snapshot._configuration.program.session_bindings is not None:
        route.selected = None  # a session selects with its own sight
    return route


def _followed(snapshot: Snapshot[Any], branch: Branch) -> Stride | None:
    """The stride of a branch that is taken for the first time, or its course; ``None`` when neither is known."""
    if branch.ready:
        return branch.course
    branch.ready = True
    stride = _stride(snapshot, branch.chosen)
    if stride is None or stride.asks:
        return None
    snapshot._configuration.program.memo.charge(stride.size)
    if stride.kind == ACTING:
        branch.course = stride
    else:
        branch.stride = stride
    return stride


def _stride(snapshot: Snapshot[Any], transitions: tuple[Transition, ...]) -> Stride | None:
    configuration = snapshot._configuration
    return stride_of(configuration.program, configuration, transitions, snapshot._history)
