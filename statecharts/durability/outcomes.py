"""What becomes of an effect when its call has ended, or when nobody knows: settlements for a store."""

from __future__ import annotations

from typing import Any

from ..errors import PayloadError
from ..json_text import dumps
from ..values import UNDEFINED
from .effects import CallRules, named
from .payloads import Limits, checked_text, digest, storable
from .rows import (
    ACCEPTED,
    DEAD,
    FAILED,
    INVOKE,
    PENDING,
    RESULT,
    RUNNING,
    SETTLED,
    UNKNOWN,
    WITHDRAWN,
    EffectRow,
    InboxRow,
)
from .store import Settlement

LOST_WORKERS = 10
"""So many workers more than it has attempts an effect may lose before it is given up."""
UNDELIVERABLE = "undeliverable"
"""What the body of a dead letter says whose event had no instance to go to."""
LATE = (RUNNING, UNKNOWN)
"""What a row may be when its own last attempt reports."""


def succeeded(row: EffectRow, value: Any, now: int, limits: Limits, was: tuple[str, ...] = LATE) -> Settlement:
    """The call returned ``value``: the row is closed whatever ``value`` is, and the machine hears of it if it can."""
    try:
        text = checked_text(value, f"the result of {named(row.name)!r}", limits.result, limits.depth)
    except PayloadError as error:
        return _settled(row, SETTLED, was, error=str(error), outcome=_unusable(row, str(error), now))
    return _settled(row, SETTLED, was, result=text, outcome=_told(row, "done", value, now))


def rejected_output(row: EffectRow, error: BaseException, value: Any, now: int, limits: Limits) -> Settlement:
    """The call returned something that its schema does not allow: it was made, and the machine hears of an error."""
    try:
        text: str | None = checked_text(value, "the result", limits.result, limits.depth)
    except PayloadError:
        text = None
    return _settled(row, SETTLED, LATE, result=text, error=_said(error), outcome=_told(row, "error", error_data(error), now))


def useless(row: EffectRow, error: str, now: int) -> Settlement:
    """It was done under this key before, and what came of it is not here: the machine hears of an error."""
    said = f"it was done before under its key, and there is no result: {error}"
    return _settled(row, SETTLED, LATE, error=said, outcome=_told(row, "error", error_data(said), now))


def failed(
    row: EffectRow, rules: CallRules, error: BaseException, now: int, jitter: float, *, called: bool = True, was: tuple[str, ...] = LATE
) -> Settlement:
    """The call raised, was cancelled or took too long. ``jitter`` is a number from 0 to 1.

    What was certainly not done, and what the receiver knows again by its key, is
    tried again while attempts and deadline allow, and fails for good after
    that. Of anything else nobody knows whether it happened.
    """
    certain = not called or rules.is_not_done(error)
    if not certain and not rules.idempotent:
        return _settled(row, UNKNOWN, was, error=_said(error))
    next_at = now + backoff(rules, row.attempts, jitter)
    in_time = rules.deadline is None or next_at <= row.created_at + rules.deadline
    if row.attempts < rules.attempts and in_time and not row.is_cancelled:
        return _settled(row, PENDING, was, next_at=next_at, error=_said(error))
    return gave_up(row, error, now, was)


def gave_up(row: EffectRow, error: BaseException | str, now: int, was: tuple[str, ...] = LATE) -> Settlement:
    """It is certain that there will be no result: the machine hears of an error."""
    return _settled(row, FAILED, was, error=_said(error), outcome=_told(row, "error", error_data(error), now))


def expired(row: EffectRow, rules: CallRules, now: int) -> Settlement:
    """The lease of a RUNNING effect stood still: whoever had it is gone, or as good as gone.

    Before the call nothing was done, and a receiver that honours the key may be
    called again; yet not for ever, for it may be this very call that kills its
    workers.
    """
    was_called = row.called_at is not None
    error = "its worker was lost in the call" if was_called else "its worker was lost before the call"
    if was_called and (not rules.idempotent or row.is_cancelled):
        return _settled(row, UNKNOWN, (RUNNING,), beat=row.beat, error=error)
    if row.is_cancelled:
        return _settled(row, WITHDRAWN, (RUNNING,), beat=row.beat, error=error)
    if row.attempts >= rules.attempts + LOST_WORKERS:
        status = UNKNOWN if was_called else FAILED
        outcome = None if was_called else _told(row, "error", error_data(error), now)
        return _settled(row, status, (RUNNING,), beat=row.beat, error=f"{error}, {row.attempts} times", outcome=outcome)
    return _settled(row, PENDING, (RUNNING,), beat=row.beat, next_at=now, error=error)


def undeliverable(row: EffectRow, error: str, now: int) -> Settlement:
    """There is no instance for an event of this one: a dead letter here."""
    body = {"effect": row.id, "name": named(row.name), "session": row.session, "status": UNDELIVERABLE}
    return _settled(row, FAILED, (RUNNING,), error=error, outcome=_row(row, dumps(body), now, status=DEAD, error=error))


def handed_back(row: EffectRow, now: int) -> Settlement:
    """Its worker ends, and somebody else is to go on with it."""
    return _settled(row, PENDING, (RUNNING,), next_at=now)


def withdrawn(row: EffectRow) -> Settlement:
    """It ended because its state was left."""
    return _settled(row, WITHDRAWN, (RUNNING,))


def backoff(rules: CallRules, attempts: int, jitter: float) -> int:
    """The pause before the next attempt, in ms: doubled each time, up to a bound, and up to a half of it left to chance."""
    pause = min(rules.backoff * 2 ** min(attempts - 1, 30), rules.max_backoff)
    return max(1, int(pause * (1 - jitter / 2)))


def error_data(error: BaseException | str) -> dict[str, str]:
    """An exception as the machine sees it (``event["error"]``): ``name`` and ``message``, as JavaScript's errors have."""
    if isinstance(error, str):
        return {"name": "Error", "message": error}
    return {"name": type(error).__name__, "message": str(error)}


def _said(error: BaseException | str) -> str:
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    text = storable(text)
    return text if len(text) <= 4_000 else text[:4_000] + "…"


def _settled(row: EffectRow, status: str, was: tuple[str, ...], **members: Any) -> Settlement:
    return Settlement(namespace=row.namespace, id=row.id, fence=row.fence, was=was, status=status, **members)


def _told(row: EffectRow, status: str, data: Any, now: int) -> InboxRow | None:
    """The event for the machine; there is none for an action, whose end changes nothing."""
    if row.kind != INVOKE:
        return None
    body = {"effect": row.id, "name": named(row.name), "session": row.session, "status": status}
    return _row(row, dumps({**body, "data": data} if data is not UNDEFINED else body), now)


def _unusable(row: EffectRow, error: str, now: int) -> InboxRow | None:
    if row.kind != INVOKE:
        return None
    body = {"effect": row.id, "name": named(row.name), "session": row.session, "status": "unusable", "data": error_data(error)}
    return _row(row, dumps(body), now, status=DEAD, error=error)


def _row(row: EffectRow, text: str, now: int, status: str = ACCEPTED, error: str | None = None) -> InboxRow:
    return InboxRow(
        namespace=row.namespace,
        instance=row.instance,
        seq=0,
        event_id=f"result:{row.id}" if row.kind == INVOKE else f"result:{row.id}:{row.fence}",
        kind=RESULT,
        body=text,
        target=None,
        digest=digest(text),
        actor=f"effect:{row.id}",
        status=status,
        received_at=now,
        handled_at=now if status == DEAD else None,
        version=None,
        receipt=None,
        error=error,
    )
