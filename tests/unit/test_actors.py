"""What lives behind a reference: logics, their life, and their errors."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts import (
    ImplementationError,
    assign,
    from_callback,
    from_event_observable,
    from_observable,
    from_promise,
    from_transition,
    load_machine,
    send_to,
    simulate,
    spawn_child,
    stop_child,
)
from statecharts.interpreter.actors import (
    OBSERVABLE_COMPLETED,
    ActorLogic,
    CallbackLogic,
    ObservableLogic,
    PromiseLogic,
    as_logic,
    observable_failure,
    observable_value,
    promise_failure,
    promise_result,
    read_logic_snapshot,
)
from statecharts.interpreter.cells import Cell
from statecharts.interpreter.effects import ActorRef
from statecharts.values import UNDEFINED, FrozenDict


async def promise() -> None:
    """Work that nobody settles."""


async def stream() -> Any:
    yield 1


class Callable:
    def __call__(self, input: Any) -> None:
        """An object that can be called."""


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (promise, "promise"),
        (stream, "observable"),
        (lambda input: 1, "promise"),
        (lambda send_back: None, "callback"),
        (lambda receive, input: None, "callback"),
        (Callable(), "promise"),
        (from_promise(promise), "promise"),
        (from_callback(lambda: None), "callback"),
        (from_observable(stream), "observable"),
        (from_event_observable(stream), "event-observable"),
        (from_transition(lambda state, event: state, 0), "transition"),
    ],
)
def test_what_a_value_stands_for(value: Any, kind: str) -> None:
    logic = as_logic(value, "a")
    assert logic.kind == kind
    assert isinstance(logic, ActorLogic)


def test_a_machine_is_a_logic_and_a_number_is_not() -> None:
    machine = load_machine({"id": "m", "initial": "a", "states": {"a": {}}})
    assert as_logic(machine, "a") is machine
    with pytest.raises(ImplementationError, match="actor 'a' must be an async function, a generator, a callback"):
        as_logic(7, "a")


def test_a_function_asks_for_nothing_else_than_what_there_is() -> None:
    for make in (from_promise, from_callback, from_observable):
        with pytest.raises(ImplementationError, match="asks for 'context'"):
            make(lambda context: None)
    with pytest.raises(ImplementationError, match="initial state of '<lambda>' asks for"):
        from_transition(lambda state, event: state, lambda a, b: 0)


STOP = FrozenDict({"type": "xstate.stop"})
OTHER = FrozenDict({"type": "OTHER"})


def test_a_promise_settles_once() -> None:
    logic = PromiseLogic(promise)
    start = logic.initial({"x": 1})
    assert (start.status, start.input, start.value) == ("active", {"x": 1}, UNDEFINED)
    done = logic.transition(start, promise_result([1]))
    assert (done.status, done.output, done.input) == ("done", [1], UNDEFINED)
    assert logic.transition(done, promise_failure("late")) is done
    failed = logic.transition(start, promise_failure("no"))
    assert (failed.status, failed.error) == ("error", "no")
    assert logic.transition(start, STOP).status == "stopped"
    assert logic.transition(start, OTHER) is start


def test_a_callback_only_stops() -> None:
    logic = CallbackLogic(lambda: None)
    start = logic.initial(1)
    assert logic.transition(start, OTHER) is start
    assert logic.transition(start, STOP).status == "stopped"


def test_an_observable_follows_its_values() -> None:
    logic = ObservableLogic(stream)
    start = logic.initial(UNDEFINED)
    one = logic.transition(start, observable_value({"v": 1}))
    assert (one.status, one.context) == ("active", {"v": 1})
    assert logic.transition(one, OTHER) is one
    assert logic.transition(one, OBSERVABLE_COMPLETED).status == "done"
    cut = logic.transition(one, observable_failure("cut"))
    assert (cut.status, cut.error, logic.transition(cut, OBSERVABLE_COMPLETED)) == ("error", "cut", cut)
    assert logic.transition(one, STOP).status == "stopped"
    to_parent = ObservableLogic(stream, to_parent=True)
    assert to_parent.transition(start, observable_value(1)) is start


def test_a_reducer_is_pure_and_may_start_from_its_input() -> None:
    logic = from_transition(lambda state, event: [*state, event["type"]], lambda input: [input])
    start = logic.initial("i")
    assert logic.transition(start, OTHER).context == ["i", "OTHER"]
    assert start.context == ["i"]
    assert from_transition(lambda state, event: state, {"n": 0}).initial("i").context == {"n": 0}


def test_a_snapshot_keeps_the_order_in_which_it_was_read() -> None:
    read = read_logic_snapshot({"context": 1, "zzz": 0, "status": "active"})
    assert list(read.to_json()) == ["context", "status"]
    assert list(read.having(output=2).to_json()) == ["context", "status", "output"]


def test_addresses_and_cells_can_be_read() -> None:
    ref = ActorRef(3, "kid", "src")
    assert (ref.session_id, ref.to_json()) == ("x:3", {"xstate$$type": 1, "id": "kid"})
    assert repr(Cell(ref, from_promise(promise), None, None)) == "<Cell x:3 'kid'>"


# ------------------------------------------------------------------- in a system


def parent(actions: dict[str, Any], actors: dict[str, Any], **state: Any) -> Any:
    document = {
        "id": "p",
        "initial": "a",
        "context": {"seen": []},
        "states": {"a": {"on": {"GO": {"actions": list(actions)}, "*": {"actions": "see"}}, **state}, "b": {}},
    }
    see = lambda context, event: {"seen": [*context["seen"], event["type"]]}  # noqa: E731
    return load_machine(document, {"actions": actions, "updates": {"see": see}, "actors": actors}, strict=False, semantics="xstate")


def test_an_actor_that_raises_in_its_reducer_is_an_error_of_its_parent() -> None:
    def fail(state: Any, event: Any) -> Any:
        raise LookupError("kaput")

    sim = simulate(parent({"poke": send_to("kid", "X")}, {"kid": from_transition(fail, 0)}, invoke={"src": "kid", "id": "kid", "onError": "b"}))
    assert sim.send("GO").value == "b"


def test_a_reducer_that_cannot_start_is_an_error_of_its_parent() -> None:
    def fail(input: Any) -> Any:
        raise LookupError("kaput")

    actors = {"kid": from_transition(lambda state, event: state, fail)}
    sim = simulate(parent({}, actors, invoke={"src": "kid", "id": "kid", "onError": "b"}))
    assert sim.snapshot.value == "b"


@pytest.mark.parametrize("how", [stop_child("kid"), stop_child(lambda context: context["kid"])])
def test_stopping_a_child_ends_what_it_does_outside(how: Any) -> None:
    actions = {"spawn": assign(kid=lambda spawn: spawn("job", id="kid")), "stop": how}
    sim = simulate(parent(actions, {"job": promise}))
    sim.send("GO")
    assert (sim.snapshot.children, sim.starts, sim.waiting) == ({}, [], ()), "it never started"
    document_actions = {"stop": how}
    late = simulate(parent(document_actions, {"job": promise}, entry=assign(kid=lambda spawn: spawn("job", id="kid"))))
    assert [start.path for start in late.waiting] == ["kid"]
    late.send("GO")
    assert (late.snapshot.children, late.waiting, [ref.id for ref in late.ended]) == ({}, (), ["kid"])


def test_stopping_what_is_no_actor() -> None:
    sim = simulate(parent({"stop": stop_child(lambda: {"no": "actor"})}, {}))
    assert "actorRef.getSnapshot is not a function" in str(sim.send("GO").error)
    nothing = simulate(parent({"stop": stop_child("nobody"), "none": stop_child(lambda: None)}, {}))
    assert nothing.send("GO").status == "active"


def test_sending_to_what_is_no_actor() -> None:
    sim = simulate(parent({"send": send_to(lambda: {"no": "actor"}, "X")}, {}))
    sim.send("GO")
    assert (sim.snapshot.status, "target._send is not a function" in str(sim.snapshot.error)) == ("error", True)


def test_an_event_must_be_an_object() -> None:
    for event, message in ((lambda: "X", 'Only event objects may be used with sendTo; use sendTo({ type: "X" })'), (lambda: 7, "sendTo needs an event object with a 'type', not 7")):
        sim = simulate(parent({"send": send_to("#_internal", event)}, {}))
        assert message in str(sim.send("GO").error)


def test_a_spawn_function_takes_names_logics_and_options() -> None:
    def spawn_three(spawn: Any) -> dict[str, Any]:
        return {
            "one": spawn("job", id="one", input={"x": 1}, system_id="the one"),
            "two": spawn(promise),
            "three": spawn("count", sync_snapshot=True, id="three"),
        }

    actors = {"job": promise, "count": from_transition(lambda state, event: state + 1, 0)}
    sim = simulate(parent({"spawn": assign(spawn_three)}, actors))
    sim.send("GO")
    assert list(sim.snapshot.children) == ["one", "x:2", "three"]
    assert sim.snapshot.context["two"] == sim.snapshot.children["x:2"]
    assert sim.system.view.get_all() == {"the one": sim.snapshot.children["one"]}
    sim.send_to("three", "X")
    assert sim.snapshot.context["seen"] == ["xstate.snapshot.three", "xstate.snapshot.three"]
    unknown = simulate(parent({"spawn": assign(lambda spawn: {"x": spawn("nobody")})}, {}))
    assert "Actor logic 'nobody' not implemented in machine 'p'" in str(unknown.send("GO").error)


def test_two_children_may_not_share_a_system_wide_name() -> None:
    actions = {"one": spawn_child("job", id="one", system_id="s"), "two": spawn_child("job", id="two", system_id="s")}
    sim = simulate(parent(actions, {"job": promise}))
    assert "Actor with system ID 's' already exists" in str(sim.send("GO").error)
