"""What one instance of chart (b) keeps alive, and how much of the memo of (i) is in use."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import ours_events
from measuring import Result, Task, chart_of, growth

from statecharts import initial_transition, simulate, start, transition

EVENT = "T"


def measure(task: Task) -> Result:
    """Bytes an instance, over ``task["instances"]`` of them; each has handled one event.

    ``samples`` is what the process grew by, ``context`` what of it is the
    instance's own context.
    """
    machine = ours_events.machine_of(task)
    kept: list[Any] = []
    grown = growth(MAKERS[task["mode"]](machine), task["instances"], kept)
    snapshot = kept[0] if task["mode"] == "snapshot" else kept[0].snapshot
    return {"samples": [grown], "context": size_of(snapshot.context)}


def size_of(value: Any) -> int:
    """Bytes of a context of chart (b): the mapping; its number belongs to everybody."""
    inner = getattr(value, "__dict__", {})
    return sys.getsizeof(value) + sum(sys.getsizeof(one) for one in inner.values())


def _snapshots(machine: Any) -> Callable[[], Any]:
    first = initial_transition(machine)[0]
    return lambda: transition(machine, first, EVENT)[0]


def _simulations(machine: Any) -> Callable[[], Any]:
    def make() -> Any:
        sim = simulate(machine)
        sim.send(EVENT)
        return sim

    return make


def _actors(machine: Any) -> Callable[[], Any]:
    loop = asyncio.new_event_loop()

    async def begun() -> Any:
        actor = start(machine)
        await actor.__aenter__()
        await actor.send(EVENT)
        return actor

    return lambda: loop.run_until_complete(begun())


MAKERS = {"snapshot": _snapshots, "simulate": _simulations, "asyncio": _actors}


def measure_memo(task: Task) -> Result:
    """Bytes the memo of the chart's program holds after all its events, and the bound it states."""
    from statecharts.interpreter.program import program_of

    machine = ours_events.machine_of(task)
    sim = simulate(machine)
    for event in chart_of(task)["events"]:
        sim.send(event)
    memo: Any = getattr(program_of(machine), "memo", None)
    if not hasattr(memo, "bytes") or not hasattr(memo, "limit"):
        return {"not_measured": "the program does not say what its memo holds"}
    return {"samples": [memo.bytes], "limit": memo.limit}
