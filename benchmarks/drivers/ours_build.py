"""How long a machine takes from a dict, strictly read, in a process that has built machines before."""

from __future__ import annotations

import copy
from statistics import median
from time import process_time
from typing import Any

from measuring import Result, Task, chart_of

from statecharts import initial_transition, load_machine

BUILDS_BEFORE = 1


def measure(task: Task) -> Result:
    """Milliseconds of CPU: ``samples`` for the build alone, ``ready`` with the first snapshot as well."""
    config = chart_of(task)["config"]
    built, ready = [], []
    for _ in range(BUILDS_BEFORE + task["repetitions"]):
        given = copy.deepcopy(config)
        before = process_time()
        machine: Any = load_machine(given)
        loaded = process_time()
        initial_transition(machine)
        built.append((loaded - before) * 1e3)
        ready.append((process_time() - before) * 1e3)
    return {"samples": built[BUILDS_BEFORE:], "ready": median(ready[BUILDS_BEFORE:])}
