"""Steps with actions, taken in one go by a host whose machine is at rest: what may come in between, and in which order."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from statecharts import UsageError, assign, cancel, emit, load_machine, raise_, send_to, simulate
from statecharts.adapters.engines.clocks import ExactClock
from statecharts.events import to_event
from statecharts.interpreter.actors import promise_result
from statecharts.interpreter.snapshot import Snapshot, Step
from statecharts.interpreter.system import EventFlood, System
from statecharts.values import FrozenDict

DOCUMENT: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"n": 0},
    "states": {
        "a": {"on": {"GO": {"target": "b", "actions": ["first", "second", "count", "third"]}, "NEXT": "c"}},
        "b": {"entry": "tell", "after": {"10": "a"}, "on": {"GO": "a", "NEXT": "c"}},
        "c": {"on": {"GO": "a", "NEXT": "b"}},
    },
}


def running(**actions: Any) -> tuple[Any, list[Any]]:
    """A simulation and what its actions were, each with the state in which it ran."""
    did: list[Any] = []

    def noted(name: str) -> Any:
        function = actions.get(name)

        def act(context: Any) -> Any:
            did.append((name, context["n"], sim.snapshot.value))
            return None if function is None else function(sim)

        return act

    bound = {name: noted(name) for name in ("first", "second", "third")}
    machine = load_machine(
        DOCUMENT,
        {"actions": {**bound, "tell": emit({"type": "TOLD"})}, "updates": {"count": lambda context: {"n": context["n"] + 1}}},
    )
    sim = simulate(machine)
    return sim, did


def test_actions_run_before_the_snapshot_is_there_with_the_data_of_their_moment() -> None:
    sim, did = running()
    seen: list[Any] = []
    sim.subscribe(lambda snapshot: seen.append((snapshot.value, list(sim.emitted_events), sim.clock.next_due())))
    assert sim.send("GO").value == "b"
    assert did == [("first", 0, "a"), ("second", 0, "a"), ("third", 1, "a")]
    assert seen == [("b", [{"type": "TOLD"}], 10)], "shown once, when all that the step asked for is done"
    assert sim.advance(10).value == "a"
    sim.send("GO")
    sim.send("GO")
    assert (sim.snapshot.value, sim.clock.next_due(), sim.system.timers.pending) == ("a", None, {})


def test_a_timer_counts_from_the_time_of_the_clock_that_was_given() -> None:
    clock = ExactClock()
    sim = simulate(running()[0].machine, clock=clock)
    clock.now = 50
    sim.send("NEXT")
    sim.send("NEXT")
    assert (sim.snapshot.value, sim.clock.next_due()) == ("b", 60)


def test_events_are_counted_for_each_send_by_itself() -> None:
    sim, _ = running()
    for _ in range(5):
        sim.send("GO")
    assert sim.system.events == 1


def test_an_action_that_fails_ends_the_machine_and_what_would_follow_it() -> None:
    sim, did = running(second=lambda _sim: 1 // 0)
    failures: list[Any] = []
    sim.subscribe(lambda snapshot: failures.append(snapshot.status))
    snapshot = sim.send("GO")
    assert (snapshot.status, snapshot.value, type(snapshot.error)) == ("error", "a", ZeroDivisionError)
    assert [name for name, *_ in did] == ["first", "second"]
    assert (sim.emitted_events, sim.clock.next_due(), failures) == ([], None, [])
    assert sim.send("GO").status == "error"
    assert len(did) == 2


def test_an_action_that_sends_is_answered_after_the_step() -> None:
    inside: list[Any] = []
    sim, did = running(first=lambda sim: inside.append(sim.send("NEXT").value), third=lambda sim: inside.append(sim.send("GO").value))
    values: list[Any] = []
    sim.subscribe(lambda snapshot: values.append(snapshot.value))
    assert sim.send("GO").value == "a"
    assert inside == ["a", "a"]
    assert values == ["b", "c", "a"]
    assert [name for name, *_ in did] == ["first", "second", "third"]


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("where", ["actions", "updates", "guards"])
def test_what_is_sent_from_inside_a_step_comes_in_the_order_of_sending(where: str, observed: bool) -> None:
    """As in XState, first in, first out, and before what the step itself sends to its machine."""
    order: list[str] = []

    def sends() -> Any:
        if not order:
            order.append("asked")
            sim.send("ONE")
            sim.send_to("kid", "KID")
            sim.send("TWO")
        return {"updates": {}, "guards": True, "actions": None}[where]

    noting = {"actions": lambda event: order.append(event["type"])}
    kid = load_machine({"id": "kid", "on": {"KID": {"actions": "note"}}}, {"actions": {"note": noting["actions"]}})
    go: dict[str, Any] = {"target": "b", "actions": ["own"]}
    if where == "guards":
        go["guard"] = "sends"
    else:
        go["actions"].insert(0, "sends")
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "invoke": {"src": "kid", "id": "kid"},
            "on": {name: {"actions": "note"} for name in ("ONE", "TWO", "OWN")},
            "states": {"a": {"on": {"GO": go}}, "b": {}},
        },
        {
            "actors": {"kid": kid},
            "actions": {"note": noting["actions"], "own": send_to("#_internal", {"type": "OWN"}), **({"sends": sends} if where == "actions" else {})},
            **({where: {"sends": sends}} if where != "actions" else {}),
        },
    )
    sim = simulate(machine, inspect=(lambda _event: None) if observed else None)
    assert sim.send("GO").value == "b"
    assert [name for name in order if name != "KID"] == ["asked", "ONE", "TWO", "OWN"]
    assert order.count("KID") == 1


def test_what_actors_are_made_to_say_inside_a_step_comes_in_order() -> None:
    order: list[str] = []

    def listen(send_back: Any) -> None:
        """Speaks when the test makes it."""

    def speak() -> None:
        for event in ("ONE", "TWO", "THREE"):
            sim.send_back("l", event)

    machine = load_machine(
        {
            "id": "m",
            "invoke": {"src": "listen", "id": "l"},
            "on": {"GO": {"actions": "speak"}, **{name: {"actions": "note"} for name in ("ONE", "TWO", "THREE")}},
        },
        {"actors": {"listen": listen}, "actions": {"speak": speak, "note": lambda event: order.append(event["type"])}},
    )
    sim = simulate(machine)
    sim.send("GO")
    assert order == ["ONE", "TWO", "THREE"]


def test_what_a_guard_sends_is_handled_after_its_step() -> None:
    order: list[Any] = []

    def sends() -> bool:
        if not order:
            order.append("asked")
            sim.send("ONE")
            sim.send("TWO")
        return True

    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "context": {"n": 0},
            "on": {name: {"actions": ["note", "count"]} for name in ("ONE", "TWO")},
            "states": {"a": {"on": {"GO": {"target": "b", "guard": "sends", "actions": ["note", "count"]}}}, "b": {}},
        },
        {
            "guards": {"sends": sends},
            "actions": {"note": lambda event, context: order.append((event["type"], context["n"]))},
            "updates": {"count": lambda context: {"n": context["n"] + 1}},
        },
    )
    sim = simulate(machine)
    assert sim.send("GO").context == {"n": 3}
    assert order == ["asked", ("GO", 0), ("ONE", 1), ("TWO", 2)]


@pytest.mark.parametrize("event", ["NEXT", "GO"])
def test_a_listener_that_sends_is_answered_when_all_have_been_told(event: str) -> None:
    """Whether the step that it was told of has effects (``GO``) or none."""
    sim, _ = running()
    heard: list[Any] = []

    def sends(snapshot: Any) -> None:
        heard.append(("sender", snapshot.value))
        if len(heard) == 1:
            heard.append(("inside", sim.send("NEXT").value))

    sim.subscribe(sends)
    sim.subscribe(lambda snapshot: heard.append(("other", snapshot.value)))
    first, last = {"NEXT": ("c", "b"), "GO": ("b", "c")}[event]
    assert sim.send(event).value == last, "what was sent meanwhile is over when the send returns"
    assert heard == [("sender", first), ("inside", first), ("other", first), ("sender", last), ("other", last)]


def test_a_listener_that_fails_is_heard_of_and_the_step_stays() -> None:
    sim, _ = running()
    heard: list[Any] = []

    def fails(_snapshot: Any) -> None:
        raise LookupError("a listener's own")

    leave = sim.subscribe(fails)
    sim.subscribe(lambda snapshot: heard.append(snapshot.value))
    for event, value in (("GO", "b"), ("NEXT", "c")):
        with pytest.raises(LookupError):
            sim.send(event)
        assert (sim.snapshot.value, sim.system.at_rest) == (value, True)
    leave()
    assert sim.send("GO").value == "a"
    assert heard == ["a"], "the others are not told after one that failed"


def test_an_interrupted_action_leaves_no_step() -> None:
    def interrupts(_sim: Any) -> None:
        if len(did) < 3:
            raise KeyboardInterrupt

    sim, did = running(second=interrupts)
    with pytest.raises(KeyboardInterrupt):
        sim.send("GO")
    assert (sim.snapshot.value, sim.snapshot.context["n"], sim.snapshot.sequence, sim.emitted_events) == ("a", 0, 0, [])
    assert sim.send("GO").value == "b"


def test_a_callback_that_an_action_sets_off_is_heard_after_the_step() -> None:
    """What an actor sends while its parent's action runs is none of the step's."""
    outside: list[Any] = []

    def listen(send_back: Any) -> None:
        outside.append(send_back)

    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "invoke": {"src": "listen", "id": "l"},
            "states": {"a": {"on": {"GO": {"target": "b", "actions": "poke"}}}, "b": {"on": {"POKED": "c"}}, "c": {}},
        },
        {"actions": {"poke": lambda: outside[0]("POKED")}, "actors": {"listen": listen}},
    )
    sim = simulate(machine)
    values: list[Any] = []
    sim.subscribe(lambda snapshot: values.append(snapshot.value))
    assert sim.send("GO").value == "c"
    assert values == ["b", "c"]


@pytest.mark.parametrize("call", [lambda sim: sim.send("GO"), lambda sim: sim.stop(), lambda sim: sim.advance(5)])
def test_a_stranger_s_call_is_refused_and_leaves_nothing_behind(call: Any) -> None:
    sim, did = running()
    sim._is_plain = sim._is_quick = False
    refused: list[BaseException] = []

    def stranger() -> None:
        try:
            call(sim)
        except UsageError as error:
            refused.append(error)

    thread = threading.Thread(target=stranger)
    thread.start()
    thread.join()
    assert (len(refused), sim.system.at_rest, sim.now) == (1, True, 0)
    assert (sim.send("NEXT").value, did) == ("c", [])


def test_a_child_that_is_over_is_let_go_when_its_state_is_left() -> None:
    async def job() -> None:
        """Settled by hand."""

    machine = load_machine(
        {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "job", "id": "j"}, "on": {"GO": "b"}}, "b": {}}}, {"actors": {"job": job}}
    )
    sim = simulate(machine)
    sim.resolve("j", 1)
    assert len(sim.system.cells) == 2
    sim.send("GO")
    assert len(sim.system.cells) == 1


def test_the_rest_of_the_actions_of_a_step_that_is_handed_over() -> None:
    machine = load_machine(
        {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": ["one", "unbound", "two"]}}}, "b": {}}},
        {"actions": {"one": lambda: None, "two": lambda: None}},
        semantics="xstate-exact",
    )
    system = System(machine)
    system.boot()
    system.start(quietly=True)
    event = to_event("GO")
    step = system.quick(event)
    assert isinstance(step, Step)
    first, second = system.hand_over(event, step)
    assert (first.effect.type, second.effect.type) == ("one", "two")  # type: ignore[union-attr]
    system.tasks.clear()
    assert system.hand_over(event, step, first) == [second]  # type: ignore[arg-type]
    system.run()
    assert isinstance(system.root.snapshot, Snapshot)
    assert (system.root.snapshot.value, system.at_rest) == ("b", True)


def test_children_take_events_in_one_go_too_whatever_they_are() -> None:
    """An event without a type, which nobody can send from outside, is what it was to a child."""
    kid = load_machine(
        {"id": "kid", "initial": "one", "states": {"one": {"on": {"GO": "two"}}, "two": {"on": {"GO": {"actions": "unbound"}}}}},
        semantics="xstate-exact",
    )
    sim = simulate(load_machine({"id": "m", "invoke": {"src": "kid", "id": "k"}}, {"actors": {"kid": kid}}, semantics="xstate-exact"))
    assert sim.send_to("k", "GO").status == "active"
    assert sim.child("k").value == "two"
    sim.send_to("k", "GO")
    assert sim.child("k").sequence == 2
    sim.system.send(FrozenDict({"no": "type"}), sim.snapshot.children["k"])
    sim._drive()
    assert (sim.snapshot.status, str(sim.snapshot.error)) == ("error", "Cannot read properties of undefined (reading 'startsWith')")


# ------------------------------------------------------- promises and timers


async def job() -> None:
    """Settled by hand."""


WORKING: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"n": 0},
    "states": {
        "a": {"on": {"GO": "b"}},
        "b": {
            "after": {"10": {"target": "a", "actions": "count"}},
            "invoke": {"src": "job", "id": "j", "onDone": {"target": "c", "actions": "keep"}, "onError": {"target": "c", "actions": "keep"}},
            "on": {"GO": "a"},
        },
        "c": {"on": {"GO": "b"}},
    },
}


def working(**bound: Any) -> Any:
    updates = {"count": lambda context: {"n": context["n"] + 1}, "keep": lambda event: {"got": event.get("output", str(event.get("error")))}}
    return load_machine(WORKING, {"actors": {"job": job}, "updates": {**updates, **bound}})


def test_a_promise_from_its_start_to_its_result() -> None:
    sim = simulate(working())
    seen: list[Any] = []
    sim.subscribe(lambda snapshot: seen.append((snapshot.value, list(snapshot.children), [start.path for start in sim.waiting])))
    sim.send("GO")
    assert sim.resolve("j", {"x": 1}).context == {"n": 0, "got": {"x": 1}}
    sim.send("GO")
    assert sim.reject("j", "no").context == {"n": 0, "got": "no"}
    sim.send("GO")
    assert sim.advance(10).context["n"] == 1
    assert seen == [("b", ["j"], ["j"]), ("c", [], [])] * 2 + [("b", ["j"], ["j"]), ("a", [], [])]
    assert (len(sim.system.cells), sim.system.at_rest, sim.clock.next_due()) == (1, True, None)
    assert [ref.session for ref in sim.ended] == [2, 3], "one that failed, and one that was stopped"


@pytest.mark.parametrize(("semantics", "counts"), [("xstate", False), ("xstate-exact", True)])
def test_a_result_of_one_whose_place_was_taken(semantics: str, counts: bool) -> None:
    machine = load_machine(
        {"id": "m", "on": {"GO": {"actions": "spawn"}, "xstate.done.actor.j": {"actions": "keep"}}, "context": {}},
        {
            "actors": {"job": job},
            "actions": {"spawn": assign(j=lambda spawn: spawn("job", id="j")), "keep": assign(got=lambda event: event["output"])},
        },
        semantics=semantics,
    )
    sim = simulate(machine)
    sim.send("GO")
    sim.send("GO")
    assert ("got" in sim.resolve("j", 1, run=1).context) is counts
    assert sim.resolve("j", 2, run=2).context["got"] == 2


def test_a_promise_of_a_child_tells_the_child() -> None:
    inner = {"id": "kid", "initial": "one", "states": {"one": {"invoke": {"src": "job", "id": "j", "onDone": "two"}}, "two": {}}}
    kid = load_machine(inner, {"actors": {"job": job}}, semantics="xstate-exact")
    document = {"id": "m", "initial": "a", "invoke": {"src": "kid", "id": "kid"}, "states": {"a": {"on": {"xstate.done.actor.j": "b"}}, "b": {}}}
    sim = simulate(load_machine(document, {"actors": {"kid": kid}}, semantics="xstate-exact"))
    sim.resolve("kid/j", 1)
    assert (sim.child("kid").value, sim.snapshot.value) == ("two", "a")


def test_a_promise_whose_snapshots_the_machine_wants_to_hear_of() -> None:
    heard: list[Any] = []
    machine = load_machine(
        {"id": "m", "on": {"GO": {"actions": "spawn"}, "xstate.snapshot.j": {"actions": "hear"}}, "context": {}},
        {
            "actors": {"job": job},
            "actions": {
                "spawn": assign(j=lambda spawn: spawn("job", id="j", sync_snapshot=True)),
                "hear": lambda event: heard.append(event["snapshot"].status),
            },
        },
        semantics="xstate-exact",
    )
    sim = simulate(machine)
    sim.send("GO")
    assert heard == ["active"]


def test_a_timer_of_a_child_rings_there() -> None:
    kid = load_machine({"id": "kid", "initial": "one", "states": {"one": {"after": {"5": "two"}}, "two": {}}})
    sim = simulate(load_machine({"id": "m", "invoke": {"src": "kid", "id": "kid"}}, {"actors": {"kid": kid}}))
    sim.advance(5)
    assert sim.child("kid").value == "two"


def test_what_happens_inside_a_step_waits_for_its_end() -> None:
    """A promise that an action settles, and time that an action lets pass."""
    order: list[Any] = []

    def meddle() -> None:
        sim.resolve("j", 1)
        sim.advance(10)
        order.append(sim.snapshot.value)

    document = {
        "id": "m",
        "initial": "a",
        "states": {
            "a": {"after": {"10": {"actions": "rang"}}, "invoke": {"src": "job", "id": "j", "onDone": {"actions": "done"}}, "on": {"GO": {"actions": "meddle"}}}
        },
    }
    noting = {name: (lambda name=name: order.append(name)) for name in ("rang", "done")}
    sim = simulate(load_machine(document, {"actors": {"job": job}, "actions": {**noting, "meddle": meddle}}))
    sim.send("GO")
    assert order[0] == "a"
    assert sorted(order[1:]) == ["done", "rang"]
    assert sim.system.at_rest


def test_what_is_no_result_of_a_promise_does_not_settle_it() -> None:
    sim = simulate(working())
    sim.send("GO")
    ref = sim.snapshot.children["j"]
    assert sim.system.take_result(ref, to_event("ANY")) is None
    assert sim.system.take_result(ref, promise_result(1)) is not None
    assert sim.system.take_result(ref, promise_result(1)) is None, "it is over"


def test_an_interrupt_while_a_result_is_handled_leaves_the_machine_where_it_was() -> None:
    calls: list[int] = []

    def keep() -> Any:
        calls.append(1)
        if len(calls) < 2:
            raise KeyboardInterrupt
        return {}

    sim = simulate(working(keep=keep))
    sim.send("GO")
    with pytest.raises(KeyboardInterrupt):
        sim.resolve("j", 1)
    assert (sim.snapshot.value, sim.child("j").status) == ("b", "done"), "the promise is over, its event is gone"
    assert sim.send("GO").value == "a"


def test_a_timer_that_was_cancelled_in_the_same_moment_does_not_ring() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"entry": ["one", "two"], "on": {"ONE": {"actions": "none"}, "TWO": "b"}}, "b": {}}}
    sim = simulate(
        load_machine(document, {"actions": {"one": raise_("ONE", delay=5), "two": raise_("TWO", delay=5, id="two"), "none": cancel("two")}})
    )
    assert sim.advance(5).value == "a"


def test_a_timer_whose_event_has_no_type() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": "odd"}}}}}
    sim = simulate(load_machine(document, {"actions": {"odd": raise_({"no": "type"}, delay=5)}}, semantics="xstate-exact"))
    sim.send("GO")
    assert sim.advance(5).status == "error"


def test_actors_that_feed_their_own_machine_for_ever_are_an_error_of_nobody_in_particular() -> None:
    machine = load_machine({"id": "m", "on": {"GO": {"actions": "again"}}}, {"actions": {"again": lambda: sim.send("GO")}})
    sim = simulate(machine, max_events=20)
    with pytest.raises(EventFlood):
        sim.send("GO")
