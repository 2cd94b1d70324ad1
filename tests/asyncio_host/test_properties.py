"""Random machines: events sent one after the other do the same under the asyncio host and in the simulation."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts import Machine, emit, load_machine, raise_, send_to, simulate, start
from statecharts.adapters.engines.asyncio_clock import ManualClock

EVENTS = ("A", "B", "C")
ACTIONS = ("count", "again", "later", "tellSelf", "call", "note", "noteLater")


def node(dice: Random, depth: int) -> dict[str, Any]:
    """A state node; below a compound one, transitions between the siblings."""
    made: dict[str, Any] = {
        hook: dice.sample(ACTIONS, dice.choice([0, 0, 1, 2])) for hook in ("entry", "exit")
    }
    if not depth or (depth < 2 and dice.random() < 0.4):
        return made
    names = [f"s{n}" for n in range(dice.randint(2, 3))]
    made["states"] = {name: node(dice, depth - 1) for name in names}
    if dice.random() < 0.35:
        made["type"] = "parallel"
        return made
    made["initial"] = dice.choice(names)
    for child in made["states"].values():
        child["on"] = {event: transition(dice, names) for event in (*EVENTS, "R", "S") if dice.random() < 0.6}
        if dice.random() < 0.4:
            child["after"] = {str(dice.choice([5, 10])): dice.choice(names)}
    return made


def transition(dice: Random, names: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "target": dice.choice(names),
        "reenter": dice.random() < 0.3,
        "actions": dice.sample(ACTIONS, dice.choice([0, 1, 1, 2])),
    }
    if dice.random() < 0.3:
        made["guard"] = "isEven"
    return made


def case(seed: int) -> tuple[dict[str, Any], list[Any]]:
    """A random machine and steps for it: events, and milliseconds that pass."""
    dice = Random(seed)
    document = {**node(dice, 2), "options": {"maxIterations": 50}}
    return document, [dice.choice([*EVENTS, *EVENTS, 3, 5, 10]) for _ in range(12)]


def bound(document: dict[str, Any], noted: list[Any], *, asynchronous: bool) -> Machine[Any, Any]:
    """The machine for a random document; ``noteLater`` awaits in one host and not in the other."""

    def note(context: Any, event: Any) -> None:
        noted.append((event["type"], context["n"]))

    async def note_later(context: Any, event: Any) -> None:
        await asyncio.sleep(0)
        note(context, event)

    return load_machine(
        {"id": "m", "context": {"n": 0}, **document},
        {
            "guards": {"isEven": lambda context: context["n"] % 2 == 0},
            "updates": {"count": lambda context: {"n": context["n"] + 1}},
            "actions": {
                "again": raise_("R"),
                "later": raise_("R", delay=7),
                "tellSelf": send_to(
                    lambda self: (
                        self
                    ),  # an event of its own answers no other of its own, which would never end
                    lambda event: {"type": "S" if event["type"] in EVENTS else "NOBODY"},
                ),
                "call": emit(lambda context: {"type": "HELLO", "n": context["n"]}),
                "note": note,
                "noteLater": note_later if asynchronous else note,
            },
        },
        strict=False,
    )


def in_simulation(document: dict[str, Any], steps: list[Any]) -> list[Any]:
    noted: list[Any] = []
    sim = simulate(bound(document, noted, asynchronous=False))
    seen: list[Any] = []
    sim.subscribe(lambda snapshot: seen.append(snapshot.to_xstate()))
    states = [(sim.to_xstate(), sim.save())]
    for step in steps:
        if isinstance(step, str):
            sim.send(step)
        else:
            sim.advance(step)
        states.append((sim.to_xstate(), sim.save()))
    return [states, noted, seen, sim.emitted_events[-20:]]


async def under_asyncio(document: dict[str, Any], steps: list[Any], restore_at: int) -> list[Any]:
    noted: list[Any] = []
    seen: list[Any] = []
    emitted: list[Any] = []
    clock = ManualClock()
    machine = bound(document, noted, asynchronous=True)
    saved: Any = None
    states: list[Any] = []
    rest: list[Any] = ["start", *steps]
    while rest:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)  # endless ones fail
        actor = start(machine, snapshot=saved, clock=clock)
        actor.on("*", emitted.append)
        async with actor:
            actor.subscribe(lambda snapshot: seen.append(snapshot.to_xstate()))
            while rest:
                step = rest.pop(0)
                if isinstance(step, int):
                    await clock.advance(step)
                elif step != "start":
                    await actor.send(step)
                saved = actor.save()
                states.append((actor.to_xstate(), saved))
                if len(states) == restore_at:
                    break
    return [states, noted, seen, emitted[-20:]]


@settings(max_examples=300)
@given(st.integers(0, 10**9), st.integers(1, 10))
def test_the_same_as_in_the_simulation(seed: int, restore_at: int) -> None:
    document, steps = case(seed)
    expected = in_simulation(document, steps)
    actual = asyncio.run(asyncio.wait_for(under_asyncio(document, steps, 0), 20))
    assert actual == expected
    if all(state["status"] == "active" for state, _ in expected[0]):
        restored = asyncio.run(asyncio.wait_for(under_asyncio(document, steps, restore_at), 20))
        assert [state for state, _ in restored[0]] == [state for state, _ in expected[0]]
        assert restored[1] == expected[1]


def test_the_machines_do_something() -> None:
    """What a property holds for must not be empty."""
    outcomes = [in_simulation(*case(seed)) for seed in range(100)]
    moving = [o for o in outcomes if len({str(state["value"]) for state, _ in o[0]}) > 2]
    noting = [o for o in outcomes if len(o[1]) > 5]
    failing = [o for o in outcomes if any(state["status"] == "error" for state, _ in o[0])]
    timing = [o for o in outcomes if any(saved["timers"] for _, saved in o[0])]
    print(f"moving {len(moving)}, noting {len(noting)}, failing {len(failing)}, timing {len(timing)}")
    assert min(len(moving), len(noting), len(timing)) > 20
    assert 0 < len(failing) < 70
