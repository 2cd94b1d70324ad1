"""Actors that stay, and events from instance to instance."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from sample_agents import Open

from statecharts import Implementations, Machine, Runtime, load_machine, send_to


def context_of(state: str | None) -> Any:
    return json.loads(state or "")["snapshot"]["context"]


async def until(condition: Callable[[], Any], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def listener(log: list[str]) -> Machine[Any, Any]:
    """A callback that says what it is told, and counts its lives."""
    document = {
        "id": "ear",
        "initial": "on",
        "context": {"heard": []},
        "states": {
            "on": {
                "invoke": {"id": "line", "src": "line", "onError": "broken"},
                "on": {"SAY": {"actions": "say"}, "HEARD": {"actions": "keep"}, "OFF": "off"},
            },
            "off": {"on": {"ON": "on"}},
            "broken": {},
        },
    }
    impl = Implementations()

    @impl.actor("line")
    def line(send_back: Any, receive: Any, input: Any) -> Any:
        log.append("began")
        receive(lambda event: send_back({"type": "HEARD", "text": event["text"]}))
        return lambda: log.append("ended")

    impl.actions["say"] = send_to("line", lambda context, event: {"type": "TELL", "text": event["text"]})

    @impl.update("keep")
    def keep(context: Any, event: Any) -> dict[str, Any]:
        return {"heard": [*context["heard"], event["text"]]}

    return load_machine(document, impl)


async def heard(runtime: Runtime, texts: list[str]) -> None:
    await runtime.wait("e", lambda row: context_of(row.state)["heard"] == texts, timeout=20)


def test_a_callback_hears_and_says_in_order(opened: Open) -> None:
    log: list[str] = []

    async def main() -> None:
        async with opened(listener(log)) as runtime:
            await runtime.start("ear", "e")
            for text in "abc":
                await runtime.send("e", {"type": "SAY", "text": text})
            worker = asyncio.create_task(runtime.run_worker(poll=0.02))
            await heard(runtime, ["a", "b", "c"])
            await runtime.send("e", {"type": "SAY", "text": "d"})
            await heard(runtime, ["a", "b", "c", "d"])
            await runtime.send("e", "OFF")
            await until(lambda: log == ["began", "ended"])
            await runtime.send("e", "ON")
            await until(lambda: log == ["began", "ended", "began"])
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
            assert log[-1] == "ended"
            rows = await runtime.inbox("e", statuses=("applied",))
            assert [row.event_id.split(":")[-2:] for row in rows if row.kind == "report"] == [["1", str(n)] for n in (1, 2, 3, 4)]
            assert (await runtime.verify("e", replay=True)).is_clean

    asyncio.run(main())


def test_another_worker_goes_on_with_the_next_generation(opened: Open) -> None:
    log: list[str] = []

    async def main() -> None:
        async with opened(listener(log)) as runtime:
            await runtime.start("ear", "e")
            for n in range(2):
                worker = asyncio.create_task(runtime.run_worker(poll=0.02))
                await runtime.send("e", {"type": "SAY", "text": str(n)})
                await heard(runtime, [str(one) for one in range(n + 1)])
                worker.cancel()
                await asyncio.gather(worker, return_exceptions=True)
            assert log == ["began", "ended"] * 2
            (row,) = await runtime.effects(kind="resident")
            assert (row.status, row.fence) == ("PENDING", 2)

    asyncio.run(main())


def test_a_callback_that_raises_is_an_error_of_the_actor(opened: Open) -> None:
    document = {"id": "ear", "initial": "on", "states": {"on": {"invoke": {"id": "line", "src": "line", "onError": "broken"}}, "broken": {}}}
    impl = Implementations()

    @impl.actor("line")
    def line(send_back: Any) -> None:
        raise OSError("no line")

    async def main() -> None:
        async with opened(load_machine(document, impl)) as runtime:
            await runtime.start("ear", "e")
            worker = asyncio.create_task(runtime.run_worker(poll=0.02))
            await runtime.wait("e", lambda row: "broken" in row.configuration, timeout=20)
            worker.cancel()

    asyncio.run(main())


def test_a_callback_may_say_something_from_another_thread(opened: Open) -> None:
    document = {
        "id": "ear",
        "initial": "on",
        "states": {"on": {"invoke": {"src": "line"}, "on": {"RING": "rung"}}, "rung": {}},
    }
    impl = Implementations()

    @impl.actor("line")
    def line(send_back: Any) -> None:
        threading.Timer(0.05, send_back, ("RING",)).start()

    async def main() -> None:
        async with opened(load_machine(document, impl)) as runtime:
            await runtime.start("ear", "e")
            worker = asyncio.create_task(runtime.run_worker(poll=0.02))
            await runtime.wait("e", lambda row: "rung" in row.configuration, timeout=20)
            worker.cancel()

    asyncio.run(main())


def test_an_observable_s_values_end_and_error(opened: Open) -> None:
    document = {
        "id": "eye",
        "initial": "on",
        "context": {"seen": []},
        "states": {
            "on": {
                "invoke": {
                    "id": "feed",
                    "src": "feed",
                    "onSnapshot": {"actions": "see"},
                    "onDone": "over",
                    "onError": "failed",
                }
            },
            "over": {},
            "failed": {},
        },
    }

    def eye(fails: bool) -> Machine[Any, Any]:
        impl = Implementations()

        @impl.actor("feed")
        async def feed(input: Any) -> AsyncIterator[int]:
            for n in range(3):
                yield n
            if fails:
                raise ValueError("dark")

        @impl.update("see")
        def see(context: Any, event: Any) -> dict[str, Any]:
            return {"seen": [*context["seen"], event["snapshot"].context or 0]}

        return load_machine(document, impl)

    async def main() -> None:
        for fails, state in ((False, "over"), (True, "failed")):
            async with opened(eye(fails)) as runtime:
                await runtime.start("eye", state)
                worker = asyncio.create_task(runtime.run_worker(poll=0.02))
                row = await runtime.wait(state, lambda row: state in row.configuration, timeout=20)  # noqa: B023
                worker.cancel()
                await asyncio.gather(worker, return_exceptions=True)
                assert context_of(row.state)["seen"][-3:] in ([0, 1, 2], [1, 2, 2])
                assert (await runtime.verify(state, replay=True)).is_clean

    asyncio.run(main())


# ----------------------------------------------------------- instance to instance

PAIR: dict[str, Any] = {
    "id": "pair",
    "initial": "on",
    "context": {"got": []},
    "states": {
        "on": {
            "on": {
                "TELL": {"actions": ["tell", "tell"]},
                "GOT": {"actions": "keep"},
            }
        }
    },
}


def pair() -> Machine[Any, Any]:
    from statecharts import enqueue

    impl = Implementations()

    def tell(context: Any, event: Any, enqueue: Any) -> None:
        for n in (1, 2):
            given = {"instance": event["to"], "event": {"type": "GOT", "n": n}}
            enqueue({"type": "statecharts.sendToInstance", "params": given})

    impl.actions["tell"] = enqueue(tell)

    @impl.update("keep")
    def keep(context: Any, event: Any) -> dict[str, Any]:
        return {"got": [*context["got"], event["n"]]}

    return load_machine(PAIR, impl)


def test_events_go_from_instance_to_instance_in_order_and_once(opened: Open) -> None:
    async def main() -> None:
        async with opened(pair()) as runtime:
            await runtime.start_many("pair", {"a": None, "b": None})
            await runtime.send("a", {"type": "TELL", "to": "b"})
            await runtime.run_worker(until_idle=True)
            assert context_of((await runtime.get("b")).state)["got"] == [1, 2, 1, 2]
            assert {row.status for row in await runtime.effects()} == {"DONE"}
            relayed = [row for row in await runtime.inbox("b") if row.kind == "relay"]
            assert [row.actor for row in relayed] == ["instance:a"] * 4

    asyncio.run(main())


def test_a_missing_target_is_a_dead_letter(opened: Open) -> None:
    async def main() -> None:
        async with opened(pair()) as runtime:
            await runtime.start("pair", "a")
            await runtime.send("a", {"type": "TELL", "to": "nobody"})
            await runtime.run_worker(until_idle=True)
            dead = await runtime.inbox("a", statuses=("dead",))
            assert len(dead) == 4 and "there is no instance 'nobody'" in (dead[0].error or "")
            assert (await runtime.get("a")).needs_attention
            assert {row.status for row in await runtime.effects()} == {"FAILED"}

    asyncio.run(main())


def test_what_an_observable_emits_is_heard_in_its_place(opened: Open) -> None:
    document = {"id": "eye", "initial": "on", "states": {"on": {"invoke": {"id": "feed", "src": "feed", "onDone": "over"}}, "over": {}}}
    impl = Implementations()

    @impl.actor("feed")
    async def feed(emit: Any) -> AsyncIterator[int]:
        emit({"type": "FIRST"})
        yield 1
        emit({"type": "LAST"})

    async def main() -> None:
        heard: list[str] = []
        async with opened(load_machine(document, impl)) as runtime:
            runtime.on_emit(lambda _instance, actor, event: heard.append(f"{actor} {event['type']}"))
            await runtime.start("eye", "e")
            worker = asyncio.create_task(runtime.run_worker(poll=0.02))
            await runtime.wait("e", lambda row: "over" in row.configuration, timeout=20)
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
            assert heard == ["feed FIRST", "feed LAST"]
            assert (await runtime.verify("e", replay=True)).is_clean

    asyncio.run(main())
