"""Ways: how a stride or a course is found, by following the microsteps from a configuration to the next rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ExecutionError
from ..events import done_state_event
from ..nodes import Transition
from ..values import FrozenDict
from .acting import Effectful, RaiseOperation
from .configuration import Configuration, Order
from .courses import Course
from .effects import is_delay
from .getters import Known
from .messages import platform_event
from .operations import Operation, RaiseDone, RecordHistory
from .planner import Plan, PlanFailure
from .residence import DoneData, EnterState, LeaveState
from .snapshot import History
from .strides import Stride
from .updates import Later, Update

if TYPE_CHECKING:
    from .program import Program


class Way:
    """A stride in the making: where it stands, and what waits in the queue.

    ``acts``: effects are recorded on it. ``computes``: some delay is computed,
    so that it may turn out to be none, which is known in a first microstep
    only, with nothing in the queue (``is_long``: there is more).
    """

    __slots__ = ("acts", "computes", "doings", "event", "is_long", "moves", "place", "program", "queue", "records")

    def __init__(self, program: Program, place: Configuration) -> None:
        self.program = program
        self.place = place
        self.queue: list[FrozenDict] = []
        self.event: FrozenDict | None = None
        self.doings: list[tuple[Operation, FrozenDict | None]] = []
        self.acts = False
        self.computes = False
        self.is_long = False
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
            self.doings.append((operation, self.event))
            return operation.lean
        if isinstance(operation, Effectful):
            return self._act(operation)
        if isinstance(operation, RecordHistory):
            return self._remember(operation)
        if isinstance(operation, RaiseDone):
            self.queue.append(done_state_event(operation.id))
            return operation.output is None
        if isinstance(operation, DoneData):
            self.queue.append(platform_event(f"done.state.{operation.parent.id}"))
            return operation.payload is None
        return isinstance(operation, (EnterState, LeaveState)) and not operation.node.invocations

    def _act(self, operation: Effectful) -> bool:
        """An effect that is recorded."""
        self.acts = True
        self.doings.append((operation, self.event))
        return self._raise(operation) if isinstance(operation, RaiseOperation) else operation.lean

    def _raise(self, operation: RaiseOperation) -> bool:
        """An event that is raised now, or later by a timer."""
        try:
            known = operation.prepare(self.program)
        except ExecutionError:  # nobody bound its delay: the step will say so
            return False
        timer, raised = operation.timer, operation.raised
        if not known or raised is None:
            return False
        if timer is not None and not isinstance(timer, Known):
            self.computes = True
        elif timer is None or not is_delay(timer.value):
            self.queue.append(raised)
        return type(raised.get("type")) is str

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
                return not (self.computes and self.is_long)
            self.is_long = True
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

    def updates(self) -> tuple[Update, ...]:
        """What it consists of, when that is updates."""
        return tuple([_seeing(operation, event) for operation, event in self.doings])


def _seeing(operation: Operation, event: FrozenDict | None) -> Update:
    assert isinstance(operation, Update)
    return operation if event is None else Later(operation, event)


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
    stride = Course(way.place, way.doings, way.computes) if way.acts else Stride(way.place)
    stride.asks = asks
    stride.updates = () if way.acts else way.updates()
    stride.records = way.records or None
    stride.moves = tuple(way.moves)
    stride.is_move = bool(way.moves)
    stride.keeps_order = not (way.place.is_chain or program.semantics.leaves_in_document_order)
    return stride
