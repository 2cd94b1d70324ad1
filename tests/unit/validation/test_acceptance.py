"""Quick acceptance: what it accepts has no problem, and what is usual is accepted."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts.validation import accepted, check_document

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
