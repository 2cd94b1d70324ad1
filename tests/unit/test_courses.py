"""Macrosteps with effects that are known before they are taken: what they record, and where they turn out otherwise."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from statecharts import (
    ExecutionError,
    ImplementationError,
    assign,
    cancel,
    emit,
    initial_transition,
    load_machine,
    log,
    raise_,
    simulate,
    spawn_child,
    transition,
)
from statecharts.actions import Raise
from statecharts.events import to_event
from statecharts.interpreter.courses import Detour
from statecharts.interpreter.program import Program, program_of
from statecharts.interpreter.routes import leap
from statecharts.interpreter.snapshot import Snapshot, Step


def chart(doing: list[Any], **bound: Any) -> Any:
    """``a`` goes to ``b``, ``doing`` something; ``NEXT`` leads from ``b`` to ``c``, ``LATER`` and time to ``d``."""
    document = {
        "id": "m",
        "initial": "a",
        "context": {"n": 1},
        "states": {
            "a": {"on": {"GO": {"target": "b", "actions": doing}}},
            "b": {"exit": "leave", "on": {"NEXT": {"target": "c", "actions": "took"}, "LATER": "d"}},
            "c": {},
            "d": {},
        },
    }
    bound.setdefault("actions", {})
    bound["actions"] = {"leave": lambda: None, "took": lambda event: None, **bound["actions"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not every test needs all that is bound
        return load_machine(document, bound)


def taken(machine: Any, event: str = "GO") -> Any:
    """What a leap from the first snapshot comes to, once what is needed is kept."""
    snapshot, _ = initial_transition(machine)
    leap(snapshot, to_event(event))
    return leap(snapshot, to_event(event))


def as_computed(machine: Any, event: str = "GO") -> Step:
    """The same step with nothing kept."""
    machine._program, kept = Program(machine, memo_limit=0), machine._program
    snapshot, _ = initial_transition(machine)
    assert leap(snapshot, to_event(event)) is None
    after, effects = transition(machine, snapshot, event)
    machine._program = kept
    return Step(after, effects)


def value(step: Step) -> Any:
    return step.snapshot.value, step.snapshot.context, step.snapshot.sequence, step.effects


@pytest.mark.parametrize(
    "action",
    [
        "act",
        {"type": "act", "params": {"x": 1}},
        {"type": "act", "params": lambda context: {"n": context["n"]}},
        {"type": "act", "params": lambda event: [event["type"]]},
        {"type": "act", "params": lambda context, event: [context["n"], event["type"]]},
        {"type": "act", "params": lambda: "none of them"},
        assign(n=lambda context: context["n"] + 1),
        raise_({"type": "NEXT"}),
        raise_({"type": "LATER"}, delay=5),
        raise_({"type": "LATER"}, delay="named", id="later"),
        raise_({"type": "LATER"}, delay="computed", id=lambda context: f"later {context['n']}"),
        raise_({"type": "NEXT"}, delay="odd"),
        raise_({"type": "NEXT"}, delay="text"),
        cancel("later"),
        cancel(lambda context: context["n"]),
        emit({"type": "TOLD"}),
        emit(lambda context: {"type": "TOLD", "n": context["n"]}),
        log("a line"),
        log(lambda context: context["n"], label="n"),
    ],
)
def test_each_effect_is_recorded_as_it_would_be(action: Any) -> None:
    count = assign(n=lambda context: context["n"] + 1)
    delays = {"named": 7, "computed": lambda context: context["n"] * 10, "odd": lambda: None, "text": "no number"}
    machine = chart([count, action, count], actions={"act": lambda: None}, delays=delays)
    found = taken(machine)
    expected = as_computed(machine)
    if isinstance(found, Detour):
        snapshot, _ = initial_transition(machine)
        found = Step(*transition(machine, snapshot, "GO"))
    assert not isinstance(found, Snapshot) or not expected.effects
    if isinstance(found, Step):
        assert value(found) == value(expected)
    else:
        assert (found.value, found.context) == (expected.snapshot.value, expected.snapshot.context)


def test_what_is_raised_on_the_way_is_seen_by_what_follows() -> None:
    machine = chart(["leave", raise_({"type": "NEXT"})])
    found = taken(machine)
    assert isinstance(found, Step)
    assert found.snapshot.value == "c"
    seen = [(effect.type, getattr(effect, "event", None)) for effect in found.effects]
    assert seen == [("leave", {"type": "GO"}), ("xstate.raise", {"type": "NEXT"}), ("leave", {"type": "NEXT"}), ("took", {"type": "NEXT"})]


def test_a_computed_delay_that_is_none_raises_at_once_with_what_comes_of_it() -> None:
    """The course ends, and the macrostep goes on from there: nothing is computed twice."""
    asked: list[int] = []
    machine = chart(
        [assign(n=lambda context: asked.append(1) or context["n"] + 1), raise_({"type": "NEXT"}, delay="odd"), "leave"],
        actions={"took": spawn_child("kid", id="kid")},
        actors={"kid": load_machine({"id": "kid"})},
        delays={"odd": lambda context: asked.append(2)},
    )
    found = taken(machine)
    assert isinstance(found, Detour)
    asked.clear()
    snapshot, _ = initial_transition(machine)
    after, effects = transition(machine, snapshot, "GO")
    assert (after.value, after.context, list(after.children), asked) == ("c", {"n": 2}, ["kid"], [1, 2])
    assert [effect.type for effect in effects] == ["xstate.raise", "leave", "leave", "xstate.spawnChild"]
    assert [effect.position for effect in effects] == [(1, 0), (1, 1), (1, 2), (1, 3)]
    sim = simulate(machine)
    assert sim.send("GO").value == "c"
    assert [effect.type for effect in sim.effects] == ["leave", "leave"]


def test_a_computed_delay_beside_what_is_raised_at_once() -> None:
    """What it comes to decides the order of events, so this is no course."""
    machine = chart([raise_({"type": "LATER"}, delay="odd"), raise_({"type": "NEXT"})], delays={"odd": lambda: None})
    snapshot, _ = initial_transition(machine)
    for _ in range(2):
        after, effects = transition(machine, snapshot, "GO")
        assert Step(after, effects).snapshot.value == "d"
    assert effects == as_computed(machine).effects


def test_a_raised_event_without_a_type_is_no_course() -> None:
    """Only ``*`` takes it, as in XState."""
    document = {
        "id": "m",
        "initial": "a",
        "states": {
            "a": {"on": {"GO": {"target": "b", "actions": raise_({"no": "type"})}}},
            "b": {"on": {"*": "c"}},
            "c": {},
        },
    }
    machine = load_machine(document, semantics="xstate-exact")
    snapshot, _ = initial_transition(machine)
    for _ in range(2):
        assert transition(machine, snapshot, "GO")[0].value == as_computed(machine).snapshot.value == "c"


def test_the_params_of_an_action_are_computed_whether_it_looks_at_them_or_not() -> None:
    machine = chart([{"type": "forget", "params": lambda context: 1 // (context["n"] - 1)}], actions={"forget": cancel("later")})
    snapshot, _ = initial_transition(machine)
    for _ in range(2):
        with pytest.raises(ImplementationError, match="ZeroDivisionError"):
            transition(machine, snapshot, "GO")


def test_a_detour_that_fails_is_the_step_that_fails() -> None:
    machine = chart([raise_({"type": "NEXT"}, delay="odd")], actions={"took": emit(lambda: 1 // 0)}, delays={"odd": lambda: None})
    snapshot, _ = initial_transition(machine)
    for _ in range(2):
        with pytest.raises(ImplementationError, match="ZeroDivisionError") as caught:
            transition(machine, snapshot, "GO")
    step = caught.value.step  # type: ignore[attr-defined]
    assert (step.snapshot.status, step.snapshot.value) == ("error", "a"), "the snapshot is the one before the event"
    assert [effect.type for effect in step.effects] == ["xstate.raise", "leave"]


def test_a_detour_that_ends_the_machine_stops_its_children() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "invoke": {"src": "kid", "id": "kid"},
        "states": {
            "a": {"on": {"GO": {"target": "b", "actions": raise_({"type": "NEXT"}, delay="odd")}}},
            "b": {"on": {"NEXT": "end"}},
            "end": {"type": "final"},
        },
    }
    machine = load_machine(document, {"actors": {"kid": load_machine({"id": "kid"})}, "delays": {"odd": lambda: None}}, strict=False)
    snapshot, _ = initial_transition(machine)
    for _ in range(2):
        after, effects = transition(machine, snapshot, "GO")
        assert (after.status, list(after.children)) == ("done", ["kid"])
        assert [effect.type for effect in effects] == ["xstate.raise", "xstate.stopChild"]
    sim = simulate(machine)
    assert sim.send("GO").status == "done"
    assert sim.child("kid").status == "stopped"


@pytest.mark.parametrize("place", ["params", "message", "delay", "update"])
def test_a_function_that_raises_ends_the_step_with_the_effects_up_to_there(place: str) -> None:
    def fails(context: Any) -> Any:
        raise ValueError("no")

    action = {
        "params": {"type": "leave", "params": fails},
        "message": log(fails),
        "delay": raise_({"type": "NEXT"}, delay="some"),
        "update": assign(fails),
    }[place]
    machine = chart(["leave", action, "leave"], delays={"some": fails})
    found = taken(machine)
    assert isinstance(found, Step)
    assert (found.snapshot.status, found.snapshot.value, str(found.error)) == ("error", "a", "no")
    assert [effect.type for effect in found.effects] == ["leave"]
    assert "in state 'm.a' of machine 'm'" in found.error.__notes__[0]  # type: ignore[union-attr]
    assert simulate(machine).send("GO").status == "error"


@pytest.mark.parametrize(
    "action",
    [
        raise_(lambda context: {"type": "NEXT", "n": context["n"]}),
        raise_({"type": "NEXT"}, delay=lambda: 5),
        raise_({"type": "NEXT"}, delay="asks"),
        {"type": "leave", "params": lambda system: None},
        spawn_child("kid"),
    ],
)
def test_what_is_open_is_left_to_the_macrostep(action: Any) -> None:
    machine = chart([action], actors={"kid": load_machine({"id": "kid"})}, delays={"asks": lambda params: 5})
    assert taken(machine) == (machine.definition.node("#m.a").transitions["GO"][0],)
    snapshot, _ = initial_transition(machine)
    assert Step(*transition(machine, snapshot, "GO")).snapshot.value == as_computed(machine).snapshot.value


def test_a_delay_that_nobody_bound_is_said_by_the_step() -> None:
    machine = load_machine({"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"after": {"gone": "a"}}}})
    snapshot, _ = initial_transition(machine)
    for _ in range(2):
        with pytest.raises(ExecutionError, match="delay 'gone' is not implemented"):
            transition(machine, snapshot, "GO")


def test_an_event_that_is_no_object_is_refused_by_the_step() -> None:
    machine = chart([Raise("NEXT")])
    snapshot, _ = initial_transition(machine)
    for _ in range(2):
        with pytest.raises(ExecutionError, match="Only event objects may be used with raise"):
            transition(machine, snapshot, "GO")


@pytest.mark.parametrize("kind", ["history", "regions"])
def test_the_effects_of_a_course_that_was_found_by_what_is_remembered_or_by_several_guards(kind: str) -> None:
    inner = {"initial": "x", "states": {"x": {"on": {"N": "y"}}, "y": {"on": {"N": "x"}}, "h": {"type": "history"}}}
    on = {"target": "on.h", "actions": "act"}
    remembering = {"id": "m", "initial": "on", "states": {"on": {**inner, "on": {"GO": "off"}}, "off": {"on": {"GO": on}}}}
    region = {"initial": "x", "states": {"x": {"on": {"GO": {"guard": "may", "target": "y", "actions": "act"}}}, "y": {"on": {"GO": "x"}}}}
    regions = {"id": "m", "type": "parallel", "states": {"r": region, "s": region}}
    machine = load_machine({"history": remembering, "regions": regions}[kind], {"actions": {"act": lambda: None}, "guards": {"may": lambda: True}}, strict=False)
    program_of(machine).first_visits = 1
    sim = simulate(machine)
    for _ in range(4):
        sim.send("GO")
        sim.send("GO")
    assert len(sim.effects) == {"history": 4, "regions": 8}[kind]


def test_courses_are_counted_against_the_memo() -> None:
    machine = chart(["leave"] * 50)
    snapshot, _ = initial_transition(machine)
    before = program_of(machine).memo.bytes
    transition(machine, snapshot, "GO")
    assert program_of(machine).memo.bytes - before > 50 * 80
