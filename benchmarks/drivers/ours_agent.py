"""(g): the support agent's whole run, from the start to its output, in our three ways."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable
from typing import Any

from measuring import Result, Task, chart_of, repeat

from statecharts import Machine, initial_transition, load_machine, simulate, start, transition
from statecharts.adapters.engines.asyncio_clock import ManualClock

ACTORS = {"draft": "draftAnswer", "compliance": "checkCompliance", "send": "sendAnswer"}


def measure(task: Task) -> Result:
    """Microseconds a run; ``end`` is the machine's output."""
    run, end = MODES[task["mode"]](chart_of(task))
    run()

    def runs() -> None:
        for _ in range(task["trips"]):
            run()

    return {"samples": repeat(task, runs, task["trips"]), "end": end()}


def machine_of(agent: dict[str, Any]) -> Machine[Any, Any]:
    """The machine with the functions that come with it."""
    spec = importlib.util.spec_from_file_location("support_agent_implementations", agent["implementations"])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return load_machine(agent["config"], module.impl)


Run = Callable[[], None]
End = Callable[[], Any]


def simulated(agent: dict[str, Any]) -> tuple[Run, End]:
    """On a virtual clock; promises are settled by hand."""
    machine = machine_of(agent)
    steps = [(step[0], step[1:]) for step in agent["steps"]]
    last: Any = None

    def run() -> None:
        nonlocal last
        sim = simulate(machine)
        for name, given in steps:
            getattr(sim, name)(*given)
        last = sim.snapshot

    return run, lambda: dict(last.output)


def pure(agent: dict[str, Any]) -> tuple[Run, End]:
    """Snapshots and effects only; nothing runs."""
    machine = machine_of(agent)
    events = agent["events"]
    last: Any = None

    def run() -> None:
        nonlocal last
        snapshot = initial_transition(machine)[0]
        for event in events:
            snapshot, _ = transition(machine, snapshot, event)
        last = snapshot

    return run, lambda: dict(last.output)


def awaited(agent: dict[str, Any]) -> tuple[Run, End]:
    """In an event loop: the actors are coroutines that wait for a future, the clock is moved by hand."""
    loop = asyncio.new_event_loop()
    pending: dict[str, asyncio.Future[Any]] = {}
    last: Any = None

    def actor_for(name: str) -> Any:
        async def wait(input: Any) -> Any:
            pending[name] = loop.create_future()
            return await pending[name]

        return wait

    actors = {source: actor_for(name) for name, source in ACTORS.items()}
    machine = machine_of(agent).provide({"actors": actors})

    async def settle(actor: Any, name: str, how: str, value: Any) -> None:
        while name not in pending:
            await asyncio.sleep(0)
        future, before = pending.pop(name), actor.snapshot
        if how == "resolve":
            future.set_result(value)
        else:
            future.set_exception(RuntimeError(value))
        while actor.snapshot is before:
            await asyncio.sleep(0)

    async def play() -> None:
        nonlocal last
        pending.clear()
        clock = ManualClock()
        async with start(machine, clock=clock) as actor:
            for how, *given in agent["steps"]:
                if how == "send":
                    await actor.send(given[0])
                elif how == "advance":
                    await clock.advance(given[0])
                else:
                    await settle(actor, given[0], how, given[1])
            last = actor.snapshot

    return lambda: loop.run_until_complete(play()), lambda: dict(last.output)


MODES = {"send": simulated, "transition": pure, "asyncio": awaited}
