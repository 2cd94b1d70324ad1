"""Whatever is done to a good document, the validator answers with problems, and each points at something."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts.validation import Code, check_document
from statecharts.validation.nearest import edit_distance, nearest
from statecharts.validation.report import tokens

GOOD: dict[str, Any] = {
    "id": "order",
    "initial": "open",
    "context": {"n": 0},
    "schemas": {"context": {"type": "object"}},
    "options": {"maxIterations": 10},
    "on": {"RESET": ".open"},
    "states": {
        "open": {
            "entry": ["x", {"type": "@xstate.assign", "context": {"n": {"@expr": "context.n + 1"}}}],
            "on": {
                "PAY": [
                    {"target": "paying.card", "guard": {"type": "xstate.not", "params": {"guard": "g"}}},
                    "done",
                ],
                "a.*": {"actions": {"type": "xstate.raise", "params": {"event": {"type": "E"}}}},
            },
            "after": {"1000": "#order.done"},
            "tags": ["t"],
        },
        "paying": {
            "type": "parallel",
            "onDone": {"target": "done"},
            "states": {
                "card": {
                    "initial": "x",
                    "states": {"x": {"on": {"OK": "y"}}, "y": {"type": "final", "output": 1}},
                },
                "mail": {
                    "id": "mail",
                    "initial": {"target": "s", "actions": "z"},
                    "route": {},
                    "invoke": [{"src": "send", "id": "i", "input": {}, "onDone": ".f"}],
                    "states": {"s": {"always": {"guard": "g", "target": "f"}}, "f": {"type": "final"}},
                },
                "hist": {"type": "history", "history": "deep", "target": "card"},
            },
        },
        "done": {"type": "final"},
    },
}
KEYS = [
    "id",
    "type",
    "initial",
    "states",
    "on",
    "always",
    "after",
    "onDone",
    "entry",
    "exit",
    "invoke",
    "history",
    "target",
    "output",
    "tags",
    "meta",
    "description",
    "route",
    "context",
    "version",
    "schemas",
    "options",
    "guard",
    "actions",
    "reenter",
    "src",
    "systemId",
    "input",
    "onError",
    "onSnapshot",
    "params",
    "event",
    "@expr",
    "maxIterations",
    "cond",
    "in",
    "internal",
    "data",
    "onEntry",
    "entryy",
    "delay",
    "guards",
    "state",
    "x/y",
    "~",
]
LEAVES: list[Any] = [
    None, True, False, 0, -1, 1.5, "", "open", "#order.paying", "#mail.s", ".", ".x", "..", "a.b", "\\", "*", "{{x}}",
    [], {}, [None], [[]], {"type": "xstate.and"}, {"type": "parallel"}, {"@expr": 1}, {"": None}, print, (), {1: 2},
]  # fmt: skip

values = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        found.extend(places(member, (*path, key)))
    return found


PLACES = [path for path in places(GOOD) if path]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    document = copy.deepcopy(GOOD)
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(PLACES))
        holder: Any = document
        try:
            for key in path[:-1]:
                holder = holder[key]
            last = path[-1]
            change = draw(st.sampled_from(["replace", "remove", "add"]))
            if change == "replace":
                holder[last] = draw(values)
            elif change == "remove":
                del holder[last]
            elif isinstance(holder, dict):
                holder[draw(st.sampled_from(KEYS))] = draw(values)
        except (KeyError, IndexError, TypeError):
            continue
    return document


def resolves(document: Any, pointer: str) -> bool:
    value = document
    for part in tokens(pointer):
        if isinstance(value, dict):
            if part not in value:
                return False
            value = value[part]
        else:
            value = value[int(part)]
    return True


def test_the_good_document_is_good() -> None:
    assert check_document(GOOD) == []


@settings(max_examples=600, deadline=None, derandomize=True)
@given(mutated() | values)
def test_mutations_give_problems_that_point_somewhere(document: Any) -> None:
    severities = {code.slug: code.severity for code in Code}
    before = copy.deepcopy(document)
    problems = check_document(document)
    assert document == before
    for problem in problems:
        assert severities[problem.code] == problem.severity
        assert resolves(document, problem.pointer), problem
        assert problem.message
    assert problems == check_document(document)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_edit_distance_is_symmetric_and_bounded(left: str, right: str) -> None:
    assert edit_distance(left, right, 9) == edit_distance(right, left, 9)
    assert (edit_distance(left, right, 9) == 0) == (left == right)
    assert edit_distance(left, right, 1) == min(edit_distance(left, right, 9), 2)


def test_nearest_prefers_the_closest() -> None:
    assert nearest("entyr", ["exit", "entry"]) == "entry"
    assert nearest("ON_DONE", ["onDone"]) == "onDone"
    assert nearest("xy", ["on"]) is None
    assert nearest("stats", ["states", "stats"]) == "stats"
