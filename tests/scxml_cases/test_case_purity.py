"""Sessions as pure functions: same inputs, same outputs, nothing shared."""

from __future__ import annotations

import threading
from typing import Any

from case_documents import inner, load
from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts import initial_transition, simulate, transition
from statecharts.interpreter.system_state import Begin, Deliver, Fire, initial_system, step_system

CHILD = inner(
    '<datamodel><data id="n"/></datamodel><state id="s"><onentry><send target="#_parent" event="hi"/></onentry></state>'
)
MACHINE = load(
    f"""<script>function next(x) {{ return x + 1; }}</script>
        <datamodel><data id="n" expr="0"/><data id="seen" expr="[]"/></datamodel>
        <state id="s"><transition event="e" cond="n &lt; 50">
            <script>n = next(n); seen.push(_event.data ? _event.data.v : n);</script><send event="q" delay="5ms" id="z"/></transition>
          <transition event="cancel"><cancel sendid="z"/></transition><transition event="go" target="t"/></state>
        <state id="t"><invoke id="k" type="scxml"><param name="n" expr="n"/><content>{CHILD}</content></invoke>
          <transition event="back" target="s"/></state>"""
)
EVENTS = st.lists(
    st.one_of(
        st.sampled_from(["go", "back", "cancel", "unknown"]).map(lambda name: {"type": name}),
        st.integers(0, 9).map(lambda v: {"type": "e", "v": v}),
    ),
    max_size=12,
)


def played(events: list[dict[str, Any]]) -> list[Any]:
    """Snapshots and effects of all steps."""
    snapshot, effects = initial_transition(MACHINE)
    found: list[Any] = [(snapshot, effects)]
    for event in events:
        snapshot, effects = transition(MACHINE, snapshot, event)
        found.append((snapshot, effects))
    return found


@settings(deadline=None, max_examples=40)
@given(EVENTS, EVENTS)
def test_same_inputs_same_outputs_whatever_ran_between(
    first: list[dict[str, Any]], other: list[dict[str, Any]]
) -> None:
    one = played(first)
    contexts = [snapshot.context for snapshot, _ in one]
    played(other)
    assert played(first) == one
    assert [snapshot.context for snapshot, _ in one] == contexts
    snapshot = initial_transition(MACHINE)[0]
    for (before, _), event in zip(one, first, strict=False):
        assert before == snapshot
        snapshot = transition(MACHINE, before, event)[0]


@settings(deadline=None, max_examples=25)
@given(EVENTS, EVENTS, st.lists(st.booleans(), max_size=24))
def test_two_sessions_of_one_machine_do_not_meet(
    first: list[dict[str, Any]], second: list[dict[str, Any]], turns: list[bool]
) -> None:
    alone = [simulate(MACHINE), simulate(MACHINE)]
    for sim, events in zip(alone, (first, second), strict=True):
        for event in events:
            sim.send(event)
    mixed = [simulate(MACHINE), simulate(MACHINE)]
    left = [list(first), list(second)]
    for turn in [*turns, *[False] * len(first), *[True] * len(second)]:
        if left[turn]:
            mixed[turn].send(left[turn].pop(0))
    assert [sim.save() for sim in mixed] == [sim.save() for sim in alone]


def test_threads_share_a_machine() -> None:
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        sim = simulate(MACHINE)
        for _ in range(30):
            sim.send({"type": "e", "v": number})
        sim.send("go")
        found[number] = (list(sim.snapshot.context["seen"]), sim.child("k").context["n"])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: ([number] * 30, 30) for number in range(8)}


def test_a_system_as_a_value() -> None:
    begun, _ = step_system(initial_system(MACHINE), Begin())
    one, _ = step_system(begun, Deliver({"type": "e", "v": 1}), now=10)
    same, _ = step_system(begun, Deliver({"type": "e", "v": 1}), now=10)
    assert one == same
    assert begun.snapshot.context["n"] == 0
    assert [timer.due for timer in one.timers] == [15]
    invoked, _ = step_system(one, Deliver("go"))
    assert [actor.ref.id for actor in invoked.actors][1:] == ["k"]
    fired, _ = step_system(invoked, Fire(invoked.timers[0].handle), now=15)
    assert (len(fired.timers), len(invoked.timers)) == (0, 1)
    back, _ = step_system(fired, Deliver("back"))
    assert len(back.actors) == 1
