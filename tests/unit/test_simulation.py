"""The simulation: its methods, its errors, and who may watch."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from statecharts import (
    ExecutionError,
    ImplementationError,
    InvalidTransition,
    UsageError,
    emit,
    from_callback,
    from_event_observable,
    from_observable,
    load_machine,
    log,
    raise_,
    simulate,
)
from statecharts.adapters.engines.clocks import ExactClock
from statecharts.interpreter.inspection import InspectionEvent
from statecharts.values import UNDEFINED


async def job(input: Any) -> Any:
    return {"got": input}


def invoking(src: str = "job", **invoke: Any) -> dict[str, Any]:
    return {
        "id": "m",
        "initial": "a",
        "context": {"v": None, "n": 0},
        "states": {
            "a": {
                "invoke": {"src": src, "id": src, "input": {"x": 1}, "onDone": {"target": "b", "actions": "take"}, "onError": {"target": "c", "actions": "take"}, **invoke},
                "on": {"SKIP": "b", "AGAIN": {"target": "a", "reenter": True}, "*": {"actions": "count"}},
            },
            "b": {},
            "c": {},
        },
    }  # fmt: skip


def take(event: Any) -> dict[str, Any]:
    return {"v": event.get("output", str(event.get("error")))}


def run(actor: Any = job, **options: Any) -> Any:
    updates = {"take": take, "count": lambda context: {"n": context["n"] + 1}}
    return simulate(load_machine(invoking(), {"actors": {"job": actor}, "updates": updates}), **options)


# ------------------------------------------------------------ outside actors


def test_resolving_and_rejecting_a_promise() -> None:
    sim = run()
    assert [(start.path, start.input) for start in sim.waiting] == [("job", {"x": 1})]
    assert sim.resolve("job", [7]).context["v"] == [7]
    assert (sim.snapshot.value, sim.waiting) == ("b", ())
    other = run()
    assert other.reject("job", ValueError("no")).value == "c"
    assert other.snapshot.context["v"] == "no"
    assert run().resolve("job").context["v"] is UNDEFINED


def test_a_late_result_changes_nothing() -> None:
    sim = run()
    sim.send("SKIP")
    assert sim.resolve("job", 7).value == "b"
    assert sim.snapshot.context["v"] is None


def test_each_start_can_be_told_apart() -> None:
    sim = run()
    sim.send("AGAIN")
    assert sim.resolve("job", 1, run=1).value == "a"
    assert sim.resolve("job", 2, run=2).context["v"] == 2
    with pytest.raises(UsageError, match="actor 'job' was started 2 times, not 3"):
        sim.resolve("job", 3, run=3)
    with pytest.raises(UsageError, match="no actor 'zzz' was started; waiting now: none"):
        sim.resolve("zzz")
    with pytest.raises(UsageError, match="waiting now: job"):
        run().resolve("zzz")


@pytest.mark.parametrize(
    "actor", [job, lambda input: {"got": input}], ids=["async", "plain"]
)
def test_a_promise_can_really_be_run(actor: Any) -> None:
    sim = run(actor)
    assert sim.run("job").context["v"] == {"got": {"x": 1}}


def test_what_a_run_raises_rejects_it() -> None:
    async def broken(input: Any, emit: Any) -> None:
        emit("half way", n=1)
        raise LookupError("not there")

    sim = run(broken)
    assert (sim.run("job").value, sim.snapshot.context["v"]) == ("c", "not there")


def test_an_observable_is_fed_completed_or_broken_off() -> None:
    async def stream() -> Any:
        yield 1

    sim = run(stream)
    sim.feed("job", {"x": 1})
    sim.feed("job", {"x": 2})
    assert sim.child("job").context == {"x": 2}
    assert sim.complete("job").value == "b"
    assert sim.feed("job", {"x": 3}).value == "b"
    broken = run(from_observable(stream))
    assert broken.break_off("job", ValueError("cut")).context["v"] == "cut"


def test_an_event_observable_sends_to_its_parent() -> None:
    async def events() -> Any:
        yield {"type": "X"}

    sim = run(from_event_observable(events))
    assert sim.feed("job", {"type": "X"}).context["n"] == 1
    sim.complete("job")
    assert sim.feed("job", {"type": "X"}).context["n"] == 1, "it is over"


def test_a_callback_sends_back_receives_and_is_cleaned_up() -> None:
    seen: list[Any] = []

    def callback(send_back: Any, receive: Any, emit: Any, self: Any, input: Any) -> Any:
        receive(lambda event: seen.append(event["type"]))
        receive(lambda event: send_back("REPLY", to=event["type"]))
        send_back("HELLO")
        emit("shown", by=self.id)
        return lambda: seen.append("cleaned")

    sim = run(callback)
    assert sim.snapshot.context["n"] == 1
    sim.send_to("job", "PING", n=1)
    assert (seen, sim.snapshot.context["n"]) == (["PING"], 2)
    assert sim.send_back("job", "MORE").context["n"] == 3
    sim.send("SKIP")
    assert seen == ["PING", "cleaned"]
    assert sim.send_back("job", "MORE").context["n"] == 3


def test_a_callback_returns_its_clean_up_or_nothing() -> None:
    sim = run(from_callback(lambda send_back: 7))
    assert (sim.snapshot.value, sim.snapshot.context["v"]) == ("c", "a callback actor returns its clean-up function, or None")
    assert run(from_callback(lambda receive: None)).send("SKIP").value == "b"


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda sim: sim.feed("job", 1), "'job' is a promise actor; only an observable can be fed"),
        (lambda sim: sim.complete("job"), "only an observable can be completed"),
        (lambda sim: sim.break_off("job", 1), "only an observable can be broken off"),
        (lambda sim: sim.send_back("job", "X"), "only a callback can be asked to send back"),
        (lambda sim: sim.child("nobody"), "no child 'nobody'; children now: job"),
        (lambda sim: sim.child("job/deeper"), "no child 'job/deeper'"),
        (lambda sim: sim.send_to("nobody", "X"), "no child 'nobody'"),
        (lambda sim: sim.advance(), "milliseconds, or seconds=…, not both or neither"),
        (lambda sim: sim.advance(1, seconds=1), "not both or neither"),
        (lambda sim: sim.advance(-1), "time cannot go backwards"),
        (lambda sim: sim.send("X", type="Y"), "`type=` among the data"),
    ],
)
def test_misuse_says_what_to_do(act: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        act(run())


def test_an_observable_cannot_be_resolved() -> None:
    async def stream() -> Any:
        yield 1

    sim = run(stream)
    for act in (sim.resolve, sim.reject, sim.run):
        with pytest.raises(UsageError, match="'job' is an observable actor; only a promise can be"):
            act("job")


def test_options_are_checked() -> None:
    with pytest.raises(UsageError, match="on_unhandled is 'ignore' or 'raise', not 'die'"):
        run(on_unhandled="die")
    with pytest.raises(UsageError, match="clock is 'exact', 'jumping' or a clock of your own, not 'sundial'"):
        run(clock="sundial")


# ----------------------------------------------------------------------- time

BLINK: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"at": []},
    "states": {"a": {"after": {"10": "b"}}, "b": {"entry": "stamp", "after": {"10": "a"}}},
}


def blinking(**options: Any) -> Any:
    times: list[float] = []
    sim = simulate(load_machine(BLINK, {"actions": {"stamp": lambda: times.append(sim.now)}}), **options)
    return sim, times


def test_each_timer_fires_at_its_own_time() -> None:
    sim, times = blinking()
    sim.advance(45)
    assert (times, sim.now, sim.snapshot.value) == ([10, 30], 45, "a")
    assert sim.advance(seconds=0.005).value == "b"


def test_xstates_clock_jumps_first() -> None:
    sim, times = blinking(clock="jumping")
    sim.advance(45)
    assert (times, sim.now, sim.snapshot.value) == ([45], 45, "b")
    assert sim.advance(10).value == "a"


def test_a_clock_of_ones_own() -> None:
    sim, _ = blinking(clock=ExactClock(100))
    assert sim.advance(10).value == "b"
    assert sim.now == 110


def test_settling_runs_until_no_timer_is_left() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"after": {"1000": "b"}}, "b": {"after": {"2000": "c"}}, "c": {}}}
    sim = simulate(load_machine(document))
    assert (sim.settle().value, sim.now) == ("c", 3000)


def test_settling_gives_up_on_a_machine_that_never_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    from statecharts.adapters.engines import simulation

    monkeypatch.setattr(simulation, "SETTLE_LIMIT", 20)
    sim, times = blinking()
    with pytest.raises(ExecutionError, match=r"still sets timers after 20 of them; use advance\(\)"):
        sim.settle()
    assert len(times) == 10


# ------------------------------------------------------------------ unhandled


def test_unhandled_events_are_ignored_unless_asked_for() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"on": {"GO": "b", "LOCKED": {"guard": "key", "target": "b"}, "NO": {}}}, "b": {"type": "final"}},
    }
    machine = load_machine(document, {"guards": {"key": False}})
    assert simulate(machine).send("ZZZ").value == "a"
    sim = simulate(machine, on_unhandled="raise")
    with pytest.raises(InvalidTransition) as unknown:
        sim.send("ZZZ")
    assert str(unknown.value) == "'ZZZ' is not handled in m.a [active]; allowed now: GO"
    assert (unknown.value.state, unknown.value.event, unknown.value.allowed) == ("a", "ZZZ", ("GO",))
    with pytest.raises(InvalidTransition, match=r"'LOCKED' is not handled in m\.a \[active\] \(guard key said no\)"):
        sim.send("LOCKED")
    assert sim.send("NO").value == "a", "a forbidden transition handles its event by ignoring it"
    sim.send("GO")
    with pytest.raises(InvalidTransition, match=r"'GO' is not handled in m\.b \[done\]; allowed now: nothing"):
        sim.send("GO")


# ---------------------------------------------------------------------- stubs

UNBOUND: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"n": 1},
    "states": {
        "a": {
            "entry": {"type": "hello", "params": {"to": "you"}},
            "on": {"GO": [{"guard": "first", "target": "b"}, {"guard": "second", "target": "c"}]},
        },
        "b": {"after": {"soon": "c"}},
        "c": {"invoke": {"src": "job", "id": "job", "onDone": "d"}},
        "d": {},
    },
}


def test_a_machine_nobody_bound_runs_on_stubs() -> None:
    with pytest.raises(ImplementationError, match="names that are not bound"):
        simulate(load_machine(UNBOUND))
    sim = simulate(load_machine(UNBOUND), stubs=True, guards={"first": lambda context, event, params: event["v"] > context["n"], "second": True})
    [action] = sim.stubbed_actions
    assert (action.type, action.params, action.event["type"]) == ("hello", {"to": "you"}, "xstate.init")
    assert sim.send("GO", v=1).value == "c"
    with pytest.raises(UsageError, match="a stubbed actor has no function to run; resolve or reject it"):
        raise sim.run("job").error
    other = simulate(load_machine(UNBOUND), stubs=True, guards=lambda name, context, event, params: name == "first")
    assert other.send("GO").value == "b"
    assert other.settle().value == "c"
    assert other.resolve("job").value == "d"


def test_a_guard_without_an_answer_says_how_to_give_one() -> None:
    for guards in (None, {}):
        sim = simulate(load_machine(UNBOUND), stubs=True, guards=guards)
        assert "guard 'first' is not bound and has no stub answer; pass guards={'first': True}" in str(sim.send("GO").error)


# ------------------------------------------------------------------- watching


def test_subscribers_see_each_published_snapshot_until_they_leave() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"on": {"GO": "a"}}}}
    sim = simulate(load_machine(document))
    seen: list[Any] = []
    leave = sim.subscribe(lambda snapshot: seen.append(snapshot.value))
    sim.send("GO")
    sim.send("GO")
    leave()
    leave()
    sim.send("GO")
    assert seen == ["b", "a"]


def test_emitted_logged_and_performed_is_kept() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": ["tell", "say", "mutter", "act", "wait"]}}}}}
    lines: list[Any] = []

    async def wait() -> None:
        lines.append("awaited")

    bound = {"actions": {"tell": emit({"type": "TOLD"}), "say": log("loud", "L"), "mutter": log("low"), "act": lambda: None, "wait": wait}}
    sim = simulate(load_machine(document, bound), logger=lambda *parts: lines.append(parts))
    sim.send("GO")
    assert sim.emitted_events == [{"type": "TOLD"}]
    assert sim.logged == [("L", "loud"), (UNDEFINED, "low")]
    assert lines == [("L", "loud"), ("low",), "awaited"]
    assert [effect.type for effect in sim.effects] == ["act", "wait"]


def test_an_observer_sees_xstates_inspection_events() -> None:
    seen: list[InspectionEvent] = []
    sim = run(inspect=seen.append)
    assert [(event.type, event.actor.id) for event in seen] == [
        ("@xstate.actor", "x:0"),
        ("@xstate.actor", "job"),
        ("@xstate.event", "x:0"),
        ("@xstate.event", "job"),
        ("@xstate.snapshot", "job"),
        ("@xstate.action", "x:0"),
        ("@xstate.snapshot", "x:0"),
    ]
    del seen[:]
    sim.send("ZAP", n=1)
    shapes = [event._asdict() for event in seen]
    assert [shape["type"] for shape in shapes] == ["@xstate.event", "@xstate.microstep", "@xstate.snapshot"]
    assert shapes[0]["event"] == {"type": "ZAP", "n": 1} and shapes[0]["source"] is None
    assert shapes[1]["transitions"] == ("*",)
    assert shapes[2]["snapshot"].context["n"] == 1
    assert len({shape["actor"].session for shape in shapes}) == 1


def test_actors_that_feed_each_other_for_ever_are_stopped() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": "again"}}}}}
    from statecharts import send_to
    from statecharts.interpreter.cells import EventFlood

    sim = simulate(load_machine(document, {"actions": {"again": send_to("#_internal", "GO")}}), max_events=50)
    with pytest.raises(EventFlood, match="more than 50 events without coming to rest"):
        sim.send("GO")


def test_sending_from_inside_an_action_waits_its_turn() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": "send"}}}, "b": {"on": {"NEXT": "c"}}, "c": {}}}
    sim = simulate(load_machine(document, {"actions": {"send": lambda: sim.send("NEXT")}}))
    assert sim.send("GO").value == "c"


def test_library_logging_is_untouched() -> None:
    assert logging.getLogger("statecharts").handlers == []
    document = {"id": "m", "initial": "a", "states": {"a": {"entry": "r"}}}
    assert simulate(load_machine(document, {"actions": {"r": raise_("X")}}), logger=None).logged == []


def test_a_listener_that_raises_takes_nothing_from_the_machine() -> None:
    """The machine comes to rest first, timers and all; then the listener's exception is raised."""
    document = {
        "id": "m",
        "initial": "a",
        "states": {
            "a": {"on": {"GO": {"target": "b", "actions": {"type": "@xstate.raise", "event": "NEXT", "delay": 5}}}},
            "b": {"on": {"NEXT": "c"}},
            "c": {"after": {"10": "d"}},
            "d": {},
        },
    }
    sim = simulate(load_machine(document))

    def listener(snapshot: Any) -> None:
        raise LookupError(snapshot.value)

    leave = sim.subscribe(listener)
    with pytest.raises(LookupError, match="b"):
        sim.send("GO")
    assert (sim.snapshot.value, sim.clock.next_due()) == ("b", 5)
    leave()
    assert sim.advance(15).value == "d"


def test_a_subscriber_hears_of_the_root_only() -> None:
    child = load_machine({"id": "c", "initial": "x", "states": {"x": {"on": {"GO": "y"}}, "y": {}}})
    states = {"a": {"invoke": {"src": "c", "id": "k"}, "on": {"N": "b"}}, "b": {}}
    sim = simulate(load_machine({"id": "m", "initial": "a", "states": states}, {"actors": {"c": child}}))
    seen: list[Any] = []
    sim.subscribe(lambda snapshot: seen.append(snapshot.value))
    sim.send_to("k", "GO")
    sim.send("N")
    assert seen == ["b"]
