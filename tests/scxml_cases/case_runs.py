"""Four ways to run a case: simulated, saved before each timer, on asyncio with time moved by hand, by way of JSON."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from statecharts import DefinitionWarning, Machine, folder_resolver, load_machine, simulate, start
from statecharts.adapters.engines.asyncio_clock import ManualClock

CASES: Final = Path(__file__).parent
PATIENCE: Final = 500
"""Timers after which a case is not waited for any longer."""


def load_case(path: Path) -> Machine[Any, Any]:
    """A case; what it refers to lies beside it. What the reader warns of is not the matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DefinitionWarning)
        return load_machine(path, resolver=folder_resolver(path.parent))


def ending(snapshot: Any) -> str:
    """The final state in which a session has ended, or what it came to instead."""
    if snapshot.status == "done":
        return str(snapshot.atomic_states[0])
    return f"{snapshot!r} {snapshot.error!r}"


def simulated(path: Path) -> str:
    """On the virtual clock."""
    return ending(simulate(load_case(path)).settle())


def saved(path: Path) -> str:
    """The same, saved and restored before every timer."""
    machine = load_case(path)
    sim = simulate(machine)
    for _ in range(PATIENCE):
        due = sim.clock.next_due()
        if sim.snapshot.status != "active" or due is None:
            break
        sim = simulate(machine, snapshot=json.loads(json.dumps(sim.save())))
        sim.advance(max(0.0, due - sim.now))
    return ending(sim.snapshot)


def by_way_of_json(path: Path) -> str:
    """The same, the document written as JSON and read again."""
    text = json.dumps(load_case(path).document)
    return ending(simulate(load_machine(text, resolver=folder_resolver(path.parent))).settle())


def on_asyncio(path: Path) -> str:
    """On the asyncio host, time moved by hand."""

    async def play() -> str:
        clock = ManualClock()
        async with start(load_case(path), clock=clock) as actor:
            for _ in range(PATIENCE):
                if actor.snapshot.status != "active" or not clock.pending:
                    break
                await clock.advance(10)
            return ending(actor.snapshot)

    return asyncio.run(play())


WAYS: Final[dict[str, Callable[[Path], str]]] = {
    "simulated": simulated,
    "saved": saved,
    "json": by_way_of_json,
    "asyncio": on_asyncio,
}
