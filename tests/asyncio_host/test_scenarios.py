"""Situations in which other libraries went wrong, by their numbers."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from loops import Play
from sample_machines import acting, invoking, toggle

from statecharts import UsageError, load_machine, send_to, start
from statecharts.adapters.engines.asyncio_clock import ManualClock


def test_307_a_snapshot_is_made_at_the_call_and_not_when_it_is_written(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            await actor.send("COUNT")
            saved = actor.save()
            writing = asyncio.create_task(asyncio.to_thread(lambda: (time.sleep(0.01), json.dumps(saved))[1]))
            for _ in range(10):
                await actor.send("COUNT")
            written = json.loads(await writing)
        async with start(toggle(), snapshot=written) as actor:
            assert actor.snapshot.context == {"count": 1}

    play(main)


def test_322_accepted_events_survive_a_stop(play: Play) -> None:
    gate = asyncio.Event()
    saved: dict[str, Any] = {}

    async def main() -> None:
        async with start(acting(gate.wait)) as actor:
            first = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            actor.post("COUNT", n=1)
            actor.post("BACK", n=2)
            with pytest.raises(UsageError):  # the first is half done
                actor.save()
            actor.subscribe(lambda _snapshot: gate.set())
            gate.set()
            await first
            saved.update(actor.save())
        waiting = [event["type"] for event in saved["actors"][0]["mailbox"]]
        done = saved["snapshot"]["context"]["count"]
        assert len(waiting) + done - 1 >= 1  # nothing is in neither place
        async with start(acting(gate.wait), snapshot=saved) as actor:
            assert actor.snapshot.context["count"] == 2
            assert actor.snapshot.value == "idle"

    play(main)


def test_322_events_posted_at_once_are_all_in_the_save(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            for event in ("TOGGLE", "COUNT", "TOGGLE"):
                actor.post(event)
            saved = actor.save()
        assert [event["type"] for event in saved["actors"][0]["mailbox"]] == ["TOGGLE", "COUNT", "TOGGLE"]
        async with start(toggle(), snapshot=saved) as actor:
            assert (actor.snapshot.value, actor.snapshot.context) == ("off", {"count": 3})

    play(main)


def test_324_a_deadline_that_rang_keeps_its_place_in_the_queue(play: Play) -> None:
    machine = load_machine(
        {
            "id": "m",
            "initial": "waiting",
            "context": {"log": []},
            "states": {
                "waiting": {"after": {"10": {"actions": {"type": "note", "params": {"what": "deadline"}}}}}
            },
            "on": {"ONE": {"actions": "note"}, "TWO": {"actions": "note"}},
        },
        {
            "updates": {
                "note": lambda context, event, params: {
                    "log": [*context["log"], params["what"] if params else event["type"]]
                }
            }
        },
    )

    async def main() -> None:
        clock = ManualClock()
        async with start(machine, clock=clock) as actor:
            actor.post("ONE")
            clock.ring_next(10)
            actor.post("TWO")
            saved = actor.save()
        async with start(machine, snapshot=saved, clock=ManualClock()) as actor:
            assert actor.snapshot.context["log"] == ["ONE", "deadline", "TWO"]

    play(main)


def test_326_a_save_in_the_middle_of_a_step_is_refused_from_everywhere(play: Play) -> None:
    async def slow() -> None:
        await asyncio.sleep(0.005)

    async def main() -> None:
        async with start(acting(slow)) as actor:
            saves, refusals = 0, 0
            sender = asyncio.create_task(actor.send("GO"))
            while not sender.done():
                try:
                    value = actor.save()["snapshot"]["value"]
                    saves += 1
                    assert value in ("idle", "gone")
                except UsageError:
                    refusals += 1
                await asyncio.sleep(0)
            assert refusals > 0
            assert actor.save()["snapshot"]["value"] == "gone"

    play(main)


def test_327_the_clock_given_at_load_fires_the_timers(play: Play) -> None:
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "context": {"fired": 0},
            "states": {"a": {"after": {"1000": {"target": "b", "actions": "fire"}}}, "b": {}},
        },
        {"updates": {"fire": lambda context: {"fired": context["fired"] + 1}}},
    )

    async def main() -> None:
        async with start(machine) as actor:  # saved under the wall clock
            saved = actor.save()
        clock = ManualClock()
        async with start(machine, snapshot=saved, clock=clock) as actor:
            await asyncio.sleep(0.01)
            assert actor.snapshot.value == "a"
            await clock.advance(990)
            assert actor.snapshot.value == "a"
            await clock.advance(20)
            await clock.advance(5000)
            assert (actor.snapshot.value, actor.snapshot.context["fired"]) == ("b", 1)

    play(main)


@pytest.mark.parametrize("turns", range(6))
def test_an_actor_closed_while_its_childs_own_send_is_on_says_nothing(play: Play, turns: int) -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        await actor.send("DONE")

    async def slow() -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    states = {"idle": {"on": {"GO": "busy"}}, "busy": {"invoke": {"src": "work"}, "on": {"DONE": "next"}}, "next": {"entry": "slow"}}
    machine = load_machine({"id": "m", "initial": "idle", "states": states}, {"actors": {"work": work}, "actions": {"slow": slow}})
    actor = start(machine)

    async def main() -> None:
        async with actor:
            await actor.send("GO")
            for _ in range(turns):
                await asyncio.sleep(0)

    play(main)


@pytest.mark.parametrize("how", ["result", "own send"])
def test_331_a_task_is_not_cancelled_by_its_own_report(play: Play, how: str) -> None:
    entered: list[str] = []
    actor: Any = None

    async def work() -> str:
        await asyncio.sleep(0)
        if how == "own send":
            await actor.send("DONE")
            entered.append("the send came back")
        return "x"

    async def slow_entry() -> None:
        entered.append("begins")
        for _ in range(5):
            await asyncio.sleep(0)
        entered.append("ends")

    machine = load_machine(
        {
            "id": "m",
            "initial": "busy",
            "states": {
                "busy": {"invoke": {"src": "work", "onDone": "next"}, "on": {"DONE": "next"}},
                "next": {"entry": "slow", "on": {"BACK": "busy"}},
            },
        },
        {"actors": {"work": work}, "actions": {"slow": slow_entry}},
    )

    async def main() -> None:
        nonlocal actor
        async with start(machine) as actor:
            await actor.wait_for(lambda s: s.value == "next", 5)
            await asyncio.sleep(0.01)
            assert entered[:2] == ["begins", "ends"]
            assert actor.snapshot.status == "active"
            assert (await actor.send("BACK")).value == "busy"

    play(main)


def test_332_the_queue_goes_on_after_an_interrupt() -> None:
    """All kinds at all places are in test_interrupts; this is the story itself."""
    armed = True

    def boom() -> None:
        nonlocal armed
        if armed:
            armed = False
            raise KeyboardInterrupt

    with asyncio.Runner() as runner:
        actor = start(acting(boom))
        runner.run(actor.__aenter__())
        with pytest.raises(KeyboardInterrupt):
            runner.run(actor.send("GO"))
        assert (actor.snapshot.value, actor.snapshot.context) == ("idle", {"count": 0})
        assert runner.run(actor.send("GO")).value == "gone"
        runner.run(actor.aclose())


def test_339_a_name_points_to_the_restored_child(play: Play) -> None:
    child = load_machine(
        {
            "id": "child",
            "initial": "a",
            "context": {"heard": 0},
            "states": {"a": {"on": {"HELLO": {"actions": "hear"}}}},
        },
        {"updates": {"hear": lambda context: {"heard": context["heard"] + 1}}},
    )
    machine = load_machine(
        {
            "id": "m",
            "invoke": {"id": "kid", "src": "child", "systemId": "the child"},
            "initial": "a",
            "states": {"a": {"on": {"SAY": {"actions": "say"}}}},
        },
        {
            "actors": {"child": child},
            "actions": {"say": send_to(lambda system: system.get("the child"), {"type": "HELLO"})},
        },
    )

    async def main() -> None:
        async with start(machine) as actor:
            await actor.send("SAY")
            saved = json.loads(json.dumps(actor.save()))
        async with start(machine, snapshot=saved) as actor:
            await actor.send("SAY")
            assert actor.save()["snapshot"]["children"]["kid"]["snapshot"]["context"] == {"heard": 2}

    play(main)


def test_342_a_plain_function_cannot_be_cancelled_and_comes_too_late(play: Play) -> None:
    ended: list[str] = []

    def work() -> str:
        time.sleep(0.1)
        ended.append("the thread")
        return "late"

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await asyncio.sleep(0.01)
            await actor.send("LEAVE")
            before = actor.save()
            while not ended:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.01)
            assert actor.save()["snapshot"] == before["snapshot"]
            assert actor.snapshot.context["got"] is None

    play(main)


def test_342_a_function_of_a_state_that_is_only_passed_through_never_starts(play: Play) -> None:
    called: list[str] = []
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {
                "a": {"on": {"GO": "b"}},
                "b": {"invoke": {"src": "work"}, "always": "c"},
                "c": {},
            },
        },
        {"actors": {"work": lambda: called.append("called")}},
    )

    async def main() -> None:
        async with start(machine) as actor:
            assert (await actor.send("GO")).value == "c"
            await asyncio.sleep(0.02)
            assert not called

    play(main)
