"""Reported faults about one actor id that is started several times: each run is settled by its number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from reported import Reported, reported

import statecharts

pytestmark = pytest.mark.shared

CASES = [case for case in reported() if case.counts_runs]


async def _manual(input: Any) -> None:
    raise AssertionError("settled by the test")


def _implementations(trace: list[str]) -> dict[str, Any]:
    """The few names of the case protocol that these machines use."""
    return {
        "actions": {"log": lambda context, event, params: trace.append(params["label"])},
        "updates": {
            "inc": lambda context, event, params: {
                params["key"]: context[params["key"]] + params.get("by", 1)
            },
            "setFromEvent": lambda context, event, params: {params["key"]: event.get(params["from"])},
        },
        "guards": {"ctxGte": lambda context, event, params: context[params["key"]] >= params["value"]},
        "actors": {"manual": _manual},
    }


class Player:
    """Plays the steps of a case on the simulation; a restore goes on with a new one."""

    def __init__(self, case: Reported) -> None:
        self.case = case
        self.trace: list[str] = []
        implementations = {**_implementations(self.trace), "delays": case.document.get("delays", {})}
        self.machine = statecharts.load_machine(case.document["machine"], implementations, strict=False)
        self.simulations = [statecharts.simulate(self.machine)]
        self.runs: list[
            tuple[Any, int]
        ] = []  # which simulation, and which start there, each run of the id was
        self.saved: Any = None

    @property
    def now(self) -> Any:
        return self.simulations[-1]

    def count_runs(self, expected: dict[str, Any]) -> None:
        for _ in expected.get("started", []):
            here = sum(simulation is self.now for simulation, _ in self.runs)
            self.runs.append((self.now, here + 1))

    def play(self, step: dict[str, Any]) -> None:
        if "event" in step:
            self.now.send(step["event"])
        elif "advance" in step:
            self.now.advance(step["advance"])
        elif "persist" in step:
            self.saved = self.now.to_xstate()
        elif "restore" in step:
            self.simulations.append(statecharts.simulate(self.machine, snapshot=self.saved))
        else:
            simulation, run = self.runs[step["run"] - 1]
            if "resolve" in step:
                simulation.resolve(step["resolve"], step["output"], run=run)
            else:
                simulation.reject(step["reject"], step["error"], run=run)

    def check(self, expected: dict[str, Any]) -> None:
        snapshot = self.now.snapshot
        seen = {
            "value": snapshot.value,
            "status": snapshot.status,
            "context": snapshot.context,
            "trace": self.trace[:],
            "children": {name: {"status": "active"} for name in snapshot.children},
            "persisted": self.now.to_xstate(),
        }
        self.trace.clear()
        for name, value in seen.items():
            if name in expected and not (name == "children" and not expected[name]):
                assert json.dumps(value) == json.dumps(expected[name]), name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_run_counts_for_itself(case: Reported) -> None:
    player = Player(case)
    player.count_runs(case.document["initial"])
    player.check(case.document["initial"])
    for step, expected in zip(case.document["steps"], case.document["expect"], strict=True):
        player.play(step)
        player.count_runs(expected)
        player.check(expected)


def test_there_are_such_cases() -> None:
    assert len(CASES) >= 4
