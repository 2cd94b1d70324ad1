"""A whole system as a frozen value, and one pure step of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from statecharts import (
    UsageError,
    assign,
    cancel,
    emit,
    load_machine,
    log,
    raise_,
    send_parent,
    send_to,
    simulate,
    step_system,
)
from statecharts.events import to_event
from statecharts.interpreter import deliveries
from statecharts.interpreter.actors import promise_result
from statecharts.interpreter.system import System
from statecharts.interpreter.system_state import (
    Begin,
    Deliver,
    Fire,
    Stop,
    SystemState,
    freeze_system,
    initial_system,
    thaw_system,
)


async def job() -> None:
    """Work that nobody settles."""


KID: dict[str, Any] = {
    "id": "kid",
    "initial": "x",
    "context": {"n": 0},
    "states": {
        "x": {"entry": "up", "on": {"PING": {"actions": ["count", "up"]}, "SLEEP": {"actions": "later"}, "WAKE": "y"}},
        "y": {"type": "final", "output": 5},
    },
}
DOCUMENT: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"heard": 0},
    "states": {
        "a": {
            "entry": ["spawn", "note"],
            "invoke": {"src": "kid", "id": "kid", "systemId": "kids", "onDone": "c"},
            "after": {"100": "b"},
            "on": {
                "UP": {"actions": "hear"},
                "PING": {"actions": ["forward", "note", "act", "tell"]},
                "SLEEP": {"actions": "sleep"},
                "OFF": {"actions": "off"},
            },
        },
        "b": {},
        "c": {},
    },
}


def machine(acted: list[Any] | None = None) -> Any:
    done = [] if acted is None else acted
    kid = load_machine(
        KID,
        {
            "updates": {"count": lambda context: {"n": context["n"] + 1}},
            "actions": {"up": send_parent("UP"), "later": raise_("WAKE", id="w", delay=30)},
        },
    )
    bound = {
        "actors": {"kid": kid, "job": job},
        "updates": {"hear": lambda context: {"heard": context["heard"] + 1}},
        "actions": {
            "spawn": assign(ref=lambda spawn: spawn("job", id="mine")),
            "note": log("here"),
            "act": lambda: done.append("acted"),
            "tell": emit("TOLD"),
            "forward": send_to("kid", "PING"),
            "sleep": send_to("kid", "SLEEP"),
            "off": cancel("xstate.after.100.m.a"),
        },
    }
    return load_machine(DOCUMENT, bound)


def kinds(asked: tuple[Any, ...]) -> list[str]:
    return [type(each).__name__ for each in asked]


def deep(state: SystemState) -> Any:
    """Everything in a state that could be changed, copied."""
    return copy.deepcopy(
        [
            (a.ref, a.parent, a.status, a.is_open, a.begun, a.mailbox, a.deferred, a.input, a.snapshot.status, a.snapshot.context, dict(getattr(a.snapshot, "_children", {})))
            for a in state.actors
        ]
    ), (state.timers, state.registry, state.next_session, state.next_timer, state.now)  # fmt: skip


def test_a_system_begins_unstarted() -> None:
    state = initial_system(machine(), now=7)
    assert state.snapshot.value == "a"
    assert [actor.ref.id for actor in state.actors] == ["x:0", "mine", "kid"]
    assert {actor.status for actor in state.actors} == {0}
    assert [kind for kind, _ in state.actor(2).deferred] == ["execute"], "the child's first effects wait for its start"
    assert [kind for kind, _ in state.actor(0).deferred] == ["start", "execute", "execute", "execute"]
    assert (state.now, state.timers, state.registry[0][0]) == (7, (), "kids")
    with pytest.raises(UsageError, match="no actor with session 99"):
        state.actor(99)


def test_a_step_has_all_its_consequences_and_leaves_its_argument_alone() -> None:
    acted: list[Any] = []
    begun, asked = step_system(initial_system(machine(acted)), Begin())
    assert kinds(asked) == ["Begin", "Published", "Published", "Perform", "Arm", "Published", "Published"]
    assert begun.snapshot.context["heard"] == 1
    before = deep(begun)
    after, asked = step_system(begun, Deliver("PING"))
    again, asked_again = step_system(begun, Deliver({"type": "PING"}))
    assert deep(begun) == before
    assert (deep(after), after.snapshot, asked) == (deep(again), again.snapshot, asked_again)
    assert after.snapshot.context["heard"] == 2
    assert after.actor(2).snapshot.context == {"n": 1}
    performed = [each.effect.type for each in asked if isinstance(each, deliveries.Perform)]
    assert (performed, acted) == (["xstate.log", "act"], []), "the host performs; the step does not"
    assert [each.event for each in asked if isinstance(each, deliveries.Emitted)] == [{"type": "TOLD"}]


def test_timers_of_parent_and_child_are_in_the_state() -> None:
    state, _ = step_system(initial_system(machine()), Begin(), now=1000)
    state, _ = step_system(state, Deliver("SLEEP"), now=1010)
    assert [(timer.send_id, timer.due) for timer in state.timers] == [("xstate.after.100.m.a", 1100), ("w", 1040)]
    woken, _ = step_system(state, Fire(state.timers[1].handle), now=1040)
    assert (woken.snapshot.value, woken.now, woken.timers) == ("c", 1040, ())
    same, asked = step_system(state, Fire(99))
    assert (deep(same), asked) == (deep(state), ())
    off, _ = step_system(state, Deliver("OFF"))
    assert [timer.send_id for timer in off.timers] == ["w"]
    woken, _ = step_system(state, Fire(state.timers[1].handle))
    later, _ = step_system(woken, Deliver("ZZZ"))
    assert (later.timers, later.next_timer) == ((), state.next_timer), "a handle is never used twice"


def test_outside_results_are_deliveries_to_the_actor_they_are_about() -> None:
    state, _ = step_system(initial_system(machine()), Begin())
    mine = state.actor(1).ref
    done, _ = step_system(state, Deliver(promise_result(3), mine, mine))
    assert (done.actor(1).snapshot.output, done.snapshot.status) == (3, "active")


def test_stopping_stops_the_children() -> None:
    state, _ = step_system(initial_system(machine()), Begin())
    stopped, asked = step_system(state, Stop())
    assert stopped.snapshot.status == "stopped"
    assert {actor.status for actor in stopped.actors} == {2}
    assert (stopped.timers, stopped.registry) == ((), ())
    assert "Disarm" in kinds(asked) and "End" in kinds(asked)


def test_a_state_thaws_to_the_system_it_was() -> None:
    for state in (initial_system(machine()), step_system(initial_system(machine()), Begin())[0]):
        assert deep(freeze_system(thaw_system(state))) == deep(state)
        assert freeze_system(thaw_system(state)).actors == state.actors


def test_mailboxes_are_kept() -> None:
    system = thaw_system(initial_system(machine()))
    kid = next(cell for cell in system.cells.values() if cell.ref.id == "kid")
    system.send_all([(None, kid.ref, to_event("PING")), (None, kid.ref, to_event("PING"))])
    while system.run():
        pass
    state = freeze_system(system)
    assert [event["type"] for event in state.actor(2).mailbox] == ["PING", "PING"]
    begun, _ = step_system(state, Begin())
    assert begun.actor(2).snapshot.context == {"n": 2}


def test_only_a_system_at_rest_freezes() -> None:
    system = System(machine())
    system.boot()
    system.start()
    with pytest.raises(UsageError, match="only at rest"):
        freeze_system(system)


def test_a_grandchild_whose_parent_is_gone_has_none() -> None:
    state, _ = step_system(initial_system(machine()), Begin())
    only_kid = SystemState(
        state.machine,
        tuple(actor for actor in state.actors if actor.ref.id != "mine"),
        (),
        (),
        state.root,
        state.next_session,
        state.next_timer,
        state.now,
    )
    assert [cell.parent and cell.parent.ref.session for cell in thaw_system(only_kid).cells.values()] == [None, 0]


@pytest.mark.parametrize("events", [["PING"], ["PING", "SLEEP", "OFF", "PING"], ["SLEEP", "UP"]])
def test_stepping_and_simulating_are_the_same_run(events: list[str]) -> None:
    sim = simulate(machine())
    state, _ = step_system(initial_system(machine()), Begin())
    for event in events:
        sim.send(event)
        state, _ = step_system(state, Deliver(event))
        assert state.snapshot.value == sim.snapshot.value
        assert state.snapshot.context == sim.snapshot.context
        assert state.snapshot.children == sim.snapshot.children
        assert state.timers == tuple(sim.system.timers.pending.values())
        assert state.actor(2).snapshot.context == sim.child("kid").context
