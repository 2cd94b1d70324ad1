"""What is kept of earlier steps changes nothing: with nothing kept, little, or all, every step is the same.

The machines here are made of what :mod:`statecharts.interpreter.routes` takes
in one go (guards and updates of context and event, effects, regions, history,
done events) and, now and then, of what it has to hand over in the middle.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts import (
    Machine,
    StatechartError,
    assign,
    cancel,
    emit,
    initial_transition,
    load_machine,
    log,
    raise_,
    simulate,
    transition,
)
from statecharts.interpreter.memo import DEFAULT_LIMIT
from statecharts.interpreter.program import Program, program_of

sys.path.insert(0, str(Path(__file__).parents[1] / "scxml_differential"))

from charts import Chart

LIMITS = (0, 3_000, 40_000, DEFAULT_LIMIT)
EVENTS = ("A", "B", "C.x")


def bound() -> dict[str, Any]:
    return {
        "guards": {
            "even": lambda context: context["n"] % 2 == 0,
            "fits": lambda context, event: context["n"] % 3 != len(event["type"]) % 3,
            "named": lambda event: event["type"] == "A",
            "yes": lambda: True,
            "below": lambda context, params: context["n"] < params["limit"],
            "breaks": lambda context: 1 // (context["n"] % 7) >= 0,
        },
        "actions": {
            "count": assign({"n": lambda context: context["n"] + 1}),
            "whole": assign(lambda context, event: {"last": event["type"], "n": context["n"] + 1}),
            "note": assign({"seen": lambda event: event["type"], "7": 1}),
            "fixed": assign({"fixed": [1, {"two": 2}]}),
            "nothing": assign(lambda: None),
            "trips": assign(lambda context: {"n": context["n"] + 1 // (context["n"] % 11)}),
            "act": lambda context: None,
            "again": raise_({"type": "B"}),
            "given": lambda params: None,
            "later": raise_({"type": "A"}, id="later", delay=5),
            "odd": raise_(lambda context: {"type": "B", "n": context["n"]}, delay="some"),
            "some": raise_({"type": "C.x"}, id=lambda context: f"some {context['n'] % 2}", delay="some"),
            "soon": raise_({"type": "C.x"}, delay="none"),
            "named": raise_({"type": "A"}, delay=lambda event: "some" if event["type"] == "B" else 3),
            "forget": cancel(lambda context: f"some {context['n'] % 2}"),
            "tell": emit(lambda context, event: {"type": "TOLD", "of": event["type"], "n": 9 // (context["n"] % 5)}),
            "say": log(lambda context: context["n"], label="n"),
        },
        "delays": {"some": lambda context, event: 10 + context["n"] if context["n"] % 3 else None, "none": lambda: "none at all", "long": 100},
    }


GUARDS = st.sampled_from(
    ["even", "fits", "named", "yes", {"type": "below", "params": {"limit": 9}}, "breaks", None, None, None, None]
)
PARAMS = {"type": "given", "params": lambda context, event: {"n": context["n"], "of": event["type"]}}
EFFECTS = ["again", "later", "odd", "some", "soon", "named", "forget", "tell", "say", PARAMS, {"type": "given", "params": [1]}]
UPDATES = ["count", "whole", "note", "fixed", "nothing", "trips", "act", "count", "count"]
ACTIONS = st.lists(st.one_of(st.sampled_from(UPDATES), st.sampled_from([*EFFECTS, "count"])), max_size=3)
DELAYS = ("some", "none", "long", "7")


@st.composite
def charts(draw: st.DrawFn) -> dict[str, Any]:
    """A chart of up to three levels; every state has an id, so that anything may be a target."""
    ids: list[str] = []
    count = [0]

    def state(depth: int) -> dict[str, Any]:
        name = f"s{count[0]}"
        count[0] += 1
        ids.append(name)
        made: dict[str, Any] = {"id": name}
        kind = draw(st.sampled_from(["atomic", "compound", "parallel"] if depth else ["atomic"]))
        if kind != "atomic":
            children = {f"k{i}": state(depth - 1) for i in range(draw(st.integers(2, 3)))}
            made["states"] = children
            if kind == "parallel":
                made["type"] = "parallel"
            else:
                made["initial"] = draw(st.sampled_from(sorted(children)))
                if draw(st.booleans()):
                    children["end"] = {"type": "final"}
                    made["onDone"] = "?"
            if draw(st.integers(0, 2)) == 0:
                ids.append(f"{name}h")
                deep = draw(st.sampled_from(["deep", "shallow"]))
                children["h"] = {"type": "history", "id": f"{name}h", "history": deep}
        return made

    top = {f"t{i}": state(2) for i in range(draw(st.integers(2, 3)))}
    root: dict[str, Any] = {"id": "m", "context": {"n": 0}, "states": top, "options": {"maxIterations": 30}}
    if draw(st.booleans()):
        root["type"] = "parallel"
    else:
        root["initial"] = "t0"

    def decide(node: dict[str, Any], siblings: list[str]) -> None:
        on: dict[str, Any] = {}
        for event in draw(st.lists(st.sampled_from([*EVENTS, "*", "C.*"]), max_size=3, unique=True)):
            on[event] = [one(siblings) for _ in range(draw(st.integers(1, 2)))]
        if on and node.get("type") not in ("final", "history"):
            node["on"] = on
        if node.get("onDone") == "?":
            node["onDone"] = one(siblings)
        if draw(st.integers(0, 5)) == 0 and node.get("type") not in ("final", "history"):
            node[draw(st.sampled_from(["entry", "exit"]))] = draw(ACTIONS)
        if draw(st.integers(0, 9)) == 0 and node.get("type") not in ("final", "history"):
            node["after"] = {draw(st.sampled_from(DELAYS)): one(siblings)}
        if draw(st.integers(0, 14)) == 0 and "id" in node and "states" not in node and "type" not in node:
            node["always"] = {"guard": "even", "actions": "count"}
        inner = node.get("states", {})
        for child in inner.values():
            decide(child, [key for key in inner if key != "h"])

    def one(siblings: list[str]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        guard = draw(GUARDS)
        if guard is not None:
            made["guard"] = guard
        actions = draw(ACTIONS)
        if actions:
            made["actions"] = actions
        where = draw(st.integers(0, 5))
        if where <= 2 and siblings:
            made["target"] = draw(st.sampled_from(siblings))
        elif where == 3:
            made["target"] = "#" + draw(st.sampled_from(ids))
        if "target" in made and draw(st.integers(0, 5)) == 0:
            made["reenter"] = True
        return made

    for child in top.values():
        decide(child, list(top))
    return root


def shown(snapshot: Any) -> tuple[Any, ...]:
    nodes = tuple(node.id for node in snapshot.nodes)
    return (
        nodes,
        snapshot.value,
        dict(snapshot.context),
        list(snapshot.context),
        snapshot.history,
        snapshot.status,
        repr(snapshot.error),
        snapshot.sequence,
    )


def stepwise(machine: Machine[Any, Any], events: list[str]) -> list[Any]:
    """A run by pure transitions, then the same events on the running machine."""
    seen: list[Any] = []
    try:
        snapshot, _ = initial_transition(machine)
        for event in events:
            snapshot, effects = transition(machine, snapshot, event)
            seen.append((shown(snapshot), effects))
    except StatechartError as error:
        notes = getattr(error.__cause__, "__notes__", None)
        seen.append((str(error), notes, shown(error.step.snapshot), error.step.effects))  # type: ignore[attr-defined]
    sim = simulate(machine)
    published: list[Any] = []
    sim.subscribe(lambda one: published.append(shown(one)))
    for event in events:
        sim.send(event)
        if len(event) > 1:
            sim.advance(6)
    due = [(timer.send_id, timer.due) for timer in sim.system.timers.pending.values()]
    seen.append((shown(sim.snapshot), published, sim.effects, sim.emitted_events, sim.logged, due))
    return seen


@given(charts(), st.lists(st.sampled_from(EVENTS), min_size=1, max_size=15), st.sampled_from(["xstate", "xstate-exact"]))
@settings(max_examples=300, deadline=None)
def test_with_nothing_little_or_all_kept_every_step_is_the_same(
    document: dict[str, Any], events: list[str], semantics: str
) -> None:
    machine = load_machine(document, bound(), strict=False, semantics=semantics)
    reference = None
    for limit in LIMITS:
        for first_visits in (16, 1):  # how often a place with regions is passed through before it is kept
            machine._program = program = Program(machine, memo_limit=limit)
            program.first_visits = first_visits
            for _ in range(2):  # what one run keeps, the next one uses
                seen = stepwise(machine, events)
                reference = reference or seen
                assert seen == reference
        assert program_of(machine).memo.bytes <= limit


@pytest.mark.parametrize("seed", range(7000, 7120))
def test_with_nothing_little_or_all_kept_sessions_are_the_same(seed: int) -> None:
    chart = Chart(seed)
    machine = load_machine(chart.text)
    reference = None
    for limit in LIMITS:
        for first_visits in (16, 1):
            machine._program = program = Program(machine, memo_limit=limit)
            program.first_visits = first_visits
            for _ in range(2):
                seen = stepwise(machine, list(chart.events))
                reference = reference or seen
                assert seen == reference
        assert program_of(machine).memo.bytes <= limit
