"""Ctrl-C anywhere in a user's code: the step did not happen, and the run goes on with the next event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from statecharts import load_machine, simulate, spawn_child
from statecharts.values import UNDEFINED


async def job() -> None:
    """Work that nobody settles."""


class Once:
    """Interrupts the first call, then answers."""

    def __init__(self, answer: Any, kind: type[BaseException] = KeyboardInterrupt) -> None:
        self.answer = answer
        self.kind = kind
        self.calls = 0

    def __call__(self, *_given: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise self.kind
        return self.answer


DOCUMENT: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"n": 0},
    "states": {
        "a": {
            "exit": ["spawn", "count"],
            "on": {"GO": {"target": "b", "guard": {"type": "g"}, "actions": [{"type": "u", "params": {"x": 1}}, "act", "count"]}},
        },
        "b": {"after": {"10": "c"}, "invoke": {"src": "job", "id": "invoked"}, "on": {"GO": "c"}},
        "c": {},
    },
}  # fmt: skip


def make(**replaced: Any) -> Any:
    bound: dict[str, Any] = {
        "guards": {"g": replaced.get("guard", True)},
        "updates": {
            "count": lambda context: {"n": context["n"] + 1},
            "u": replaced.get("update", lambda: {}),  # noqa: PIE807 - `dict` would take arguments
        },
        "actions": {"spawn": spawn_child("job", id="spawned", system_id="known"), "act": replaced.get("action", lambda: None)},
        "actors": {"job": job},
    }
    return simulate(load_machine(DOCUMENT, bound))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize(
    "place", [lambda once: {"guard": once}, lambda once: {"update": once}, lambda once: {"action": once}], ids=["guard", "update", "action"]
)
def test_an_interrupt_leaves_no_half_step(place: Callable[[Any], dict[str, Any]], kind: type[BaseException]) -> None:
    once = Once({} if "update" in place(None) else True, kind)
    sim = make(**place(once))
    before, saved = sim.snapshot, sim.save()
    with pytest.raises(kind):
        sim.send("GO")
    assert sim.snapshot is before
    assert (sim.snapshot.status, sim.snapshot.error) == ("active", UNDEFINED)
    assert sim.save() == saved
    assert (sim.system.registry, list(sim.system.cells), sim.clock.next_due(), sim.starts) == ({}, [0], None, [])
    sim.send("GO")
    assert (sim.snapshot.value, sim.snapshot.context, list(sim.snapshot.children)) == ("b", {"n": 2}, ["spawned", "invoked"])
    assert [start.path for start in sim.starts] == ["spawned", "invoked"]
    assert sim.advance(10).value == "c"


def test_events_behind_the_interrupted_one_are_not_lost() -> None:
    once = Once(None)
    sim = make(action=once)

    def listener(snapshot: Any) -> None:
        raise AssertionError("nothing was published")

    leave = sim.subscribe(listener)
    with pytest.raises(KeyboardInterrupt):
        sim.send("GO")
    leave()
    sim.system.send({"type": "GO"})  # type: ignore[arg-type]
    sim.send("GO")
    assert sim.snapshot.value == "c"


def test_an_interrupt_in_a_child_leaves_the_parent_as_it_is() -> None:
    once = Once({"x": 1})
    kid = load_machine(
        {"id": "kid", "initial": "x", "context": {}, "states": {"x": {"on": {"GO": {"actions": "u"}}}}}, {"updates": {"u": once}}
    )
    parent = {"id": "p", "initial": "a", "states": {"a": {"invoke": {"src": "kid", "id": "kid", "onError": "b"}}, "b": {}}}
    sim = simulate(load_machine(parent, {"actors": {"kid": kid}}))
    with pytest.raises(KeyboardInterrupt):
        sim.send_to("kid", "GO")
    assert (sim.snapshot.value, sim.child("kid").context) == ("a", {})
    sim.send_to("kid", "GO")
    assert sim.child("kid").context == {"x": 1}


def test_an_interrupt_is_nobodys_on_error() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "job", "id": "job", "onDone": "b", "onError": "c"}}, "b": {}, "c": {}}}
    sim = simulate(load_machine(document, {"actors": {"job": Once(7)}}))
    with pytest.raises(KeyboardInterrupt):
        sim.run("job")
    assert sim.snapshot.value == "a"
    assert sim.run("job").value == "b"


def test_an_error_undoes_what_its_step_made_and_no_more() -> None:
    """A name that a failed step had taken is free again."""
    document = {
        "id": "p",
        "initial": "a",
        "states": {
            "a": {"invoke": {"src": "kid", "id": "kid", "onError": "b"}},
            "b": {"invoke": {"src": "job", "id": "job", "systemId": "known"}},
        },
    }

    def fail() -> None:
        raise LookupError("kaput")

    for kind in ("updates", "actions"):
        kid = load_machine(
            {"id": "kid", "initial": "x", "states": {"x": {"on": {"GO": {"actions": ["spawn", "fail", "spawn"]}}}}},
            {"actions": {"spawn": spawn_child("job", id="j", system_id="known")}, "actors": {"job": job}}
            | ({"updates": {"fail": fail}} if kind == "updates" else {}),
        )
        if kind == "actions":
            kid = kid.provide({"actions": {"fail": fail}})
        sim = simulate(load_machine(document, {"actors": {"kid": kid, "job": job}}))
        sim.send_to("kid", "GO")
        assert (sim.snapshot.value, sim.snapshot.status) == ("b", "active")
        assert sim.system.registry == {"known": sim.snapshot.children["job"]}
        assert sorted(cell.ref.id for cell in sim.system.cells.values()) == ["job", "x:0"]
