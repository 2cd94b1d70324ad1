"""The numbered corrections of ``docs/semantics.md``: what XState does, and what we do instead."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecharts import (
    ImplementationError,
    Implementations,
    SnapshotError,
    cancel,
    emit,
    load_machine,
    raise_,
    simulate,
    spawn_child,
)
from statecharts.schemas import SchemaError

EXACT, CORRECTED = "xstate-exact", "xstate"


def machine(document: dict[str, Any], semantics: str, implementations: Any = None) -> Any:
    return load_machine(document, implementations, strict=False, semantics=semantics)


def fail() -> None:
    raise ValueError("kaput")


async def pending() -> None:
    """A promise that the test settles."""


def test_c1_an_exception_stops_the_children() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"invoke": {"src": "job", "id": "job"}, "on": {"GO": {"actions": "fail"}}}},
    }
    bound = {"actors": {"job": pending}, "actions": {"fail": fail}}
    exact = simulate(machine(document, EXACT, bound))
    exact.send("GO")
    assert (exact.snapshot.status, list(exact.snapshot.children)) == ("error", ["job"])
    assert exact.child("job").status == "active"
    corrected = simulate(machine(document, CORRECTED, bound))
    corrected.send("GO")
    assert (corrected.snapshot.status, dict(corrected.snapshot.children)) == ("error", {})
    assert [ref.id for ref in corrected.ended[:1]] == ["job"]
    assert isinstance(corrected.snapshot.error, ValueError)


def test_c2_cancel_reaches_every_timer_of_the_id() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "context": {"n": 0},
        "states": {"a": {"on": {"SET": {"actions": "set"}, "OFF": {"actions": "off"}, "RING": {"actions": "count"}}}},
    }
    bound = {
        "actions": {"set": raise_("RING", id="t", delay=10), "off": cancel("t")},
        "updates": {"count": lambda context: {"n": context["n"] + 1}},
    }
    counts = {}
    for semantics in (EXACT, CORRECTED):
        sim = simulate(machine(document, semantics, bound))
        sim.send("SET")
        sim.send("SET")
        sim.send("OFF")
        sim.advance(100)
        counts[semantics] = sim.snapshot.context["n"]
    assert counts == {EXACT: 1, CORRECTED: 0}


def test_c2_a_fired_timer_leaves_the_other_cancellable() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"SET": {"actions": "set"}, "OFF": {"actions": "off"}}}}}
    bound = {"actions": {"set": raise_("RING", id="t", delay=10), "off": cancel("t")}}
    left = {}
    for semantics in (EXACT, CORRECTED):
        sim = simulate(machine(document, semantics, bound))
        sim.send("SET")
        sim.advance(5)
        sim.send("SET")
        sim.advance(5)
        sim.send("OFF")
        left[semantics] = sim.clock.next_due()
    assert left == {EXACT: 15, CORRECTED: None}


def test_c3_an_unknown_actor_is_named() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"invoke": {"src": "nobody", "id": "n"}}}}
    exact = simulate(machine(document, EXACT))
    exact.send("GO")
    assert (exact.snapshot.status, exact.snapshot.children) == ("active", {"n": None})
    with pytest.raises(ImplementationError, match="actor 'nobody', used at /states/b/invoke/src"):
        simulate(machine(document, CORRECTED))
    spawning = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": "go"}}}}}
    corrected = simulate(machine(spawning, CORRECTED, {"actions": {"go": spawn_child("nobody")}}))
    corrected.send("GO")
    assert corrected.snapshot.status == "error"
    assert "actor 'nobody' is not implemented" in str(corrected.snapshot.error)


def test_c4_a_child_without_id_is_listed_under_its_session() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": "go"}}}}}
    bound = {"actions": {"go": spawn_child("job")}, "actors": {"job": pending}}
    listed = {}
    for semantics in (EXACT, CORRECTED):
        sim = simulate(machine(document, semantics, bound))
        sim.send("GO")
        sim.send("GO")
        listed[semantics] = list(sim.snapshot.children)
    assert listed == {EXACT: ["undefined"], CORRECTED: ["x:1", "x:2"]}


def test_c5_stopped_stays_stopped() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {}}}
    values = {}
    for semantics in (EXACT, CORRECTED):
        first = simulate(machine(document, semantics))
        first.stop()
        again = simulate(machine(document, semantics), snapshot=first.to_xstate())
        values[semantics] = (again.send("GO").value, again.snapshot.status)
    assert values == {EXACT: ("b", "stopped"), CORRECTED: ("a", "stopped")}


def test_c6_an_unknown_delay_is_named() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"after": {"soon": "b"}}, "b": {}}}
    assert simulate(machine(document, EXACT)).snapshot.value == "b"
    with pytest.raises(ImplementationError, match="delay 'soon', used at /states/a/after/soon"):
        simulate(machine(document, CORRECTED))
    computed = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": "go"}}}}}
    bound = {"actions": {"go": raise_("X", delay=lambda: "later")}}
    sim = simulate(machine(computed, CORRECTED, bound))
    sim.send("GO")
    assert "delay 'later' is not implemented" in str(sim.snapshot.error)


def test_c7_a_report_of_an_earlier_child_is_dropped() -> None:
    """The child is done while its parent is busy leaving and re-entering the invoking state."""
    child = {"id": "kid", "initial": "x", "states": {"x": {"on": {"FIN": "f"}}, "f": {"type": "final"}}}
    document = {
        "id": "m",
        "initial": "a",
        "context": {"done": 0},
        "states": {
            "a": {
                "invoke": {"src": "kid", "id": "kid", "onDone": {"actions": "count"}},
                "on": {"BOTH": {"actions": ["finish", "again"]}, "AGAIN": {"target": "a", "reenter": True}},
            }
        },
    }
    from statecharts import send_to

    done = {}
    for semantics in (EXACT, CORRECTED):
        kid = machine(child, semantics)
        bound = {
            "actors": {"kid": kid},
            "actions": {"again": send_to("#_internal", "AGAIN"), "finish": send_to("kid", "FIN")},
            "updates": {"count": lambda context: {"done": context["done"] + 1}},
        }
        # the order of the two sends decides: AGAIN is in the mailbox before the child reports
        document["states"]["a"]["on"]["BOTH"]["actions"] = ["again", "finish"]  # type: ignore[index]
        sim = simulate(machine(document, semantics, bound))
        sim.send("BOTH")
        done[semantics] = (sim.snapshot.context["done"], sim.child("kid").status)
    assert done == {EXACT: (1, "active"), CORRECTED: (0, "active")}


def test_c8_a_snapshot_that_does_not_fit_names_all_that_is_missing() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {}, "b": {}}}
    saved = {
        "status": "active",
        "value": "a",
        "context": {},
        "historyValue": {"m.h": [{"id": "m.gone"}]},
        "children": {"kid": {"src": "nobody", "snapshot": {"status": "active"}}},
    }
    assert dict(simulate(machine(document, EXACT), snapshot=saved).snapshot.children) == {}
    with pytest.raises(SnapshotError) as caught:
        simulate(machine(document, CORRECTED), snapshot=saved)
    text = str(caught.value)
    assert "/historyValue/m.h: no state 'm.gone'" in text
    assert "/children/kid/src: no actor 'nobody'" in text


def test_c9_timers_and_order_survive_in_the_envelope() -> None:
    document = {
        "id": "m",
        "type": "parallel",
        "states": {
            "a": {"initial": "a1", "states": {"a1": {"tags": "a1", "on": {"E": "a2"}}, "a2": {"tags": "a2"}}},
            "b": {"initial": "b1", "states": {"b1": {"tags": "b1", "after": {"100": "b2"}}, "b2": {"tags": "b2"}}},
        },
    }
    sim = simulate(machine(document, CORRECTED))
    sim.send("E")
    sim.advance(60)
    saved = json.loads(json.dumps(sim.save()))
    again = simulate(machine(document, CORRECTED), snapshot=saved)
    assert again.snapshot.tags == sim.snapshot.tags == ("b1", "a2")
    assert again.advance(39).value == {"a": "a2", "b": "b1"}
    assert again.advance(1).value == {"a": "a2", "b": "b2"}
    bare = simulate(machine(document, EXACT), snapshot=sim.to_xstate())
    assert bare.snapshot.tags == ("a2", "b1")
    assert bare.advance(1000).value == {"a": "a2", "b": "b1"}


def test_c9_an_overdue_timer_fires_once_at_restore() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "context": {"n": 0},
        "states": {"a": {"after": {"100": {"target": "b"}}}, "b": {"entry": "count"}},
    }
    bound = {"updates": {"count": lambda context: {"n": context["n"] + 1}}}
    sim = simulate(machine(document, CORRECTED, bound))
    late = {**sim.save(), "now": 5000}
    again = simulate(machine(document, CORRECTED, bound), snapshot=late)
    assert again.snapshot.value == "a"
    assert again.advance(0).value == "b"
    assert again.settle().context["n"] == 1


def test_c10_schemas_are_checked_where_values_come_in() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "context": {"n": 0},
        "schemas": {"events": {"GO": {"type": "object", "required": ["ref"]}}},
        "states": {"a": {"on": {"GO": "b"}}, "b": {}},
    }
    assert simulate(machine(document, EXACT)).send("GO").value == "b"
    sim = simulate(machine(document, CORRECTED))
    with pytest.raises(SchemaError):
        sim.send("GO")
    assert sim.snapshot.value == "a"
    assert sim.send("GO", ref="x").value == "b"


def test_c11_history_of_dotted_ids_survives() -> None:
    document = {
        "id": "m",
        "initial": "p",
        "states": {
            "p": {
                "initial": "a",
                "on": {"OUT": "q"},
                "states": {"a": {"on": {"N": "b"}}, "b": {"id": "dotted.id"}, "h": {"type": "history"}},
            },
            "q": {"on": {"BACK": "p.h"}},
        },
    }
    values = {}
    for semantics in (EXACT, CORRECTED):
        sim = simulate(machine(document, semantics))
        sim.send("N")
        sim.send("OUT")
        again = simulate(machine(document, semantics), snapshot=sim.to_xstate())
        values[semantics] = again.send("BACK").value
    assert values == {EXACT: {"p": "a"}, CORRECTED: {"p": "b"}}


def test_c11_a_machine_that_failed_before_it_began_is_restored_as_failed() -> None:
    document = {"id": "m", "initial": "nowhere", "states": {"a": {}}}
    for form in ("save", "to_xstate"):
        sim = simulate(machine(document, CORRECTED))
        assert sim.snapshot.status == "error"
        again = simulate(machine(document, CORRECTED), snapshot=json.loads(json.dumps(getattr(sim, form)())))
        assert again.snapshot.status == "error"
    assert "nowhere" in str(simulate(machine(document, CORRECTED), snapshot=sim.save()).snapshot.error)


def test_c12_a_parallel_that_was_left_is_entered_again() -> None:
    document = {
        "id": "m",
        "initial": "p",
        "states": {
            "p": {
                "type": "parallel",
                "states": {"x": {"on": {"GO": "h"}}, "y": {}, "h": {"type": "history"}},
            },
        },
    }
    nodes = {}
    for semantics in (EXACT, CORRECTED):
        sim = simulate(machine(document, semantics))
        sim.send("GO")
        nodes[semantics] = sim.snapshot.configuration
    assert nodes == {EXACT: ("m", "m.p.x", "m.p.y"), CORRECTED: ("m", "m.p", "m.p.x", "m.p.y")}


def test_c12_history_of_the_source_enters_nothing_twice() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "states": {
            "a": {
                "initial": "b",
                "states": {"b": {"invoke": {"src": "job", "id": "job"}, "on": {"GO": "h"}}, "h": {"type": "history"}},
            }
        },
    }
    started = {}
    for semantics in (EXACT, CORRECTED):
        sim = simulate(machine(document, semantics, {"actors": {"job": pending}}))
        sim.send("GO")
        started[semantics] = (len(sim.starts), len(sim.ended))
    assert started == {EXACT: (2, 0), CORRECTED: (1, 0)}


def test_c12_a_region_that_was_left_is_not_entered_alone() -> None:
    document = {
        "id": "m",
        "initial": "p",
        "states": {
            "q": {},
            "p": {
                "type": "parallel",
                "states": {
                    "x": {"on": {"GO": "h"}},
                    "y": {"on": {"GO": "#m.q"}},
                    "h": {"type": "history", "target": "x"},
                },
            },
        },
    }
    nodes = {}
    for semantics in (EXACT, CORRECTED):
        sim = simulate(machine(document, semantics))
        sim.send("GO")
        nodes[semantics] = sim.snapshot.configuration
    assert nodes == {EXACT: ("m", "m.q", "m.p.x", "m.p.y"), CORRECTED: ("m", "m.q")}


def test_emit_reaches_listeners_in_order() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": ["one", "two"]}}}}}
    impl = Implementations({"actions": {"one": emit({"type": "one"}), "two": emit("two")}})
    sim = simulate(machine(document, CORRECTED, impl))
    sim.send("GO")
    assert [event["type"] for event in sim.emitted_events] == ["one", "two"]
