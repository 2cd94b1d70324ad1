"""A transition is a function: same arguments, same answer, arguments untouched. All ways to run it agree."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from random_machines import EVENTS, Step, facts, machines, steps, take

from statecharts import Machine, initial_transition, simulate, transition
from statecharts.errors import StatechartError
from statecharts.interpreter.program import Program
from statecharts.interpreter.system_state import Begin, Deliver, Fire, initial_system, step_system
from statecharts.values import thaw

childless = machines(children=False)
only_events = steps(timers=False, children=False)


def written(snapshot: Any) -> Any:
    """All of a snapshot, as a value of its own."""
    return copy.deepcopy(
        {
            "value": snapshot.value,
            "status": snapshot.status,
            "context": thaw(snapshot.context),
            "output": snapshot.output,
            "order": [node.id for node in snapshot.nodes],
            "history": snapshot.history,
            "sequence": snapshot.sequence,
            "error": repr(snapshot.error),
            "children": snapshot.children,
        }
    )


def outcome(machine: Machine[Any, Any], snapshot: Any, event: Any) -> Any:
    try:
        after, effects = transition(machine, snapshot, event)
    except StatechartError as error:
        taken = error.step  # type: ignore[attr-defined]
        return repr(error), written(taken.snapshot), taken.effects
    return None, written(after), effects


@given(machines(), only_events)
@settings(max_examples=120)
def test_same_arguments_same_answer_and_untouched(machine: Machine[Any, Any], happens: list[Step]) -> None:
    try:
        snapshot, first_effects = initial_transition(machine)
    except StatechartError:
        return
    again, effects_again = initial_transition(machine)
    assert (written(snapshot), first_effects) == (written(again), effects_again)
    for _, name in happens:
        event = {"type": name, "deep": {"list": [1, {"x": 2}]}}
        before = (written(snapshot), copy.deepcopy(event), machine.missing)
        first = outcome(machine, snapshot, event)
        assert outcome(machine, snapshot, event) == first
        assert (written(snapshot), event, machine.missing) == before
        if first[0] is not None:
            return
        snapshot, _ = transition(machine, snapshot, event)


def run(machine: Machine[Any, Any], happens: list[Step]) -> list[Any]:
    """What every step of a pure run leads to, with its effects."""
    seen: list[Any] = []
    try:
        snapshot, effects = initial_transition(machine)
        seen.append((written(snapshot), effects))
        for _, event in happens:
            seen.append(outcome(machine, snapshot, event))
            snapshot, _ = transition(machine, snapshot, event)
    except StatechartError as error:
        seen.append(repr(error))
    return seen


@given(machines(), steps(timers=False, children=False, most=12))
@settings(max_examples=120)
def test_what_is_memoised_is_what_would_be_computed(machine: Machine[Any, Any], happens: list[Step]) -> None:
    reference = None
    for limit in (0, 3_000, 40_000, None):
        machine._program = Program(machine) if limit is None else Program(machine, memo_limit=limit)
        seen = [run(machine, happens), run(machine, happens)]
        assert seen[0] == seen[1], "the second run finds what the first kept"
        assert reference is None or seen[0] == reference
        reference = seen[0]


@given(machines(), steps())
@settings(max_examples=80)
def test_memoised_and_plain_runs_save_the_same(machine: Machine[Any, Any], happens: list[Step]) -> None:
    saved = []
    for limit in (0, 3_000, 1_000_000):
        machine._program = Program(machine, memo_limit=limit)
        sim = simulate(machine)
        for step in happens:
            take(sim, step)
        saved.append((sim.save(), sim.emitted_events, sim.logged, [start.path for start in sim.starts]))
    assert saved[0] == saved[1] == saved[2]


@given(childless, only_events)
@settings(max_examples=100)
def test_a_step_of_the_simulation_is_a_transition(machine: Machine[Any, Any], happens: list[Step]) -> None:
    sim = simulate(machine)
    for _, event in happens:
        if sim.snapshot.status != "active":
            return
        if sim.system.next_session > 1:
            return
        expected = outcome(machine, sim.snapshot, event)
        acted = len(sim.effects)
        sim.send(event)
        assert written(sim.snapshot) == expected[1]
        inline = [effect for effect in expected[2] if hasattr(effect, "function")]
        assert sim.effects[acted:] == inline


@given(machines(), steps(most=6))
@settings(max_examples=100)
def test_stepping_a_frozen_system_is_simulating(machine: Machine[Any, Any], happens: list[Step]) -> None:
    sim = simulate(machine)
    state, _ = step_system(initial_system(machine), Begin())
    for verb, what in [("send", event) for event in EVENTS[:2]] + happens:
        if verb == "send":
            sim.send(what)
            state, _ = step_system(state, Deliver(what))
        elif verb == "advance":
            sim.advance(what)
            end = state.now + what
            while due := [timer for timer in state.timers if timer.due <= end]:
                first = min(due, key=lambda timer: timer.due)
                state, _ = step_system(state, Fire(first.handle), now=max(state.now, first.due))
            state, _ = step_system(state, Fire(-1), now=end)
        assert written(state.snapshot) == written(sim.snapshot)
        assert state.timers == tuple(sim.system.timers.pending.values())
        assert {actor.ref: actor.status for actor in state.actors} == {cell.ref: cell.status for cell in sim.system.cells.values()}
        assert (state.now, state.next_session) == (sim.now, sim.system.next_session)
    assert facts(sim)["status"] == state.snapshot.status
