"""Our three ways to handle an event: ``transition()``, ``simulate(...).send``, ``await actor.send``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from measuring import CannotExpressError, Driven, Result, Task, chart_of, measure_events

from statecharts import (
    Implementations,
    Machine,
    initial_transition,
    load_machine,
    simulate,
    start,
    transition,
)


def implementations(chart: str) -> Implementations:
    """The functions that a chart names: (b) and (j) name some."""
    made = Implementations()
    if chart == "b":

        @made.guard("isOpen")
        def is_open(context: Any) -> bool:
            return bool(context["n"] >= 0)

        @made.update("increment")
        def increment(context: Any) -> dict[str, Any]:
            return {"n": context["n"] + 1}

    elif chart == "j":

        @made.action("note")
        def note() -> None:
            """What an action does is not what is measured."""

    return made


def machine_of(task: Task) -> Machine[Any, Any]:
    """The task's chart, read strictly."""
    chart = chart_of(task)
    if task["mode"] == "scxml":
        if "scxml_null" not in chart:
            raise CannotExpressError("its data is in a datamodel only tinyactors has")
        return load_machine(chart["scxml_null"])
    return load_machine(chart["config"], implementations(task["chart"]))


def leaves(snapshot: Any) -> list[str]:
    """Active leaves as paths below the root; ids of an SCXML twin are paths with dashes."""
    prefix = f"{snapshot.machine_id}."
    return [one.removeprefix(prefix).replace("-", ".") for one in snapshot.atomic_states]


def context(snapshot: Any) -> Any:
    """The context as plain JSON."""
    return snapshot.to_xstate()["context"]


def measure(task: Task) -> Result:
    """Microseconds per event in the task's mode."""
    return measure_events(task, maker)


def maker(task: Task) -> Callable[[], Driven]:
    """Instances of the task's chart in the task's mode."""
    machine, make = machine_of(task), MODES[task["mode"]]
    return lambda: make(machine)


def simulated(machine: Any) -> Driven:
    """The synchronous host."""
    sim = simulate(machine)
    return Driven(sim.send, lambda: leaves(sim.snapshot), lambda: context(sim.snapshot))


def pure(machine: Any) -> Driven:
    """No host: a snapshot and an event in, a snapshot and effects out."""
    now = initial_transition(machine)[0]

    def drive(events: list[str]) -> None:
        nonlocal now
        snapshot = now
        for event in events:
            snapshot, _ = transition(machine, snapshot, event)
        now = snapshot

    return Driven(lambda event: drive([event]), lambda: leaves(now), lambda: context(now), drive=drive)


def awaited(machine: Any) -> Driven:
    """The asyncio host; the actor has nothing else to do when an event comes."""
    loop = asyncio.new_event_loop()
    actor = start(machine)
    loop.run_until_complete(actor.__aenter__())

    async def drive(events: list[str]) -> None:
        send = actor.send
        for event in events:
            await send(event)

    def run(events: list[str]) -> None:
        loop.run_until_complete(drive(events))

    return Driven(
        lambda event: run([event]), lambda: leaves(actor.snapshot), lambda: context(actor.snapshot), drive=run
    )


MODES = {"send": simulated, "scxml": simulated, "transition": pure, "asyncio": awaited}
