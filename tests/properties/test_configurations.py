"""Whatever happens, an active machine is in a legal configuration."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from random_machines import Step, machines, steps, take

from statecharts import Machine, initial_transition, simulate, transition
from statecharts.errors import StatechartError
from statecharts.nodes import StateNode


def faults(machine: Machine[Any, Any], active: set[str]) -> list[str]:
    """What is wrong with a set of active states, by the definition of a statechart."""
    found: list[str] = []

    def visit(node: StateNode) -> None:
        inside = [child for child in node.children.values() if child.id in active]
        real = [child for child in node.children.values() if child.type != "history"]
        if any(child.type == "history" for child in inside):
            found.append(f"a history state below {node.id} is active")
        if node.type == "compound" and len(inside) != 1:
            found.append(f"{len(inside)} children of {node.id} are active")
        if node.type == "parallel" and len(inside) != len(real):
            found.append(f"not all regions of {node.id} are active")
        for child in node.children.values():
            if child.id in active:
                visit(child)
            else:
                found.extend(f"{each.id} is active without {child.id}" for each in below(child) if each.id in active)

    def below(node: StateNode) -> list[StateNode]:
        return [each for child in node.children.values() for each in (child, *below(child))]

    if machine.definition.root.id not in active:
        found.append("the root is not active")
    visit(machine.definition.root)
    return found


def legal(machine: Machine[Any, Any], snapshot: Any) -> None:
    if snapshot.status == "active":
        assert faults(machine, set(snapshot.configuration)) == []
        leaves = [machine.definition.node(f"#{name}") for name in snapshot.atomic_states]
        assert leaves == sorted(leaves, key=lambda node: node.index)
        assert all(snapshot.matches(".".join(leaf.path)) for leaf in leaves)
        assert len(set(snapshot.configuration)) == len(snapshot.configuration) == len(snapshot.nodes)


@given(machines(), steps())
@settings(max_examples=150)
def test_every_published_configuration_is_legal(machine: Machine[Any, Any], happens: list[Step]) -> None:
    sim = simulate(machine)
    legal(machine, sim.snapshot)
    sim.subscribe(lambda snapshot: legal(machine, snapshot))
    for step in happens:
        take(sim, step)
        legal(machine, sim.snapshot)


@given(machines(children=False), steps(timers=False, children=False))
@settings(max_examples=80)
def test_every_configuration_inside_a_macrostep_is_legal(machine: Machine[Any, Any], happens: list[Step]) -> None:
    def look(event: Any) -> None:
        if event.type == "@xstate.microstep":
            legal(machine, event.snapshot)

    sim = simulate(machine, inspect=look)
    for step in happens:
        take(sim, step)


@given(machines(children=False), steps(timers=False, children=False))
@settings(max_examples=80)
def test_can_tells_whether_a_transition_does_something(machine: Machine[Any, Any], happens: list[Step]) -> None:
    try:
        snapshot, _ = initial_transition(machine)
        for _, event in happens:
            if snapshot.status != "active":
                return
            option = snapshot.option(event)
            assert option.enabled is snapshot.can(event)
            after, effects = transition(machine, snapshot, event)
            if not snapshot.can(event):
                # XState looks for eventless transitions after any event, so only those may have acted
                has_always = any(node.always for node in snapshot.nodes)
                assert has_always or (after.value, after.context, effects) == (snapshot.value, snapshot.context, ())
            snapshot = after
    except StatechartError:
        return
