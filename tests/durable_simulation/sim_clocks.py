"""Virtual time, as each simulated process sees it, and seeded chance."""

from __future__ import annotations

from random import Random

BEGIN = 1_700_000_000_000
LEASE = 10_000
"""Of the simulated workers, in ms."""


class VirtualTime:
    """True time, in ms since the world began. Only the scheduler moves it."""

    def __init__(self) -> None:
        self.ms = 0


class ProcessClock:
    """A process's clocks: the wall clock may be wrong by ``skew`` ms, the monotonic one never is."""

    def __init__(self, time: VirtualTime, skew: int) -> None:
        self._time = time
        self.skew = skew

    def now(self) -> int:
        return BEGIN + self._time.ms + self.skew

    def monotonic(self) -> float:
        return self._time.ms / 1000


class DatabaseClock:
    """The clock of the one database: that of the process which uses it now."""

    def __init__(self, current: ProcessClock) -> None:
        self.current = current

    def now(self) -> int:
        return self.current.now()

    def monotonic(self) -> float:
        return self.current.monotonic()


class SeededEntropy:
    """Ids, salts and jitter that come out the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"entropy {seed}")
        self._name = f"i{seed}"
        self._count = 0

    def incarnation(self) -> str:
        self._count += 1
        return f"{self._name}.{self._count}"

    def salt(self) -> str:
        return f"{self._random.getrandbits(64):016x}"

    def event_id(self) -> str:
        self._count += 1
        return f"id-{self._name}.{self._count}"

    def jitter(self) -> float:
        return self._random.random()
