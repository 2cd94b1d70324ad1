"""The agenda of a system between two of its tasks, where a host may stop it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from statecharts import Machine, load_machine, simulate, spawn_child, step_system, stop_child
from statecharts.events import to_event
from statecharts.interpreter.effects import ActorRef
from statecharts.interpreter.system import System
from statecharts.interpreter.system_state import Begin, Deliver, initial_system

NOTING: dict[str, Any] = {
    "id": "m",
    "initial": "on",
    "context": {"seen": []},
    "states": {"on": {"on": {"A": {"actions": "note"}, "B": {"actions": "note"}}}},
}


def noting() -> Machine[Any, Any]:
    """Its context lists the events it has handled."""
    note = {"note": lambda context, event: {"seen": [*context["seen"], event["type"]]}}
    return load_machine(NOTING, {"updates": note})


def started() -> System:
    system = System(noting())
    system.boot()
    system.start()
    assert [type(each).__name__ for each in system.run()] == ["Published"]
    return system


def test_a_system_is_settled_when_neither_it_nor_its_host_has_something_to_do() -> None:
    system = started()
    assert system.settled()
    system.send(to_event("A"))
    assert not system.settled()
    while not system.idle:
        batch = system.run(1)
    assert [type(each).__name__ for each in batch] == [] and system.settled()
    assert system.root.snapshot.context["seen"] == ["A"]


def test_what_is_handed_out_only_is_something_to_do() -> None:
    system = started()
    system.emit(system.root.ref, to_event("A"))
    assert system.idle and not system.settled()
    assert [type(each).__name__ for each in system.run()] == ["Emitted"]
    assert system.settled()


def test_a_stop_drops_the_event_that_an_idle_actor_was_about_to_take() -> None:
    system = started()
    system.send(to_event("A"))
    assert system.root.busy, "it has been delivered, and is not handled yet"
    assert system.root.snapshot.context["seen"] == []
    system.stop()
    while system.run():
        pass
    snapshot = system.root.snapshot
    assert (snapshot.status, snapshot.context["seen"]) == ("stopped", [])


def test_what_is_about_to_be_taken_comes_before_what_is_sent_meanwhile() -> None:
    system = started()
    system.send(to_event("A"))
    system.send(to_event("B"))
    while system.run():
        pass
    assert system.root.snapshot.context["seen"] == ["A", "B"]


def test_what_waits_for_an_actor_comes_before_what_is_sent_to_it() -> None:
    state, _ = step_system(initial_system(noting()), Begin())
    waiting = replace(state.actors[0], mailbox=(to_event("A"),))
    state, _ = step_system(replace(state, actors=(waiting,)), Deliver("B"))
    assert state.snapshot.context["seen"] == ["A", "B"]


async def job() -> None:
    """Work that nobody settles."""


def test_stopping_an_actor_that_the_system_does_not_know_frees_no_name() -> None:
    stranger = ActorRef(99, "stranger")
    document = {"id": "m", "initial": "a", "states": {"a": {"entry": "make", "on": {"GO": {"actions": "stop"}}}}}
    actions = {"make": spawn_child("job", id="kid", system_id="known"), "stop": stop_child(lambda: stranger)}
    sim = simulate(load_machine(document, {"actions": actions, "actors": {"job": job}}))
    assert sim.send("GO").status == "active"
    assert list(sim.system.registry) == ["known"]
    assert sorted(sim.snapshot.children) == ["kid"]
