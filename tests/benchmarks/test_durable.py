"""The benchmark of durable events: its verdicts and its page, from made-up figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "durable" / "drivers"))

from benchmarks.durable.page import page, target_table
from benchmarks.durable.peers import (
    DBOS,
    FEW,
    FLOOR,
    MANY,
    OURS,
    SAFE,
    SINGLE,
    SQLITE,
    XSTATE_SM,
    measurements,
)
from benchmarks.durable.targets import targets
from statecharts.adapters import stores

SQL = Path(stores.__file__).parent / "sql" / "sqlite" / "statements.sql"
FIGURES = {OURS: 100.0, FLOOR: 60.0, XSTATE_SM: 600.0, DBOS: 1_900.0}
FACTS: dict[str, Any] = {"date": "2026-12-01", "processor": "p", "cores": 2, "system": "s", "sqlite": "3", "versions": {"ours": "1"}}


def a_run(**changed: float) -> dict[str, dict[str, Any]]:
    figures = {**FIGURES, **changed}
    return {one.key: {"median": figures[one.peer], "rate": 1.0} for one in measurements() if one.peer in figures}


def test_the_worse_of_two_runs_is_judged():
    verdicts = {(one.what, one.verdict([a_run(), a_run(ours=130.0)])) for one in targets()}
    assert (f"ours, {SINGLE}: times the floor's CPU", "missed") in verdicts
    assert (f"{XSTATE_SM}, {SAFE}: times the CPU of ours, {MANY}", "missed") in verdicts
    assert (f"{DBOS}, {SINGLE}: times the CPU of ours, {MANY}", "missed") in verdicts
    assert {one.verdict([a_run(ours=90.0)]) for one in targets()} == {"met"}


def test_the_page_says_what_is_missing():
    runs = [{**a_run(), f"{OURS} | {SQLITE} | {FEW}": {"not_measured": "no time"}}, a_run()]
    text = page(FACTS, runs)
    assert f"`{OURS} | {SQLITE} | {FEW}`: not measured: no time" in text
    assert "| 1.67× | 1.67× | met |" in text and "| 1.67 / 1.67 | 1.00 / 1.00 |" in text
    assert "**missed**" in target_table([a_run(ours=200.0)])


def test_the_floor_says_the_library_s_own_statements():
    import floor_values

    found = floor_values.statements(str(SQL))
    assert {"load", "change_instance", "add_inbox", "add_log", "add_effect", "withdraw", "add_timer", "drop_timer"} <= set(found)
    assert found["add_timer"].startswith("INSERT INTO timer")
