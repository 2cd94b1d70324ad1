"""What XState makes of documents that the strict reading refuses: loosely, the same happens here."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts import (
    DefinitionError,
    ExecutionError,
    assign,
    load_machine,
    send_parent,
    send_to,
    simulate,
    spawn_child,
    stop_child,
)
from statecharts.events import to_event
from statecharts.interpreter.cells import ENDED
from statecharts.interpreter.deliveries import Perform
from statecharts.interpreter.program import program_of
from statecharts.interpreter.system import System


def loose(document: dict[str, Any], bound: dict[str, Any] | None = None, semantics: str = "xstate-exact") -> Any:
    return simulate(load_machine(document, bound, strict=False, semantics=semantics))


def states(a: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"id": "m", "initial": "a", "states": {"a": a, **others}}


def error_of(sim: Any) -> str:
    assert sim.snapshot.status == "error"
    assert isinstance(sim.snapshot.error, ExecutionError)
    return str(sim.snapshot.error)


# ---------------------------------------------------------------- building

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"id": "m", "initial": "a", "states": {"a": 7}}, "/states/a: a state is an object"),
    ({"id": "m", "initial": "a", "states": 7}, "/states: 'states' is an object of states"),
    (states({"on": {"GO": [7]}, "entry": 7}), "/states/a/entry: an action is a name or an object with a type, not int"),
    (states({"on": {"GO": {"guard": 7}}}), "/states/a/on/GO/guard: a guard is a name or an object with a type, not int"),
    (states({"entry": {"type": "xstate.raise", "params": {}}}), "/states/a/entry/params: xstate.raise needs an 'event'"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_what_nobody_can_build_is_refused(document: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        load_machine(document, strict=False, semantics="xstate")
    assert message in str(caught.value)


def test_an_id_that_is_no_text_becomes_one() -> None:
    assert load_machine({**states({}), "id": 7}, strict=False).id == "7"


def test_an_invoke_that_is_no_object_invokes_nobody() -> None:
    sim = loose(states({"invoke": ["job"]}))
    assert list(sim.snapshot.children.values()) == [None]


def test_built_ins_of_unknown_name_are_names() -> None:
    sim = loose(states({"entry": {"type": "xstate.zzz"}, "on": {"GO": {"guard": {"type": "xstate.zzz"}, "target": "b"}}}, b={}), semantics="xstate-exact")
    sim.send("GO")
    assert "Guard 'xstate.zzz' is not implemented" in str(sim.snapshot.error)
    machine = load_machine(states({"entry": {"type": "xstate.zzz"}, "on": {"GO": {"guard": {"type": "xstate.zzz"}}}}), strict=False, semantics="xstate")
    assert [(missing.kind, missing.name) for missing in machine.missing] == [("action", "xstate.zzz"), ("guard", "xstate.zzz")]


def test_repr_of_nodes_and_transitions() -> None:
    machine = load_machine(states({"on": {"GO": "b", "STAY": {"actions": []}, "NULL": {"target": [None]}}}, b={}), strict=False)
    node = machine.definition.node("#m.a")
    assert repr(node) == "<StateNode m.a (atomic)>"
    assert [repr(listed[0]) for listed in node.transitions.values()] == [
        "<Transition m.a on 'GO' -> m.b>",
        "<Transition m.a on 'STAY'>",
        "<Transition m.a on 'NULL' -> null>",
    ]
    assert repr(program_of(machine).intern((machine.definition.root, node))) == "<Configuration m.a>"


# ----------------------------------------------------------------- history


def history(h: dict[str, Any], **parent: Any) -> dict[str, Any]:
    return states({"on": {"GO": "p.h"}}, p={"initial": "x", "states": {"x": {}, "y": {}, "h": {"type": "history", **h}}, **parent})


def test_a_history_state_without_a_default_uses_its_parents() -> None:
    assert loose(history({})).send("GO").value == {"p": "x"}
    assert loose(history({"target": ""})).send("GO").value == {"p": "x"}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("zzz", "Child state 'zzz' does not exist on 'm.p'"),
        ("#gone", "Child state node '#gone' does not exist on machine 'm'"),
        (None, "Cannot read properties of null (reading 'type')"),
        ([7], "Cannot read properties of null (reading 'type')"),
        ("h", "Maximum call stack size exceeded"),
    ],
)
def test_a_default_that_leads_nowhere_fails_when_it_is_needed(target: Any, message: str) -> None:
    sim = loose(history({"target": target}))
    sim.send("GO")
    assert message in error_of(sim)


def test_an_escaped_id_may_be_read_as_a_path() -> None:
    document = history({"target": "#q\\.r"})
    document["states"]["q"] = {"id": "q", "initial": "r", "states": {"r": {}}}
    assert loose(document).send("GO").value == {"q": "r"}


def test_two_defaults_that_lead_to_each_other_never_end() -> None:
    document = history({"target": "h2"})
    document["states"]["p"]["states"]["h2"] = {"type": "history", "target": "h"}
    sim = loose(document)
    sim.send("GO")
    assert "Maximum call stack size exceeded" in error_of(sim)


def test_a_compound_whose_initial_state_is_its_own_history_never_ends() -> None:
    sim = loose(states({"on": {"GO": "p"}}, p={"initial": "h", "states": {"x": {}, "h": {"type": "history"}}}))
    sim.send("GO")
    assert "Maximum call stack size exceeded" in error_of(sim)


def test_an_initial_history_state_with_an_unknown_default_fails_at_the_start() -> None:
    sim = loose({"id": "m", "initial": "h", "entry": "hello", "states": {"x": {}, "h": {"type": "history", "target": "zzz"}}}, {"actions": {"hello": lambda: None}})
    assert "Child state 'zzz' does not exist on 'm'" in error_of(sim)


def test_a_root_that_is_a_history_state_fails_at_the_start() -> None:
    assert "Cannot read properties of undefined" in error_of(loose({"id": "m", "type": "history"}))
    assert "Cannot read properties of undefined" in error_of(loose({"id": "m", "type": "history", "target": "x"}))


def test_history_below_a_state_that_is_called_atomic() -> None:
    sim = loose(states({"on": {"GO": "p.h"}}, p={"type": "atomic", "states": {"x": {}, "h": {"type": "history"}}}))
    sim.send("GO")
    assert "Cannot read properties of undefined (reading 'type')" in error_of(sim)


# ------------------------------------------------------------ entry and exit


@pytest.mark.parametrize("kind", [{"type": "parallel", "states": {"x": {}}}, {}])
def test_an_unknown_initial_where_none_is_needed_fails_on_default_entry(kind: dict[str, Any]) -> None:
    sim = loose(states({"on": {"GO": "p"}}, p={**kind, "initial": "zzz"}))
    sim.send("GO")
    assert 'Initial state node "zzz" not found on parent state node #m.p' in error_of(sim)


def test_an_always_of_a_region_preempts_that_of_the_parallel_around_it() -> None:
    document = states(
        {"on": {"GO": "p"}},
        p={
            "type": "parallel",
            "always": {"guard": "first", "target": "out"},
            "states": {"l": {}, "r": {"initial": "r1", "states": {"r1": {"always": {"guard": "first", "target": "r2"}}, "r2": {}}}},
        },
        out={},
    )  # fmt: skip
    sim = loose(document, {"guards": {"first": lambda event: event["type"] == "GO"}, "actions": {}})
    assert sim.send("GO").value == "out", "once the region rests, the parallel's own is free"
    once = iter([True, True])
    sim = loose(document, {"guards": {"first": lambda: next(once, False)}})
    assert sim.send("GO").value == {"p": {"l": {}, "r": "r2"}}


# ------------------------------------------------------------------- context


@pytest.mark.parametrize(
    ("context", "after"),
    [(5, {"x": 1}), ("ab", {"0": "a", "1": "b", "x": 1}), ([7], {"0": 7, "x": 1}), (None, {"x": 1})],
)
def test_assigning_to_a_context_that_is_no_object_spreads_it(context: Any, after: Any) -> None:
    sim = loose({**states({"on": {"GO": {"actions": "set"}}}), "context": context}, {"actions": {"set": assign(x=1)}})
    assert sim.send("GO").context == after


def test_updates_that_answer_nothing_or_keys_like_numbers() -> None:
    bound = {"updates": {"nothing": lambda: None, "numbers": lambda: {"b": 1, "2": 2, "1": 1}, "wrong": lambda: 7}}
    sim = loose({**states({"on": {"A": {"actions": "nothing"}, "B": {"actions": "numbers"}, "C": {"actions": "wrong"}}}), "context": {"a": 0}}, bound)
    assert sim.send("A").context == {"a": 0}
    assert list(sim.send("B").context) == ["1", "2", "a", "b"]
    assert str(sim.send("C").error) == "action 'wrong' must return a dict of changes (or None), not int"


# -------------------------------------------------------------------- actors


async def job() -> None:
    """Work that nobody settles."""


def test_an_event_named_like_an_error_becomes_the_childs_error() -> None:
    kid = load_machine({"id": "kid", "initial": "x", "states": {"x": {"entry": "fail"}}}, {"actions": {"fail": send_parent({"type": "xstate.error", "data": "no"})}})
    document = states({"invoke": {"src": "kid", "id": "kid", "onError": {"target": "b", "actions": "keep"}}}, b={})
    sim = loose({**document, "context": {}}, {"actors": {"kid": kid}, "updates": {"keep": lambda event: {"why": event["error"]}}})
    assert (sim.snapshot.value, sim.snapshot.context) == ("b", {"why": "no"})


def test_a_logic_written_in_place_is_invoked_and_restored_by_its_place() -> None:
    document = states({"invoke": {"src": job, "onDone": "b"}}, b={})
    sim = loose(document, semantics="xstate")
    [(name, _)] = sim.snapshot.children.items()
    saved = sim.to_xstate()
    assert saved["children"][name]["src"] == "xstate.invoke.0.m.a"
    again = simulate(load_machine(document, strict=False, semantics="xstate"), snapshot=saved)
    assert again.resolve(name, 1).value == "b"
    saved["children"][name]["src"] = "xstate.invoke.9.m.a"
    assert simulate(load_machine(document, strict=False), snapshot=saved).snapshot.children == {}


@pytest.mark.parametrize("source", [{"type": "json"}, 7, None])
def test_a_source_that_is_json_invokes_nobody(source: Any) -> None:
    sim = loose(states({"on": {"GO": "b"}}, b={"invoke": {"src": source, "id": "x"}}))
    sim.send("GO")
    assert sim.snapshot.children == {"x": None}


def test_spawning_nothing() -> None:
    sim = loose(states({"on": {"GO": {"actions": "go"}}}), {"actions": {"go": spawn_child(None, id="x")}})
    sim.send("GO")
    assert sim.snapshot.children == {"x": None}
    assert sim.stop().status == "stopped"


def test_a_child_stopped_under_another_name_gives_its_system_name_away() -> None:
    """Without an id XState lists the child as "undefined", and stopping it does not unlist it."""
    actions = {
        "one": spawn_child("job", system_id="s"),
        "stop": stop_child(lambda system: system.get("s")),
        "two": spawn_child("job", id="two", system_id="s"),
    }
    sim = loose(states({"entry": ["one", "stop", "two"]}), {"actions": actions, "actors": {"job": job}})
    assert "Actor with system ID 's' already exists" in error_of(sim)


def test_stopping_twice_and_stopping_who_is_long_gone() -> None:
    actions = {
        "spawn": assign(ref=lambda spawn: spawn("job", id="x")),
        "stop": stop_child(lambda context: context["ref"]),
    }
    document = {**states({"entry": "spawn", "on": {"TWICE": {"actions": ["stop", "stop"]}, "ONCE": {"actions": "stop"}}}), "context": {}}
    sim = loose(document, {"actions": actions, "actors": {"job": job}})
    assert sim.send("TWICE").children == {}
    assert [ref.id for ref in sim.ended] == ["x"]
    assert sim.send("ONCE").status == "active"


@pytest.mark.parametrize("final", [{"type": "final"}, {"entry": "fail"}])
def test_a_child_that_is_over_at_once_holds_no_system_name(final: dict[str, Any]) -> None:
    def fail(context: Any) -> Any:
        raise LookupError("kaput")

    kid = load_machine({"id": "kid", "initial": "f", "states": {"f": final}}, {"updates": {"fail": fail}} if "entry" in final else None)
    done = {"target": "b"}
    sim = loose(states({"invoke": {"src": "kid", "id": "k", "systemId": "s", "onDone": done, "onError": done}}, b={"invoke": {"src": "job", "id": "j", "systemId": "s"}}), {"actors": {"kid": kid, "job": job}})
    assert (sim.snapshot.value, sim.snapshot.status) == ("b", "active")
    assert sim.system.registry == {"s": sim.snapshot.children["j"]}


def test_an_action_that_fails_keeps_what_later_actions_would_have_stopped() -> None:
    def fail() -> None:
        raise LookupError("kaput")

    document = states({"invoke": {"src": "job", "id": "j", "systemId": "s"}, "on": {"GO": {"actions": ["fail", "stop"]}}})
    sim = loose(document, {"actors": {"job": job}, "actions": {"fail": fail, "stop": stop_child("j")}})
    sim.send("GO")
    assert (sim.snapshot.status, list(sim.snapshot.children), list(sim.system.registry)) == ("error", ["j"], ["s"])


# ------------------------------------------------------------ stopping early


def test_a_machine_stopped_while_it_starts_handles_what_came_first() -> None:
    """An event that reached it before it was open is processed, the stop comes next."""
    kid = load_machine({"id": "kid", "initial": "x", "states": {"x": {"entry": "up"}}}, {"actions": {"up": send_parent("UP")}})
    document = {**states({"entry": "act", "invoke": {"src": "kid", "id": "kid"}, "on": {"UP": "b"}}, b={})}
    system = System(load_machine(document, {"actors": {"kid": kid}, "actions": {"act": lambda: None}}))
    system.boot()
    system.start()
    batch = system.run()
    while not any(isinstance(delivery, Perform) for delivery in batch):
        batch = system.run()
    system.send_all([(None, system.root.ref, to_event("LATER"))])
    system.stop()
    while system.run():
        pass
    assert (system.root.snapshot.value, system.root.snapshot.status) == ("b", "stopped")


def test_a_machine_stopped_before_it_started_takes_no_events() -> None:
    system = System(load_machine(states({"on": {"GO": "b"}}, b={})))
    system.boot()
    system.stop()
    assert system.run() == []
    system.send(to_event("GO"))
    assert system.run() == []
    assert (system.root.status, len(system.root.mailbox)) == (ENDED, 0)


def test_a_timer_that_was_taken_already_does_nothing() -> None:
    sim = loose(states({"after": {"10": "b"}}, b={"after": {"10": "a"}}))
    [timer] = sim.system.timers.pending.values()
    assert sim.advance(10).value == "b"
    sim.system.fire(timer)
    assert sim.advance(0).value == "b"


def test_a_machine_may_send_to_the_child_it_invokes_in_the_same_entry() -> None:
    kid = load_machine({"id": "kid", "initial": "x", "states": {"x": {"on": {"HI": "y"}}, "y": {}}})
    sim = loose(states({"on": {"GO": "b"}}, b={"entry": "hello", "invoke": {"src": "kid", "id": "kid"}}), {"actors": {"kid": kid}, "actions": {"hello": send_to("kid", "HI")}})
    sim.send("GO")
    assert sim.child("kid").value == "y"
