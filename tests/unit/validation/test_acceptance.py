"""Quick acceptance: what it accepts has no problem, and what is usual is accepted."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts.validation import accepted, check_document
from statecharts.values import UNDEFINED

STATE_NAMES = ("idle", "busy", "idle.x", "left", "right", "over", "back", "#over", "a b", "")
TARGETS = (
    "idle", "busy", "over", ".left", ".one", "busy.left", "busy.left.on", "#over", "#order.busy", "#order.busy.left",
    "#busy.left", "busy.back", "idle.x", "left", "right", "one", "two", "nowhere", ".", "..", "a.", "", "\\", "a b",
    "#order", "#two", "#idle.x", "back", "#a.b",
)  # fmt: skip
NAMES = (
    "go", "a.*", "*", "a*", "*.a", "xstate.and", "xstate.raise", "done.invoke.x", "", "xstate.done.state.order.busy",
    "@xstate.log", "error.execution", "done.x",
)  # fmt: skip
ODD = (
    None, True, False, 0, 1, -1, 2.5, [], {}, [None], [[]], (), print, {1: 2}, {"": None}, {"@expr": 1}, {"@expr": "1 +"},
    {"@expr": "true"}, {"type": "note", "params": {"n": 1}}, {"type": "note", "parms": 1}, {"type": "xstate.stateIn"},
    {"type": "xstate.stateIn", "params": {"state": "busy"}}, {"type": "xstate.not", "params": {"guard": "go"}},
    {"type": "@xstate.assign", "context": {"n": 1}}, {"type": "@xstate.assign"}, {"target": "over"}, {"guard": "go"},
    {"target": "over", "guard": "go"}, {"target": ["left", "right"]}, ["go", "go"], [{"target": "over", "guard": "go"}, "over"],
    {"src": "work"}, {"src": "work", "id": "w"}, {"src": "work", "id": "w", "onDone": "over", "input": {"n": {"a": [1]}}},
    [{"src": "work", "systemId": "s"}, {"src": "work", "systemId": "s"}], [{"src": "work"}, {"src": "work", "id": "0.order"}],
    "shallow", "deep", "parallel", "final", "history", "compound", "atomic", {"go": "over"}, {"go": None}, {"100": "over"},
    {"100": ["over"]}, {"2s": "over"}, {"later": {"target": "over"}}, {"-5": "idle"}, {"type": "history"},
    {"type": "history", "target": "left"}, {"history": "deep"}, {"type": "final"}, {"type": "final", "on": {}},
    {"on": {"go": "over"}}, {"id": "over"}, {"id": "a.b"}, {"initial": "one", "states": {"one": {}}},
    {"initial": {"target": "one", "actions": ["note"]}, "states": {"one": {"type": "history"}}},
    {"always": "over"}, {"always": "idle"}, {"always": [{"guard": "go", "target": "idle"}, {"actions": "@xstate.log"}]},
    {"type": "parallel", "states": {"l": {}, "r": {}}, "onDone": "over"},
)  # fmt: skip
KEYS = (
    "id", "type", "initial", "states", "on", "always", "after", "onDone", "entry", "exit", "invoke", "history", "target",
    "output", "tags", "meta", "description", "route", "context", "version", "schemas", "options", "guard", "actions",
    "reenter", "src", "systemId", "input", "onError", "onSnapshot", "params", "cond", "in", "data", "$schema", "@exprLang",
)  # fmt: skip


def order() -> dict[str, Any]:
    """A machine with something of everything that is accepted."""
    return {
        "$schema": "https://example.org",
        "id": "order",
        "version": "1",
        "description": "All sorts.",
        "initial": "idle",
        "context": {"n": 0, "list": [1, {"a": None}]},
        "options": {"maxIterations": 10},
        "schemas": {"context": {"type": "object"}},
        "output": {"n": {"@expr": "context.n"}},
        "on": {"RESET": ".idle", "a.*": {"actions": "note"}},
        "states": {
            "idle": {
                "entry": "note",
                "exit": [{"type": "note", "params": {"n": 1}}, "note", {"type": "@xstate.assign", "context": {"n": 1}}],
                "tags": ["waiting"],
                "meta": {"x": 1},
                "on": {
                    "GO": [{"target": "busy", "guard": "may", "actions": ["note"]}, {"target": "over"}],
                    "JUMP": {"target": "#order.busy.left", "guard": {"type": "may", "params": {"n": [1]}}, "reenter": True},
                    "TWO": {"target": ["busy.left.on", "busy.right.on"], "description": "both"},
                    "BACK": {"target": "busy.back", "guard": {"type": "xstate.not", "params": {"guard": "may"}}},
                    "STAY": {},
                },
                "after": {"1000": "busy", "later": [{"guard": "may", "target": "over"}, {"target": "busy"}]},
            },
            "busy": {
                "id": "busy",
                "type": "parallel",
                "tags": "work",
                "onDone": "choosing",
                "invoke": [
                    {"src": "work", "id": "w", "input": {"n": 1}, "onDone": {"target": "over"}, "onError": "idle"},
                    {"src": "watch", "systemId": "watcher", "onSnapshot": {"actions": "note"}},
                ],
                "states": {
                    "left": {
                        "initial": "on",
                        "states": {"on": {"on": {"OK": "off"}}, "off": {"type": "final", "output": 1}},
                    },
                    "right": {
                        "initial": {"target": "on", "actions": "note"},
                        "states": {"on": {"on": {"OK": "off"}}, "off": {"type": "final"}},
                    },
                    "back": {"type": "history", "history": "deep", "target": "left"},
                },
            },
            "choosing": {"always": [{"guard": "may", "target": "busy"}, {"target": "over"}]},
            "over": {"id": "over", "type": "final"},
        },
    }


def test_what_is_usual_is_accepted() -> None:
    assert check_document(order()) == []
    definition = accepted(order(), "xstate", implementations_known=False)
    assert definition is not None
    assert [node.id for node in definition.nodes[:3]] == ["order", "order.idle", "busy"]


ANYTHING = st.sampled_from([*ODD, *TARGETS, *NAMES]) | st.dictionaries(
    st.sampled_from([*KEYS, *STATE_NAMES, *NAMES, "100", "2s"]), st.sampled_from([*ODD, *TARGETS, *NAMES]), max_size=3
)


def holders(value: Any) -> list[Any]:
    """Every object and list inside ``value``."""
    found = [value] if isinstance(value, (dict, list)) else []
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found.extend(holders(member))
    return found


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """The order with some of it replaced, removed or added."""
    document = order()
    for _ in range(draw(st.integers(1, 3))):
        holder = draw(st.sampled_from(holders(document)))
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        change = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if change == "add" or not keys:
            if isinstance(holder, dict):
                holder[draw(st.sampled_from([*KEYS, *STATE_NAMES, *NAMES, "100", "2s"]))] = copy.deepcopy(draw(ANYTHING))
            else:
                holder.append(copy.deepcopy(draw(ANYTHING)))
        elif change == "remove":
            del holder[draw(st.sampled_from(keys))]
        else:
            holder[draw(st.sampled_from(keys))] = copy.deepcopy(draw(ANYTHING))
    return document


@settings(max_examples=600, deadline=None, derandomize=True)
@given(changed(), st.booleans())
def test_what_is_accepted_has_no_problem(document: dict[str, Any], implementations_known: bool) -> None:
    if accepted(document, "xstate", implementations_known=implementations_known) is not None:
        assert check_document(document, implementations_known=implementations_known) == []


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth):
        inner = {"initial": "a", "states": {"a": inner}}
    return inner


def of_state(state: Any) -> dict[str, Any]:
    return {"initial": "a", "states": {"a": state, "b": {}}}


DOUBTFUL: dict[str, Any] = {
    "no object": [],
    "unknown key": {"state": {}},
    "a history machine": {"type": "history"},
    "too deep": nested(401),
    "no name": {"initial": "", "states": {"": {}}},
    "name is no text": {"initial": "a", "states": {"a": {}, 1: {}}},
    "state is no object": of_state("b"),
    "states are no object": {"states": []},
    "unknown type": of_state({"type": "normal"}),
    "unknown key of a state": of_state({"enter": "x"}),
    "no initial state": {"states": {"a": {}}},
    "unknown initial state": {"initial": "z", "states": {"a": {}}},
    "initial without target": {"initial": {}, "states": {"a": {}}},
    "initial history": {"initial": "a", "states": {"a": {"type": "history"}}},
    "final with a way out": of_state({"type": "final", "on": {"E": "b"}}),
    "done without children": of_state({"onDone": "b"}),
    "output of an atomic state": of_state({"output": 1}),
    "history with a key too many": of_state({"initial": "h", "states": {"h": {"type": "history", "on": {}}, "b": {}}}),
    "history is a number": of_state({"initial": "b", "states": {"h": {"type": "history", "history": 1}, "b": {}}}),
    "default of a history with a dot": of_state({"initial": "b", "states": {"h": {"type": "history", "target": ".b"}, "b": {}}}),
    "history is its own default": of_state({"initial": "b", "states": {"h": {"type": "history", "target": "h"}, "b": {}}}),
    "history without its default": of_state({"initial": "b", "states": {"h": {"type": "history", "target": "z"}, "b": {}}}),
    "id is a number": of_state({"id": 1}),
    "id twice": of_state({"id": "(machine).b"}),
    "description is a number": of_state({"description": 1}),
    "tag is a number": of_state({"tags": [1]}),
    "on is a list": of_state({"on": []}),
    "old event": of_state({"on": {"done.invoke.x": "b"}}),
    "wildcard inside": of_state({"on": {"a.*.b": "b"}}),
    "null": of_state({"on": {"E": None}}),
    "after is a list": of_state({"after": []}),
    "after a number": of_state({"after": {1: "b"}}),
    "text in a list of after": of_state({"after": {"1": ["b"]}}),
    "a length of time": of_state({"after": {"2s": "b"}}),
    "list in a list": of_state({"on": {"E": [["b"]]}}),
    "never reached": of_state({"on": {"E": ["b", "a"]}}),
    "unknown key of a transition": of_state({"on": {"E": {"to": "b"}}}),
    "reenter is a text": of_state({"on": {"E": {"reenter": "yes"}}}),
    "target is an object": of_state({"on": {"E": {"target": {}}}}),
    "target is a number": of_state({"on": {"E": {"target": [1]}}}),
    "target is a dot": of_state({"on": {"E": "."}}),
    "target with an empty part": of_state({"on": {"E": "#a..b"}}),
    "target is nowhere": of_state({"on": {"E": "z"}}),
    "targets in one region": of_state({"on": {"E": {"target": ["a", "b"]}}}),
    "a path and a name": {"initial": "a", "states": {"a": {"on": {"E": "b.c"}}, "b": {"initial": "c", "states": {"c": {}}}, "b.c": {"id": "z"}}},
    "guard is absent and there": of_state({"on": {"E": {"target": "b", "guard": UNDEFINED}}}),
    "guard without a name": of_state({"on": {"E": {"target": "b", "guard": ""}}}),
    "guard that asks for a state": of_state({"on": {"E": {"target": "b", "guard": {"type": "xstate.stateIn", "params": {"state": "a"}}}}}),
    "action without a type": of_state({"entry": {"name": "x"}}),
    "action with an empty type": of_state({"entry": {"type": ""}}),
    "unknown built-in": of_state({"entry": "xstate.zzz"}),
    "broken expression": of_state({"entry": {"type": "x", "params": {"a": {"@expr": 1}}}}),
    "invoke is a text": of_state({"invoke": "x"}),
    "invoke of nothing": of_state({"invoke": {"id": "x"}}),
    "invoke with an empty id": of_state({"invoke": {"src": "x", "id": ""}}),
    "two actors of one id": of_state({"invoke": [{"src": "x", "id": "i"}, {"src": "x", "id": "i"}]}),
    "two actors of one system id": of_state({"invoke": [{"src": "x", "systemId": "i"}, {"src": "x", "systemId": "i"}]}),
    "round and round": {"initial": "a", "states": {"a": {"always": "b"}, "b": {"initial": "c", "always": {"target": "a"}, "states": {"c": {}}}}},
    "moving on the spot": of_state({"always": {"actions": "@xstate.log"}}),
    "context is a text": {"context": "{{ 1 }}"},
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_is_unusual_is_left_to_the_full_check(name: str) -> None:
    assert accepted(DOUBTFUL[name], "xstate", implementations_known=False) is None


FINE: dict[str, Any] = {
    "nothing": {},
    "names with dots": {"initial": "a.b", "states": {"a.b": {"on": {"E": "c"}}, "c": {}}},
    "ids with dots": {"initial": "a", "states": {"a": {"id": "x.y", "on": {"E": "#z"}}, "b": {"id": "z"}}},
    "a history that is one by its key": {"initial": "a", "on": {"E": ".h"}, "states": {"a": {}, "h": {"history": True, "id": "h", "target": ["a"]}}},
    "eventless to a state at rest": {"initial": "a", "states": {"a": {"always": "b"}, "b": {"initial": "c", "states": {"c": {}}}}},
    "eventless to a parallel state": {"initial": "a", "states": {"a": {"always": "b"}, "b": {"type": "parallel", "states": {"c": {}}}}},
    "eventless on the spot without an effect": of_state({"always": {}}),
    "initial without actions": {"initial": {"target": "a"}, "states": {"a": {}}},
    "one actor after the other": {"initial": "a", "states": {"a": {"invoke": {"src": "x", "id": "i"}}, "b": {"invoke": {"src": "x", "id": "i"}}}},
    "functions": of_state({"entry": print, "on": {"E": {"target": "b", "guard": callable}}}),
    "no description": of_state({"description": None}),
    "two targets of a region's history": {
        "type": "parallel", "on": {"E": {"target": [".a.h", ".b.y"]}},
        "states": {"a": {"initial": "x", "states": {"x": {}, "h": {"type": "history"}}}, "b": {"initial": "x", "states": {"x": {}, "y": {}}}},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FINE)
def test_what_is_fine_is_accepted(name: str) -> None:
    assert check_document(FINE[name]) == []
    assert accepted(FINE[name], "xstate", implementations_known=False) is not None
