"""Machines that run with no Python at all: CEL wherever a value, a guard or a change may stand."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from statecharts import DefinitionError, ImplementationError, load_machine, simulate, transition
from statecharts.interpreter.pure import initial_transition
from statecharts.values import UNDEFINED


def cel(source: str) -> dict[str, str]:
    return {"@expr": source, "@lang": "cel"}


CHILD: dict[str, Any] = {
    "id": "child",
    "context": {"sum": cel("input.a + input.b")},
    "initial": "f",
    "output": {"sum": cel("context.sum")},
    "states": {"f": {"type": "final"}},
}
ORDER: dict[str, Any] = {
    "id": "order",
    "context": {"limit": cel("input.limit"), "total": 0, "lines": [], "note": None},
    "initial": "open",
    "output": {"total": cel("context.total"), "how": cel("event.output")},
    "states": {
        "open": {
            "on": {
                "ADD": [
                    {
                        "guard": cel("context.total + event.price <= context.limit"),
                        "actions": {
                            "type": "@xstate.assign",
                            "context": {
                                "total": cel("context.total + event.price"),
                                "lines": cel("context.lines + [event.name]"),
                            },
                        },
                    },
                    {"target": "over", "actions": {"type": "@xstate.log", "args": [cel("event.name + ' costs too much'")]}},
                ],
                "PAY": {"target": "paying", "guard": {"type": "@xstate.and", "guards": [cel("context.total > 0"), cel("has(event.card)")]}},
            },
        },
        "over": {
            "entry": {"type": "@xstate.raise", "event": {"type": "SORRY", "left": cel("context.limit - context.total")}, "delay": cel("context.total * 10")},
            "on": {"SORRY": {"target": "open", "actions": {"type": "@xstate.assign", "context": {"note": cel("event.left")}}}},
        },
        "paying": {
            "invoke": {
                "src": "pay",
                "id": "pay",
                "input": {"a": cel("context.total"), "b": cel("event.fee")},
                "onDone": {"target": "paid", "guard": cel("event.output.sum > 0"), "actions": {"type": "@xstate.assign", "context": {"total": cel("event.output.sum")}}},
            }
        },
        "paid": {"type": "final", "output": cel("'paid ' + string(context.total)")},
    },
}  # fmt: skip


def order(**options: Any) -> Any:
    return simulate(load_machine(ORDER, {"actors": {"pay": load_machine(CHILD)}}), input={"limit": 10}, **options)


def test_an_order_runs_on_expressions_alone() -> None:
    sim = order()
    assert sim.snapshot.context == {"limit": 10, "total": 0, "lines": [], "note": None}
    assert not sim.snapshot.can("PAY", card=1)
    sim.send("ADD", name="tea", price=4)
    sim.send("ADD", name="pot", price=60)
    assert (sim.snapshot.value, sim.logged, sim.clock.next_due()) == ("over", [(UNDEFINED, "pot costs too much")], 40)
    sim.advance(40)
    assert (sim.snapshot.value, sim.snapshot.context["note"], sim.snapshot.context["lines"]) == ("open", 6, ["tea"])
    assert not sim.snapshot.can("PAY")
    sim.send("PAY", card=1, fee=2)
    assert (sim.snapshot.value, sim.snapshot.status) == ("paid", "done")
    assert sim.snapshot.output == {"total": 6, "how": "paid 6"}


def test_the_same_run_holds_to_purity_and_survives_saving() -> None:
    sim = order(pure=True)
    sim.send("ADD", name="tea", price=4)
    again = simulate(sim.machine, snapshot=sim.save())
    again.send("PAY", card=1, fee=2)
    assert again.snapshot.output == {"total": 6, "how": "paid 6"}


def test_the_document_is_not_changed_by_reading_it() -> None:
    before = copy.deepcopy(ORDER)
    order()
    assert before == ORDER


def one_state(transition_: dict[str, Any], **root: Any) -> dict[str, Any]:
    return {"id": "m", "initial": "a", "context": {"n": 1}, "states": {"a": {"on": {"GO": transition_}}, "b": {}}, **root}


@pytest.mark.parametrize("context", [{"n": {"deep": [cel("input.x")]}}, cel("{'n': {'deep': [input.x]}}")])
def test_the_first_context_comes_from_the_input(context: Any) -> None:
    machine = load_machine({**one_state({"target": "b"}), "context": context}, strict=False, semantics="xstate")
    snapshot, _ = initial_transition(machine, {"x": 5})
    assert snapshot.context == {"n": {"deep": [5]}}
    after, _ = transition(machine, snapshot, "GO")
    assert after.value == "b"


def test_an_expression_without_a_value_names_itself_and_its_place() -> None:
    sim = simulate(load_machine({**one_state({"target": "b"}), "context": {"n": cel("input.x")}}))
    assert sim.snapshot.status == "error"
    assert isinstance(sim.snapshot.error, ImplementationError)
    assert "expression `input.x` at /context/n has no value" in str(sim.snapshot.error)
    guarded = simulate(load_machine(one_state({"target": "b", "guard": cel("event.x > 1")})))
    guarded.send("GO")
    assert "in transition for event 'GO' in state node 'm.a'" in str(guarded.snapshot.error)
    assert "expression `event.x > 1` at /states/a/on/GO/guard" in str(guarded.snapshot.error)
    unclear = simulate(load_machine(one_state({"target": "b", "guard": cel("context.n")})))
    unclear.send("GO")
    assert "a guard must be true or false, this one is a number" in str(unclear.snapshot.error)


def test_a_language_nobody_supplied_is_a_problem_with_its_place() -> None:
    strange = {"@expr": "context.n", "@lang": "jexl"}
    with pytest.raises(DefinitionError, match="/states/a/on/GO/guard.*'jexl'"):
        load_machine(one_state({"target": "b", "guard": strange}))
    with pytest.raises(DefinitionError, match="/states/a/on/GO/guard.*'jexl'"):
        load_machine(one_state({"target": "b", "guard": {"@expr": "context.n"}}, **{"@exprLang": "jexl"}), strict=False, semantics="xstate")


def test_under_exact_behaviour_an_expression_is_plain_data() -> None:
    document = one_state({"actions": {"type": "@xstate.assign", "context": {"n": 2}}, "guard": {"type": "g", "params": cel("event.x")}})
    seen: list[Any] = []
    machine = load_machine(document, {"guards": {"g": lambda params: not seen.append(params)}}, semantics="xstate-exact")
    sim = simulate(machine)
    sim.send("GO")
    assert (seen, sim.snapshot.context) == ([cel("event.x")], {"n": 1})


def test_params_of_actions_and_of_guards_may_be_expressions() -> None:
    document = one_state(
        {
            "guard": {"type": "under", "params": {"limit": cel("event.x + context.n")}},
            "actions": {"type": "tell", "params": [cel("event.x"), {"n": cel("context.n")}]},
        }
    )
    told: list[Any] = []
    bound = {"guards": {"under": lambda params: params["limit"] < 5}, "actions": {"tell": lambda params: told.append(params)}}
    sim = simulate(load_machine(document, bound))
    sim.send("GO", x=4)
    sim.send("GO", x=3)
    assert told == [[3, {"n": 1}]]


def test_an_update_that_is_one_expression() -> None:
    document = one_state({"actions": {"type": "@xstate.assign", "context": cel("{'n': context.n + event.by, 'last': event.by}")}})
    sim = simulate(load_machine(document))
    sim.send("GO", by=4)
    assert sim.snapshot.context == {"n": 5, "last": 4}


def test_outputs_of_nested_final_states_are_seen_by_their_parents_on_done() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "context": {"n": 2, "got": None},
        "states": {
            "a": {
                "initial": "x",
                "onDone": {"target": "b", "actions": {"type": "@xstate.assign", "context": {"got": cel("event.output.twice")}}},
                "states": {"x": {"on": {"GO": "y"}}, "y": {"type": "final", "output": {"twice": cel("context.n * 2")}}},
            },
            "b": {},
        },
    }  # fmt: skip
    sim = simulate(load_machine(document))
    sim.send("GO")
    assert (sim.snapshot.value, sim.snapshot.context) == ("b", {"n": 2, "got": 4})


def test_no_delay_is_computed_from_data_that_is_gone() -> None:
    """A delay is evaluated when the timer is set, with the context of that moment."""
    document = {
        "id": "m",
        "initial": "a",
        "context": {"wait": 10},
        "states": {
            "a": {
                "entry": [
                    {"type": "@xstate.raise", "event": "ONE", "id": "one", "delay": cel("context.wait")},
                    {"type": "@xstate.assign", "context": {"wait": 99}},
                    {"type": "@xstate.raise", "event": "TWO", "id": "two", "delay": cel("context.wait")},
                ]
            }
        },
    }
    sim = simulate(load_machine(document))
    assert [timer.delay for timer in sim.system.timers.pending.values()] == [10, 99]
