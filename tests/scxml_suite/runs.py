"""Ways to run a document of the suites: simulated, saved and restored before every event, on asyncio."""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

from suite import ScionTest

from statecharts import DefinitionWarning, Machine, folder_resolver, load_machine, simulate, start
from statecharts.adapters.engines.asyncio_clock import ManualClock

PATIENCE = 500
"""Timers after which a W3C document is not waited for any longer."""


def load(path: Path) -> Machine[Any, Any]:
    """A document; what it refers to lies beside it. What the reader warns of is not the matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DefinitionWarning)
        return load_machine(path, resolver=folder_resolver(path.parent))


def event_of(step: dict[str, Any]) -> dict[str, Any]:
    """A script's event as we write events."""
    event = step["event"]
    return {"type": event["name"], **({"data": event["data"]} if "data" in event else {})}


def load_by_way_of_json(path: Path) -> Machine[Any, Any]:
    """The same document, written as JSON and read again."""
    return load_machine(json.dumps(load(path).document), resolver=folder_resolver(path.parent))


class Simulated:
    """The document on the virtual clock. With ``saving``, it is saved and restored before each event and timer."""

    def __init__(self, machine: Machine[Any, Any], *, saving: bool = False) -> None:
        self.machine = machine
        self.saving = saving
        self.logged: list[tuple[Any, Any]] = []
        self.sim = simulate(machine)

    def _before(self) -> None:
        if self.saving and self.sim.snapshot.status == "active":
            self.logged += self.sim.logged
            self.sim = simulate(self.machine, snapshot=json.loads(json.dumps(self.sim.save())))

    def send(self, event: dict[str, Any]) -> None:
        self._before()
        self.sim.send(event)

    def advance(self, ms: float) -> None:
        self._before()
        self.sim.advance(ms)

    def to_the_end(self) -> None:
        """Let timers fire, each by itself, until the session is over or rests for good."""
        for _ in range(PATIENCE):
            due = self.sim.clock.next_due()
            if self.sim.snapshot.status != "active" or due is None:
                return
            self.advance(max(0.0, due - self.sim.now))

    @property
    def leaves(self) -> list[str]:
        return sorted(self.sim.snapshot.atomic_states)

    @property
    def logs(self) -> list[tuple[Any, Any]]:
        return [*self.logged, *self.sim.logged]


def outcome(machine: Machine[Any, Any], *, saving: bool = False) -> str:
    """How a W3C document ends: the id of its final state, or what it came to instead."""
    run = Simulated(machine, saving=saving)
    run.to_the_end()
    snapshot = run.sim.snapshot
    return snapshot.atomic_states[0] if snapshot.status == "done" else repr(snapshot)


def asyncio_outcome(path: Path) -> str:
    """The same on the asyncio host, time moved by hand."""

    async def play() -> str:
        clock = ManualClock()
        async with start(load(path), clock=clock) as actor:
            for _ in range(PATIENCE):
                if actor.snapshot.status != "active" or not clock.pending:
                    break
                await clock.advance(1000)
            snapshot = actor.snapshot
        return snapshot.atomic_states[0] if snapshot.status == "done" else repr(snapshot)

    return asyncio.run(play())


def scion_deviation(test: ScionTest, machine: Machine[Any, Any], *, saving: bool = False) -> str | None:
    """What differs from a script of SCION's first; ``None`` when nothing does."""
    run = Simulated(machine, saving=saving)
    if run.leaves != sorted(test.script["initialConfiguration"]):
        return f"starts in {run.leaves}"
    for number, step in enumerate(test.script["events"]):
        if "after" in step:
            run.advance(step["after"])
        run.send(event_of(step))
        if run.leaves != sorted(step["nextConfiguration"]):
            return f"event {number}: {run.leaves}, not {step['nextConfiguration']}"
    return None


def asyncio_scion_deviation(test: ScionTest) -> str | None:
    """The same on the asyncio host."""

    async def play() -> str | None:
        clock = ManualClock()
        async with start(load(test.path), clock=clock) as actor:
            for number, step in enumerate(test.script["events"]):
                await clock.advance(step.get("after", 0))
                await actor.send(event_of(step))
                if sorted(actor.snapshot.atomic_states) != sorted(step["nextConfiguration"]):
                    return f"event {number}: {actor.snapshot.atomic_states}, not {step['nextConfiguration']}"
        return None

    return asyncio.run(play())
