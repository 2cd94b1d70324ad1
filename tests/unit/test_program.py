"""A machine made ready to run: what is kept, how much of it, and what is shared."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from statecharts import (
    assign,
    emit,
    enqueue,
    initial_transition,
    load_machine,
    raise_,
    send_to,
    simulate,
    spawn_child,
    transition,
)
from statecharts.actions import NullAction, parse_action
from statecharts.errors import EndlessLoopError
from statecharts.guards import and_, parse_guard
from statecharts.interpreter.cells import SystemView
from statecharts.interpreter.program import Program, program_of
from statecharts.interpreter.system import System

REGIONS: dict[str, Any] = {
    "id": "m",
    "type": "parallel",
    "states": {
        name: {"initial": "0", "states": {str(i): {"on": {f"{name}{i}": str((i + 1) % 3)}} for i in range(3)}} for name in "abc"
    },
}


def run(program_limit: int | None) -> tuple[list[Any], Program]:
    machine = load_machine(REGIONS)
    if program_limit is not None:
        machine._program = Program(machine, memo_limit=program_limit)
    snapshot, _ = initial_transition(machine)
    values = []
    for turn in range(60):
        for name in "abc":
            snapshot, _ = transition(machine, snapshot, f"{name}{turn % 3}")
        values.append((snapshot.value, snapshot.tags, snapshot.can("a0")))
    return values, program_of(machine)


@pytest.mark.parametrize("limit", [0, 1, 3_000, 9_000])
def test_what_is_kept_changes_nothing_but_the_time(limit: int) -> None:
    reference, full = run(None)
    values, small = run(limit)
    assert values == reference
    assert small.memo.bytes <= limit < full.memo.bytes
    assert len(small.known) < len(full.known)
    assert full.memo.forgotten == 0 < small.memo.forgotten or limit == 0


def test_nothing_is_kept_when_nothing_may_be() -> None:
    _, program = run(0)
    assert program.known == {}
    start = program.intern((program.definition.root,))
    assert (start.plans, start.routes) == ({}, {})


def test_a_configuration_is_its_set_of_states() -> None:
    machine = load_machine(REGIONS)
    program = program_of(machine)
    assert program_of(machine) is program
    one, _ = initial_transition(machine)
    for event in ("a0", "b0"):
        one, _ = transition(machine, one, event)
    two, _ = initial_transition(machine)
    for event in ("b0", "a0"):
        two, _ = transition(machine, two, event)
    assert one._configuration is two._configuration
    assert one != two, "the order in which they were entered differs"
    assert one.value == two.value


def test_a_machine_may_be_shared_between_threads() -> None:
    machine = load_machine(REGIONS)
    machine._program = Program(machine, memo_limit=5_000)
    start, _ = initial_transition(machine)
    results: list[Any] = []

    def work() -> None:
        snapshot = start
        for turn in range(90):
            for name in "abc":
                snapshot, _ = transition(machine, snapshot, f"{name}{turn % 3}")
        results.append(snapshot.value)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [start.value] * 4


# ------------------------------------------------------------- endless macrosteps


def looping(size: int, limit: int | None = None, guard: Any = True, semantics: str = "xstate", **kinds: Any) -> Any:
    names = [f"s{i}" for i in range(size)]
    states: dict[str, Any] = {
        name: {"always": {"guard": "go", "target": names[(index + 1) % size]}} for index, name in enumerate(names)
    }
    document: dict[str, Any] = {"id": "m", "initial": "idle", "states": {"idle": {"on": {"GO": "s0"}}, **states}}
    if limit is not None:
        document["options"] = {"maxIterations": limit}
    sim = simulate(load_machine(document, {"guards": {"go": guard}}, strict=False, semantics=semantics))
    sim.send("GO")
    return sim.snapshot


def test_an_endless_loop_names_the_states_it_goes_through() -> None:
    snapshot = looping(3)
    assert isinstance(snapshot.error, EndlessLoopError)
    assert sorted(snapshot.error.states) == ["m.s0", "m.s1", "m.s2"]
    assert "more than 1000 microsteps" in str(snapshot.error)
    assert snapshot.value == "idle", "the snapshot is the one before the event"


def test_of_a_long_loop_only_so_many_states_are_named() -> None:
    assert len(looping(200).error.states) == 64


def test_the_limit_is_the_documents() -> None:
    assert "more than 7 microsteps" in str(looping(3, 7).error)
    assert looping(3, 7, semantics="xstate-exact").error.states == ()


def test_what_was_long_but_not_endless_is_named_up_to_its_end() -> None:
    turns = iter([True] * 5)
    snapshot = looping(20, 4, lambda: next(turns, False))
    assert snapshot.error.states == ("m.s4", "m.s5")


def test_an_error_in_the_loop_does_not_hide_it() -> None:
    turns = iter([True] * 5)
    snapshot = looping(20, 4, lambda: next(turns))
    assert isinstance(snapshot.error, EndlessLoopError)
    assert "m.s4" in snapshot.error.states


def test_a_loop_of_raised_events() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": "again"}}}, "b": {"on": {"GO": {"target": "a", "actions": "again"}}}}}
    sim = simulate(load_machine(document, {"actions": {"again": raise_("GO")}}))
    sim.send("GO")
    assert set(sim.snapshot.error.states) == {"m.a", "m.b"}


# ---------------------------------------------------------------- small print


def test_the_same_exception_is_explained_once() -> None:
    error = LookupError("kaput")

    def fail() -> Any:
        raise error

    document = {"id": "m", "initial": "a", "states": {"a": {"entry": "fail"}}}
    for _ in range(2):
        assert simulate(load_machine(document, {"updates": {"fail": fail}})).snapshot.error is error
    assert error.__notes__ == ["raised by action 'fail' in state 'm.a' of machine 'm'"]


def test_expressions_given_from_python_are_compiled() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": {"type": "set", "params": {"by": 2}}}}, "after": {"soon": "b"}}, "b": {"type": "final"}}, "output": 0}
    bound = {
        "context": {"n": {"@expr": "input.n"}},
        "updates": {"set": {"n": {"@expr": "context.n + params.by"}}},
        "delays": {"soon": {"@expr": "context.n * 10"}},
        "outputs": {"m": {"n": {"@expr": "context.n"}}},
    }
    sim = simulate(load_machine(document, bound), input={"n": 3})
    assert sim.clock.next_due() == 30
    assert sim.send("GO").context == {"n": 5}
    assert sim.settle().output == {"n": 5}
    whole = {**bound, "updates": {}, "actions": {"set": assign({"@expr": "{'n': context.n + params.by, 'more': 1}"})}}
    assert simulate(load_machine(document, whole), input={"n": 3}).send("GO").context == {"n": 5, "more": 1}


def test_an_enqueue_function_may_name_a_child_that_its_state_invokes() -> None:
    kid = load_machine({"id": "kid", "initial": "x", "states": {"x": {"on": {"HI": "y"}}, "y": {}}})
    document = {"id": "m", "initial": "a", "states": {"a": {"entry": "hello", "invoke": {"src": "kid", "id": "kid"}}}}
    hello = enqueue(lambda enqueue: (enqueue(enqueue_hi), enqueue(emit("SAID"))))
    sim = simulate(load_machine(document, {"actors": {"kid": kid}, "actions": {"hello": hello}}))
    assert sim.child("kid").value == "y"


enqueue_hi = enqueue(lambda enqueue: enqueue(send_to("kid", "HI")))


async def job() -> None:
    """Work that nobody settles."""


def test_a_pure_step_sees_what_it_made() -> None:
    document = {"id": "m", "initial": "a", "context": {}, "states": {"a": {"on": {"GO": {"actions": ["one", "two", "look"]}}}}}
    bound = {
        "actors": {"job": job},
        "actions": {"one": spawn_child("job", id="one", system_id="s"), "two": spawn_child("job", id="two"), "look": assign(lambda system: {"s": system.get("s").id})},
    }
    machine = load_machine(document, bound)
    start, _ = initial_transition(machine)
    after, _ = transition(machine, start, "GO")
    assert after.context == {"s": "one"}


def test_an_observer_does_not_see_a_spawn_in_an_update_as_an_action() -> None:
    document = {"id": "m", "initial": "a", "context": {}, "states": {"a": {"on": {"GO": {"actions": "spawn"}}}}}
    seen: list[Any] = []
    sim = simulate(load_machine(document, {"actors": {"job": job}, "actions": {"spawn": assign(lambda spawn: {"r": spawn("job", id="j")})}}), inspect=seen.append)
    del seen[:]
    sim.send("GO")
    assert "@xstate.action" not in {event.type for event in seen}
    assert ("@xstate.actor", "j") in {(event.type, event.actor.id) for event in seen}


def test_values_that_are_no_action_and_no_guard() -> None:
    from statecharts import DefinitionError

    for parse in (parse_action, parse_guard, and_):
        with pytest.raises(DefinitionError):
            parse(7)
    assert isinstance(parse_action(None), NullAction)
    sim = simulate(load_machine({"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"guard": and_(parse_guard(None)), "target": "a"}}}}}, strict=False))
    assert "Cannot read properties of null" in str(sim.send("GO").error)


def test_a_system_tells_whether_it_rests() -> None:
    system = System(load_machine(REGIONS))
    system.boot()
    assert system.at_rest and system.idle
    system.start()
    assert not system.at_rest
    assert [type(each).__name__ for each in system.run()] == ["Published"]
    assert system.at_rest
    assert SystemView({}).get("nobody") is None


@pytest.mark.parametrize("limit", [0, 3_000, 1_000_000])
def test_a_plan_that_looked_at_history_is_not_used_for_another_history(limit: int) -> None:
    inside = {name: {"on": {"NEXT": nearest}} for name, nearest in (("x", "y"), ("y", "z"), ("z", "x"))}
    document = {
        "id": "m",
        "initial": "out",
        "states": {
            "out": {"on": {"BACK": "in.h"}},
            "in": {"initial": "x", "on": {"LEAVE": "out"}, "states": {**inside, "h": {"type": "history"}}},
        },
    }
    machine = load_machine(document)
    machine._program = Program(machine, memo_limit=limit)
    snapshot, _ = initial_transition(machine)
    entered = []
    for _ in range(5):
        for event in ("BACK", "NEXT", "LEAVE"):
            snapshot, _ = transition(machine, snapshot, event)
            if event == "BACK":
                entered.append(snapshot.value["in"])
    assert entered == ["x", "y", "z", "x", "y"]


def test_an_always_that_changes_nothing_is_taken_once_for_each_event() -> None:
    acted: list[str] = []
    document = {"id": "m", "initial": "a", "states": {"a": {"always": {"actions": "act"}, "on": {"GO": {"actions": "raise"}}}}}
    bound = {"actions": {"act": lambda event: acted.append(event["type"]), "raise": raise_("RAISED")}}
    sim = simulate(load_machine(document, bound))
    sim.send("GO")
    assert acted == ["xstate.init", "GO", "RAISED"]
