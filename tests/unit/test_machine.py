"""A machine: what is missing, what is surplus, and more implementations later."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from statecharts import (
    ImplementationError,
    Implementations,
    Machine,
    MissingName,
    and_,
    assign,
    enqueue,
    load_machine,
    not_,
    or_,
    raise_,
    send_to,
    simulate,
    spawn_child,
)

DOCUMENT: dict[str, Any] = {
    "id": "m",
    "version": "2",
    "initial": "a",
    "context": {"n": 0},
    "states": {
        "a": {
            "entry": "hello",
            "exit": [{"type": "bye", "params": {"n": 1}}],
            "initial": {"target": "x", "actions": "first"},
            "invoke": [{"src": "job", "id": "job"}],
            "after": {"soon": "b", "5": "b"},
            "on": {
                "A": {"target": "b", "guard": "g"},
                "B": {"target": "b", "guard": {"type": "@xstate.and", "guards": ["g", {"type": "@xstate.not", "guard": "h"}]}},
                "C": {"actions": {"type": "@xstate.raise", "event": {"type": "E"}, "delay": "late"}},
                "D": {"actions": {"type": "@xstate.spawnChild", "src": "kid"}},
                "E": {"guard": {"@expr": "context.n > 0"}, "actions": "hello"},
            },
            "states": {"x": {}},
        },
        "b": {},
    },
}  # fmt: skip


def test_missing_names_every_use_with_its_place() -> None:
    machine = load_machine(DOCUMENT)
    assert machine.missing == (
        MissingName("action", "hello", ("/states/a/entry", "/states/a/on/E/actions")),
        MissingName("action", "bye", ("/states/a/exit/0",)),
        MissingName("action", "first", ("/states/a/initial/actions",)),
        MissingName("actor", "job", ("/states/a/invoke/0/src",)),
        MissingName("delay", "soon", ("/states/a/after/soon",)),
        MissingName("guard", "g", ("/states/a/on/A/guard", "/states/a/on/B/guard/guards/0")),
        MissingName("guard", "h", ("/states/a/on/B/guard/guards/1/guard",)),
        MissingName("delay", "late", ("/states/a/on/C/actions",)),
        MissingName("actor", "kid", ("/states/a/on/D/actions",)),
    )
    assert machine.surplus == ()
    assert repr(machine) == "<Machine 'm' 4 states>"
    assert (machine.id, machine.version, machine.semantics, machine.document) == ("m", "2", "xstate", DOCUMENT)


def test_starting_reports_all_of_it_at_once() -> None:
    machine = load_machine(DOCUMENT)
    with pytest.raises(ImplementationError) as caught:
        simulate(machine)
    assert caught.value.missing == machine.missing
    text = str(caught.value)
    assert "machine 'm' uses names that are not bound:" in text
    assert "  guard 'g', used at /states/a/on/A/guard, /states/a/on/B/guard/guards/0\n" in text
    assert "machine.provide(...)" in text and "stubs=True" in text
    with pytest.raises(ImplementationError) as partly:
        machine.require_complete(ignore=frozenset({"guard", "action", "actor"}))
    assert [missing.name for missing in partly.value.missing] == ["soon", "late"]
    machine.require_complete(ignore=frozenset({"guard", "action", "actor", "delay"}))


async def job() -> None:
    """Work that a test settles."""


BOUND: dict[str, Any] = {
    "actions": dict.fromkeys(("hello", "bye", "first"), lambda: None),
    "actors": {"job": job, "kid": job},
    "guards": {"g": True, "h": False},
    "delays": {"soon": 10, "late": 20},
}


def test_provide_makes_a_new_machine_of_the_same_definition() -> None:
    bare = load_machine(DOCUMENT)
    full = bare.provide(BOUND)
    assert (full.missing, len(bare.missing)) == ((), 9)
    assert full.definition is bare.definition
    full.require_complete()
    assert simulate(full).snapshot.value == {"a": "x"}
    assert full.in_pure_mode().is_pure
    assert full.in_pure_mode().provide(Implementations()).is_pure
    assert full.schemas is full.schemas


def one_state(actions: Any, guard: Any = None) -> dict[str, Any]:
    transition = {"actions": actions} if guard is None else {"actions": actions, "guard": guard}
    return {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": transition}}}}


def surplus(document: dict[str, Any], bound: dict[str, Any]) -> list[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine: Machine[Any, Any] = load_machine(document, bound)
    return list(machine.surplus)


SPARE: dict[str, Any] = {"actors": {"job": job}, "delays": {"d": 1}, "guards": {"g": True, "h": True}}
ALL = [("guard", "g"), ("guard", "h"), ("actor", "job"), ("delay", "d")]


@pytest.mark.parametrize(
    ("action", "left"),
    [
        (lambda: None, ALL),
        (assign(n=lambda context: 1), ALL),
        (spawn_child("job"), ["guard", "guard", "delay"]),
        (raise_("E", delay="d"), ["guard", "guard", "actor"]),
        (send_to("x", "E", delay="d"), ["guard", "guard", "actor"]),
        (assign(ref=lambda spawn: spawn("job")), ["guard", "guard", "delay"]),
        (assign(lambda spawn: {"ref": spawn("job")}), ["guard", "guard", "delay"]),
        (enqueue(lambda enqueue: enqueue("other")), []),
    ],
)
def test_what_a_bound_action_uses_is_not_surplus(action: Any, left: Any) -> None:
    found = surplus(one_state("act"), {**SPARE, "actions": {"act": action}})
    assert found == left or [kind for kind, _ in found] == left


def test_an_initial_context_that_spawns_may_use_any_actor() -> None:
    found = surplus(one_state([]), {**SPARE, "context": lambda spawn: {"ref": spawn("job")}})
    assert found == [("guard", "g"), ("guard", "h"), ("delay", "d")]


@pytest.mark.parametrize(
    ("bound", "left"),
    [
        (and_("g", not_("h")), []),
        (or_("g", lambda context: True), [("guard", "h")]),
        ("g", [("guard", "h")]),
        ({"type": "h"}, [("guard", "g")]),
        (lambda context: True, [("guard", "g"), ("guard", "h")]),
        (True, [("guard", "g"), ("guard", "h")]),
    ],
)
def test_what_a_bound_guard_refers_to_is_not_surplus(bound: Any, left: Any) -> None:
    spare = {"guards": {"ask": bound, "g": "ask", "h": True}}
    assert surplus(one_state([], "ask"), spare) == left


def test_a_name_reached_only_through_another_name() -> None:
    bound = {"guards": {"one": "two", "two": not_("three"), "three": True, "four": True}}
    assert surplus(one_state([], "one"), bound) == [("guard", "four")]
