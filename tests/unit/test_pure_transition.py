"""`initial_transition` and `transition`: a snapshot and an event in, a snapshot and effects out."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from statecharts import (
    ExecutionError,
    ImplementationError,
    SnapshotError,
    Step,
    UsageError,
    assign,
    cancel,
    emit,
    initial_transition,
    load_machine,
    log,
    raise_,
    restore_snapshot,
    send_parent,
    send_to,
    simulate,
    spawn_child,
    stop_child,
    transition,
)
from statecharts.errors import EndlessLoopError
from statecharts.interpreter import effects
from statecharts.interpreter.pure import PureScope, step
from statecharts.interpreter.selection import GuardFailure
from statecharts.json_text import dumps
from statecharts.values import UNDEFINED, thaw


async def job() -> None:
    """Work that nobody settles."""


DOCUMENT: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"n": 1, "list": [1]},
    "states": {
        "a": {
            "entry": "hello",
            "after": {"10": "b"},
            "on": {
                "ALL": {"target": "b", "actions": ["count", "hello", "say", "tell", "internal", "later", "send", "off", "spawn", "stop"]},
                "GUARD": {"guard": "broken", "target": "b"},
                "UPDATE": {"actions": ["hello", "broken"]},
                "LOOP": "loop",
                "SPAWN": {"actions": "anonymous"},
                "SELF": {"actions": "about"},
                "PARENT": {"actions": "up"},
            },
        },
        "b": {"type": "final", "output": 5},
        "loop": {"always": {"guard": "yes", "target": "loop2"}},
        "loop2": {"always": {"guard": "yes", "target": "loop"}},
    },
    "output": 5,
}  # fmt: skip


def broken(context: Any) -> Any:
    raise LookupError("kaput")


BOUND: dict[str, Any] = {
    "guards": {"broken": broken, "yes": True},
    "updates": {"count": lambda context, event: {"n": context["n"] + event["by"]}, "broken": broken},
    "actions": {
        "hello": lambda: None,
        "say": log("said", "L"),
        "tell": emit("TOLD"),
        "internal": raise_("NOW"),
        "later": raise_("LATER", id="l", delay=5),
        "send": send_to("#_internal", "SENT", id="s", delay=7),
        "off": cancel("l"),
        "spawn": spawn_child("job", id="j", input={"x": 1}),
        "stop": stop_child("j"),
        "anonymous": spawn_child("job"),
        "about": assign(lambda self, system: {"me": self.id, "others": list(system.get_all())}),
        "up": send_parent("X"),
    },
    "actors": {"job": job},
}
MACHINE: Any = load_machine(DOCUMENT, BOUND)


def test_the_first_snapshot_and_its_effects() -> None:
    snapshot, found = initial_transition(MACHINE)
    assert (snapshot.value, snapshot.context, snapshot.sequence) == ("a", {"n": 1, "list": [1]}, 0)
    assert [(effect.type, effect.phase, effect.position) for effect in found] == [
        ("hello", "inline", (0, 0)),
        ("xstate.raise", "deferred", (0, 1)),
    ]
    assert found[0].event == {"type": "xstate.init", "input": UNDEFINED}
    with_input, _ = initial_transition(load_machine(DOCUMENT, {**BOUND, "context": lambda input: {"n": input["x"]}}), {"x": 3})
    assert with_input.context == {"n": 3}


def test_effects_carry_the_data_of_their_moment_in_order() -> None:
    start, _ = initial_transition(MACHINE)
    after, found = transition(MACHINE, start, {"type": "ALL", "by": 2})
    assert (after.status, after.output, after.context["n"]) == ("done", 5, 3)
    assert [effect.type for effect in found] == [
        "xstate.cancel",
        "hello",
        "xstate.log",
        "xstate.emit",
        "xstate.raise",
        "xstate.raise",
        "xstate.sendTo",
        "xstate.cancel",
        "xstate.spawnChild",
        "xstate.stopChild",
    ]
    assert [effect.position for effect in found] == [(1, index) for index in range(len(found))]
    by_type = {type(effect): effect for effect in found}
    assert {effect.type: effect.phase for effect in found} == {
        "hello": "inline",
        "xstate.log": "inline",
        **dict.fromkeys(["xstate.cancel", "xstate.emit", "xstate.raise", "xstate.sendTo", "xstate.spawnChild", "xstate.stopChild"], "deferred"),
    }  # fmt: skip
    action = by_type[effects.RunAction]
    assert (action.context["n"], action.event, action.params) == (3, {"type": "ALL", "by": 2}, UNDEFINED)
    assert (by_type[effects.LogMessage].label, by_type[effects.LogMessage].value) == ("L", "said")
    assert by_type[effects.EmitEvent].event == {"type": "TOLD"}
    send = by_type[effects.SendEvent]
    assert (send.event, send.id, send.delay, send.target_id, send.target.id) == ({"type": "SENT"}, "s", 7, "#_internal", "x:0")
    start_actor = by_type[effects.StartActor]
    assert (start_actor.ref.id, start_actor.ref.session_id, start_actor.input) == ("j", "x:1", {"x": 1})
    assert by_type[effects.StopActor].ref == start_actor.ref
    assert copy.copy(start_actor.ref) is copy.deepcopy(start_actor.ref) is start_actor.ref


def test_the_arguments_are_not_changed() -> None:
    start, _ = initial_transition(MACHINE)
    event = {"type": "ALL", "by": 2, "list": [1]}
    before = (start.to_xstate(), copy.deepcopy(event))
    first = transition(MACHINE, start, event)
    second = transition(MACHINE, start, event)
    assert (start.to_xstate(), event) == before
    assert first == second
    event["list"].append(2)  # type: ignore[attr-defined]
    assert first[1][1].event["list"] == [1], "the effect holds a copy"


def test_an_exception_of_a_user_is_wrapped_with_name_and_state() -> None:
    start, _ = initial_transition(MACHINE)
    with pytest.raises(ImplementationError) as caught:
        transition(MACHINE, start, "UPDATE")
    assert isinstance(caught.value.__cause__, LookupError)
    assert "LookupError: kaput (raised by action 'broken' in state 'm.a' of machine 'm')" in str(caught.value)
    taken = caught.value.step  # type: ignore[attr-defined]
    assert isinstance(taken, Step)
    assert [effect.type for effect in taken.effects] == ["hello"], "what happened before the error"
    assert (taken.snapshot.status, taken.snapshot.value, taken.error) == ("error", "a", caught.value.__cause__)


def test_an_exception_of_a_guard_names_the_guard() -> None:
    start, _ = initial_transition(MACHINE)
    with pytest.raises(GuardFailure) as caught:
        transition(MACHINE, start, "GUARD")
    assert (caught.value.name, caught.value.state) == ("broken", "m.a")
    assert str(caught.value) == (
        "Unable to evaluate guard 'broken' in transition for event 'GUARD' in state node 'm.a':\nkaput"
    )
    assert caught.value.step.effects == ()  # type: ignore[attr-defined]


def test_an_error_at_the_start_is_raised_too() -> None:
    failing = load_machine(DOCUMENT, {**BOUND, "context": broken_context})
    with pytest.raises(ImplementationError, match="LookupError: no input") as caught:
        initial_transition(failing)
    assert caught.value.step.snapshot.status == "error"  # type: ignore[attr-defined]


def broken_context(input: Any) -> Any:
    raise LookupError("no input")


def test_an_endless_loop_names_its_states() -> None:
    start, _ = initial_transition(MACHINE)
    with pytest.raises(EndlessLoopError) as caught:
        transition(MACHINE, start, "LOOP")
    assert set(caught.value.states) == {"m.loop", "m.loop2"}
    assert "more than 1000 microsteps" in str(caught.value)


def test_children_get_new_addresses_in_every_step() -> None:
    snapshot, _ = initial_transition(MACHINE)
    for _ in range(3):
        snapshot, _ = transition(MACHINE, snapshot, "SPAWN")
    assert [ref.session for ref in snapshot.children.values() if ref] == [1, 2, 3]
    assert list(snapshot.children) == ["x:1", "x:2", "x:3"]


def test_there_is_no_parent_and_no_system_behind_it() -> None:
    start, _ = initial_transition(MACHINE)
    after, _ = transition(MACHINE, start, "SELF")
    assert thaw(after.context) == {"n": 1, "list": [1], "me": "x:0", "others": []}
    with pytest.raises(ExecutionError, match="Unable to send event to actor '#_parent' from machine 'm'"):
        transition(MACHINE, start, "PARENT")


def test_a_snapshot_goes_on_under_other_implementations_of_its_machine() -> None:
    start, _ = initial_transition(MACHINE)
    other = MACHINE.provide({"guards": {"broken": True}})
    after, _ = transition(other, start, "GUARD")
    assert after.value == "b"
    assert transition(MACHINE, after, "ZZZ")[0].value == "b"


@pytest.mark.parametrize(
    ("snapshot", "message"),
    [
        ({"value": "a"}, r"transition\(\) takes a Snapshot of the machine, not dict"),
        (initial_transition(load_machine(DOCUMENT, BOUND))[0], "belongs to machine 'm', loaded separately from 'm'"),
    ],
)
def test_what_is_no_snapshot_of_the_machine_is_refused(snapshot: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        transition(MACHINE, snapshot, "GO")


def test_a_step_holds_its_error_instead_of_raising_it() -> None:
    start, _ = initial_transition(MACHINE)
    taken = step(MACHINE, start, "UPDATE")
    assert isinstance(taken.error, LookupError)
    scope = PureScope(MACHINE, first_session=4)
    assert (scope.self_ref.session, scope.next_session) == (4, 5)
    fine = step(MACHINE, start, "SPAWN", scope)
    assert (fine.error, scope.next_session, list(fine.snapshot.children)) == (None, 6, ["x:5"])


def test_a_step_of_the_simulation_is_a_transition() -> None:
    sim = simulate(MACHINE)
    after, _ = transition(MACHINE, sim.snapshot, {"type": "ALL", "by": 2})
    sim.send("ALL", by=2)
    assert (sim.snapshot.value, sim.snapshot.context, sim.snapshot.output) == (after.value, after.context, after.output)


# ------------------------------------------------------------ restored snapshots


COUNTER: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"n": 1},
    "states": {"a": {"on": {"GO": "b"}}, "b": {"initial": "x", "states": {"x": {"on": {"GO": "y"}}, "y": {}, "h": {"type": "history"}}}},
}


def test_a_snapshot_goes_through_json_without_a_host() -> None:
    machine = load_machine(COUNTER)
    snapshot, _ = initial_transition(machine)
    for _ in range(3):
        saved = snapshot.to_xstate()
        restored = restore_snapshot(machine, dumps(saved))
        assert restored == snapshot == restore_snapshot(machine, saved)
        assert (restored.to_xstate(), simulate(machine, snapshot=saved).to_xstate()) == (saved, saved)
        snapshot, _ = transition(machine, restored, "GO")
    assert snapshot.value == {"b": "y"}
    watched: list[Any] = []
    assert simulate(machine, snapshot=snapshot.to_xstate(), inspect=watched.append).snapshot == snapshot
    assert watched


def test_a_snapshot_that_does_not_fit_is_refused() -> None:
    machine = load_machine(COUNTER)
    saved = initial_transition(machine)[0].to_xstate()
    with pytest.raises(SnapshotError, match="zz"):
        restore_snapshot(machine, {**saved, "value": "zz"})
    exact = load_machine(COUNTER, semantics="xstate-exact")
    with pytest.raises(SnapshotError, match="does not fit machine 'm'"):
        restore_snapshot(exact, {**saved, "value": "zz"})


def test_a_snapshot_with_children_is_for_a_host() -> None:
    kid = load_machine({"id": "kid", "initial": "a", "states": {"a": {}}})
    document = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "kid", "id": "kid"}}}}
    machine = load_machine(document, {"actors": {"kid": kid}})
    with pytest.raises(UsageError, match="only a host can run"):
        restore_snapshot(machine, simulate(machine).to_xstate())


def test_a_session_is_restored_without_a_host() -> None:
    machine = load_machine('<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="null"><state id="a"><transition event="go" target="b"/></state><state id="b"/></scxml>')
    snapshot, _ = initial_transition(machine)
    assert transition(machine, restore_snapshot(machine, snapshot.to_xstate()), "go")[0].value == "b"
