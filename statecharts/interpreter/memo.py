"""How much a program may remember: a number of bytes.

What is kept (configurations, routes, plans) is made again when it is needed,
so correctness never depends on it. Over the limit everything is forgotten at
once, as a lazy DFA of a regular-expression engine does: there is no
bookkeeping on the way, and a machine that visits more than fits is slowed
down by a constant factor, not stopped.

Sizes are estimates, rounded up, of what CPython takes; a test compares them
with what is really allocated.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

DEFAULT_LIMIT = 32 * 1024 * 1024
"""Bytes a program may keep unless told otherwise."""


class Memo:
    """The bound on what one program keeps. Safe to use from several threads.

    ``bytes`` is what is kept now (estimated), ``limit`` what may be, and
    ``forgotten`` how often all of it was dropped. ``keeps``: whether anything
    may be kept at all, which a limit of 0 forbids.
    """

    __slots__ = ("_forget", "_limit", "_lock", "bytes", "forgotten", "keeps")

    def __init__(self, limit: int, forget: Callable[[], None]) -> None:
        self._limit = limit
        self._forget = forget
        self._lock = Lock()
        self.bytes = 0
        self.forgotten = 0
        self.keeps = limit > 0

    @property
    def limit(self) -> int:
        """Bytes that may be kept; setting it applies at once."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        self.keeps = limit > 0
        self.charge(0)

    def charge(self, size: int) -> None:
        """``size`` bytes more are about to be kept; over the limit, all that was kept before is forgotten."""
        with self._lock:
            self.bytes += size
            if self.bytes > self._limit:
                self.bytes = min(size, self._limit)
                self.forgotten += 1
                self._forget()

    def clear(self) -> None:
        """Forget everything now."""
        with self._lock:
            self.bytes = 0
            self._forget()

    def __repr__(self) -> str:
        return f"<Memo {self.bytes} of {self._limit} bytes>"
