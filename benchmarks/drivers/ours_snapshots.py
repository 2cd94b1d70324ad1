"""Snapshot, JSON text, restored snapshot: in XState's form and as our envelope, with a host and without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ours_events
from measuring import Result, Task, repeat

from statecharts import restore_snapshot, simulate

EVENT = {"b": "T", "d100": "GO"}


def measure(task: Task) -> Result:
    """Microseconds a round trip."""
    machine = ours_events.machine_of(task)
    sim = simulate(machine)
    snapshot = sim.send(EVENT[task["chart"]])
    round_trips: dict[str, Callable[[], Any]] = {
        "xstate": lambda: restore_snapshot(machine, snapshot.to_xstate_text()),
        "envelope": lambda: restore_snapshot(machine, snapshot.save_text()),
        "xstate-simulate": lambda: simulate(machine, snapshot=sim.to_xstate_text()).snapshot,
        "envelope-simulate": lambda: simulate(machine, snapshot=sim.save_text()).snapshot,
    }
    round_trip = round_trips[task["mode"]]
    back = round_trip()
    if back.value != snapshot.value or back.context != snapshot.context:
        raise AssertionError("what came back is not what was saved")

    def run() -> None:
        for _ in range(task["trips"]):
            round_trip()

    return {"samples": repeat(task, run, task["trips"])}
