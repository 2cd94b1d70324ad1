"""Drives this library. The task says what is measured; each kind has a module of its own."""

from __future__ import annotations

import ours_agent
import ours_build
import ours_events
import ours_memory
import ours_snapshots
from measuring import Result, Task, answer

KINDS = {
    "events": ours_events.measure,
    "agent": ours_agent.measure,
    "build": ours_build.measure,
    "memory": ours_memory.measure,
    "memo": ours_memory.measure_memo,
    "snapshot": ours_snapshots.measure,
}


def measure(task: Task) -> Result:
    """Do the task."""
    return KINDS[task["kind"]](task)


if __name__ == "__main__":
    answer(measure)
