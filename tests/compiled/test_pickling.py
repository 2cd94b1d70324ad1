"""Copies, deep copies and pickles are the same in either build."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from statecharts import (
    ExecutionError,
    Implementations,
    Machine,
    initial_system,
    initial_transition,
    load_machine,
    simulate,
    transition,
)
from statecharts.interpreter.cells import EventFlood
from statecharts.interpreter.pure import step
from statecharts.interpreter.selection import GuardFailure
from statecharts.nodes import StateNode, Transition

CHILD = {"id": "child", "initial": "z", "states": {"z": {}}}
DOCUMENT = {
    "id": "m",
    "initial": "a",
    "context": {"n": 1},
    "states": {
        "a": {
            "invoke": {"src": "kid", "id": "k"},
            "after": {"10": "b"},
            "on": {"GO": {"target": "b", "guard": "positive", "actions": "add"}},
        },
        "b": {"type": "parallel", "states": {"x": {}, "y": {"initial": "y1", "states": {"y1": {}, "h": {"type": "history"}}}}},
    },
}


def positive(context: Any) -> bool:
    return bool(context["n"] > 0)


def add(context: Any) -> dict[str, Any]:
    return {"n": context["n"] + 1}


@pytest.fixture
def machine() -> Machine[Any, Any]:
    bound = {"guards": {"positive": positive}, "updates": {"add": add}}
    return load_machine(DOCUMENT, Implementations({**bound, "actors": {"kid": load_machine(CHILD)}}))


def pickled(protocol: int) -> Callable[[Any], Any]:
    return lambda value: pickle.loads(pickle.dumps(value, protocol))


PICKLES = [pytest.param(pickled(number), id=f"pickle-{number}") for number in range(2, pickle.HIGHEST_PROTOCOL + 1)]
COPIES = [pytest.param(copy.copy, id="copy"), pytest.param(copy.deepcopy, id="deepcopy")]


def shape(node: StateNode) -> Any:
    """All that a node is, without what surrounds it."""
    def told(found: Transition) -> Any:
        targets = None if found.targets is None else [target and target.id for target in found.targets]
        parts = [repr(part) for part in (found.guard, *found.actions)]
        return (found.event_type, targets, found.reenter, parts, found.pointer, found.number)

    return {
        "id": node.id, "type": node.type, "index": node.index, "last": node.last, "path": node.path,
        "on": {key: [told(t) for t in found] for key, found in node.transitions.items()},
        "delayed": [(d.event_type, d.delay) for d in node.delayed],
        "invokes": [(i.id, i.src) for i in node.invokes],
        "children": {key: shape(child) for key, child in node.children.items()},
    }  # fmt: skip


@pytest.mark.parametrize("again", [*PICKLES, pytest.param(copy.deepcopy, id="deepcopy")])
def test_a_definition_is_made_again_whole(machine: Machine[Any, Any], again: Callable[[Any], Any]) -> None:
    made = again(machine.definition)
    assert shape(made.root) == shape(machine.definition.root)
    assert made.root is not machine.definition.root
    a = made.root.children["a"]
    assert a.parent is made.root
    assert a.transitions["GO"][0].source is a
    assert made.nodes[a.index] is a
    assert simulate(Machine(made, machine.implementations)).send("GO").context == {"n": 2}


@pytest.mark.parametrize("again", [*PICKLES, *COPIES])
def test_nodes_and_transitions(machine: Machine[Any, Any], again: Callable[[Any], Any]) -> None:
    node = machine.definition.root.children["a"]
    assert shape(again(node)) == shape(node)
    taken = node.transitions["GO"][0]
    made = again(taken)
    assert (made.event_type, made.pointer, made.source.id) == ("GO", taken.pointer, "m.a")
    assert [target.id for target in made.targets] == ["m.b"]


@pytest.mark.parametrize("used", [False, True], ids=["fresh", "used"])
@pytest.mark.parametrize("again", PICKLES)
def test_a_machine_whether_it_ran_or_not(machine: Machine[Any, Any], again: Callable[[Any], Any], used: bool) -> None:
    if used:
        simulate(machine).send("GO")
        assert machine.schemas is not None
    made = again(machine)
    assert made.missing == machine.missing
    sim = simulate(made)
    assert sim.snapshot.children["k"] is not None
    assert sim.send("GO").context == {"n": 2}
    assert made.schemas is not None


@pytest.mark.parametrize("again", COPIES)
def test_what_never_changes_is_its_own_copy(machine: Machine[Any, Any], again: Callable[[Any], Any]) -> None:
    snapshot = simulate(machine).snapshot
    for value in (machine, snapshot, snapshot.children["k"], snapshot.context):
        assert again(value) is value


def test_a_snapshot_is_saved_not_pickled(machine: Machine[Any, Any]) -> None:
    snapshot = simulate(machine).snapshot
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="save"):
            pickle.dumps(snapshot, protocol)


@pytest.mark.parametrize("again", [*PICKLES, *COPIES])
def test_values_of_a_step(machine: Machine[Any, Any], again: Callable[[Any], Any]) -> None:
    before, started = initial_transition(machine)
    after, effects = transition(machine, before, "GO")
    for value in (*started, *effects, *before.next_events(), after.context, after.option("GO"), before.children["k"]):
        made = again(value)
        assert type(made) is type(value)
        assert made == value


@pytest.mark.parametrize("again", COPIES)
def test_a_step_and_a_system_at_rest(machine: Machine[Any, Any], again: Callable[[Any], Any]) -> None:
    before, _ = initial_transition(machine)
    taken = step(machine, before, "GO")
    assert again(taken) == taken
    state = initial_system(machine)
    made = again(state)
    assert made == state


@pytest.mark.parametrize("again", [*PICKLES, *COPIES])
@pytest.mark.parametrize(
    "error", [GuardFailure("no", name="g", state="m.a"), EventFlood("too many"), ExecutionError("out", js_name="TypeError")], ids=lambda e: type(e).__name__
)
def test_errors(error: Exception, again: Callable[[Any], Any]) -> None:
    made = again(error)
    assert type(made) is type(error)
    assert made.args == error.args
    assert str(made) == str(error)
