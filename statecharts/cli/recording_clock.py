"""A virtual clock that remembers which timers went off."""

from __future__ import annotations

from ..adapters.engines.clocks import ExactClock, Fire, JumpingClock, VirtualClock
from ..interpreter.deliveries import Timer

CLOCKS: dict[str, type[ExactClock] | type[JumpingClock]] = {"exact": ExactClock, "jumping": JumpingClock}


class RecordingClock:
    """Another clock, with lists of what was set, cancelled and fired (with the time)."""

    def __init__(self, kind: str) -> None:
        self._clock: VirtualClock = CLOCKS[kind]()
        self.fired: list[tuple[float, Timer]] = []
        self.armed: list[Timer] = []
        self.disarmed: list[Timer] = []

    @property
    def now(self) -> float:
        """Virtual time in milliseconds."""
        return self._clock.now

    @now.setter
    def now(self, value: float) -> None:
        self._clock.now = value

    def arm(self, timer: Timer) -> None:
        """A timer was set."""
        self.armed.append(timer)
        self._clock.arm(timer)

    def disarm(self, timer: Timer) -> None:
        """A timer was cancelled."""
        self.disarmed.append(timer)
        self._clock.disarm(timer)

    def next_due(self) -> float | None:
        """When the next timer is due."""
        return self._clock.next_due()

    def advance(self, ms: float, fire: Fire) -> None:
        """Let time pass."""

        def fire_and_record(timer: Timer) -> None:
            self.fired.append((self._clock.now, timer))
            fire(timer)

        self._clock.advance(ms, fire_and_record)
