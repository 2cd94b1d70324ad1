"""The W3C's implementation report suite for SCXML, ECMAScript form: every document that needs no HTTP."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from runs import Simulated, asyncio_outcome, load, load_by_way_of_json, outcome
from suite import SuiteMissing, W3cTest, suite_folder, w3c_tests

from statecharts import DefinitionError, simulate


def test_the_suite_is_whole() -> None:
    try:
        counted = Counter(test.kind for test in w3c_tests(suite_folder()))
    except SuiteMissing as missing:
        pytest.skip(str(missing))
    assert counted == {"mandatory": 160, "optional": 21, "http": 12, "manual": 8}


def test_passes(w3c_test: W3cTest) -> None:
    assert outcome(load(w3c_test.path)) == "pass"


def test_passes_when_saved_and_restored_before_every_event(w3c_test: W3cTest) -> None:
    assert outcome(load(w3c_test.path), saving=True) == "pass"


def test_passes_by_way_of_json(w3c_test: W3cTest) -> None:
    assert outcome(load_by_way_of_json(w3c_test.path)) == "pass"


def test_passes_on_asyncio(w3c_test: W3cTest) -> None:
    assert asyncio_outcome(w3c_test.path) == "pass"


# ----------------------------------------------------- the manual ones, by what they log


def manual_logs(number: str) -> list[tuple[Any, Any]]:
    try:
        [test] = [test for test in w3c_tests(suite_folder()) if test.number == number]
    except SuiteMissing as missing:
        pytest.skip(str(missing))
    run = Simulated(load(test.path))
    run.to_the_end()
    assert run.leaves != ["fail"]
    return run.logs


def test_178_a_name_given_twice_keeps_both_values() -> None:
    [test] = [test for test in w3c_tests(suite_folder()) if test.number == "178"]
    seen: list[Any] = []
    sim = simulate(load(test.path), inspect=seen.append)
    [event] = [e.event for e in seen if e.type == "@xstate.microstep" and e.event["type"] == "event1"]
    assert event["data"] == {"Var1": [2, 3]}
    assert sim.snapshot.atomic_states == ("final",)


def test_230_a_forwarded_event_is_the_same_event() -> None:
    logged = manual_logs("230")
    half = len(logged) // 2
    assert half == 7
    assert logged[:half] == logged[half:]


def test_250_a_cancelled_child_runs_its_exit_handlers() -> None:
    assert [value for _, value in manual_logs("250")] == ["Exiting sub01", "Exiting sub0"]


def test_301_a_script_that_cannot_be_loaded_refuses_the_document() -> None:
    [test] = [test for test in w3c_tests(suite_folder()) if test.number == "301"]
    with pytest.raises(DefinitionError, match="cannot be loaded"):
        load(test.path)


def test_307_an_unbound_variable_and_a_missing_member_read_alike() -> None:
    labels = [label for label, _ in manual_logs("307")]
    assert [label for label in labels if label.startswith("error")] == []
    assert len(labels) == 4


@pytest.mark.parametrize("number", ["313", "314"])
def test_illegal_expressions_fail_when_they_are_evaluated(number: str) -> None:
    assert ("Outcome", "pass") in manual_logs(number)


def test_415_nothing_happens_after_a_top_level_final_state() -> None:
    assert manual_logs("415") == []
