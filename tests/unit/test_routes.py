"""Events taken in one go: what is kept of them, what is handed over, and what happens around them."""

from __future__ import annotations

import json
import random
from collections import OrderedDict
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
    stop_child,
    transition,
)
from statecharts.events import to_event
from statecharts.interpreter.program import Program, program_of
from statecharts.interpreter.routes import leap
from statecharts.interpreter.snapshot import Snapshot, Step
from statecharts.interpreter.system import System
from statecharts.interpreter.updates import Later
from statecharts.interpreter.wandering import MOST_MOVES
from statecharts.values import FrozenDict

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
    taken = leap(on, to_event("ACT"))
    assert isinstance(taken, Step)
    assert [effect.type for effect in taken.effects] == ["act"], "an action is not open"
    document = {**TOGGLE, "states": {**TOGGLE["states"], "on": {"entry": "act"}}}
    acting = load_machine(
        document,
        {
            "guards": {"may": lambda context: asked.append(context["n"]) or True},
            "actions": {"count": assign({}), "act": stop_child("nobody")},
        },
    )
    off = initial_transition(acting)[0]
    assert leap(off, to_event("T")) == (acting.definition.node("#m.off").transitions["T"][0],)
    asked.clear()
    _, effects = transition(acting, off, "T")
    assert (asked, [effect.type for effect in effects]) == ([0], ["xstate.stopChild"]), "a guard is asked once"


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
    event = to_event("ACT")
    step = system.quick(event)
    assert isinstance(step, Step)
    assert system.root.snapshot is not step.snapshot, "its action comes first"
    assert [type(delivery).__name__ for delivery in system.hand_over(event, step)] == ["Perform"]
    assert [type(delivery).__name__ for delivery in system.run()] == ["Published"]
    assert system.root.snapshot is step.snapshot
    stopped = idle(toggle())
    stopped.stop()
    while stopped.run():
        pass
    assert not stopped.is_quick
    stopped.send(to_event("T"))
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


@pytest.mark.parametrize("limit", range(1, 8))
def test_a_stride_ends_where_the_limit_of_microsteps_is(limit: int) -> None:
    """Each state is complete when it is entered, and so leads to the next."""
    links = {f"s{i}": {"initial": "f", "states": {"f": {"type": "final"}}, "onDone": f"s{i + 1}"} for i in range(4)}
    document = {"id": "m", "initial": "start", "states": {"start": {"on": {"GO": "s0"}}, **links, "s4": {}}, "options": {"maxIterations": limit}}
    machine = load_machine(document)
    kept, plain = both(machine, ["GO"])
    assert kept == plain
    assert (kept[0][0] == "s4") is (limit >= 5), kept


# ---------------------------------------------------------------- remembering

PLAYER: dict[str, Any] = {
    "id": "player",
    "initial": "on",
    "states": {
        "on": {"initial": "x", "on": {"OFF": "off"}, "states": {"x": {"on": {"N": "y"}}, "y": {"on": {"N": "x"}}, "h": {"type": "history"}}},
        "off": {"on": {"ON": "on.h", "SPAWN": {"actions": "spawn"}}},
    },
}
ROUND = ["N", "OFF", "ON", "OFF", "ON", "N", "OFF", "ON"]


def played(machine: Any, snapshot: Any, events: list[str]) -> Any:
    for event in events:
        snapshot, _ = transition(machine, snapshot, event)
    return snapshot


def test_instances_that_remember_the_same_share_it() -> None:
    machine = load_machine(PLAYER, {"actions": {"spawn": lambda: None}})
    ends = [played(machine, initial_transition(machine)[0], ROUND) for _ in range(3)]
    assert ends[0].history == {"player.on.h": ("player.on.x",)} and ends[0].value == {"on": "x"}
    assert ends[0]._rest is ends[1]._rest is ends[2]._rest
    kept, plain = both(machine, ROUND * 3)
    assert kept == plain


