"""The guards that combine others or look at states, in each of their forms."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from statecharts import and_, load_machine, not_, or_, simulate, state_in


def cel(source: str) -> dict[str, str]:
    return {"@expr": source, "@lang": "cel"}


GUARDS: dict[str, tuple[list[Any], bool]] = {
    "and true": (
        [
            {"type": "@xstate.and", "guards": ["yes", cel("context.n == 1")]},
            {"type": "xstate.and", "params": {"guards": ["yes", "yes"]}},
            and_("yes", lambda context: context["n"] == 1),
            and_(["yes", and_()]),
            cel("context.n == 1 && event.v == 7"),
        ],
        True,
    ),
    "and false": (
        [
            {"type": "@xstate.and", "guards": ["yes", "no", "never asked"]},
            {"type": "xstate.and", "params": {"guards": ["no"]}},
            and_("no", "never asked"),
            cel("context.n == 1 && event.v == 8"),
        ],
        False,
    ),
    "or true": (
        [
            {"type": "@xstate.or", "guards": ["no", "yes", "never asked"]},
            {"type": "xstate.or", "params": {"guards": ["yes", "never asked"]}},
            or_("no", lambda event: event["v"] == 7),
        ],
        True,
    ),
    "or false": ([{"type": "@xstate.or", "guards": ["no", "no"]}, or_("no", "no"), or_()], False),
    "not": ([{"type": "@xstate.not", "guard": "no"}, {"type": "xstate.not", "params": {"guard": "no"}}, not_("no")], True),
    "not not": ([{"type": "@xstate.not", "guard": {"type": "xstate.not", "params": {"guard": "no"}}}, not_(not_("no"))], False),
    "state in": (
        [
            {"type": "@xstate.stateIn", "state": "a.x"},
            {"type": "xstate.stateIn", "params": {"state": {"a": "x"}}},
            {"type": "@xstate.stateIn", "state": "#m.a"},
            state_in("a"),
            state_in({"a": "x"}),
            state_in("#m.a.x"),
        ],
        True,
    ),
    "state not in": ([{"type": "@xstate.stateIn", "state": "a.y"}, state_in({"a": "y"}), state_in("#m.a.y")], False),
    "params": (
        [
            {"type": "over", "params": {"limit": 6}},
            {"type": "over", "params": {"limit": cel("event.v - context.n")}},
            {"type": "over", "params": lambda context, event: {"limit": event["v"] - context["n"]}},
            {"type": "alias"},
        ],
        True,
    ),
}  # fmt: skip


def ask_never() -> bool:
    raise AssertionError("a guard after the answer was known")


@pytest.mark.parametrize(
    ("guard", "answer", "bound"),
    [
        pytest.param(guard, answer, bound, id=f"{name}-{index}-{'bound' if bound else 'in place'}")
        for name, (listed, answer) in GUARDS.items()
        for index, guard in enumerate(listed)
        for bound in ([False] if isinstance(guard, dict) and "@expr" in guard else [False, True])
    ],
)
def test_all_forms_of_a_guard_have_one_answer(guard: Any, answer: bool, bound: bool) -> None:
    document = {
        "id": "m",
        "initial": "a",
        "context": {"n": 1},
        "states": {
            "a": {"initial": "x", "states": {"x": {}, "y": {}}, "on": {"GO": {"target": "b", "guard": "ask" if bound else guard}}},
            "b": {},
        },
    }  # fmt: skip
    guards = {
        "yes": lambda: True,
        "no": False,
        "never asked": ask_never,
        "over": lambda context, event, params: event["v"] > params["limit"] >= 6,
        "alias": {"type": "over", "params": {"limit": 6}},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = load_machine(document, {"guards": {**guards, "ask": guard} if bound else guards})
    sim = simulate(machine)
    assert sim.snapshot.can("GO", v=7) is answer
    assert sim.send("GO", v=7).value == ("b" if answer else {"a": "x"})
