"""`simulate(machine, pure=True)`: what is not pure is named, and pure machines run as without it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from statecharts import PurityError, assign, enqueue, from_transition, load_machine, raise_, send_to, simulate
from statecharts.interpreter.selection import GuardFailure


def impure(*_given: Any) -> float:
    return time.time()


def document(**state: Any) -> dict[str, Any]:
    return {"id": "m", "initial": "a", "context": {"n": 1}, "states": {"a": {"on": {"GO": "b"}}, "b": {"on": {"NEXT": "c"}, **state}, "c": {}}}


async def job() -> None:
    """Work that nobody settles."""


def always(context: Any) -> bool:
    return impure() > 0


def never(context: Any) -> dict[str, Any]:
    return {"n": impure()}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "guard": (document(always={"guard": "g", "target": "c"}), {"guards": {"g": always}}, "guard 'g'"),
    "guard params": (
        document(always={"guard": {"type": "g", "params": lambda context: impure()}, "target": "c"}),
        {"guards": {"g": lambda params: True}},
        "params of guard 'g'",
    ),
    "update": (document(entry="u"), {"updates": {"u": never}}, "action 'u'"),
    "update of one key": (document(entry="u"), {"updates": {"u": {"n": impure}}}, "action 'u', key 'n'"),
    "named delay": (document(after={"d": "c"}), {"delays": {"d": lambda context: impure()}}, "delay 'd'"),
    "delay of an action": (document(entry="r"), {"actions": {"r": raise_("X", delay=impure)}}, "action 'r'"),
    "event of an action": (document(entry="r"), {"actions": {"r": send_to("#_internal", lambda: {"type": "X", "at": impure()})}}, "action 'r'"),
    "params": (document(entry={"type": "u", "params": lambda context: impure()}), {"actions": {"u": lambda: None}}, "params of action 'u'"),
    "invoke input": (document(invoke={"src": "job", "id": "j"}), {"actors": {"job": job}, "invoke_inputs": {"j": impure}}, "input of invoke 'j'"),
    "output": (
        {"id": "m", "initial": "a", "context": {}, "states": {"a": {"on": {"GO": "b"}}, "b": {"type": "final"}}},
        {"outputs": {"m": lambda context: impure()}},
        "output of 'm'",
    ),
    "enqueue": (document(entry="e"), {"actions": {"e": enqueue(lambda enqueue: enqueue(raise_("X", delay=impure())))}}, "action 'e'"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "bound", "name"), CASES.values(), ids=CASES)
def test_what_reads_the_clock_is_named(source: dict[str, Any], bound: dict[str, Any], name: str) -> None:
    machine = load_machine(source, bound, strict=False, semantics="xstate")
    held = simulate(machine, pure=True)
    held.send("GO")
    error = held.snapshot.error
    assert held.snapshot.status == "error"
    cause = error.__cause__ if isinstance(error, GuardFailure) else error
    assert isinstance(cause, PurityError), repr(error)
    assert cause.name == name
    assert "called time.time" in str(error)
    free = simulate(machine)
    free.send("GO")
    assert free.snapshot.status != "error", repr(free.snapshot.error)


def test_an_impure_initial_context_is_named() -> None:
    machine = load_machine(document(), {"context": lambda input: {"n": impure()}})
    error = simulate(machine, pure=True).snapshot.error
    assert isinstance(error, PurityError) and error.name == "the initial context"
    assert simulate(machine).snapshot.status == "active"


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (lambda context: {"n": random.random()}, "called random.random"),
        (lambda context: context.update(n=2), "changed what it was given"),
        (lambda context, made=iter(range(9)): {"n": next(made)}, "answered .* and then .* to the same arguments"),
    ],
)
def test_updates_that_draw_or_change_or_differ_are_refused(update: Callable[..., Any], words: str) -> None:
    sim = simulate(load_machine(document(entry="u"), {"updates": {"u": update}}), pure=True)
    with pytest.raises(PurityError, match=words):
        sim.send("GO")
        raise sim.snapshot.error


def test_actions_and_actors_may_do_what_they_like() -> None:
    seen: list[float] = []
    bound = {"actions": {"act": lambda: seen.append(time.time())}, "actors": {"job": job}}
    machine = load_machine(document(entry="act", invoke={"src": "job", "id": "j"}), bound)
    sim = simulate(machine, pure=True)
    sim.send("GO")
    assert (sim.snapshot.value, len(seen), list(sim.snapshot.children)) == ("b", 1, ["j"])


def test_an_update_that_spawns_is_run_once() -> None:
    """Making a child twice would not be the same as making it once."""
    bound = {
        "actions": {"one": assign(ref=lambda spawn: spawn("job", id="x")), "all": assign(lambda spawn: {"ref": spawn("job", id="y")})},
        "actors": {"job": job},
        "context": lambda spawn: {"ref": spawn("job", id="z")},
    }
    sim = simulate(load_machine(document(entry=["one", "all"]), bound), pure=True)
    sim.send("GO")
    assert sim.snapshot.status == "active"
    assert [ref.id for ref in sim.snapshot.children.values() if ref] == ["z", "x", "y"]
    assert [start.path for start in sim.starts] == ["z", "x", "y"]


def test_children_are_held_to_purity_only_by_their_own_machine() -> None:
    bound = {"actors": {"count": from_transition(lambda state, event: time.time(), 0)}}
    sim = simulate(load_machine(document(invoke={"src": "count", "id": "c"}), bound), pure=True)
    sim.send("GO")
    sim.send_to("c", "X")
    assert sim.child("c").context > 0


def test_an_enqueue_function_may_make_its_actions_on_the_spot() -> None:
    def go(enqueue: Any, context: Any) -> None:
        step = 1
        enqueue(raise_("X"))
        enqueue(assign(n=lambda context, by=step: context["n"] + by + step))

    document = {"id": "m", "context": {"n": 0}, "initial": "a", "states": {"a": {"entry": "go", "on": {"X": "b"}}, "b": {}}}
    sim = simulate(load_machine(document, {"actions": {"go": enqueue(go)}}), pure=True)
    assert (sim.snapshot.value, sim.snapshot.context) == ("b", {"n": 2})


def test_an_enqueue_function_that_makes_other_actions_each_time_is_named() -> None:
    turns = iter(range(100))

    def go(enqueue: Any) -> None:
        turn = next(turns)
        enqueue(assign(n=lambda: turn))

    document = {"id": "m", "initial": "a", "states": {"a": {"entry": "go"}}}
    sim = simulate(load_machine(document, {"actions": {"go": enqueue(go)}}), pure=True)
    assert isinstance(sim.snapshot.error, PurityError)
