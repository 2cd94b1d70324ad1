"""Documents in shapes that only Python can give them, or that only the loose reading lets through."""

from __future__ import annotations

import enum
import gc
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from statecharts import DefinitionError, Implementations, load_machine
from statecharts.definition import build_definition
from statecharts.nodes import StateNode, Transition
from statecharts.values import UNDEFINED


class Name(str, enum.Enum):
    B = "b"
    NONE = ""


def machine(a: Any, **root: Any) -> Any:
    return build_definition({"initial": "a", "states": {"a": a, "b": {}}, **root})


def targets(transition: Transition) -> list[str] | None:
    return None if transition.targets is None else [node.key if node else "null" for node in transition.targets]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("b", ["b"]),
        ("", None),
        (Name.B, ["b"]),
        (Name.NONE, None),
        (7, None),
        (UNDEFINED, None),
        ({}, None),
        ({"target": ""}, None),
        ({"target": UNDEFINED}, None),
        ({"target": Name.NONE}, None),
        ({"target": Name.B}, ["b"]),
        ({"target": ["b", None, ""]}, ["b", "null", "(machine)"]),
        ({"target": 7}, ["null"]),
        (MappingProxyType({"target": "b"}), ["b"]),
    ],
)
def test_what_a_transition_leads_to(written: Any, found: list[str] | None) -> None:
    for transition in (*machine({"on": {"E": written}}).transitions, *machine({"always": [written]}).transitions):
        assert targets(transition) == found


def test_null_is_no_transition_and_null_events_are_none_either() -> None:
    for state, pointer in (({"on": {"E": [None]}}, "/states/a/on/E/0"), ({"on": {"": "b"}}, "/states/a/on/")):
        with pytest.raises(DefinitionError) as caught:
            machine(state)
        assert caught.value.problems[0].pointer == pointer


@pytest.mark.parametrize("on", [None, UNDEFINED, 0, 7, [], "text"])
def test_tables_that_are_none(on: Any) -> None:
    made = machine({"on": on, "after": on, "always": None, "onDone": None})
    assert made.transitions == () and made.nodes[1].delayed == ()


def test_delays_keep_their_rows_however_they_are_written() -> None:
    after = {"10": "b", "10.0": {"target": "b"}, "late": ["b", {"target": "b"}, None], "never": UNDEFINED, "7": 3}
    node = machine({"after": after}).nodes[1]
    assert [delayed.delay for delayed in node.delayed] == [7, 10, 10, "late", "never"]
    assert {key: [targets(t) for t in found] for key, found in node.transitions.items()} == {
        "xstate.after.7.(machine).a": [None],
        "xstate.after.10.(machine).a": [["b"], ["b"]],
        "xstate.after.late.(machine).a": [None, ["b"], None],
        "xstate.after.never.(machine).a": [],
    }


def test_initial_states_that_are_absent() -> None:
    for initial in (None, "", UNDEFINED, 0):
        made = build_definition({"type": "parallel", "initial": initial, "states": {"a": {}}})
        assert made.root.initial is not None and made.root.initial.targets == ()
    [target] = machine({}, initial={"target": "b"}).root.initial.targets
    assert target.key == "b"


def test_absent_lists_of_actions_and_actors() -> None:
    node = machine({"entry": UNDEFINED, "exit": [], "invoke": UNDEFINED, "tags": UNDEFINED}).nodes[1]
    assert (node.entry, node.exit, node.invokes, node.tags) == ((), (), (), ())


def test_mere_names_are_one_object_and_each_use_is_told() -> None:
    deep = {"initial": "x/y", "states": {"x/y": {"entry": ["note"], "on": {"E": {"guard": "may", "actions": "note"}}}}}
    found = load_machine({"initial": "a", "entry": "note", "states": {"a": deep, "b": {"on": {"E": {"guard": "may"}}}}})
    assert found.definition.transitions[0].guard is found.definition.transitions[1].guard
    places = {name.name: name.places for name in found.missing}
    assert places == {
        "may": ("/states/a/states/x~1y/on/E/guard", "/states/b/on/E/guard"),
        "note": ("/entry", "/states/a/states/x~1y/entry/0", "/states/a/states/x~1y/on/E/actions"),
    }
    assert found.surplus == () and found.missing is found.missing


def test_implementations_are_compared_when_they_are_given() -> None:
    found = load_machine({"initial": "a", "states": {"a": {"entry": "note"}}}, Implementations())
    assert [name.name for name in found.missing] == ["note"]
    with pytest.raises(DefinitionError):
        load_machine({"initial": "a", "states": {"a": {"on": {"E": {"guard": "g"}}}}}, {"guards": {"g": {"type": "xstate.not", "guard": 7}}})


def test_where_a_transition_stands() -> None:
    root = StateNode("m", None, "m", "compound", 0)
    child = StateNode("a/b", root, "m.a/b", "atomic", 1)
    assert Transition(child, "E", None, place="/on/E").pointer == "/states/a~1b/on/E"
    assert Transition(child, "E", None, pointer="/elsewhere").pointer == "/elsewhere"


class Unusual(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members

    def __getitem__(self, key: str) -> Any:
        return self.members[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)


def test_other_mappings_are_read_like_dicts() -> None:
    document = Unusual({"initial": "a", "states": Unusual({"a": Unusual({"on": Unusual({"E": "b"})}), "b": Unusual({})})})
    found = load_machine(document)
    assert [targets(t) for t in found.definition.transitions] == [["b"]]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was_after_loading(enabled: bool) -> None:
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        load_machine({"id": "m"})
        assert gc.isenabled() is enabled
        with pytest.raises(DefinitionError):
            load_machine({"id": 7})
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()
