"""Strides: whole macrosteps that are known before they are taken.

A stride follows the microsteps from a configuration to the next rest, with
the planner's plans, as long as nothing on the way is open: no guard, no
effect, no child, no end of the machine. What it keeps is the outcome: where
it leads, which updates of the context run with which event, what history is
remembered, how the order of active nodes changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..events import done_state_event
from ..nodes import Transition
from ..values import FrozenDict
from .configuration import Configuration, KeptOrder, Order
from .messages import platform_event
from .operations import Operation, RaiseDone, RecordHistory
from .planner import Plan, PlanFailure
from .residence import DoneData, EnterState, LeaveState
from .snapshot import History
from .updates import Later, Update

if TYPE_CHECKING:
    from .program import Program


FIXED: Final = 0
"""The kind of a stride that an event takes whatever guards and history say."""


class Stride:
    """A macrostep to its end.

    ``target``: where it leads. ``updates``: updates of the context, in order
    (those that see another event than the one that came in are
    :class:`.updates.Later`). ``records``:
    what history states remember from now on, or ``None``. ``moves``: the
    microsteps that change the order of active nodes (with the configurations
    they start from); none when that order need not be kept. ``asks``: the
    history states whose memory this stride goes by. ``kind`` is for
    :mod:`.routes`. What an event looks at stands in few places on purpose:
    a large chart does not fit into the processor's cache.
    """

    __slots__ = ("asks", "is_move", "keeps_order", "kind", "moves", "records", "target", "updates")

    def __init__(self, target: Configuration, kind: int = FIXED) -> None:
        self.kind = kind
        self.target = target
        self.is_move = False
        self.updates: tuple[Update, ...] = ()
        self.records: dict[str, Order] | None = None
        self.moves: tuple[tuple[Plan, Configuration], ...] = ()
        self.keeps_order = False
        self.asks: tuple[str, ...] = ()

    def order_after(self, order: KeptOrder) -> KeptOrder:
        """The order of active nodes after it, where it has to be kept."""
        for plan, before in self.moves:
            order = plan.order_after(order, before)
        return order


class Way:
    """A stride in the making: where it stands, and what waits in the queue."""

    __slots__ = ("event", "moves", "place", "program", "queue", "records", "updates")

    def __init__(self, program: Program, place: Configuration) -> None:
        self.program = program
        self.place = place
        self.queue: list[FrozenDict] = []
        self.event: FrozenDict | None = None
        self.updates: list[Update] = []
        self.records: dict[str, Order] = {}
        self.moves: list[tuple[Plan, Configuration]] = []

    def take(self, plan: Plan) -> bool:
        """Go on by ``plan``; false when something in it is open."""
        known = [self._run(operation) for operation in plan.operations]
        target = plan.target
        if target is None or plan.completes or plan.depends_on_order or not all(known):
            return False
        if not plan.same_set:
            self.moves.append((plan, self.place))
            self.place = target
        return True

    def _run(self, operation: Operation) -> bool:
        """What ``operation`` does, if that is known now."""
        if isinstance(operation, Update):
            self.updates.append(operation if self.event is None else Later(operation, self.event))
            return operation.lean
        if isinstance(operation, RecordHistory):
            return self._remember(operation)
        if isinstance(operation, RaiseDone):
            self.queue.append(done_state_event(operation.id))
            return operation.output is None
        if isinstance(operation, DoneData):
            self.queue.append(platform_event(f"done.state.{operation.parent.id}"))
            return operation.payload is None
        return isinstance(operation, (EnterState, LeaveState)) and not operation.node.invocations

    def _remember(self, operation: RecordHistory) -> bool:
        """History that is the same in whatever order the states became active."""
        nodes = self.place.nodes
        for key, deep, parent in operation.entries:
            if deep:
                found = tuple(node for node in nodes if node.is_leaf and node.is_below(parent))
            else:
                found = tuple(node for node in nodes if node.parent is parent)
            if len(found) > 1 and not self.program.semantics.leaves_in_document_order:
                return False
            self.records[key] = found
        return True

    def go_on(self) -> bool:
        """Take the events that were raised on the way; false when something is open."""
        program = self.program
        limit = program.definition.max_iterations
        count = 1  # the look at the end, which finds nothing more, counts as well
        while True:
            if self.place.always or count > limit:
                return False
            if not self.queue:
                return True
            self.event = self.queue.pop(0)
            count += 1
            selector = program.selector(self.place, self.event["type"])
            if selector is None:
                continue
            if selector.fixed is None:
                return False
            plan = program.plan(self.place, None, selector.fixed, {})
            if plan.asks or not self.take(plan):
                return False


def stride_of(
    program: Program, configuration: Configuration, transitions: tuple[Transition, ...], history: History
) -> Stride | None:
    """The stride that begins with ``transitions`` (none at all: an event nobody handles); ``None`` if it is not known."""
    way = Way(program, configuration)
    asks: tuple[str, ...] = ()
    if not configuration.regular:
        return None
    try:
        if transitions:
            first = program.plan(configuration, None, transitions, history)
            asks = first.asks
            if (asks and first.records) or not way.take(first):
                return None
        if not way.go_on():
            return None
    except PlanFailure:
        return None
    stride = Stride(way.place)
    stride.asks = asks
    stride.updates = tuple(way.updates)
    stride.records = way.records or None
    stride.moves = tuple(way.moves)
    stride.is_move = bool(way.moves)
    stride.keeps_order = not (way.place.is_chain or program.semantics.leaves_in_document_order)
    return stride
