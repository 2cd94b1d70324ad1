"""What operators do to instances: each an entry in the log, with who and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..errors import UnknownInstance, UsageError
from ..json_text import loads
from .commits import Commit, Job, Loaded
from .decisions import Decider
from .outcomes import UNDELIVERABLE, gave_up, succeeded
from .payloads import checked_text
from .receipts import ACCEPTED as SAID_ACCEPTED
from .receipts import APPLIED, Receipt
from .rows import (
    ACCEPTED,
    ACTION,
    ACTIVE,
    CANCELLED,
    DEAD,
    FAILED,
    PENDING,
    RESULT,
    SEND,
    UNKNOWN,
    EffectRow,
    InboxRow,
    Instance,
)
from .store import Settlement
from .turns import Cause, Turn

DROPPED = "dropped"
"""What becomes of a dead letter that nobody wants."""


@dataclass(frozen=True, slots=True)
class Order:
    """Who does something to an instance, and why. ``id`` is what the log calls it by."""

    id: str
    actor: str
    reason: str

    def __post_init__(self) -> None:
        for name in ("actor", "reason"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise UsageError(f"an operator's action needs {'an' if name == 'actor' else 'a'} {name}: who does it, and why")


class Operator:
    """Makes the jobs. The answer to each is a :class:`Receipt`; what cannot be done raises :class:`UsageError`."""

    def __init__(self, decider: Decider) -> None:
        self._decider = decider

    def cancel(self, namespace: str, instance: str, order: Order) -> Job:
        """End an instance as XState's ``stop()`` does: no exit actions; timers and what nobody has begun are withdrawn."""

        def decide(turn: Turn) -> None:
            _require_active(turn.instance)
            if turn.held is None:  # nobody here can stop its actors; its state stays as it is
                _note(turn, "cancel", order)
            else:
                turn.deliver(Cause("cancel", order.id, {"stop": True}, None, order.actor, order.reason))
            turn.change(status=CANCELLED, next_due=None, is_suspended=False)
            turn.commit.closes = True

        return self._job(namespace, instance, order, decide)

    def suspend(self, namespace: str, instance: str, order: Order) -> Job:
        """Let an instance rest: what comes is kept, timers wait, nothing new is called."""

        def decide(turn: Turn) -> None:
            _require_active(turn.instance)
            if turn.instance.is_suspended:
                raise UsageError(f"instance {instance!r} is suspended already")
            _note(turn, "suspend", order, is_suspended=True)

        return self._job(namespace, instance, order, decide)

    def resume(self, namespace: str, instance: str, order: Order) -> Job:
        """Go on with an instance that was suspended."""

        def decide(turn: Turn) -> None:
            if not turn.instance.is_suspended:
                raise UsageError(f"instance {instance!r} is not suspended")
            _note(turn, "resume", order, is_suspended=False)

        return self._job(namespace, instance, order, decide)

    def erase(self, namespace: str, instance: str, order: Order) -> Job:
        """Delete what an instance that is over was told and has kept: payloads of its log, events, results, its state.

        Who did what when, and the chain of hashes, stay. It must have no open effects.
        """

        def decide(turn: Turn, loaded: Loaded) -> None:
            if turn.instance.status == ACTIVE:
                raise UsageError(f"instance {instance!r} is active, and its state holds what it needs; cancel it first")
            if loaded.effects or turn.instance.pending:
                raise UsageError(f"instance {instance!r} has open effects or rows that wait; settle them first")
            _note(turn, "erase", order)
            turn.change(state="{}", output=None, last_error=None)
            turn.commit.erases = True

        return self._job_with(namespace, instance, order, decide, None, needs_effects=True)

    # ----------------------------------------------------------------- effects

    def settle_done(self, row: EffectRow, result: Any, order: Order) -> Job:
        """A person has found out that an UNKNOWN effect was done, and what came of it."""
        checked_text(result, "the result", self._decider.limits.result, self._decider.limits.depth)
        return self._settle(row, order, lambda now: succeeded(row, result, now, self._decider.limits, (UNKNOWN,)), "done")

    def settle_failed(self, row: EffectRow, error: str, order: Order) -> Job:
        """A person has found out that an UNKNOWN effect was not done, and is not to be."""
        return self._settle(row, order, lambda now: gave_up(row, error, now, (UNKNOWN,)), "failed")

    def retry(self, row: EffectRow, order: Order) -> Job:
        """Call again: an UNKNOWN effect, though it may have been done; or an action, or an event for another instance, that failed."""
        if row.is_cancelled:
            raise UsageError(f"the state that wanted it was left, nobody waits for effect {row.id!r}; settle it, as done or as failed")
        was = (UNKNOWN, FAILED) if row.kind in (ACTION, SEND) else (UNKNOWN,)
        again = Settlement(namespace=row.namespace, id=row.id, fence=row.fence, was=was, status=PENDING, next_at=0)
        return self._settle(row, order, lambda now: replace(again, next_at=now), "retry")

    def _settle(self, row: EffectRow, order: Order, made: Callable[[int], Settlement], what: str) -> Job:
        def decide(turn: Turn) -> None:
            settlement = made(turn.now)
            if row.status not in settlement.was:
                raise UsageError(f"effect {row.id!r} is {row.status}, not {' or '.join(settlement.was)}")
            _note(turn, f"effect-{what}", order, {"effect": row.id})
            turn.commit.settled.append(replace(settlement, outcome=None))
            if settlement.outcome is not None:
                turn.arrive(replace(settlement.outcome, seq=turn.next_seq()))
                turn.change(pending=turn.instance.pending + (settlement.outcome.status == ACCEPTED))

        return self._job(row.namespace, row.instance, order, decide)

    # ------------------------------------------------------------ dead letters

    def revive(self, namespace: str, instance: str, event_id: str, order: Order) -> Job:
        """Try a dead letter again: it takes its old place in the order."""
        return self._letter(namespace, instance, event_id, order, ACCEPTED)

    def drop(self, namespace: str, instance: str, event_id: str, order: Order) -> Job:
        """Give a dead letter up."""
        return self._letter(namespace, instance, event_id, order, DROPPED)

    def _letter(self, namespace: str, instance: str, event_id: str, order: Order, status: str) -> Job:
        def decide(turn: Turn, loaded: Loaded) -> None:
            known = loaded.known
            if known is None or known.status != DEAD:
                found = "there is none" if known is None else f"it is {known.status}"
                raise UsageError(f"{event_id!r} is no dead letter of instance {instance!r}: {found}")
            _note(turn, "dead-letter-retry" if status == ACCEPTED else "dead-letter-drop", order, {"event": event_id})
            if status == ACCEPTED and not may_be_revived(known):
                raise UsageError(f"{event_id!r} is an event that could not be delivered and is not sent again: retry the effect, or drop this")
            accepted = self._decider.applier.receipt(turn, SAID_ACCEPTED, event_id)
            waits = replace(known, status=ACCEPTED, handled_at=None, receipt=accepted.to_text(), error=None)
            turn.commit.handled.append(waits if status == ACCEPTED else replace(known, status=status, handled_at=turn.now))
            turn.change(pending=turn.instance.pending + (status == ACCEPTED), needs_attention=False)

        return self._job_with(namespace, instance, order, decide, event_id)

    # ------------------------------------------------------------------ inside

    def _job(self, namespace: str, instance: str, order: Order, decide: Callable[[Turn], None]) -> Job:
        return self._job_with(namespace, instance, order, lambda turn, _loaded: decide(turn), None)

    def _job_with(
        self,
        namespace: str,
        instance: str,
        order: Order,
        decide: Callable[[Turn, Loaded], None],
        event_id: str | None,
        needs_effects: bool = False,
    ) -> Job:
        def made(loaded: Loaded) -> Commit:
            row = loaded.instance
            if row is None:
                raise UnknownInstance(f"there is no instance {instance!r}")
            turn = self._decider.turn(loaded, row)
            decide(turn, loaded)
            return turn.finish(Receipt(APPLIED, instance, order.id, turn.instance.version))

        return Job(namespace, instance, made, event_id, needs_effects=needs_effects, logged_id=order.id)


def may_be_revived(letter: InboxRow) -> bool:
    """Whether a dead letter can be tried again: not one that says that an event had no instance to go to."""
    return letter.kind != RESULT or loads(letter.body or "{}").get("status") != UNDELIVERABLE


def _note(turn: Turn, kind: str, order: Order, about: dict[str, Any] | None = None, **changes: Any) -> None:
    turn.note(Cause(kind, order.id, {"none": True, **(about or {})}, None, order.actor, order.reason), **changes)


def _require_active(instance: Instance) -> None:
    if instance.status != ACTIVE:
        raise UsageError(f"instance {instance.id!r} is {instance.status}")


