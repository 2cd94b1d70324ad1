"""Rows of a store as JSON: every key is always there, ``null`` where there is nothing, moments in UTC."""

from __future__ import annotations

from typing import Any

from ..durability.effects import CallRules, named, read_rules
from ..durability.rows import EffectRow, InboxRow, Instance, LogRow, TimerRow
from ..json_text import loads
from .store_times import utc


def instance_json(row: Instance, now: int) -> dict[str, Any]:
    """An instance, without its state."""
    return {
        "instance": row.id,
        "machine": row.machine,
        "definition": row.definition,
        "status": row.status,
        "suspended": row.is_suspended,
        "needsAttention": row.needs_attention,
        "states": loads(row.configuration),
        "enteredAt": utc(row.entered_at),
        "dwellMs": now - row.entered_at,
        "version": row.version,
        "pending": row.pending,
        "nextDue": utc(row.next_due),
        "lastEvent": row.last_event,
        "lastError": row.last_error,
        "createdAt": utc(row.created_at),
        "updatedAt": utc(row.updated_at),
    }


def effect_json(row: EffectRow) -> dict[str, Any]:
    """An effect; what it was given is in :func:`effect_details`."""
    return {
        "id": row.id,
        "instance": row.instance,
        "name": named(row.name),
        "kind": row.kind,
        "status": row.status,
        "attempt": row.attempts,
        "attempts": read_rules(row.policy).attempts,
        "key": row.key,
        "externalId": row.external_id,
        "createdAt": utc(row.created_at),
        "nextAt": utc(row.next_at),
        "calledAt": utc(row.called_at),
        "settledAt": utc(row.settled_at),
        "cancelled": row.is_cancelled,
        "error": row.error,
    }


def effect_details(row: EffectRow) -> dict[str, Any]:
    """All there is to say about one effect."""
    return {
        **effect_json(row),
        "version": row.version,
        "definition": row.definition,
        "owner": row.owner,
        "fence": row.fence,
        "policy": policy_json(read_rules(row.policy)),
        "given": parsed(row.given),
        "result": parsed(row.result),
    }


def policy_json(rules: CallRules) -> dict[str, Any]:
    """How an effect is called; spans in ms."""
    return {
        "idempotent": rules.idempotent,
        "notDone": list(rules.not_done),
        "attempts": rules.attempts,
        "backoffMs": rules.backoff,
        "maxBackoffMs": rules.max_backoff,
        "timeoutMs": rules.timeout,
        "deadlineMs": rules.deadline,
        "probes": rules.probes,
    }


def timer_json(row: TimerRow, now: int) -> dict[str, Any]:
    """A timer."""
    return {"id": row.id, "event": row.event_type, "dueAt": utc(row.due_at), "inMs": row.due_at - now, "version": row.version}


def letter_json(row: InboxRow) -> dict[str, Any]:
    """A dead letter."""
    return {
        "instance": row.instance,
        "eventId": row.event_id,
        "kind": row.kind,
        "event": parsed(row.body),
        "target": row.target,
        "actor": row.actor,
        "receivedAt": utc(row.received_at),
        "diedAt": utc(row.handled_at),
        "reason": reason_of(row),
        "traceback": row.error,
    }


def log_json(row: LogRow) -> dict[str, Any]:
    """A version, without its payload."""
    return {
        "version": row.version,
        "at": utc(row.at),
        "kind": row.kind,
        "eventId": row.event_id,
        "event": row.event_type,
        "actor": row.actor,
        "reason": row.reason,
        "from": loads(row.before),
        "to": loads(row.after),
        "definition": row.definition,
        "implementation": row.implementation,
        "hash": row.hash,
    }


def parsed(text: str | None) -> Any:
    """What a stored text says; ``None`` when it is not there."""
    return None if text is None else loads(text)


def reason_of(letter: InboxRow) -> str:
    """Why a letter is dead, in a line: what its receipt says, else the end of its traceback."""
    said = (parsed(letter.receipt) or {}).get("reason")
    lines = (letter.error or "").strip().splitlines()
    return str(said or (lines[-1] if lines else "unknown"))
