"""XState's persisted form: what is written, what is restored, and what does not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecharts import (
    ExecutionError,
    SnapshotError,
    assign,
    from_transition,
    load_machine,
    simulate,
    spawn_child,
)
from statecharts.interpreter.effects import ActorRef
from statecharts.interpreter.persistence import restore
from statecharts.interpreter.system import System
from statecharts.json_text import dumps
from statecharts.values import UNDEFINED

CHILD: dict[str, Any] = {
    "id": "kid",
    "initial": "x",
    "context": {"n": 0},
    "states": {"x": {"on": {"NEXT": "y"}}, "y": {"initial": "y1", "states": {"y1": {}, "y2": {}}}},
}
DOCUMENT: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"ref": None},
    "on": {"GO": ".p", "BACK": ".p.h"},
    "states": {
        "a": {"entry": "spawn", "on": {"STOP": {"actions": "nothing"}}},
        "p": {
            "type": "parallel",
            "states": {
                "l": {"id": "left", "initial": "l1", "states": {"l1": {"on": {"NEXT": "l2"}}, "l2": {}}},
                "r": {"initial": "r1", "states": {"r1": {}, "r2": {}}},
                "h": {"type": "history", "history": "deep"},
            },
        },
    },
}


async def job() -> None:
    """Work that nobody settles."""


def machine(semantics: str = "xstate") -> Any:
    kid = load_machine(CHILD, semantics=semantics)
    counter = from_transition(lambda state, event: {"n": state["n"] + 1}, {"n": 0})
    bound = {
        "actions": {
            "spawn": assign(
                ref=lambda spawn: spawn("kid", id="kid", system_id="kids", sync_snapshot=False),
                more=lambda spawn: [spawn("job", id="job", input={"x": 1}), {"deep": spawn("count", id="count")}],
            ),
            "nothing": spawn_child("job", id="late"),
        },
        "actors": {"kid": kid, "job": job, "count": counter},
    }
    return load_machine(DOCUMENT, bound, semantics=semantics)


def saved() -> dict[str, Any]:
    sim = simulate(machine())
    sim.send_to("kid", "NEXT")
    sim.send_to("count", "X")
    sim.send("GO")
    sim.send("NEXT")
    return json.loads(json.dumps(sim.to_xstate()))  # type: ignore[no-any-return]


def test_children_history_and_references_are_written() -> None:
    document = saved()
    assert document["value"] == {"p": {"l": "l2", "r": "r1"}}
    assert document["context"]["ref"] == {"xstate$$type": 1, "id": "kid"}
    kid = document["children"]["kid"]
    assert (kid["src"], kid["systemId"], kid["syncSnapshot"], kid["snapshot"]["value"]) == ("kid", "kids", False, {"y": "y1"})
    job = document["children"]["job"]
    assert job == {"src": "job", "snapshot": {"status": "active", "input": {"x": 1}}}
    assert document["children"]["count"]["snapshot"]["context"] == {"n": 1}
    assert {"output", "error"}.isdisjoint(document)


def test_what_is_written_is_restored_and_goes_on() -> None:
    again = simulate(machine(), snapshot=saved())
    assert again.snapshot.value == {"p": {"l": "l2", "r": "r1"}}
    assert again.child("kid").value == {"y": "y1"}
    context = again.snapshot.context
    assert context["ref"] == again.snapshot.children["kid"]
    assert context["more"][0] == again.snapshot.children["job"]
    assert isinstance(context["more"][1]["deep"], ActorRef)
    assert again.system.view.get("kids") == context["ref"]
    assert [start.path for start in again.starts] == ["job"], "a promise is called again"
    again.send_to("count", "X")
    assert again.child("count").context == {"n": 2}
    assert again.to_xstate()["children"]["count"]["snapshot"]["context"] == {"n": 2}


def test_a_partial_value_is_completed_and_ids_are_followed() -> None:
    base = {"status": "active", "historyValue": {}, "context": {}, "children": {}}
    for value, full in [
        ("p", {"p": {"l": "l1", "r": "r1"}}),
        ({"p": {"r": "r2"}}, {"p": {"l": "l1", "r": "r2"}}),
        ({"p": {"#left": "l2"}}, {"p": {"l": "l2", "r": "r1"}}),
    ]:
        sim = simulate(machine(), snapshot={**base, "value": value})
        assert sim.snapshot.value == full


def test_a_child_without_snapshot_starts_anew_and_an_unknown_reference_is_dropped() -> None:
    document = {
        "status": "active",
        "value": "a",
        "historyValue": {},
        "context": {"ref": {"xstate$$type": 1, "id": "gone"}, "kid": {"xstate$$type": 1, "id": "kid"}, "same": [1]},
        "children": {"kid": {"src": "kid"}},
    }
    exact = simulate(machine("xstate-exact"), snapshot=document)
    assert exact.child("kid").value == "x"
    assert exact.snapshot.context["ref"] is UNDEFINED
    assert exact.snapshot.context["kid"] == exact.snapshot.children["kid"]


MISFITS: list[tuple[Any, list[str]]] = [
    (7, ["/: a snapshot is an object, not int"]),
    ({}, ["/status: must be active, done, error or stopped, not None", "/value: Cannot convert undefined", "/children: must be an object"]),
    ({"status": "odd"}, ["/status: must be active, done, error or stopped, not 'odd'"]),
    ({"value": "zzz"}, ["/value: State 'zzz' does not exist on 'm'"]),
    ({"value": {"p": {"zzz": "l1"}}}, ["/value: Child state 'zzz' does not exist on 'm.p'"]),
    ({"value": {"p": {"#gone": "l1"}}}, ["/value: Child state node '#gone' does not exist"]),
    ({"context": [1]}, ["/context: must be an object"]),
    ({"historyValue": {"m.p.h": [{"id": "m.p.zzz"}, "odd", {}]}}, ["/historyValue/m.p.h: no state 'm.p.zzz'", "no state 'odd'", "no state None"]),
    ({"historyValue": 7}, ["/historyValue: must be an object"]),
    ({"historyValue": {"m.p.h": 7}}, ["/historyValue/m.p.h: no state 7"]),
    ({"children": {"job": {"src": "job", "snapshot": 7}}}, ["/children/job/snapshot: a snapshot is an object, not int"]),
    ({"children": {"kid": {"src": "nobody"}}}, ["/children/kid/src: no actor 'nobody' in machine 'm'; bind it under `actors`"]),
    ({"children": {"kid": 7}}, ["/children/kid/src: no actor None"]),
    (
        {"children": {"kid": {"src": "kid", "snapshot": {"status": "active", "value": "zzz", "children": {}}}}},
        ["/children/kid/snapshot/value: State 'zzz' does not exist on 'kid'"],
    ),
    ({"children": {"kid": {"src": "kid"}}}, ["/children/kid/snapshot: a snapshot is an object, not NoneType"]),
]  # fmt: skip
GOOD = {"status": "active", "value": "a", "historyValue": {}, "context": {}, "children": {}}


@pytest.mark.parametrize(("change", "messages"), MISFITS)
def test_everything_that_does_not_fit_is_named_and_nothing_is_made(change: Any, messages: list[str]) -> None:
    document = {**GOOD, **change} if isinstance(change, dict) and change else change
    system = System(machine())
    with pytest.raises(SnapshotError) as caught:
        restore(system, document, strict=True)
    assert str(caught.value).startswith("the snapshot does not fit machine 'm':\n")
    for message in messages:
        assert message in str(caught.value)
    assert (system.cells, system.registry, system.next_session) == ({}, {}, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "zzz"}, "State 'zzz' does not exist on 'm'"),
        ({"value": None}, "Cannot convert undefined or null to object"),
        ({"value": {"p": {"#gone": "l1"}}}, "Child state node '#gone' does not exist on machine 'm'"),
        ({"children": None}, "Cannot convert undefined or null to object"),
    ],
)
def test_loosely_a_snapshot_that_does_not_fit_fails_as_in_xstate(change: Any, message: str) -> None:
    sim = simulate(machine("xstate-exact"), snapshot={**GOOD, **change})
    assert sim.snapshot.status == "error"
    assert isinstance(sim.snapshot.error, ExecutionError) and message in str(sim.snapshot.error)


def test_loosely_what_is_unknown_is_dropped() -> None:
    document = {
        **GOOD,
        "historyValue": {"m.p.h": [{"id": "m.p.l.l2"}, {"id": "gone"}], "x": [{"id": "gone"}, 7]},
        "children": {"kid": {"src": "nobody"}, "odd": {"src": 7}},
    }
    sim = simulate(machine("xstate-exact"), snapshot=document)
    assert sim.snapshot.children == {}
    assert sim.snapshot.history == {"m.p.h": ("m.p.l.l2",)}
    assert simulate(machine("xstate-exact"), snapshot={**GOOD, "historyValue": None}).snapshot.history == {}


def test_a_machine_that_failed_before_it_had_states_is_written_as_xstate_writes_it() -> None:
    failing = load_machine(
        {"id": "m", "initial": "a", "states": {"a": {"initial": "zzz", "states": {"b": {}}}}}, strict=False
    )
    sim = simulate(failing)
    assert sim.snapshot.status == "error"
    system = System(machine("xstate-exact"))
    restore(system, {**GOOD, "value": "zzz"})
    from statecharts.interpreter.persistence import persisted

    assert persisted(system) == {"status": "error", "error": system.root.snapshot.error, "children": {}, "historyValue": {}}


def test_a_listed_child_that_never_came_to_be_cannot_be_written() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"invoke": {"src": "nobody", "id": "n"}}}}
    sim = simulate(load_machine(document, strict=False))
    sim.send("GO")
    assert sim.snapshot.children == {"n": None}
    with pytest.raises(ExecutionError, match="getPersistedSnapshot"):
        sim.to_xstate()


def test_a_snapshot_value_restores_too() -> None:
    sim = simulate(load_machine(CHILD))
    sim.send("NEXT")
    assert simulate(load_machine(CHILD), snapshot=sim.snapshot).snapshot.value == {"y": "y1"}


def test_a_watched_or_named_root_is_restored_like_any_other() -> None:
    loaded = load_machine({"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {}}})
    document = simulate(loaded).send("GO").to_xstate()
    events: list[Any] = []
    named = simulate(loaded, snapshot=document, system_id="root", inspect=events.append)
    assert named.snapshot.value == "b" and events
    assert named.system.registry["root"] == named.system.root.ref
    assert named.snapshot == simulate(loaded, snapshot=document).snapshot


def test_children_that_are_over_are_written_with_what_came_of_them() -> None:
    def fail() -> None:
        raise ValueError("kaput")

    states = {"x": {"on": {"END": "end", "FAIL": {"actions": "fail"}}}, "end": {"type": "final"}}
    kid = load_machine({"id": "kid", "initial": "x", "output": {"n": 1}, "states": states}, {"actions": {"fail": fail}})
    invoked = [{"src": "kid", "id": name, "onError": {"actions": []}} for name in ("one", "two")]
    family = load_machine({"id": "m", "initial": "a", "states": {"a": {"invoke": invoked}}}, {"actors": {"kid": kid}})
    sim = simulate(family)
    sim.send_to("one", "END")
    sim.send_to("two", "FAIL")
    children = sim.to_xstate()["children"]
    one, two = children["one"]["snapshot"], children["two"]["snapshot"]
    assert (one["status"], one["output"], two["status"], two["error"]) == ("done", {"n": 1}, "error", {})
    assert sim.to_xstate_text() == dumps(sim.to_xstate())


def test_a_parent_that_was_restored_without_a_context_is_written_without_one() -> None:
    document = {"status": "active", "value": "a", "historyValue": {}, "children": {"kid": {"src": "kid"}}}
    sim = simulate(machine("xstate-exact"), snapshot=document)
    assert "context" not in sim.to_xstate() and sim.snapshot.children
    assert sim.to_xstate_text() == dumps(sim.to_xstate())
