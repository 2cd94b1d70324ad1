"""Actor systems that were read or made a moment ago, so that the next delivery need not read them again.

Nothing depends on it: an entry is used only for the very revision it was made
for, and what a failed commit leaves behind is dropped.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from .stepping import Held

Key = tuple[str, str]


class StateCache:
    """The last ``limit`` systems by namespace and instance. Safe to use from several threads."""

    __slots__ = ("_entries", "_limit", "_lock")

    def __init__(self, limit: int = 1_000) -> None:
        self._limit = limit
        self._entries: OrderedDict[Key, tuple[int, str, Held]] = OrderedDict()
        self._lock = Lock()

    def revision(self, key: Key) -> int | None:
        """The revision of which the system is here."""
        with self._lock:
            found = self._entries.get(key)
            return None if found is None else found[0]

    def get(self, key: Key, revision: int, incarnation: str) -> Held | None:
        """The system of this revision."""
        with self._lock:
            found = self._entries.get(key)
            if found is None or found[:2] != (revision, incarnation):
                return None
            self._entries.move_to_end(key)
            return found[2]

    def put(self, key: Key, revision: int, incarnation: str, held: Held) -> None:
        """Keep ``held``; what was used longest ago gives way."""
        with self._lock:
            self._entries[key] = (revision, incarnation, held)
            self._entries.move_to_end(key)
            while len(self._entries) > self._limit:
                self._entries.popitem(last=False)

    def drop(self, key: Key) -> None:
        """Forget an instance."""
        with self._lock:
            self._entries.pop(key, None)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._entries.clear()
