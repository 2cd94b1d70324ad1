"""Corners of the core that ordinary machines do not reach."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts import SnapshotError, load_machine, simulate, spawn_child, stop_child
from statecharts.interpreter.configuration import complete
from statecharts.interpreter.program import program_of
from statecharts.validation import check_document


def test_a_near_miss_in_a_state_value_is_named() -> None:
    guard = {"type": "xstate.stateIn", "params": {"state": {"p": "wan"}}}
    document = {
        "id": "m",
        "initial": "p",
        "states": {"p": {"initial": "one", "states": {"one": {"on": {"GO": {"guard": guard, "target": "two"}}}, "two": {}}}},
    }
    [problem] = [p for p in check_document(document) if p.code == "unknown-state"]
    assert problem.hint is not None and '"one"' in problem.hint


def test_a_typo_in_a_state_value_is_corrected() -> None:
    guard = {"type": "xstate.stateIn", "params": {"state": {"p": "onee"}}}
    document = {
        "id": "m",
        "initial": "p",
        "states": {"p": {"initial": "one", "states": {"one": {"on": {"GO": {"guard": guard, "target": "two"}}}, "two": {}}}},
    }
    [problem] = [p for p in check_document(document) if p.code == "unknown-state"]
    assert problem.hint == 'Did you mean "one"?'


async def job() -> None:
    """Outside work that nobody settles."""


def test_ancestors_of_a_lone_leaf_are_completed() -> None:
    machine = load_machine({"id": "m", "initial": "a", "states": {"a": {"initial": "b", "states": {"b": {}}}}})
    leaf = machine.definition.node("#m.a.b")
    assert [node.id for node in complete([leaf])] == ["m.a.b", "m.a", "m"]


def test_a_snapshot_keeps_the_semantics_it_was_made_under() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {}}}
    saved = simulate(load_machine(document)).save()
    exact = load_machine(document, semantics="xstate-exact")
    with pytest.raises(SnapshotError, match="load it with semantics='xstate'"):
        simulate(exact, snapshot=saved)


def test_lookups_are_kept_up_to_a_bound() -> None:
    machine = load_machine({"id": "m", "initial": "a", "states": {"a": {"on": {"*": {"actions": []}}}}})
    program = program_of(machine)
    snapshot = simulate(machine).snapshot
    program.memo.limit = program.memo.bytes + 10_000
    for number in range(200):
        assert not snapshot.can(f"E{number}")
    assert program.memo.bytes <= program.memo.limit
    assert 0 < len(program.intern(snapshot.nodes).selectors) < 60


def test_a_child_that_is_missing_below_a_stopped_child() -> None:
    kid = {"id": "kid", "initial": "x", "states": {"x": {"on": {"GO": "y"}}, "y": {"invoke": {"src": "nobody", "id": "n"}}}}
    parent = {"id": "p", "initial": "a", "states": {"a": {"invoke": {"src": "kid", "id": "kid"}, "on": {"OUT": "b"}}, "b": {}}}
    child = load_machine(kid, semantics="xstate-exact")
    sim = simulate(load_machine(parent, {"actors": {"kid": child}}, semantics="xstate-exact"))
    sim.send_to("kid", "GO")
    assert sim.child("kid").children == {"n": None}
    assert sim.send("OUT").value == "b"
    assert dict(sim.snapshot.children) == {}


def test_a_name_freed_before_the_failing_action_stays_free() -> None:
    def fail() -> None:
        raise LookupError("kaput")

    bound: dict[str, Any] = {
        "actions": {
            "spawn": spawn_child("job", id="j", system_id="name"),
            "stop": stop_child("j"),
            "fail": fail,
        },
        "actors": {"job": job},
    }
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"entry": "spawn", "on": {"GO": {"actions": ["stop", "fail"]}}}},
    }
    sim = simulate(load_machine(document, bound))
    assert list(sim.system.registry) == ["name"]
    sim.send("GO")
    assert (sim.snapshot.status, sim.system.registry) == ("error", {})
