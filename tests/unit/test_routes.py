"""Events taken in one go: what is kept of them, what is handed over, and what happens around them."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts import (
    ImplementationError,
    StatechartError,
    assign,
    initial_transition,
    load_machine,
    restore_snapshot,
    simulate,
    transition,
)
from statecharts.events import to_event
from statecharts.interpreter.program import Program, program_of
from statecharts.interpreter.routes import leap
from statecharts.interpreter.snapshot import Snapshot, Step
from statecharts.interpreter.system import System
from statecharts.interpreter.updates import Later

TOGGLE: dict[str, Any] = {
    "id": "m",
    "initial": "off",
    "context": {"n": 0},
    "states": {"off": {"on": {"T": {"target": "on", "guard": "may", "actions": "count"}}}, "on": {"on": {"T": "off", "ACT": {"actions": "act"}}}},
}


def toggle(**bound: Any) -> Any:
    guards = {"may": bound.get("may", lambda: True)}
    actions = {"count": assign(bound.get("count", lambda context: {"n": context["n"] + 1})), "act": bound.get("act", lambda: None)}
    return load_machine(TOGGLE, {"guards": guards, "actions": actions})


def both(machine: Any, events: list[str]) -> tuple[list[Any], list[Any]]:
    """A run with everything kept, and one with nothing."""
    seen = []
    for limit in (1_000_000, 0):
        machine._program = program = Program(machine, memo_limit=limit)
        program.first_visits = 1
        snapshot, _ = initial_transition(machine)
        run: list[Any] = []
        for event in events:
            try:
                snapshot, effects = transition(machine, snapshot, event)
            except StatechartError as error:
                run.append((str(error), error.step.snapshot.value))  # type: ignore[attr-defined]
            else:
                run.append((snapshot.value, dict(snapshot.context), snapshot.history, [n.id for n in snapshot.nodes], effects))
        seen.append(run)
    return seen[0], seen[1]


# ------------------------------------------------------------------- leaping


def test_a_leap_is_a_step() -> None:
    machine = toggle()
    snapshot, _ = initial_transition(machine)
    taken = leap(snapshot, to_event("T"))
    assert isinstance(taken, Snapshot)
    assert (taken.value, taken.context, taken.sequence) == ("on", {"n": 1}, snapshot.sequence + 1)
    assert snapshot.value == "off"


def test_what_is_open_is_handed_over_with_what_was_selected() -> None:
    asked: list[int] = []
    machine = toggle(may=lambda context: asked.append(context["n"]) or True)
    on, _ = transition(machine, initial_transition(machine)[0], "T")
    assert leap(on, to_event("ACT")) == (machine.definition.node("#m.on").transitions["ACT"][0],)
    document = {**TOGGLE, "states": {**TOGGLE["states"], "on": {"entry": "act"}}}
    acting = load_machine(document, {"guards": {"may": lambda context: asked.append(context["n"]) or True}, "actions": {"count": assign({}), "act": lambda: None}})
    asked.clear()
    _, effects = transition(acting, initial_transition(acting)[0], "T")
    assert (asked, [effect.type for effect in effects]) == ([0], ["act"]), "a guard is asked once"


def test_a_machine_that_is_over_does_not_leap() -> None:
    machine = load_machine({"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"type": "final"}}})
    done, _ = transition(machine, initial_transition(machine)[0], "GO")
    assert leap(done, to_event("GO")) is None


@pytest.mark.parametrize("where", ["may", "count"])
def test_a_function_that_raises_is_named(where: str) -> None:
    def fails() -> Any:
        raise ValueError("no")

    machine = toggle(**{where: fails})
    snapshot, _ = initial_transition(machine)
    for _ in range(2):
        taken = leap(snapshot, to_event("T"))
        assert isinstance(taken, Step)
        assert (taken.snapshot.status, taken.effects) == ("error", ())
        with pytest.raises(ImplementationError, match="no"):
            transition(machine, snapshot, "T")


def test_what_an_update_may_return() -> None:
    for answer, expected in ((None, {"n": 0}), ({"n": [1]}, {"n": [1]}), ({"1": 2}, {"1": 2, "n": 0})):
        machine = toggle(count=lambda answer=answer: answer)
        snapshot, _ = transition(machine, initial_transition(machine)[0], "T")
        assert snapshot.context == expected
    with pytest.raises(StatechartError, match="must return a dict"):
        transition(machine := toggle(count=lambda: 7), initial_transition(machine)[0], "T")


# -------------------------------------------------------------------- systems


def idle(machine: Any) -> System:
    system = System(machine)
    system.boot()
    system.start()
    while system.run():
        pass
    return system


def test_an_idle_system_takes_an_event_at_once() -> None:
    system = idle(toggle())
    assert system.is_quick
    taken = system.quick(to_event("T"))
    assert taken is system.root.snapshot
    assert (taken is not None and taken.value, system.at_rest) == ("on", True)


def test_what_is_left_to_do_goes_on_the_agenda() -> None:
    system = idle(toggle())
    system.quick(to_event("T"))
    assert system.quick(to_event("ACT")) is None
    assert [type(delivery).__name__ for delivery in system.run()] == ["Perform"]
    assert [type(delivery).__name__ for delivery in system.run()] == ["Published"]
    stopped = idle(toggle())
    stopped.stop()
    while stopped.run():
        pass
    assert not stopped.is_quick
    assert stopped.quick(to_event("T")) is None
    assert stopped.run() == [], "who is over hears nothing"


def test_an_update_that_sends_to_its_own_machine() -> None:
    sent: list[Any] = []

    def count(context: Any) -> dict[str, Any]:
        if context["n"] == 0:
            sent.append(sim.send("T"))
        return {"n": context["n"] + 1}

    sim = simulate(toggle(count=count))
    values: list[Any] = []
    sim.subscribe(lambda snapshot: values.append((snapshot.value, snapshot.context["n"])))
    assert sim.send("T").value == "off", "what was sent follows before the send returns"
    assert values == [("on", 1), ("off", 1)]
    assert sent[0].value == "off", "inside, it is still what it was"


def test_a_failed_leap_ends_the_machine_in_a_system() -> None:
    sim = simulate(toggle(count=lambda: 1 // 0))
    assert sim.send("T").status == "error"
    assert isinstance(sim.snapshot.error, ZeroDivisionError)
    assert sim.send("T").status == "error"


# ------------------------------------------------------------ regions, history


def test_a_region_that_cannot_be_entered() -> None:
    regions = {
        name: {"initial": "a", "states": {"a": {"on": {"GO": "b", "X": "a"}}, "b": {"initial": "nowhere", "states": {"c": {}}}}} for name in "xy"
    }
    machine = load_machine({"id": "m", "type": "parallel", "states": regions}, strict=False)
    kept, plain = both(machine, ["X", "GO", "X", "GO"])
    assert kept == plain
    assert "nowhere" in kept[1][0]


def test_an_update_that_raises_in_a_region() -> None:
    region = {"initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": "break"}}}, "b": {}}}
    document = {"id": "m", "type": "parallel", "context": {}, "states": {"x": region, "y": {"initial": "a", "states": {"a": {}}}}}
    machine = load_machine(document, {"actions": {"break": assign(lambda context: {"n": 1 // 0})}})
    for _ in range(20):
        with pytest.raises(ImplementationError, match=r"raised by action 'break'.* of machine 'm'"):
            transition(machine, initial_transition(machine)[0], "GO")


def test_events_that_do_more_than_select() -> None:
    for kind in ("parallel", "compound"):
        region: dict[str, Any] = {"initial": "a", "states": {"a": {"on": {"GO": "a"}}}}
        document = {"id": "m", "type": kind, "initial": None, "states": {"x": region, "y": region}}
        document |= {"initial": "x"} if kind == "compound" else {}
        machine = load_machine({key: value for key, value in document.items() if value is not None})
        snapshot, _ = initial_transition(machine)
        failed, _ = transition(machine, snapshot, {"type": "xstate.error.actor.job", "error": "no"})
        assert (failed.status, failed.error) == ("error", "no")


def test_history_that_asks_for_more_than_the_first_time() -> None:
    inner = {"initial": "hk", "states": {"hk": {"type": "history", "target": "p"}, "p": {"on": {"N": "q"}}, "q": {}}}
    document = {
        "id": "m",
        "initial": "out",
        "states": {
            "out": {"on": {"IN": "c.h"}},
            "c": {
                "initial": "a",
                "on": {"OUT": "out"},
                "states": {"h": {"type": "history"}, "a": {"on": {"K": "k"}}, "k": {**inner, "on": {"A": "a"}}},
            },
        },
    }
    machine = load_machine(document, strict=False)
    events = ["IN", "OUT", "IN", "K", "OUT", "IN", "N", "OUT", "IN", "A", "OUT", "IN", "K", "N", "OUT", "IN", "OUT", "IN"]
    kept, plain = both(machine, events)
    assert kept == plain
    machine._program = Program(machine)
    snapshot, _ = initial_transition(machine)
    for event in events:
        snapshot, _ = transition(machine, snapshot, event)
    assert program_of(machine).memo.bytes > 0


def test_done_events_and_their_updates_are_part_of_the_stride() -> None:
    work = {"initial": "w", "states": {"w": {"on": {"END": "f"}}, "f": {"type": "final"}}}
    document = {
        "id": "m",
        "initial": "work",
        "context": {"seen": None},
        "states": {"work": {**work, "onDone": {"target": "idle", "actions": "see"}}, "idle": {"on": {"AGAIN": "work"}}},
    }
    machine = load_machine(document, {"actions": {"see": assign(lambda event: {"seen": event["type"]})}})
    for _ in range(3):
        snapshot, effects = transition(machine, initial_transition(machine)[0], "END")
        assert (snapshot.value, snapshot.context["seen"], effects) == ("idle", "xstate.done.state.m.work", ())
    stride = snapshot._program.known[machine.definition.node("#m.work.w")].first_route
    assert stride is not None
    [later] = stride.updates
    assert isinstance(later, Later)

    assert later.label == "action 'see'"


def test_an_effect_after_a_done_event_ends_the_stride() -> None:
    work = {"initial": "w", "states": {"w": {"on": {"END": "f"}}, "f": {"type": "final"}}}
    states = {"work": {**work, "onDone": {"target": "idle", "actions": "act"}}, "idle": {}}
    machine = load_machine({"id": "m", "initial": "work", "states": states}, {"actions": {"act": lambda: None}})
    for _ in range(2):
        snapshot, effects = transition(machine, initial_transition(machine)[0], "END")
        assert (snapshot.value, [effect.type for effect in effects]) == ("idle", ["act"])


def test_a_snapshot_whose_regions_stand_in_another_order() -> None:
    region = {"initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"on": {"GO": "a"}}}}
    machine = load_machine({"id": "m", "type": "parallel", "states": {"x": region, "y": region}}, semantics="xstate-exact")
    snapshot = restore_snapshot(machine, {**initial_transition(machine)[0].to_xstate(), "value": {"y": "a", "x": "b"}})
    for _ in range(3):
        snapshot, _ = transition(machine, snapshot, "NOBODY")
        assert list(snapshot.value.items()) == [("y", "a"), ("x", "b")]
    assert transition(machine, snapshot, "GO")[0].value == {"x": "a", "y": "b"}


@pytest.mark.parametrize("kind", ["deep", "shallow"])
def test_history_remembers_leaves_in_the_order_in_which_they_became_active(kind: str) -> None:
    def region(event: str) -> dict[str, Any]:
        return {"initial": "a", "on": {f"AGAIN.{event}": {"reenter": True}}, "states": {"a": {"on": {event: "b"}}, "b": {"on": {event: "a"}}}}

    inside = {"type": "parallel", "states": {"x": region("X"), "y": region("Y"), "h": {"type": "history", "history": kind}}}
    document = {"id": "m", "initial": "in", "states": {"in": {**inside, "on": {"OUT": "out"}}, "out": {"on": {"IN": "in.h"}}}}
    machine = load_machine(document)
    kept, plain = both(machine, ["X", "OUT", "IN", "Y", "X", "OUT", "IN", "AGAIN.X", "OUT", "IN", "OUT"] * 6)
    assert kept == plain
    assert kept[1][2]["m.in.h"] == (("m.in.y.a", "m.in.x.b") if kind == "deep" else ("m.in.x", "m.in.y"))


def test_regions_that_end_one_after_the_other() -> None:
    def region(event: str) -> dict[str, Any]:
        return {"initial": "a", "states": {"a": {"on": {event: "f"}}, "f": {"type": "final"}}}

    inner = {"type": "parallel", "states": {"x": region("X"), "y": region("Y")}}
    outer = {"type": "parallel", "states": {"in": inner, "z": region("Z")}, "onDone": "over"}
    machine = load_machine({"id": "m", "initial": "work", "states": {"work": outer, "over": {"on": {"AGAIN": "work"}}}})
    kept, plain = both(machine, [*"XYZ", "AGAIN", *"YXZ", "AGAIN", *"ZYX", "AGAIN", *"ZXY", "AGAIN", *"XYZ"])
    assert kept == plain
    assert [value for value, *_ in kept[2::4]] == ["over"] * 5
