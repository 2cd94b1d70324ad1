"""The benchmark's charts: one definition, and the forms made of it say the same."""

from __future__ import annotations

import pytest

from benchmarks.agent_run import agent_run
from benchmarks.charts import all_charts, built_configs, wide
from benchmarks.drivers.charts_read import read_tree, transitions_of
from benchmarks.plan import pass_length
from benchmarks.scxml_twins import twin_of
from statecharts import Implementations, load_machine, simulate

CHARTS = all_charts()
SMALL = [name for name in CHARTS if name != "h"]


def implementations() -> Implementations:
    made = Implementations()
    made.guard("isOpen")(lambda context: context["n"] >= 0)
    made.update("increment")(lambda context: {"n": context["n"] + 1})
    return made


def simulated(name: str):
    chart = CHARTS[name]
    bound = {"b": implementations(), "j": {"actions": {"note": lambda: None}}}.get(name)
    return simulate(load_machine(chart.config, bound))


@pytest.mark.parametrize("name", SMALL)
def test_every_event_moves_the_chart(name):
    sim = simulated(name)
    for event in CHARTS[name].events(60):
        before = sim.snapshot
        assert sim.send(event) is not before


@pytest.mark.parametrize("name", ["c", "d", "e", "f", "a", "i"])
def test_the_scxml_twin_goes_through_the_same_states(name):
    chart = CHARTS[name]
    ours = simulated(name)
    twin = simulate(load_machine(twin_of(chart.config, "null")))
    for event in chart.events(60):
        ours.send(event)
        twin.send(event)
        paths = [one.removeprefix(f"{chart.name}.") for one in ours.snapshot.atomic_states]
        theirs = [one.removeprefix(f"{chart.name}.").replace("-", ".") for one in twin.snapshot.atomic_states]
        assert sorted(theirs) == sorted(paths)


def test_the_large_chart_has_ten_thousand_states_and_its_cycle_visits_every_leaf():
    chart = CHARTS["h"]
    states = list(read_tree(chart.config).walk())[1:]
    assert len(states) == 10_000
    at, seen = "g0.s0", set()
    targets = {
        node.path: edge.target.path
        for node in states
        for edge in transitions_of(node)
        if edge.event == "NEXT"
    }
    for _ in chart.cycle:
        at = targets[at]
        seen.add(at)
    assert at == "g0.s0"
    assert seen == {node.path for node in states if not node.children}


def test_the_built_charts_have_the_sizes_they_are_named_after():
    for size, config in built_configs().items():
        assert len(list(read_tree(config).walk())) - 1 == int(size)


def test_the_drawn_events_are_the_same_every_time():
    assert all_charts()["i"].cycle == CHARTS["i"].cycle
    assert len(set(CHARTS["i"].cycle)) == 16


def test_a_pass_is_whole_cycles():
    lengths = {name: pass_length(chart) for name, chart in CHARTS.items()}
    assert lengths == dict.fromkeys("abcdefjk", 6_000) | {"h": 9_900, "i": 20_000}


def test_a_small_wide_chart_runs_round():
    sim = simulate(load_machine(wide("w", 2, 3)))
    for event in ("NEXT", "NEXT", "NEXT", "BACK", "SKIP"):
        sim.send(event)
    assert sim.snapshot.value == {"g1": "s0"}


def test_the_drivers_refuse_what_they_do_not_read():
    with pytest.raises(ValueError, match="always"):
        read_tree({"id": "x", "initial": "a", "states": {"a": {"always": "b"}, "b": {}}})


def test_a_transition_that_stays_inside_its_source_is_refused():
    root = read_tree({"id": "x", "initial": "a", "states": {"a": {"on": {"E": "a"}}}})
    with pytest.raises(ValueError, match="leave"):
        transitions_of(root.children[0])


def test_the_agents_pure_events_have_one_timer_and_every_result():
    types = [event["type"] for event in agent_run()["events"]]
    assert sum(one.startswith("xstate.after.") for one in types) == 1
    assert sum(one.startswith("xstate.done.actor.") for one in types) == 5
    assert types[0] == "START"
