"""A clock that a test moves."""

from __future__ import annotations


class TestClock:
    """Wall clock and monotonic clock, in ms and seconds, moved together unless told otherwise."""

    __test__ = False

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now
        self._monotonic = 0.0

    def now(self) -> int:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, ms: int) -> None:
        self._now += ms
        self._monotonic += ms / 1000

    def step(self, ms: int) -> None:
        """Somebody sets the wall clock."""
        self._now += ms