def test_what_is_remembered_beside_something_else_is_not_shared() -> None:
    def child(spawn: Any) -> dict[str, Any]:
        return {"made": spawn("job", id="job").id}

    machine = load_machine({**PLAYER, "context": {}}, {"actions": {"spawn": assign(child)}, "actors": {"job": load_machine(TOGGLE, toggle().implementations)}})
    snapshot = played(machine, initial_transition(machine)[0], ["OFF", "SPAWN", "ON", "N"])
    ends = [played(machine, snapshot, ["OFF", "ON", "N", "OFF"]) for _ in range(2)]
    assert list(ends[0].children) == ["job"] and ends[0].history == {"player.on.h": ("player.on.x",)}
    assert ends[0]._rest is not ends[1]._rest and ends[0] == ends[1]


def test_a_history_outlives_what_was_kept_about_it() -> None:
    machine = load_machine(PLAYER, {"actions": {"spawn": lambda: None}})
    memo = program_of(machine).memo
    end = played(machine, initial_transition(machine)[0], ROUND * 2)
    assert end._rest.known
    memo.clear()
    assert end._rest.known is None, "whoever still holds it holds nothing that the memo has not counted"
    for at in range(len(ROUND) * 2):
        snapshot = initial_transition(machine)[0]
        for turn, event in enumerate(ROUND * 2):
            if turn == at:
                memo.clear()
            snapshot, _ = transition(machine, snapshot, event)
        assert snapshot.value == {"on": "x"} and snapshot.history == {"player.on.h": ("player.on.x",)}


def test_what_does_not_fit_the_memo_is_found_out_each_time() -> None:
    machine = load_machine(PLAYER, {"actions": {"spawn": lambda: None}})
    for limit in range(300, 6000, 50):
        machine._program = Program(machine, memo_limit=limit)
        end = played(machine, initial_transition(machine)[0], ROUND * 3)
        assert end.value == {"on": "x"} and end.history == {"player.on.h": ("player.on.x",)}
        assert program_of(machine).memo.bytes <= limit


# ------------------------------------------------------------------ wandering


def moving_regions(count: int) -> dict[str, Any]:
    """Regions of three states; ``ONE`` is answered by the first that is in its second state, ``R<n>`` by region n."""
    regions = {}
    for region in range(count):
        steps: dict[str, Any] = {f"s{i}": {"on": {f"R{region}": f"s{(i + 1) % 3}"}} for i in range(3)}
        steps["s1"]["on"]["ONE"] = "s2"
        regions[f"r{region}"] = {"initial": "s0", "states": steps}
    return {"id": "m", "type": "parallel", "states": regions}


def test_more_moves_than_are_kept() -> None:
    """One event may be answered by each of several regions alone, so that all their states matter for it."""
    draw = random.Random(5)
    machine = load_machine(moving_regions(8))
    events = draw.choices([*(f"R{i}" for i in range(8)), *["ONE"] * 4, "NOBODY"], k=20_000)
    first, _ = initial_transition(machine)
    fast = played(machine, first, events)
    answers = program_of(machine).regions.known["ONE"]  # type: ignore[union-attr]
    assert len(answers.moves) == MOST_MOVES
    machine._program = Program(machine, memo_limit=0)
    plain = played(machine, initial_transition(machine)[0], events)
    assert (fast.value, [n.id for n in fast.nodes]) == (plain.value, [n.id for n in plain.nodes])


