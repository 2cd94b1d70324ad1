"""A decision as the JSON text that the database's functions take."""

from __future__ import annotations

import json
from typing import Any

from ...durability.commits import Commit
from ...durability.rows import PENDING
from ...durability.store import Settlement
from .sql_rows import DEFINITIONS, EFFECTS, INBOX, LOG, TIMERS


def writes_text(commit: Commit) -> str:
    """All that goes with the instance's row."""
    definition = commit.definition
    writes = {
        "definition": None if definition is None else DEFINITIONS.write(definition),
        "arrived": [INBOX.write(row) for row in commit.arrived],
        "handled": [INBOX.write(row) for row in commit.handled],
        "log": [LOG.write(row) for row in commit.log],
        "settled": [_members(settlement) for settlement in commit.settled],
        "withdrawn": commit.withdrawn,
        "timers_gone": commit.timers_gone,
        "renamed": [EFFECTS.write(row) for row in commit.renamed],
        "effects": [EFFECTS.write(row) for row in commit.effects],
        "timers_set": [TIMERS.write(row) for row in commit.timers_set],
        "closes": commit.closes,
        "erases": commit.erases,
    }
    # what is empty is left out: the function then does not even look
    return json.dumps({name: value for name, value in writes.items() if value}, ensure_ascii=False)


def settlement_text(settlement: Settlement) -> str:
    """A settlement, without the event for the instance."""
    return json.dumps(_members(settlement), ensure_ascii=False)


def _members(settlement: Settlement) -> dict[str, Any]:
    return {name: getattr(settlement, name) for name in Settlement.__dataclass_fields__ if name != "outcome"}


def leaves_work(commit: Commit) -> bool:
    """Whether a worker may have something to do now, or sooner than it thinks."""
    before, after = commit.before, commit.after
    if after is None:
        return False
    has_more = after.pending > (0 if before is None else before.pending)
    is_resumed = before is not None and before.is_suspended and not after.is_suspended
    is_open = any(settlement.status == PENDING for settlement in commit.settled)
    return bool(commit.effects or commit.timers_set or has_more or is_resumed or is_open)
