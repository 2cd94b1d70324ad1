"""What a snapshot answers."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from statecharts import EventOption, UsageError, initial_transition, load_machine, simulate, transition
from statecharts.interpreter.snapshot import matches_state
from statecharts.values import UNDEFINED

DOCUMENT: dict[str, Any] = {
    "id": "m",
    "initial": "off",
    "context": {"n": 0, "list": [1]},
    "tags": ["root"],
    "meta": {"about": ["all"]},
    "states": {
        "off": {
            "tags": "idle",
            "on": {
                "ON": "on",
                "LOCKED": {"guard": "hasKey", "target": "on"},
                "DATA": {"guard": "needsData", "target": "on"},
                "TWICE": [{"guard": "hasKey", "target": "on"}, {"guard": "isOld", "target": "on"}],
                "NOTHING": {},
                "FORBIDDEN": None,
                "ACT": {"actions": "act"},
                "INLINE": {"guard": {"type": "@xstate.not", "guard": "hasKey"}, "target": "on"},
            },
        },
        "on": {
            "type": "parallel",
            "meta": {"about": "on"},
            "on": {"OFF": "off", "END": "end"},
            "states": {
                "x": {"tags": ["busy", "idle"], "initial": "x1", "states": {"x1": {"on": {"NEXT": "x2"}}, "x2": {"meta": 7}}},
                "y": {"initial": "y1", "states": {"y1": {"on": {"NEXT": "y2", "OFF": {"guard": "hasKey", "target": "y2"}}}, "y2": {}, "h": {"type": "history", "history": "deep"}}},
            },
        },
        "end": {"type": "final", "output": 5},
    },
    "output": 5,
}  # fmt: skip
del DOCUMENT["states"]["off"]["on"]["FORBIDDEN"]

MACHINE: Any = load_machine(
    DOCUMENT,
    {
        "guards": {"hasKey": False, "isOld": lambda: False, "needsData": lambda event: event["n"] > 1},
        "actions": {"act": lambda: None},
    },
)


def at(*events: str) -> Any:
    snapshot, _ = initial_transition(MACHINE)
    for event in events:
        snapshot, _ = transition(MACHINE, snapshot, event)
    return snapshot


def test_value_and_configuration() -> None:
    off, on = at(), at("ON", "NEXT")
    assert (off.value, off.configuration, off.atomic_states) == ("off", ("m", "m.off"), ("m.off",))
    assert on.value == {"on": {"x": "x2", "y": "y2"}}
    assert on.configuration == ("m", "m.on", "m.on.x", "m.on.x.x2", "m.on.y", "m.on.y.y2")
    assert on.atomic_states == ("m.on.x.x2", "m.on.y.y2")
    on.value["on"]["x"] = "changed"
    assert on.value == {"on": {"x": "x2", "y": "y2"}}, "the value is a copy"


def test_context_status_output_and_error() -> None:
    off, end = at(), at("ON", "END")
    assert (off.context, off.status, off.output, off.error) == ({"n": 0, "list": [1]}, "active", UNDEFINED, UNDEFINED)
    assert (end.status, end.output, end.error, end.sequence, end.machine_id) == ("done", 5, UNDEFINED, 2, "m")
    with pytest.raises(TypeError):
        off.context["list"].append(2)


def test_tags_and_meta_come_from_all_active_states() -> None:
    assert at().tags == ("root", "idle")
    on = at("ON", "NEXT")
    assert on.tags == ("root", "busy", "idle")
    assert on.has_tag("busy") and not at().has_tag("busy")
    assert on.meta == {"m": {"about": ["all"]}, "m.on": {"about": "on"}, "m.on.x.x2": 7}
    on.meta["m"]["about"].append("more")
    assert on.meta["m"] == {"about": ["all"]}, "meta is a copy"


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        ("on", True),
        ("off", False),
        ("on.x", True),
        ("on.x.x2", True),
        ("on.x.x1", False),
        ("on.z.x2", False),
        ("on.x.x2.deeper", False),
        ({"on": "x"}, True),
        ({"on": {"x": "x2"}}, True),
        ({"on": {"x": "x2", "y": "y1"}}, False),
        ({"on": {"z": "x2"}}, False),
        ({"on": {"x": {"x2": "deeper"}}}, False),
        ({"on": "x.x2"}, True),
    ],
)
def test_matching_a_path_or_a_partial_value(wanted: Any, matches: bool) -> None:
    assert at("ON", "NEXT").matches(wanted) is matches


def test_a_dot_in_a_name_is_escaped() -> None:
    assert matches_state("a\\.b", "a.b")
    assert matches_state("a\\.b.c", {"a.b": "c"})
    assert matches_state("a\\", "aundefined"), "as in XState"


@pytest.mark.parametrize(
    ("event", "data", "can"),
    [
        ("ON", {}, True),
        ("ACT", {}, True),
        ("NOTHING", {}, False),
        ("LOCKED", {}, False),
        ("DATA", {"n": 2}, True),
        ("DATA", {"n": 1}, False),
        ("UNKNOWN", {}, False),
        ({"type": "DATA", "n": 2}, {}, True),
    ],
)
def test_can_asks_the_guards(event: Any, data: dict[str, Any], can: bool) -> None:
    assert at().can(event, **data) is can


def test_next_events_say_what_is_enabled_and_which_guard_said_no() -> None:
    options = {option.type: option for option in at().next_events()}
    assert list(options) == ["ON", "LOCKED", "DATA", "TWICE", "NOTHING", "ACT", "INLINE"]
    assert options["ON"] == EventOption("ON", True, (), None)
    assert options["ACT"].enabled is True
    assert options["LOCKED"] == EventOption("LOCKED", False, ("hasKey",), "guard hasKey said no")
    assert options["TWICE"] == EventOption("TWICE", False, ("hasKey", "isOld"), "guard hasKey, isOld said no")
    assert options["NOTHING"] == EventOption("NOTHING", False, (), "forbidden in m.off")
    assert options["INLINE"].enabled is True
    assert options["DATA"].enabled is None
    assert "a guard needs the event's data: Unable to evaluate guard 'needsData'" in (options["DATA"].reason or "")


def test_one_event_with_its_data() -> None:
    off, on = at(), at("ON")
    assert off.option("DATA", n=2) == EventOption("DATA", True, (), None)
    assert off.option("DATA", n=1) == EventOption("DATA", False, ("needsData",), "guard needsData said no")
    assert off.option({"type": "DATA", "n": 1}).enabled is False
    assert off.option("UNKNOWN") == EventOption("UNKNOWN", False, (), "no transition")
    assert on.option("OFF").enabled is True, "a region's guard said no, its parent handles it"
    assert [option.type for option in on.next_events()] == ["NEXT", "OFF", "END"]


def test_a_guard_in_place_is_named_by_its_pointer() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"guard": lambda: False, "target": "b"}}}, "b": {}}}
    snapshot, _ = initial_transition(load_machine(document))
    assert snapshot.option("GO").refused_by == ("(inline) at /states/a/on/GO",)


def test_what_is_over_has_no_next_events() -> None:
    sim = simulate(MACHINE)
    sim.stop()
    assert at("ON", "END").option("ON").reason == "the machine is done"
    assert sim.snapshot.option("ON").reason == "the machine was stopped"
    assert at().replace(status="error").option("ON").reason == "the machine has failed"
    assert at().replace(status=UNDEFINED).option("ON").reason == "the machine is not active"


def test_history_and_children() -> None:
    assert at("ON", "NEXT", "OFF").history == {"m.on.y.h": ("m.on.y.y2",)}
    assert at().children == {}


def test_the_persisted_form_and_the_readable_one() -> None:
    snapshot = at("ON", "NEXT", "OFF")
    assert snapshot.to_xstate() == {
        "status": "active",
        "value": "off",
        "historyValue": {"m.on.y.h": [{"id": "m.on.y.y2"}]},
        "context": {"n": 0, "list": [1]},
        "children": {},
    }
    readable = snapshot.to_json()
    assert readable["tags"] == ["root", "idle"]
    assert readable["historyValue"] == snapshot.to_xstate()["historyValue"]
    assert at("ON", "END").to_xstate()["output"] == 5


def test_children_are_only_known_to_the_host() -> None:
    document = {"id": "p", "initial": "a", "states": {"a": {"invoke": {"src": "kid", "id": "kid"}}}}
    sim = simulate(load_machine(document, {"actors": {"kid": MACHINE}}))
    with pytest.raises(UsageError, match="use the host's to_xstate"):
        sim.snapshot.to_xstate()
    assert [ref.id for ref in sim.snapshot.to_json()["children"].values()] == ["kid"]
    assert sim.to_xstate()["children"]["kid"]["snapshot"]["value"] == "off"


def test_equality_copy_and_repr() -> None:
    one, same, other = at("ON"), at("ON"), at("ON", "NEXT")
    assert one == same and one != other and one != "on"
    assert one != one.replace(context={"n": 1})
    assert one == one.replace(sequence=99), "the count is no part of the state"
    assert copy.copy(one) is copy.deepcopy(one) is one
    assert repr(other) == "<Snapshot m active m.on.x.x2, m.on.y.y2>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_replace_changes_only_what_it_is_given() -> None:
    one = at("ON")
    changed = one.replace(status="error", error="x", output=1, context={"n": 9}, children={}, history={})
    assert (changed.status, changed.error, changed.output, changed.context) == ("error", "x", 1, {"n": 9})
    assert (changed.value, changed.sequence) == (one.value, one.sequence)
    assert one.status == "active"