def test_what_follows_of_itself_is_not_left_out() -> None:
    """A region enters a state that it leaves at once; another has an eventless transition that waits for it."""
    regions = {
        "x": {"initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"always": "c"}, "c": {"on": {"GO": "a", "ON": "d"}}, "d": {"on": {"GO": "a"}}}},
        "y": {"initial": "a", "states": {"a": {"always": {"guard": {"type": "@xstate.stateIn", "state": {"x": "d"}}, "target": "b"}}, "b": {"on": {"BACK": "a"}}}},
    }
    machine = load_machine({"id": "m", "type": "parallel", "states": regions})
    events = ["GO", "ON", "GO", "GO", "BACK", "ON", "GO"]
    kept, plain = both(machine, events)
    assert kept == plain
    machine._program = Program(machine)
    assert played(machine, initial_transition(machine)[0], events[:2]).value == {"x": "d", "y": "b"}


def test_transitions_of_one_event_whose_regions_overlap() -> None:
    """One leaves what the other moves in: they are in conflict, and are not put together (SCXML removeConflictingTransitions)."""
    inner = {
        "u": {"initial": "a", "states": {"a": {"on": {"GO": "#m.x.b"}}}},
        "v": {"initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"on": {"GO": "a", "BACK": "a"}}}},
    }
    x = {"initial": "in", "states": {"in": {"type": "parallel", "states": inner}, "b": {"on": {"GO": "in"}}}}
    turned = {"initial": "in", "states": {"in": {"type": "parallel", "states": dict(reversed(inner.items()))}, "b": {"on": {"GO": "in"}}}}
    other = {"initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"on": {"GO": "a"}}}}
    for region in (x, turned):
        machine = load_machine({"id": "m", "type": "parallel", "states": {"x": region, "y": other}})
        kept, plain = both(machine, ["GO", "GO", "GO", "BACK", "GO"] * 6)
        assert kept == plain


def test_a_region_that_gets_what_no_chart_allows() -> None:
    """Two children of a compound state at once, which the loose reading lets pass as XState does."""
    x = {"initial": "a", "states": {"a": {"on": {"GO": {"target": ["b", "c"]}}}, "b": {"on": {"ON": "a"}}, "c": {"on": {"GO": "a", "C": "c"}}}}
    y = {"initial": "a", "states": {"a": {"on": {"Y": "b"}}, "b": {"on": {"Y": "a"}}}}
    machine = load_machine({"id": "m", "type": "parallel", "states": {"x": x, "y": y}}, strict=False)
    for events in (["GO", "Y", "C", "Y", "ON", "GO"], ["Y", "GO", "GO", "Y", "GO", "ON", "C"]):
        kept, plain = both(machine, events * 3)
        assert kept == plain


def test_a_guard_in_a_region_is_asked_each_time() -> None:
    region = {"initial": "a", "states": {"a": {"on": {"GO": {"guard": "even", "target": "b"}}}, "b": {"on": {"GO": "a"}}}}
    count = {"initial": "c", "states": {"c": {"on": {"N": {"actions": "count"}}}}}
    document = {"id": "m", "type": "parallel", "context": {"n": 0}, "states": {"x": region, "y": count}}
    implementations = {"guards": {"even": lambda context: context["n"] % 2 == 0}, "actions": {"count": assign(lambda context: {"n": context["n"] + 1})}}
    machine = load_machine(document, implementations)
    seen = [played(machine, initial_transition(machine)[0], ["N"] * n + ["GO"]).value["x"] for n in range(12)]
    assert seen == ["b", "a"] * 6


def test_the_order_of_active_nodes_goes_with_a_wanderer() -> None:
    machine = load_machine(moving_regions(3))
    sim = simulate(machine)
    for event in ["R2", "R0", "R1", "R0"]:
        sim.send(event)
    nodes = [node.id for node in sim.snapshot.nodes]
    assert nodes[-3:] == ["m.r2.s1", "m.r1.s1", "m.r0.s2"]
    back = simulate(machine, snapshot=json.dumps(sim.save()))
    assert [node.id for node in back.snapshot.nodes] == nodes
    sim.send("ONE")
    back.send("ONE")
    assert sim.snapshot == back.snapshot and sim.snapshot.value == {"r0": "s2", "r1": "s2", "r2": "s2"}


def test_a_context_of_one_member() -> None:
    for given in ({"n": 1}, {"m": 1}, {"n": [1]}, {}, None, {"n": 1, "m": 2}, FrozenDict({"n": 3}), OrderedDict(n=4)):
        machine = toggle(count=lambda _context, given=given: given)
        kept, plain = both(machine, ["T"])
        assert kept == plain
        snapshot, _ = transition(machine, initial_transition(machine)[0], "T")
        assert snapshot.context is not given and type(snapshot.context) is FrozenDict
