"""Courses: strides on which effects are recorded.

Like a stride a course is known to its end: which updates and effects, in
which order, and where it leads. What each is made of is a function of context
and event, so a course is taken without a frame.

One thing may turn out otherwise: a delay that a function computes may be no
number, and then the event is raised at once instead of later. Such a course
is one microstep, and ends as a :class:`Detour`, with which
:func:`.macrostep.macrostep` goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..values import FrozenDict
from .acting import Effectful
from .configuration import Configuration
from .effects import RaiseEvent, Record, is_delay, record
from .failures import failed
from .operations import Operation
from .snapshot import Rest, Snapshot, Step
from .strides import STRIDE_SIZE, Stride
from .updates import Update

if TYPE_CHECKING:
    from .program import Program

ACTING: Final = 5
"""The kind of a course."""
KNOWN_SIZE: Final = 120


class Course(Stride):
    """``doings``: what happens, in order: an effect or else an update, and the event it sees (``None``: the one that came in).

    ``computes``: some delay is computed.
    """

    __slots__ = ("computes", "doings")

    def __init__(self, target: Configuration, doings: list[tuple[Operation, FrozenDict | None]], computes: bool) -> None:
        super().__init__(target, ACTING)
        self.doings = tuple([(*_told_apart(operation), event) for operation, event in doings])
        self.computes = computes

    @property
    def size(self) -> int:
        return STRIDE_SIZE + 80 + sum(90 if event is None else 500 for _, _, event in self.doings)


def _told_apart(operation: Operation) -> tuple[Effectful | None, Update | None]:
    """Once and for all; asking an ABC takes long."""
    if isinstance(operation, Effectful):
        return operation, None
    assert isinstance(operation, Update)
    return None, operation


class Detour(NamedTuple):
    """A macrostep that is not over where its course ends: the snapshots before and there, and what was recorded and raised."""

    before: Snapshot[Any]
    there: Snapshot[Any]
    records: list[Record]
    raised: list[FrozenDict]


def take(snapshot: Snapshot[Any], event: FrozenDict, course: Course) -> Step | Detour:
    """The step from ``snapshot`` on ``course``."""
    context = snapshot._context
    sequence = snapshot._sequence + 1
    records: list[Record] = []
    for action, update, later in course.doings:
        seen = event if later is None else later
        try:
            if action is not None:
                records.append(action.effect(context, seen, (sequence, len(records))))
            else:
                context = update.fresh(context, seen)  # type: ignore[union-attr]  # one of the two is there
        except Exception as error:
            return failed(snapshot, action or update, error, tuple(records))
    there = arrived(snapshot, course, context)
    if course.computes:
        raised = [one.event for one in records if type(one) is RaiseEvent and not is_delay(one.delay)]
        if raised:
            return Detour(snapshot, there, records, raised)
    return record(Step, (there, tuple(records), None))


def arrived(snapshot: Snapshot[Any], stride: Stride, context: Any) -> Snapshot[Any]:
    """The snapshot after ``stride``."""
    if not stride.is_move:
        return Snapshot(snapshot._configuration, snapshot._order, context, snapshot._rest, snapshot._sequence + 1)
    order = stride.order_after(snapshot._order) if stride.keeps_order else None
    rest = snapshot._rest
    if stride.records is not None:
        known = rest.known
        after: Rest | None = None if known is None else known.get(stride)
        rest = remembering(stride.target.program, rest, stride) if after is None else after
    return Snapshot(stride.target, order, context, rest, snapshot._sequence + 1)


def remembering(program: Program, rest: Rest, stride: Stride) -> Rest:
    """``rest`` after a stride that records history."""
    assert stride.records is not None
    after = program.remembering(rest, stride.records)
    if after.known is not None:
        know(program, rest, stride, after)
    return after


def know(program: Program, rest: Rest, key: Stride, value: Any) -> None:
    """Keep with ``rest`` what a stride leads to from there, if ``rest`` is kept itself."""
    known = rest.known
    if known is not None:
        program.memo.charge(KNOWN_SIZE)
        if rest.known is known:  # unless all was forgotten just now
            known[key] = value
