"""Time: the wall clock, a clock moved by hand, and due times that keep their meaning across a restore."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from loops import Play

from statecharts import Machine, cancel, emit, load_machine, raise_, start
from statecharts.adapters.engines.asyncio_clock import ManualClock, WallClock


def ticking(*delays: float, **more: Any) -> Machine[Any, Any]:
    """One region for each delay in ms; the context lists them in the order in which they fire."""
    return load_machine(
        {
            "id": "ticking",
            "type": "parallel",
            "context": {"fired": []},
            "states": {
                f"r{index}": {
                    "initial": "wait",
                    "states": {
                        "wait": {
                            "after": {
                                str(delay): {
                                    "target": "over",
                                    "actions": {"type": "note", "params": {"n": index}},
                                }
                            }
                        },
                        "over": {},
                    },
                }
                for index, delay in enumerate(delays)
            },
            **more,
        },
        {"updates": {"note": lambda context, params: {"fired": [*context["fired"], params["n"]]}}},
    )


def test_the_wall_clock(play: Play) -> None:
    async def main() -> None:
        async with start(ticking(30, 10, 20)) as actor:
            began = time.monotonic()
            await actor.wait_for(lambda s: len(s.context["fired"]) == 3, 5)
            assert actor.snapshot.context["fired"] == [1, 2, 0]
            assert 0.025 < time.monotonic() - began < 2

    play(main)


def test_timers_of_one_moment_fire_in_the_order_in_which_they_were_set(play: Play) -> None:
    async def main() -> None:
        async with start(ticking(*[5] * 40)) as actor:
            await actor.wait_for(lambda s: len(s.context["fired"]) == 40, 5)
            assert actor.snapshot.context["fired"] == list(range(40))

    play(main)


def test_a_manual_clock_rings_each_timer_at_its_own_time(play: Play) -> None:
    machine = load_machine(
        {
            "id": "chain",
            "initial": "a",
            "states": {
                "a": {"after": {"10": "b"}},
                "b": {"after": {"10": "c"}},
                "c": {"after": {"10": "d"}},
                "d": {},
            },
        }
    )

    async def main() -> None:
        clock = ManualClock()
        async with start(machine, clock=clock) as actor:
            await clock.advance(25)
            assert actor.snapshot.value == "c"
            assert (clock.now(), clock.pending) == (25, 1)
            await clock.advance(5)
            assert (actor.snapshot.value, clock.pending) == ("d", 0)

    play(main)


def test_closing_calls_off_every_alarm(play: Play) -> None:
    async def main() -> None:
        clock = ManualClock()
        async with start(ticking(10, 20, 30), clock=clock):
            assert clock.pending == 1
        assert clock.pending == 0
        async with start(ticking(10_000, 20_000)):
            pass  # looked at by `play`

    play(main)


def test_a_timer_that_was_cancelled_in_its_last_moment(play: Play) -> None:
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {"a": {"after": {"10": "late"}, "on": {"GO": "b"}}, "b": {}, "late": {}},
        }
    )

    async def main() -> None:
        clock = ManualClock()
        async with start(machine, clock=clock) as actor:
            actor.post("GO")
            clock.ring_next(10)  # it has rung, but GO came first
            await actor.wait_for(lambda s: s.value == "b", 5)
            await clock.advance(100)
            assert actor.snapshot.value == "b"

    play(main)


@pytest.mark.parametrize("clocks", ["same", "from 0", "far behind", "ahead"])
def test_restored_timers_keep_their_due_times(play: Play, clocks: str) -> None:
    machine = ticking(100, 50, 70, 300)

    async def main() -> None:
        clock = ManualClock(1000)
        async with start(machine, clock=clock) as actor:
            await clock.advance(40)
            saved = actor.save()
        if clocks == "same":
            again = clock
        else:
            again = ManualClock({"from 0": 0, "far behind": 500, "ahead": 1080}[clocks])
        async with start(machine, snapshot=saved, clock=again) as actor:
            if clocks == "ahead":  # 50 and 70 are overdue: once each, in due order
                await again.advance(0)
                assert actor.snapshot.context["fired"] == [1, 2]
                await again.advance(20)
            else:
                await again.advance(9)
                assert actor.snapshot.context["fired"] == []
                await again.advance(1)
                assert actor.snapshot.context["fired"] == [1]
                await again.advance(50)
            assert actor.snapshot.context["fired"] == [1, 2, 0]
            await again.advance(199)
            assert actor.snapshot.context["fired"] == [1, 2, 0]
            await again.advance(1)
            assert actor.snapshot.context["fired"] == [1, 2, 0, 3]
            assert again.pending == 0

    play(main)


def test_overdue_timers_fire_once_in_due_order_on_the_wall_clock(play: Play) -> None:
    machine = ticking(9, 3, 6, 3, 100_000)

    async def main() -> None:
        async with start(machine) as actor:
            saved = actor.save()
        await asyncio.sleep(0.02)
        async with start(machine, snapshot=saved) as actor:
            assert actor.snapshot.context["fired"] == []
            await asyncio.sleep(0.02)
            assert actor.snapshot.context["fired"] == [1, 3, 2, 0]
            left = [timer["due"] for timer in actor.save()["timers"]]
            assert left == [saved["timers"][-1]["due"]]

    play(main)


def test_many_timers_set_and_cancelled_leave_no_heap(play: Play) -> None:
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {
                "a": {"after": {"60000": "late", "90000": "late"}, "on": {"T": "b"}},
                "b": {"after": {"50000": "late"}, "on": {"T": "a"}},
                "late": {},
            },
        }
    )

    async def main() -> None:
        clock = ManualClock()
        async with start(machine, clock=clock) as actor:
            for _ in range(1000):
                await actor.send("T")
            assert len(actor._alarms) <= 2
            assert len(actor._alarms._heap) < 200
            assert len(clock._alarms) < 200

    play(main)


def test_a_delay_that_is_no_number_of_milliseconds(play: Play) -> None:
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {"a": {"after": {"odd": "b", "100000": "late"}}, "b": {}, "late": {}},
        },
        {"delays": {"odd": lambda context: float("nan")}},
    )

    async def main() -> None:
        clock = ManualClock()
        for options in ({"clock": clock}, {}):
            async with start(machine, **options) as actor:
                await clock.advance(0)
                await actor.wait_for(lambda s: s.value == "b", 5)

    play(main)


def test_clocks() -> None:
    assert abs(WallClock().now() - time.time() * 1000) < 1000
    clock = ManualClock(5)
    rung: list[int] = []
    first = clock.call_at(7, lambda: rung.append(7))
    clock.call_at(3, lambda: rung.append(3))
    first.cancel()
    first.cancel()
    assert clock.pending == 1
    asyncio.run(clock.advance(10))
    assert (rung, clock.now(), clock.pending) == ([3], 15, 0)


def test_a_timer_of_a_step_taken_in_one_go_counts_from_now(play: Play) -> None:
    machine = load_machine({"id": "m", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"after": {"10": "c"}, "on": {"GO": "a"}}, "c": {}}})

    async def main() -> None:
        clock = ManualClock()
        async with start(machine, clock=clock) as actor:
            await clock.advance(100)
            await actor.send("GO")
            await clock.advance(9)
            assert actor.snapshot.value == "b"
            await actor.send("GO")
            assert actor._timed is None, "what is cancelled is given back at once"
            await actor.send("GO")
            await clock.advance(10)
            assert actor.snapshot.value == "c"

    play(main)


def test_a_timer_that_rang_and_is_cancelled_before_its_turn(play: Play) -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"entry": ["one", "two"], "on": {"ONE": {"actions": "none"}, "TWO": "b"}}, "b": {}}}
    bound = {"one": raise_("ONE", delay=5), "two": raise_("TWO", delay=5, id="two"), "none": cancel("two")}

    async def main() -> None:
        clock = ManualClock()
        async with start(load_machine(document, {"actions": bound}), clock=clock) as actor:
            await clock.advance(5)
            assert actor.snapshot.value == "a"
            assert actor.snapshot.sequence == 1

    play(main)


def test_what_a_step_emits_is_heard_before_its_snapshot(play: Play) -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": "tell"}}}, "b": {}}}
    heard: list[Any] = []

    async def main() -> None:
        async with start(load_machine(document, {"actions": {"tell": emit({"type": "TOLD"})}})) as actor:
            actor.subscribe(lambda snapshot: heard.append(snapshot.value))
            actor.on("*", lambda event: heard.append(event["type"]))
            await actor.send("GO")

    play(main)
    assert heard == ["TOLD", "b"]


def test_an_idle_actor_is_small_again(play: Play) -> None:
    """What queued events, timers and promises needed is given back when all is done."""
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {"a": {"on": {"GO": "b"}}, "b": {"after": {"10": "c"}, "on": {"GO": "a"}}, "c": {"on": {"GO": "a"}}},
        }
    )

    async def main() -> None:
        clock = ManualClock()
        async with start(machine, clock=clock) as actor:
            await actor.send("GO")
            assert actor._timed is not None
            actor.post("GO")
            actor.post("GO")
            assert actor._arrivals is not None
            await actor.send("GO")
            await clock.advance(10)
            await actor.send("GO")
            assert (actor.snapshot.value, actor._arrivals, actor._timed, actor._batch) == ("b", None, actor._timed, None)
            await clock.advance(10)
            assert (actor.snapshot.value, actor._arrivals, actor._timed, actor._batch) == ("c", None, None, None)

    play(main)
