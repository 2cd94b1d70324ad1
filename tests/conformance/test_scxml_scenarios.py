"""Faults people reported of SCXML engines: each document ends in ``pass``, however it is run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from engines import SHARED

from statecharts import load_machine, simulate, start
from statecharts.adapters.engines.asyncio_clock import ManualClock

pytestmark = pytest.mark.shared

DOCUMENTS = sorted((SHARED / "cases" / "scenarios").glob("2*.scxml"))


def test_there_are_documents() -> None:
    assert len(DOCUMENTS) >= 15


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_simulated(path: Path) -> None:
    assert simulate(load_machine(path)).settle().atomic_states == ("pass",)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_saved_and_restored_before_every_timer(path: Path) -> None:
    machine = load_machine(path)
    sim = simulate(machine)
    while sim.snapshot.status == "active":
        sim = simulate(machine, snapshot=json.loads(json.dumps(sim.save())))
        due = sim.clock.next_due()
        assert due is not None
        sim.advance(due - sim.now)
    assert sim.snapshot.atomic_states == ("pass",)


async def _run(path: Path) -> tuple[str, ...]:
    clock = ManualClock()
    async with start(load_machine(path), clock=clock) as actor:
        while actor.snapshot.status == "active" and clock.pending:
            await clock.advance(1000)
        return actor.snapshot.atomic_states


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_on_asyncio(path: Path) -> None:
    assert asyncio.run(_run(path)) == ("pass",)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_by_way_of_json(path: Path) -> None:
    text = json.dumps(load_machine(path).document)
    assert simulate(load_machine(text)).settle().atomic_states == ("pass",)
