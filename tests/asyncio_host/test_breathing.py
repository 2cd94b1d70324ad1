"""The loop turns at least every 10 ms, whatever the machines are at."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from loops import Play
from sample_machines import toggle
from ticker import Ticker

from statecharts import Machine, load_machine, raise_, send_parent, send_to, start

LONGEST = 0.010 if sys.gettrace() is None else 0.100
"""Seconds; a tracer (coverage) makes everything several times slower."""


def test_a_loop_of_sends(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor, Ticker() as ticker:
            for _ in range(20_000):
                await actor.send("COUNT")
            assert actor.snapshot.context["count"] == 20_000
            assert ticker.worst < LONGEST
            assert ticker.turns > 5

    play(main)


def ping_pong(rounds: float) -> Machine[Any, Any]:
    """The parent counts what the child sends back, ``rounds`` times."""
    child = load_machine(
        {"id": "child", "initial": "a", "states": {"a": {"on": {"PING": {"actions": "back"}}}}},
        {"actions": {"back": send_parent({"type": "PONG"})}},
    )
    return load_machine(
        {
            "id": "parent",
            "context": {"n": 0},
            "initial": "idle",
            "invoke": {"id": "child", "src": "child"},
            "states": {
                "idle": {"on": {"GO": {"target": "playing", "actions": "serve"}}},
                "playing": {
                    "on": {
                        "PONG": [
                            {"guard": "more", "actions": ["count", "serve"]},
                            {"target": "idle"},
                        ]
                    }
                },
            },
        },
        {
            "guards": {"more": lambda context: context["n"] < rounds},
            "updates": {"count": lambda context: {"n": context["n"] + 1}},
            "actions": {"serve": send_to("child", {"type": "PING"})},
            "actors": {"child": child},
        },
    )


def test_actors_that_keep_each_other_busy(play: Play) -> None:
    async def main() -> None:
        async with start(ping_pong(3000)) as actor, Ticker() as ticker:
            snapshot = await actor.send("GO")
            assert (snapshot.value, snapshot.context["n"]) == ("idle", 3000)
            assert ticker.worst < LONGEST
            assert ticker.turns > 5

    play(main)


@pytest.mark.parametrize("end", ["leave", "stop", "cancel"])
def test_actors_that_never_come_to_rest_can_be_ended(play: Play, end: str) -> None:
    async def main() -> None:
        async with start(ping_pong(float("inf"))) as actor, Ticker() as ticker:
            sender = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0.05)
            assert actor.snapshot.context["n"] > 10
            assert not sender.done()
            if end == "stop":
                await actor.stop()
            if end == "cancel":
                sender.cancel()
                await asyncio.wait({sender})
                before = actor.snapshot.context["n"]
                await asyncio.sleep(0.02)
                assert actor.snapshot.context["n"] > before  # what has happened stays, and has consequences
            assert ticker.worst < LONGEST
        assert actor.snapshot.status == "stopped"
        assert sender.cancelled() if end == "cancel" else (await sender).status == "stopped"

    play(main)


def test_a_machine_that_raises_for_long(play: Play) -> None:
    """One macrostep is one piece of work; the default limit of 1,000 microsteps keeps it short."""
    machine = load_machine(
        {
            "id": "raising",
            "initial": "a",
            "context": {"n": 0},
            "states": {
                "a": {
                    "on": {
                        "GO": {"actions": "again"},
                        "MORE": {"guard": "more", "actions": ["count", "again"]},
                        "REST": {"actions": "forget"},
                    }
                }
            },
        },
        {
            "guards": {"more": lambda context: context["n"] < 300},
            "updates": {
                "count": lambda context: {"n": context["n"] + 1},
                "forget": lambda context: {"n": 0},
            },
            "actions": {"again": raise_("MORE")},
        },
    )

    async def main() -> None:
        async with start(machine) as actor, Ticker() as ticker:
            for _ in range(30):
                assert (await actor.send("GO")).context["n"] == 300
                await actor.send("REST")
            assert ticker.worst < LONGEST

    play(main)


def test_an_observable_that_never_pauses(play: Play) -> None:
    async def numbers() -> Any:
        n = 0
        while True:
            yield n
            n += 1

    machine = load_machine(
        {
            "id": "watching",
            "initial": "on",
            "context": {"last": None},
            "states": {
                "on": {
                    "invoke": {"id": "numbers", "src": "numbers", "onSnapshot": {"actions": "keep"}},
                    "on": {"OFF": "off"},
                },
                "off": {},
            },
        },
        {
            "actors": {"numbers": numbers},
            "updates": {"keep": lambda event: {"last": event["snapshot"].context}},
        },
    )

    async def main() -> None:
        async with start(machine) as actor, Ticker() as ticker:
            await actor.wait_for(lambda s: (s.context["last"] or 0) >= 500, 10)
            await actor.send("OFF")
            last = actor.snapshot.context["last"]
            await asyncio.sleep(0.01)
            assert actor.snapshot.context["last"] == last
            assert ticker.worst < LONGEST

    play(main)


def test_an_observable_waits_for_a_machine_that_is_slower(play: Play) -> None:
    made: list[int] = []

    async def numbers() -> Any:
        for n in range(20):
            made.append(n)
            yield {"type": "NUMBER", "n": n}

    async def slowly(event: Any) -> None:
        assert len(made) <= event["n"] + 1  # nothing piles up
        await asyncio.sleep(0.001)

    from statecharts import from_event_observable

    machine = load_machine(
        {
            "id": "slow",
            "initial": "on",
            "states": {
                "on": {
                    "invoke": {"src": "numbers", "onDone": "off"},
                    "on": {"NUMBER": {"actions": "slowly"}},
                },
                "off": {"type": "final"},
            },
        },
        {"actors": {"numbers": from_event_observable(numbers)}, "actions": {"slowly": slowly}},
    )

    async def main() -> None:
        async with start(machine) as actor:
            await actor.result()
            assert len(made) == 20

    play(main)
