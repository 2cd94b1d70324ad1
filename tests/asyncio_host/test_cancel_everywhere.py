"""A rich run, cancelled at each of its suspensions in turn: nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import pytest
from cancelling import Plan, run_with
from loops import why_no_uvloop

from statecharts import Machine, from_event_observable, load_machine, send_parent, send_to, start
from statecharts.adapters.engines.asyncio_clock import ManualClock
from statecharts.adapters.engines.asyncio_host import Actor


class Books:
    """What was begun has to be ended."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []

    def open(self, what: str) -> None:
        self.begun.append(what)

    def close(self, what: str) -> None:
        self.ended.append(what)


def rich(books: Books) -> Machine[Any, Any]:
    """Async actions at every place; a promise, a thread, an observable, a callback, a child with its own, timers."""

    async def fetch() -> str:
        books.open("fetch")
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return "fetched"
        finally:
            books.close("fetch")

    async def forever() -> None:
        books.open("forever")
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await asyncio.sleep(0)
            finally:
                books.close("forever")

    def in_a_thread() -> str:
        time.sleep(0.0005)
        return "from a thread"

    async def numbers() -> Any:
        books.open("numbers")
        try:
            for n in range(3):
                yield {"type": "NUMBER", "n": n}
                await asyncio.sleep(0)
            await asyncio.Event().wait()
        finally:
            books.close("numbers")

    def listener(send_back: Any, receive: Any) -> Any:
        books.open("listener")
        receive(lambda event: send_back("HEARD"))
        return lambda: books.close("listener")

    async def pause() -> None:
        books.open("action")
        try:
            await asyncio.sleep(0)
        finally:
            books.close("action")

    child = load_machine(
        {
            "id": "child",
            "initial": "waiting",
            "states": {
                "waiting": {"entry": "pause", "invoke": {"src": "forever"}, "after": {"20": "telling"}},
                "telling": {"entry": ["pause", "tell"], "invoke": {"src": "fetch", "onDone": "over"}},
                "over": {"type": "final"},
            },
        },
        {
            "actions": {"pause": pause, "tell": send_parent("TOLD")},
            "actors": {"forever": forever, "fetch": fetch},
        },
    )
    return load_machine(
        {
            "id": "rich",
            "initial": "idle",
            "context": {"n": 0},
            "states": {
                "idle": {"entry": "pause", "on": {"GO": {"target": "working", "actions": "pause"}}},
                "working": {
                    "type": "parallel",
                    "entry": "pause",
                    "exit": "pause",
                    "states": {
                        "one": {
                            "initial": "fetching",
                            "invoke": {"src": "numbers"},
                            "states": {
                                "fetching": {
                                    "invoke": {
                                        "src": "fetch",
                                        "onDone": {"target": "threading", "actions": "pause"},
                                    }
                                },
                                "threading": {"invoke": {"src": "thread", "onDone": "waiting"}},
                                "waiting": {"entry": "ask", "after": {"30": "over"}},
                                "over": {"type": "final"},
                            },
                        },
                        "two": {
                            "initial": "on",
                            "invoke": [{"src": "listener", "id": "listener"}, {"src": "forever"}],
                            "states": {
                                "on": {
                                    "invoke": {
                                        "src": "child",
                                        "onDone": {"target": "over", "actions": "pause"},
                                    }
                                },
                                "over": {"type": "final"},
                            },
                        },
                    },
                    "onDone": "joined",
                },
                "joined": {"after": {"10": "asking"}},
                "asking": {"on": {"FINISH": {"target": "over", "actions": "pause"}}},
                "over": {"type": "final"},
            },
            "on": {
                "TICK": {"actions": ["pause", "count"]},
                "NUMBER": {"actions": "count"},
                "HEARD": {"actions": ["count", "pause"]},
                "TOLD": {"actions": "count"},
            },
        },
        {
            "updates": {"count": lambda context: {"n": context["n"] + 1}},
            "actions": {"pause": pause, "ask": send_to("listener", "HELLO")},
            "actors": {
                "fetch": fetch,
                "forever": forever,
                "thread": in_a_thread,
                "numbers": from_event_observable(numbers),
                "listener": listener,
                "child": child,
            },
        },
    )


async def drive(actor: Actor[Any], clock: ManualClock) -> Any:
    """Senders, waiters and time, all at once."""
    async with asyncio.TaskGroup() as group:
        result = group.create_task(actor.result())
        group.create_task(actor.wait_for(lambda s: s.matches("working")))
        await actor.send("GO")
        for _ in range(2):
            group.create_task(actor.send("TICK"))
        actor.post("TICK")
        await clock.advance(20)
        await actor.send("TICK")
        await actor.wait_for(
            lambda s: "rich.working.one.waiting" in s.atomic_states or not s.matches("working")
        )
        await clock.advance(30)
        await clock.advance(10)
        await actor.wait_for(lambda s: s.matches("asking"))
        await asyncio.gather(actor.send("TICK"), actor.send("TICK"), actor.send("FINISH"))
        return (await result, actor.snapshot.context["n"])


def once(plan: Plan, kind: str) -> Any:
    """One run under a plan, and a look at what it leaves behind."""
    books = Books()
    clock = ManualClock()
    actors: list[Actor[Any]] = []

    async def main() -> Any:
        actors.append(start(rich(books), clock=clock, mailbox=2))
        async with actors[0] as actor:
            return await drive(actor, clock)

    outcome, reported = run_with(plan, main, kind)
    where = f"cancelled at {plan.at} ({plan.name}, again {plan.again}): {outcome!r}"
    assert not reported, (where, reported)
    assert sorted(books.begun) == sorted(books.ended), where
    assert clock.pending == 0, where
    actor = actors[0]
    assert not actor._tasks and not actor._outside and not actor.callbacks and not actor._arrivals, where
    assert actor._turn_task is None and not actor._watchers._expected, where
    if actor._booted:
        assert actor.snapshot.status in ("done", "stopped"), where
    return outcome


def loops() -> list[Any]:
    reason = why_no_uvloop()
    return ["asyncio", pytest.param("uvloop", marks=pytest.mark.skipif(bool(reason), reason=reason))]


@pytest.mark.parametrize("kind", loops())
def test_the_run_itself(kind: str) -> None:
    plan = Plan(0)
    outcome = once(plan, kind)
    assert outcome == (None, 11), outcome
    assert plan.count > 100


@pytest.mark.parametrize("kind", loops())
def test_cancelled_at_every_suspension(kind: str) -> None:
    total = Plan(0)
    once(total, kind)
    names = set()
    for at in range(1, total.count + 5):
        plan = Plan(at)
        once(plan, kind)
        names.add(plan.name)
    print(f"{kind}: cancelled at {total.count} suspensions, in {sorted(names)}")
    assert len(names) > 5  # the main task, its helpers, turns, and the work of actors


@pytest.mark.parametrize("again", [1, 2, 3])
def test_cancelled_twice(again: int) -> None:
    """The second one meets the task while it is cleaning up after the first."""
    total = Plan(0)
    once(total, "asyncio")
    step = 1 if os.environ.get("CI") else 2
    for at in range(1, total.count, step):
        once(Plan(at, again), "asyncio")
