"""Random SCXML charts: nothing kept, everything saved, or one pure step at a time, the run is the same run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scxml_differential"))

from charts import Chart

from statecharts import initial_transition, load_machine, simulate, transition
from statecharts.interpreter.program import Program

SEEDS = range(5000, 5060)


def shown(snapshot: Any) -> tuple[Any, ...]:
    return snapshot.configuration, dict(snapshot.context), snapshot.history, snapshot.status


def run(machine: Any, chart: Chart, *, saving: bool = False) -> list[Any]:
    sim = simulate(machine)
    seen = [shown(sim.snapshot)]
    for event in chart.events:
        if saving:
            sim = simulate(machine, snapshot=json.loads(json.dumps(sim.save())))
        seen.append(shown(sim.send(event)))
    return seen


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_run_in_every_way(seed: int) -> None:
    chart = Chart(seed)
    expected = run(load_machine(chart.text), chart)
    forgetful = load_machine(chart.text)
    forgetful._program = Program(forgetful, memo_limit=0)
    assert run(forgetful, chart) == expected
    assert run(load_machine(chart.text), chart, saving=True) == expected
    assert run(load_machine(json.dumps(load_machine(chart.text).document)), chart) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_pure_steps_change_nothing_that_was_there(seed: int) -> None:
    chart = Chart(seed)
    machine = load_machine(chart.text)
    expected = run(machine, chart)
    snapshot, _ = initial_transition(machine)
    passed = [snapshot]
    for event in chart.events:
        snapshot, _ = transition(machine, snapshot, event)
        passed.append(snapshot)
    assert [shown(one) for one in passed] == expected
    again = [transition(machine, one, event)[0] for one, event in zip(passed, chart.events, strict=False)]
    assert [shown(one) for one in again] == expected[1:]
