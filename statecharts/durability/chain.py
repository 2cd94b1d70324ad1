"""The hash chain of the log.

The hash of a row covers the row before it, so a row that is changed, moved or
taken out shows in all that follow; who keeps the newest hash elsewhere can tell
that nothing was cut off at the end either. What may have to be erased one day
(the payload) is covered by a hash of its own, salted, so that it can go
without a trace and the chain still holds.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from ..json_text import dumps
from .rows import LogRow

START = "0" * 64
"""What the first row has for a predecessor."""


def salted(salt: str, text: str) -> str:
    """The hash of something that may be erased. ``salt`` is drawn for each row."""
    return hashlib.sha256(f"{salt}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def row_hash(row: LogRow) -> str:
    """The hash of a row: over all its members but payload and salt, and the row before it."""
    members = [
        row.previous,
        row.namespace,
        row.instance,
        row.version,
        row.at,
        row.kind,
        row.event_id,
        row.event_type,
        row.actor,
        row.reason,
        row.before,
        row.after,
        row.definition,
        row.implementation,
        row.payload_hash,
        row.state_hash,
    ]
    return hashlib.sha256(dumps(members).encode("utf-8", "surrogatepass")).hexdigest()


def chained(row: LogRow) -> LogRow:
    """``row`` with its hash."""
    return replace(row, hash=row_hash(row))
