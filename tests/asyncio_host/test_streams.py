"""Callbacks and observables as tasks: what they send, when they end, what they leave behind."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from loops import Play
from sample_machines import invoking

from statecharts import from_event_observable, from_observable, load_machine, send_to, start


def test_a_callback_sends_receives_and_is_cleaned_up(play: Play) -> None:
    seen: list[str] = []
    threads: list[threading.Thread] = []

    def work(send_back: Any, receive: Any, input: Any) -> Any:
        receive(lambda event: seen.append(event["type"]))
        send_back("VALUE", value="at once")
        thread = threading.Timer(0.01, lambda: send_back({"type": "VALUE", "value": "from a thread"}))
        threads.append(thread)

        def later() -> None:
            send_back("VALUE", value="later")
            thread.start()  # not before, for two clocks may be late in any order

        asyncio.get_running_loop().call_later(0.01, later)
        return lambda: seen.append("clean-up")

    async def main() -> None:
        async with start(invoking(work)) as actor:
            snapshot = await actor.send("GO")
            assert snapshot.context["values"] == ["at once"]
            await actor.wait_for(lambda s: len(s.context["values"]) == 3, 5)
            assert actor.snapshot.context["values"] == ["at once", "later", "from a thread"]
            await actor.send("LEAVE")
            assert seen == ["clean-up"]
            await actor.send("GO")
        assert seen == ["clean-up", "clean-up"]
        await asyncio.sleep(0.03)  # the second one begins, too
        for thread in threads:
            thread.join()  # the second one sends to an actor that is over

    play(main)


def test_a_thread_that_sends_when_the_loop_is_closed(play: Play) -> None:
    given: list[Any] = []

    def work(send_back: Any, emit: Any) -> None:
        given.extend([send_back, emit])

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")

    play(main)
    thread = threading.Thread(target=lambda: [give("VALUE", value=1) for give in given])
    thread.start()
    thread.join()


def test_what_a_callback_does_wrong(play: Play) -> None:
    def returns_nonsense(send_back: Any) -> Any:
        return 7

    def raises(send_back: Any) -> None:
        raise ValueError("at the start")

    def clean_up_raises(send_back: Any) -> Any:
        def clean_up() -> None:
            raise ValueError("in the clean-up")

        return clean_up

    async def main() -> None:
        for work, message in ((returns_nonsense, "clean-up function"), (raises, "at the start")):
            async with start(invoking(work)) as actor:
                snapshot = await actor.send("GO")
                assert snapshot.value == "failed"
                assert message in snapshot.context["got"]
        async with start(invoking(clean_up_raises)) as actor:
            await actor.send("GO")
        assert actor.snapshot.status == "stopped"

    play(main)


def test_the_clean_up_of_a_receiver_that_failed(play: Play) -> None:
    seen: list[str] = []

    def work(receive: Any, send_back: Any) -> Any:
        def received(event: Any) -> None:
            raise ValueError("in the receiver")

        def clean_up() -> None:
            seen.append("clean-up")
            raise ValueError("in the clean-up")

        receive(received)
        return clean_up

    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {
                "a": {
                    "invoke": {"id": "work", "src": "work", "onError": "b"},
                    "on": {"GO": {"actions": "send"}},
                },
                "b": {},
            },
        },
        {"actors": {"work": work}, "actions": {"send": send_to("work", "HELLO")}},
    )

    async def main() -> None:
        async with start(machine) as actor:
            assert (await actor.send("GO")).value == "b"
            assert seen == ["clean-up"]

    play(main, reports=1)
    assert "clean-up" in play.messages[0]


@pytest.mark.parametrize("source", ["generator", "iterator", "list", "awaitable"])
def test_an_observable(play: Play, source: str) -> None:
    async def generator() -> Any:
        for n in range(3):
            yield {"type": "VALUE", "value": n}

    class Iterator:
        def __init__(self) -> None:
            self.n = -1

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> Any:
            self.n += 1
            if self.n == 3:
                raise StopAsyncIteration
            return {"type": "VALUE", "value": self.n}

    async def awaitable() -> Any:
        return generator()

    made: Any = {
        "generator": generator,
        "iterator": lambda input: Iterator(),
        "list": lambda: [{"type": "VALUE", "value": n} for n in range(3)],
        "awaitable": awaitable,
    }[source]

    async def main() -> None:
        async with start(invoking(from_event_observable(made))) as actor:
            await actor.send("GO")
            snapshot = await actor.wait_for(lambda s: s.value == "done", 5)
            assert snapshot.context["values"] == [0, 1, 2]

    play(main)


def test_an_observable_that_fails(play: Play) -> None:
    async def work() -> Any:
        yield {"type": "VALUE", "value": 1}
        raise ValueError("in the middle")

    async def no_event() -> Any:
        yield {"value": "without a type"}

    def at_once() -> Any:
        raise ValueError("before the first")

    async def main() -> None:
        for made, message in (
            (work, "in the middle"),
            (no_event, "needs a string 'type'"),
            (at_once, "before"),
        ):
            async with start(invoking(from_event_observable(made))) as actor:
                await actor.send("GO")
                snapshot = await actor.wait_for(lambda s: s.value == "failed", 5)
                assert message in snapshot.context["got"]

    play(main)


def test_leaving_the_state_closes_the_generator(play: Play) -> None:
    seen: list[str] = []

    async def work() -> Any:
        try:
            while True:
                yield {"type": "VALUE", "value": 1}
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)
            seen.append("closed")

    async def main() -> None:
        async with start(invoking(from_event_observable(work))) as actor:
            await actor.send("GO")
            await actor.wait_for(lambda s: len(s.context["values"]) == 3, 5)
            await actor.send("LEAVE")
            count = len(actor.snapshot.context["values"])
            await asyncio.sleep(0.01)
            assert seen == ["closed"]
            assert len(actor.snapshot.context["values"]) == count
            assert not actor._tasks

    play(main)


def test_an_observable_keeps_its_last_value(play: Play) -> None:
    async def work() -> Any:
        yield 1
        yield {"n": 2}

    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "context": {"seen": []},
            "states": {
                "a": {"invoke": {"src": "work", "onSnapshot": {"actions": "keep"}, "onDone": "b"}},
                "b": {},
            },
        },
        {
            "actors": {"work": from_observable(work)},
            "updates": {
                "keep": lambda context, event: {"seen": [*context["seen"], event["snapshot"].context]}
            },
        },
    )

    async def main() -> None:
        async with start(machine) as actor:
            snapshot = await actor.wait_for(lambda s: s.value == "b", 5)
            assert snapshot.context["seen"][1:] == [1, {"n": 2}]

    play(main)


def test_emitting_from_outside(play: Play) -> None:
    """Nobody listens to a child; but it must not hurt, from any thread, at any time."""

    def in_a_thread(emit: Any) -> str:
        emit("HELLO", n=1)
        return "x"

    async def here(emit: Any) -> str:
        emit({"type": "HELLO"})
        await asyncio.sleep(0)
        emit("HELLO")
        return "x"

    def back(emit: Any, send_back: Any) -> None:
        emit("HELLO")
        asyncio.get_running_loop().call_soon(lambda: emit("HELLO"))

    async def main() -> None:
        for work in (in_a_thread, here):
            async with start(invoking(work)) as actor:
                await actor.send("GO")
                await actor.wait_for(lambda s: s.value == "done", 5)
        async with start(invoking(back)) as actor:
            await actor.send("GO")
            await asyncio.sleep(0.01)

    play(main)
