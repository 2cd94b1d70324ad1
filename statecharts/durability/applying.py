"""Inbox rows and timers applied to an instance, in their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..json_text import dumps, loads
from ..values import plain
from .payloads import Limits, digest
from .questions import allowed_events, selects, why_not
from .receipts import APPLIED as SAID_APPLIED
from .receipts import DEAD as SAID_DEAD
from .receipts import REFUSED as SAID_REFUSED
from .receipts import Receipt
from .rows import (
    ACCEPTED,
    ACTIVE,
    APPLIED,
    DEAD,
    EVENT,
    IGNORED,
    REFUSED,
    RELAY,
    REPORT,
    RESULT,
    TIMER,
    InboxRow,
    Instance,
)
from .stepping import Poisoned
from .turns import Cause, Turn, traceback_of

Applied = tuple[InboxRow, Receipt]
"""A row as it is to be written, and what its sender is told."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event from outside, checked: ``text`` is its JSON, ``target`` the path of the actor it is for (else the root)."""

    event_id: str
    text: str
    actor: str | None = None
    target: str | None = None
    trace: str | None = None

    @property
    def digest(self) -> str:
        """What tells it from another event under the same id: the event alone counts."""
        return digest(self.text)


class Applier:
    """Applies what has come for an instance to a :class:`Turn`."""

    __slots__ = ("limits",)

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def catch_up(self, turn: Turn, waiting: Iterable[InboxRow]) -> int:
        """Everything that is due, in order: a row from the queue comes after the timers that were due when it arrived.

        What is too much for one decision is left for the next.
        """
        done = 0
        for row in waiting:
            done += self._fire_until(turn, row.received_at)
            if is_overdue(turn, row.received_at):
                return done
            turn.commit.handled.append(self.apply(turn, row)[0])
            turn.change(pending=turn.instance.pending - 1)
            done += 1
        if turn.instance.pending == 0:
            done += self._fire_until(turn, turn.now)
        return done

    def _fire_until(self, turn: Turn, when: int) -> int:
        """Fire the timers that were due at ``when``, first first, also those that they set themselves."""
        fired = 0
        while turn.instance.status == ACTIVE and fired < self.limits.batch:
            assert turn.held is not None
            due = turn.held.due(when)
            if not due:
                break
            self._fire(turn, due[0])
            fired += 1
        return fired

    def _fire(self, turn: Turn, timer: Any) -> None:
        name = f"timer:{turn.instance.incarnation}:{timer.handle}"
        kind = str(timer.event.get("type"))
        turn.commit.timer_lags.append(int(turn.now - timer.due))
        try:
            turn.deliver(Cause("timer", name, {"fire": timer.handle}, kind))
        except Poisoned as error:
            turn.deliver(Cause("dead-letter", name, {"drop": timer.handle}, kind, reason=str(error)))
            told = Told(name, dumps({"event": plain(timer.event), "to": None if timer.target is None else timer.target.session}))
            self._bury(turn, error)
            turn.arrive(self.row(turn, told, TIMER, status=DEAD, handled_at=turn.now, error=traceback_of(error)))

    # ---------------------------------------------------------------------- a row

    def apply(self, turn: Turn, row: InboxRow, trace: str | None = None) -> Applied:
        """``row`` after it has been applied, refused, or found to be poison."""
        if turn.instance.status != ACTIVE:
            return self._settled(turn, row, REFUSED if row.kind == EVENT else IGNORED, f"the instance is {turn.instance.status}")
        try:
            if row.kind in (RESULT, REPORT):
                return self._apply_result(turn, row)
            return self._apply_event(turn, row, trace)
        except Poisoned as error:
            if row.kind != EVENT:
                self._bury(turn, error)
            return self._settled(turn, row, DEAD, str(error), traceback_of(error))

    def _bury(self, turn: Turn, error: Poisoned) -> None:
        turn.change(needs_attention=True, last_error=str(error))

    def _apply_event(self, turn: Turn, row: InboxRow, trace: str | None) -> Applied:
        assert turn.held is not None and row.body is not None
        event = loads(row.body)
        delivery: dict[str, Any] = {"event": event}
        snapshot = turn.held.snapshot
        if row.kind == TIMER:
            delivery, event = event, event["event"]
        elif row.target is not None:
            ref = turn.held.at(row.target)
            if ref is None:
                return self._settled(turn, row, REFUSED, f"there is no active machine at {row.target!r}")
            delivery["to"] = ref.session
            snapshot = turn.held.state.actor(ref.session).snapshot
        if row.kind in (EVENT, RELAY) and not selects(snapshot, event):
            return self._settled(turn, row, REFUSED, why_not(turn.held, row.target, event))
        cause = Cause(row.kind, row.event_id, delivery, event.get("type"), row.actor, trace=trace)
        if not turn.deliver(cause):
            return self._settled(turn, row, IGNORED, "the actor it came for is over")
        return self._settled(turn, row, APPLIED)

    def _apply_result(self, turn: Turn, row: InboxRow) -> Applied:
        assert row.body is not None
        body = loads(row.body)
        what = body["status"] if row.kind == RESULT else body["what"]
        delivery = {row.kind: [body["session"], what, body.get("data")]}
        if not turn.deliver(Cause(row.kind, row.event_id, delivery, body.get("name"), row.actor)):
            return self._settled(turn, row, IGNORED, "the actor it came for is over")
        return self._settled(turn, row, APPLIED)

    def _settled(self, turn: Turn, row: InboxRow, status: str, reason: str | None = None, error: str | None = None) -> Applied:
        said = {APPLIED: SAID_APPLIED, DEAD: SAID_DEAD}.get(status, SAID_REFUSED)
        receipt = self.receipt(turn, said, row.event_id, reason)
        version = turn.instance.version if status == APPLIED else None
        text = receipt.to_text()
        return replace(row, status=status, handled_at=turn.now, version=version, receipt=text, error=error), receipt

    def row(self, turn: Turn, told: Told, kind: str, **members: Any) -> InboxRow:
        """An inbox row that is new, in its place."""
        made: dict[str, Any] = {
            "namespace": turn.instance.namespace,
            "instance": turn.instance.id,
            "seq": turn.next_seq(),
            "event_id": told.event_id,
            "kind": kind,
            "body": told.text,
            "target": told.target,
            "digest": told.digest,
            "actor": told.actor,
            "status": ACCEPTED,
            "received_at": turn.now,
            "handled_at": None,
            "version": None,
            "receipt": None,
            "error": None,
        }
        return InboxRow(**{**made, **members})

    def receipt(self, turn: Turn, outcome: str, event_id: str, reason: str | None = None) -> Receipt:
        """What is said of an event now."""
        instance, held = turn.instance, turn.held
        allowed = () if outcome != SAID_REFUSED or held is None else allowed_events(held)
        states = states_of(instance) if held is None else held.states
        return Receipt(outcome, instance.id, event_id, instance.version, states, reason, allowed)


def is_overdue(turn: Turn, when: int) -> bool:
    """Whether a timer that was due at ``when`` has not been fired."""
    return turn.instance.status == ACTIVE and turn.held is not None and bool(turn.held.due(when))


def states_of(instance: Instance) -> tuple[str, ...]:
    """The active leaves in a stored row."""
    return tuple(loads(instance.configuration))
