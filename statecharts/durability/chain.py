"""The hash chain of the log.

The hash of a row covers the row before it, so a row that is changed, moved or
taken out shows in all that follow; who keeps the newest hash elsewhere can tell
that nothing was cut off at the end either. What may have to be erased one day
(the payload) is covered by a hash of its own, salted, so that it can go
without a trace and the chain still holds.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from ..json_text import dumps
from .rows import LogRow

START = "0" * 64
"""What the first row has for a predecessor."""


def salted(salt: str, text: str) -> str:
    """The hash of something that may be erased. ``salt`` is drawn for each row."""
    return hashlib.sha256(f"{salt}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def row_hash(row: LogRow) -> str:
    """The hash of a row: over all its members but payload and salt, and the row before it."""
    return _hash([getattr(row, name) for name in HASHED])


HASHED: Final = tuple(name for name in LogRow.__dataclass_fields__ if name not in ("payload", "salt", "hash"))
"""What the hash of a row covers, in this order."""


def chained(members: dict[str, Any]) -> LogRow:
    """The row of these members (all but the hash), with its hash."""
    return LogRow(**members, hash=_hash([members[name] for name in HASHED]))


def _hash(members: list[Any]) -> str:
    return hashlib.sha256(dumps(members).encode("utf-8", "surrogatepass")).hexdigest()
