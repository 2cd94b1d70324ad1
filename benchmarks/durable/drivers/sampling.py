"""What every driver does the same way: warm up, repeat, take the time, and print the result as a line of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

Task = dict[str, Any]


class Samples:
    """CPU (µs an event, all threads of the process) and events a second of each pass that counts."""

    def __init__(self, task: Task) -> None:
        self.events: int = task["events"]
        self._warm: int = task["warmup"]
        self._passes: int = task["warmup"] + task["repetitions"]
        self.cpu: list[float] = []
        self.rates: list[float] = []

    def __iter__(self) -> Iterator[int]:
        """The number of each pass, of which the body makes ``events`` events."""
        for number in range(self._passes):
            cpu, wall = process_time(), perf_counter()
            yield number
            cpu, wall = process_time() - cpu, perf_counter() - wall
            if number >= self._warm:
                self.cpu.append(cpu * 1e6 / self.events)
                self.rates.append(self.events / wall)

    @property
    def total(self) -> int:
        """How many events there are in all passes."""
        return self.events * self._passes

    def result(self, count: int) -> dict[str, Any]:
        """With ``count``, the events that have arrived in what was stored."""
        return {"samples": self.cpu, "rates": self.rates, "count": count, "expected": self.total}


def answer(measure: Callable[[Task], dict[str, Any]]) -> None:
    """Do the task that the command line names and print the result."""
    task = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    print(json.dumps(measure(task)))
