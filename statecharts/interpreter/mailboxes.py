"""How events reach actors: one mailbox each, first in, first out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import Any, NamedTuple

from ..errors import ExecutionError
from ..events import STOP_EVENT
from ..values import FrozenDict
from .actor_table import Actors
from .cells import ENDED, RUNNING, Cell, EventFlood
from .deliveries import Inspected
from .effects import ActorRef, record
from .inspection import EventInspection
from .messages import META, for_others, from_actor
from .snapshot import Snapshot


class Report(NamedTuple):
    """What a child tells its parent about itself, with who it was."""

    source: ActorRef
    event: FrozenDict


def listed_children(cell: Cell) -> Collection[ActorRef | None]:
    """The children an actor's snapshot lists."""
    return cell.snapshot._children.values() if isinstance(cell.snapshot, Snapshot) else ()


class Mailboxes(Actors):
    """Delivery: first in, first out, one event at a time per actor.

    ``max_events`` bounds how many events one run may exchange.
    """

    __slots__ = ()

    def _relay(
        self,
        source: ActorRef | None,
        target: Any,
        event: FrozenDict,
        report: Report | None = None,
    ) -> None:
        if self.observed and isinstance(target, ActorRef):
            self._out.append(Inspected(EventInspection(target, source, event, self.root_id)))
        self.events += 1
        if self.max_events is not None and self.events > self.max_events:
            self.tasks.clear()
            raise EventFlood(f"actors exchanged more than {self.max_events} events without coming to rest")
        if not isinstance(target, ActorRef):
            wrong = "Cannot read properties of undefined (reading '_send')"
            raise ExecutionError(
                wrong if target is None else "target._send is not a function", js_name="TypeError"
            )
        table = self._table
        cell = self.find(target.session) if table is None else table.get(target.session)
        if cell is None or cell.status == ENDED:
            return
        if self.has_sessions:
            event = self._translated(cell, source, event)
            report = None if report is None else Report(report.source, event)
        self._enqueue(cell, event if report is None else report)

    def _translated(self, cell: Cell, source: ActorRef | None, event: FrozenDict) -> FrozenDict:
        """SCXML sessions and other actors speak differently of events (:mod:`.messages`)."""
        if cell.is_session:
            child = source is not None and source in listed_children(cell)
            return from_actor(event, source, child)
        return for_others(event) if META in event else event

    def _enqueue(self, cell: Cell, event: FrozenDict | Report) -> None:
        if cell.busy or not cell.open:
            cell.post(event)
            return
        cell.busy = True
        self.tasks.append((self._flush, cell))
        if cell.mailbox:
            cell.post(event)
        else:  # an idle actor takes it at once: no queue is made for it
            self.tasks.append((self._take_at_once, cell, event))

    def _take_at_once(self, cell: Cell, event: FrozenDict | Report) -> None:
        """What came to an idle actor; meanwhile a host may have told it to stop, which drops what waits."""
        if cell.mailbox and cell.mailbox[0] is STOP_EVENT:
            return
        self._handle(cell, event)

    def _flush(self, cell: Cell) -> None:
        if not cell.mailbox:
            cell.busy = False
            return
        event = cell.next_event()
        self.tasks.append((self._flush, cell))
        self._handle(cell, event)

    def _handle(self, cell: Cell, event: Any) -> None:
        if type(event) is Report:
            if cell.rules.stale_reports_are_dropped and event.source not in listed_children(cell):
                return
            event = event.event
        self._process(cell, event)

    def _report_to_parent(self, cell: Cell, event: FrozenDict) -> None:
        """A child's own report (done, error, snapshot), which is worth something only while it is the child."""
        if cell.parent is not None and not cell.is_muted:
            self._relay(cell.ref, cell.parent.ref, event, record(Report, (cell.ref, event)))

    def _open(self, cell: Cell) -> None:
        if cell.status != RUNNING:
            return
        cell.open = True
        if cell.mailbox and not cell.busy:
            cell.busy = True
            self._push((self._flush, cell))

    @abstractmethod
    def _process(self, cell: Cell, event: FrozenDict) -> None:
        """Let an actor handle one event (:class:`System`)."""
