"""The clock of a store that has none of its own."""

from __future__ import annotations

import time


class SystemClock:
    """This computer's clock."""

    def now(self) -> int:
        """Wall-clock ms."""
        return int(time.time() * 1000)

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()
