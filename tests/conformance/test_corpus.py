"""Machines that people exported from Stately: read loosely as XState reads them, strictly without loss."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from compare import compare
from engines import SHARED, node

import statecharts
from statecharts.testing.protocol import run_lines

pytestmark = pytest.mark.shared

FILES = sorted((SHARED / "corpus").glob("*.json"))

_PROGRAM = (
    "the context is the text of a JavaScript object: as JSON it is one string, with nothing of what it names"
)
# What XState runs but the strict reading refuses, and why a person would agree.
REFUSED = {
    "autocomplete.json": _PROGRAM,
    "commerce.json": _PROGRAM,
    "game.json": _PROGRAM,
    "game_v2.json": _PROGRAM,
    "kettle.json": "two states lead to each other without event or guard: XState hangs as soon as it gets there",
}


def _case(path: Path) -> str:
    steps: list[dict[str, Any]] = [{"persist": True}, {"restore": True}, {"query": {"nextTransitions": True}}]
    machine = json.loads(path.read_text("utf-8"))
    return json.dumps({"id": path.name, "machine": machine, "steps": steps, "inspect": True})


@cache
def _xstate() -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for line in node([_case(path) for path in FILES]):
        lines.setdefault(json.loads(line)["case"], []).append(line)
    return lines


def test_there_is_a_corpus() -> None:
    assert len(FILES) >= 60


@pytest.mark.node
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_loosely_it_starts_as_in_xstate(path: Path) -> None:
    report = compare(_xstate()[path.name], list(run_lines([_case(path)], strict=False)))
    assert report.is_equal, report.summary()


@pytest.mark.node
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_strictly_it_runs_if_xstate_runs_it(path: Path) -> None:
    first = json.loads(_xstate()[path.name][0])
    if "fatal" in first or path.name in REFUSED:
        with pytest.raises(statecharts.DefinitionError):
            statecharts.load_machine(path)
        return
    machine = statecharts.load_machine(path)
    if first["status"] == "active":
        assert statecharts.simulate(machine, stubs=True).snapshot.status == "active"


def test_refusals_are_of_files_that_are_there() -> None:
    assert set(REFUSED) <= {path.name for path in FILES}
