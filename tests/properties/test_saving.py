"""A run can be saved anywhere and goes on as if nothing had happened."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from random_machines import Step, facts, machines, steps, take

from statecharts import Machine, simulate


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def told(sim: Any) -> tuple[int, int, int]:
    return len(sim.emitted_events), len(sim.logged), len(sim.effects)


def said(sim: Any, since: tuple[int, int, int]) -> Any:
    return sim.emitted_events[since[0] :], sim.logged[since[1] :], [(effect.type, effect.position) for effect in sim.effects[since[2] :]]


def comparable(sim: Any) -> Any:
    found = facts(sim)
    if found["status"] == "error":  # an error comes back as its type's name and its message
        error = sim.snapshot.error
        found["error"] = (getattr(error, "type_name", type(error).__name__), str(error))
    return found


@given(machines(), steps())
@settings(max_examples=130, deadline=None)
def test_a_run_saved_at_every_step_goes_on_identically(machine: Machine[Any, Any], happens: list[Step]) -> None:
    sim = simulate(machine)
    other = simulate(machine)
    for step in happens:
        saved = through_json(other.save())
        other = simulate(machine, snapshot=saved)
        assert comparable(other)["error"] == comparable(sim)["error"]
        if sim.snapshot.status == "error":  # its children are gone, and references to them lead nowhere
            return
        assert other.save() == saved
        assert comparable(other) == comparable(sim)
        here, there = told(sim), told(other)
        take(sim, step)
        take(other, step)
        assert said(other, there) == said(sim, here)
    assert comparable(other) == comparable(sim)


@given(machines(), steps(most=4), steps(most=4))
@settings(max_examples=80)
def test_one_save_serves_two_futures(machine: Machine[Any, Any], before: list[Step], after: list[Step]) -> None:
    sim = simulate(machine)
    for step in before:
        take(sim, step)
    if sim.snapshot.status == "error":
        return
    saved = sim.save()
    text = json.dumps(saved)
    futures = [simulate(machine, snapshot=saved), simulate(machine, snapshot=through_json(saved))]
    for step in after:
        for future in futures:
            take(future, step)
    assert comparable(futures[0]) == comparable(futures[1])
    assert json.dumps(saved) == text


@given(machines(timers=False, children=False, semantics="xstate-exact"), steps(timers=False, children=False), steps(timers=False, children=False))
@settings(max_examples=130, deadline=None)
def test_xstates_form_keeps_all_but_the_order_of_states(machine: Machine[Any, Any], before: list[Step], after: list[Step]) -> None:
    """The order is rebuilt on restore, the same way each time."""
    sim = simulate(machine)
    for step in before:
        take(sim, step)
    if sim.snapshot.status == "error":
        return
    document = through_json(sim.to_xstate())
    one = simulate(machine, snapshot=document)
    two = simulate(machine, snapshot=through_json(one.to_xstate()))
    assert one.to_xstate() == two.to_xstate()
    if sim.snapshot.status == "active":
        assert one.to_xstate() == document
        assert set(one.snapshot.tags) == set(sim.snapshot.tags)
    for step in after:
        take(one, step)
        take(two, step)
        assert facts(one) == facts(two)


@given(machines(children=True), steps(most=5))
@settings(max_examples=80)
def test_xstates_form_of_a_tree_of_actors_restores(machine: Machine[Any, Any], before: list[Step]) -> None:
    sim = simulate(machine)
    for step in before:
        take(sim, step)
    if sim.snapshot.status != "active":
        return
    document = through_json(sim.to_xstate())
    again = simulate(machine, snapshot=document)
    restored = through_json(again.to_xstate())
    assert restored["value"] == document["value"]
    assert restored["context"] == document["context"]
    assert restored["historyValue"] == document["historyValue"]
    assert list(restored["children"]) == list(document["children"])
