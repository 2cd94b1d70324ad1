"""What a program keeps, in bytes: the estimate against what is allocated, and the bound."""

from __future__ import annotations

import cProfile
import gc
import random
import tracemalloc
from typing import Any

import pytest

from statecharts import initial_transition, load_machine, memo_of, transition
from statecharts.interpreter.memo import DEFAULT_LIMIT, Memo
from statecharts.interpreter.program import program_of

MIB = 1024 * 1024


def ring(size: int) -> dict[str, Any]:
    return {"id": "ring", "initial": "s0", "states": {f"s{i}": {"on": {"NEXT": f"s{(i + 1) % size}"}} for i in range(size)}}


def regions(count: int, states: int) -> dict[str, Any]:
    """Regions that move each by its own event, and all by ``ALL``."""
    made: dict[str, Any] = {}
    for region in range(count):
        steps = {f"s{i}": {"on": {f"R{region}": f"s{(i + 1) % states}", "ALL": "s0"}} for i in range(states)}
        made[f"r{region}"] = {"initial": "s0", "states": steps}
    return {"id": "regions", "type": "parallel", "states": made}


def guarded(size: int) -> dict[str, Any]:
    even = {"guard": {"type": "@xstate.and", "guards": []}, "target": "s0"}
    states = {f"s{i}": {"on": {"GO": [even, f"s{(i + 1) % size}"]}} for i in range(size)}
    return {"id": "guarded", "initial": "s0", "states": states}


def remembering(count: int) -> dict[str, Any]:
    """Regions that go out of their inner states, remember them, and come back."""
    made: dict[str, Any] = {}
    for region in range(count):
        inner = {"x": {"on": {f"N{region}": "y"}}, "y": {"on": {f"N{region}": "x"}}, "h": {"type": "history"}}
        states = {"in": {"initial": "x", "on": {f"T{region}": "out"}, "states": inner}, "out": {"on": {f"T{region}": "in.h"}}}
        made[f"r{region}"] = {"initial": "in", "states": states}
    return {"id": "remembering", "type": "parallel", "states": made}


RUNS = [
    pytest.param(ring(1500), ["NEXT"] * 1500, id="ring"),
    pytest.param(regions(8, 4), random.Random(3).choices([*[f"R{i}" for i in range(8)], "ALL"], k=6000), id="regions"),
    pytest.param(regions(3, 3), random.Random(4).choices(["R0", "R1", "R2", "ALL"], k=3000), id="few configurations"),
    pytest.param(remembering(4), random.Random(5).choices([f"{what}{i}" for what in "NT" for i in range(4)], k=6000), id="history"),
    pytest.param(ring(1), [f"UNKNOWN.{i}" for i in range(3000)], id="events nobody knows"),
]


def growth(document: dict[str, Any], events: list[str], limit: int) -> tuple[int, int]:
    """Bytes allocated by a run, and bytes the program says it keeps."""
    machine = load_machine(document)
    snapshot, _ = initial_transition(machine)
    program = program_of(machine)
    for event in events:  # what is made once for each state of the definition is not the memo's
        snapshot, _ = transition(machine, snapshot, {"type": event})
    program.memo.clear()
    program.memo.limit = limit
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for event in events:
        snapshot, _ = transition(machine, snapshot, {"type": event})
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before, program.memo.bytes


@pytest.mark.parametrize(("document", "events"), RUNS)
def test_a_program_keeps_no_more_than_it_says(document: dict[str, Any], events: list[str]) -> None:
    real, stated = growth(document, events, DEFAULT_LIMIT)
    assert stated / 6 < real <= stated + 20_000


@pytest.mark.parametrize(("document", "events"), RUNS)
def test_a_program_keeps_no_more_than_it_may(document: dict[str, Any], events: list[str]) -> None:
    real, stated = growth(document, events, MIB // 4)
    assert stated <= MIB // 4
    assert real <= MIB // 4 + 20_000


def test_a_memo_forgets_when_it_is_over_its_limit() -> None:
    forgotten: list[int] = []
    memo = Memo(100, lambda: forgotten.append(1))
    memo.charge(60)
    memo.charge(40)
    assert (memo.bytes, forgotten, memo.forgotten) == (100, [], 0)
    memo.charge(1)
    assert (memo.bytes, forgotten, memo.forgotten) == (1, [1], 1)
    memo.charge(500)
    assert (memo.bytes, memo.forgotten) == (100, 2), "one thing that is larger than all that may be kept"
    memo.limit = 50
    assert (memo.bytes, memo.forgotten, memo.keeps) == (0, 3, True)
    memo.charge(10)
    memo.clear()
    assert (memo.bytes, memo.limit, repr(memo)) == (0, 50, "<Memo 0 of 50 bytes>")
    memo.limit = 0
    assert not memo.keeps


def test_the_first_steps_of_thousands_of_regions_take_no_quadratic_time() -> None:
    """Counted in calls, so that no clock decides: twice as many regions, about twice as many."""

    def calls(count: int) -> int:
        machine = load_machine(regions(count, 2))
        profile = cProfile.Profile()
        profile.enable()
        snapshot, _ = initial_transition(machine)
        snapshot, _ = transition(machine, snapshot, "ALL")
        transition(machine, snapshot, "R1")
        profile.disable()
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(400) < 2.5 * calls(200) + 100  # compiled code makes hardly any that are seen


def test_an_instance_outlives_what_was_kept_about_its_configuration() -> None:
    machine = load_machine(regions(2, 3))
    snapshot, _ = initial_transition(machine)
    memo = memo_of(machine)
    for turn in range(30):
        memo.clear()
        snapshot, _ = transition(machine, snapshot, f"R{turn % 2}")
        assert not snapshot.can("NOBODY")
        memo.clear()
        same, _ = transition(machine, snapshot, "NOBODY")
        assert same.value == snapshot.value
    assert snapshot.value == {"r0": "s0", "r1": "s0"}
