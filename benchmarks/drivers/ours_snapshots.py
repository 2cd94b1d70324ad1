"""Snapshot, JSON text, restored snapshot: in XState's form and as our envelope."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import ours_events
from measuring import Result, Task, repeat

from statecharts import simulate

EVENT = {"b": "T", "d100": "GO"}


def measure(task: Task) -> Result:
    """Microseconds a round trip."""
    machine = ours_events.machine_of(task)
    sim = simulate(machine)
    sim.send(EVENT[task["chart"]])
    saved: dict[str, Callable[[], Any]] = {"xstate": sim.to_xstate, "envelope": sim.save}
    save = saved[task["mode"]]

    def round_trip() -> Any:
        return simulate(machine, snapshot=json.dumps(save())).snapshot

    back = round_trip()
    if back.value != sim.snapshot.value or back.context != sim.snapshot.context:
        raise AssertionError("what came back is not what was saved")

    def run() -> None:
        for _ in range(task["trips"]):
            round_trip()

    return {"samples": repeat(task, run, task["trips"])}
