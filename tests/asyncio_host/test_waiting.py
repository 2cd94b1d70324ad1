"""Looking from outside: wait_for, result, subscribe, on; and errors, which somebody has to hear of."""

from __future__ import annotations

import asyncio
import traceback
from typing import Any

import pytest
from loops import Play
from sample_machines import acting, invoking, toggle

from statecharts import ExecutionError, UsageError, emit, load_machine, start
from statecharts.adapters.engines.asyncio_host import Actor


def failing(message: str = "no luck") -> Any:
    def act() -> None:
        raise ValueError(message)

    return acting(act)


def test_wait_for(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            assert (await actor.wait_for(lambda s: s.value == "off")) is actor.snapshot
            waiting = [
                asyncio.create_task(actor.wait_for(lambda s, n=n: s.context["count"] == n, 5))
                for n in (1, 2, 2)
            ]
            await asyncio.sleep(0)
            for _ in range(3):
                await actor.send("COUNT")
            assert [s.context["count"] for s in await asyncio.gather(*waiting)] == [1, 2, 2]
            with pytest.raises(TimeoutError, match=r"after 0.01 s the machine is in toggle.off \[active\]"):
                await actor.wait_for(lambda s: False, 0.01)
            assert not actor._watchers._expected

    play(main)


def test_wait_for_when_the_predicate_raises(play: Play) -> None:
    def predicate(snapshot: Any) -> bool:
        if snapshot.value == "on":
            raise TimeoutError("the predicate's own")
        return False

    async def main() -> None:
        async with start(toggle()) as actor:
            waiting = asyncio.create_task(actor.wait_for(predicate, 5))
            await asyncio.sleep(0)
            await actor.send("TOGGLE")
            with pytest.raises(TimeoutError, match="own"):
                await waiting
            with pytest.raises(TimeoutError, match="own"):
                await actor.wait_for(predicate, 5)
            cancelled = asyncio.create_task(actor.wait_for(lambda s: s.value == "on" or predicate(s), 5))
            assert (await cancelled).value == "on"

    play(main)


def test_a_waiter_cancelled_in_the_moment_in_which_its_predicate_raises(play: Play) -> None:
    def predicate(snapshot: Any) -> bool:
        if snapshot.value == "on":
            raise ValueError
        return False

    async def main() -> None:
        async with start(toggle()) as actor:
            waiting = asyncio.create_task(actor.wait_for(predicate))
            await asyncio.sleep(0)
            await actor.send("TOGGLE")
            waiting.cancel()
            await asyncio.wait({waiting})
            assert waiting.cancelled()

    play(main)


def test_wait_for_when_the_machine_ends(play: Play) -> None:
    async def main() -> None:
        async with start(acting(lambda: None)) as actor:
            waiting = asyncio.create_task(actor.wait_for(lambda s: s.value == "gone"))
            last = asyncio.create_task(actor.wait_for(lambda s: s.status == "done"))
            await asyncio.sleep(0)
            await actor.send("END")
            assert (await last).value == "over"
            for wait in (waiting, actor.wait_for(lambda s: False)):
                with pytest.raises(ExecutionError, match=r"ended \(done\) without reaching"):
                    await wait
        async with start(acting(lambda: None)) as actor:
            waiting = asyncio.create_task(actor.wait_for(lambda s: s.value == "gone"))
            await asyncio.sleep(0)
        with pytest.raises(ExecutionError, match=r"ended \(stopped\)"):
            await waiting

    play(main)


def test_wait_for_when_the_machine_fails(play: Play) -> None:
    async def main() -> None:
        async with start(failing()) as actor:
            waiting = asyncio.create_task(actor.wait_for(lambda s: s.value == "gone"))
            wanted = asyncio.create_task(actor.wait_for(lambda s: s.status == "error"))
            await asyncio.sleep(0)
            assert (await actor.send("GO")).status == "error"
            assert (await wanted).value == "idle"
            with pytest.raises(ExecutionError, match=r"ended \(error\)") as caught:
                await waiting
            assert isinstance(caught.value.__cause__, ValueError)

    play(main)


def test_result(play: Play) -> None:
    async def main() -> None:
        async with start(acting(lambda: None)) as actor:
            waiting = [asyncio.create_task(actor.result()) for _ in range(2)]
            await asyncio.sleep(0)
            await actor.send("END")
            assert await asyncio.gather(*waiting, actor.result()) == [{"said": "bye"}] * 3
        assert await actor.result() == {"said": "bye"}
        async with start(toggle()) as actor:
            waiting[0] = asyncio.create_task(actor.result())
            await asyncio.sleep(0)
            await actor.stop()
            with pytest.raises(ExecutionError, match="stopped before it was done"):
                await waiting[0]
        no_output = load_machine({"id": "m", "initial": "a", "states": {"a": {"type": "final"}}})
        async with start(no_output) as actor:
            assert await actor.result() is None

    play(main)


def test_waiting_for_oneself_is_refused(play: Play) -> None:
    actor: Actor[Any]
    seen: list[str] = []

    async def act() -> None:
        assert (await actor.wait_for(lambda s: s.value == "idle")).value == "idle"
        for wait in (actor.result(), actor.wait_for(lambda s: s.value == "gone")):
            try:
                await wait
            except UsageError as error:
                seen.append(str(error))
        await actor.stop()

    async def main() -> None:
        nonlocal actor
        async with start(acting(act)) as actor:
            await actor.send("GO")
            assert len(seen) == 2
            assert "would wait for the action itself" in seen[0]
            with pytest.raises(ExecutionError, match="stopped"):
                await actor.result()

    play(main)


def test_listeners(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            seen: list[Any] = []
            remove_first = actor.subscribe(seen.append)
            remove_second = actor.subscribe(seen.append)
            snapshot = await actor.send("TOGGLE")
            assert seen == [snapshot, snapshot]
            remove_first()
            remove_first()
            await actor.send("TOGGLE")
            assert len(seen) == 3
            remove_second()
            await actor.send("TOGGLE")
            assert len(seen) == 3

            def once(_snapshot: Any) -> None:
                remove()
                actor.subscribe(seen.append)

            remove = actor.subscribe(once)
            await actor.send("TOGGLE")
            assert len(seen) == 3
            await actor.send("TOGGLE")
            assert len(seen) == 4

    play(main)


def test_listeners_that_raise_do_not_harm_the_actor(play: Play) -> None:
    def bad(_value: Any) -> None:
        raise ValueError("a listener's own")

    async def no_listener(_value: Any) -> None:
        pass

    async def main() -> None:
        async with start(toggle(), inspect=bad) as actor:
            await actor.send("TOGGLE")
        async with start(toggle()) as actor:
            actor.subscribe(bad)
            actor.subscribe(no_listener)
            seen: list[Any] = []
            actor.subscribe(seen.append)
            assert (await actor.send("TOGGLE")).value == "on"
            assert len(seen) == 1

    with pytest.raises(AssertionError):
        play(main)
    assert len(play.reported) > 2
    assert isinstance(play.reported[-2]["exception"], ValueError)
    assert "plain function" in str(play.reported[-1]["exception"])
    assert set(play.messages) == {"a listener of the actor failed"}


def test_emitted_events(play: Play) -> None:
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {"a": {"on": {"GO": {"target": "b", "actions": ["hello", "bye"]}}}, "b": {}},
        },
        {"actions": {"hello": emit({"type": "HELLO", "n": 1}), "bye": emit("BYE")}},
    )

    async def main() -> None:
        async with start(machine) as actor:
            seen: list[Any] = []
            actor.on("*", lambda event: seen.append(("*", event["type"])))
            remove = actor.on("HELLO", lambda event: seen.append((event["n"], actor.snapshot.value)))
            await actor.send("GO")
            assert seen == [(1, "b"), ("*", "HELLO"), ("*", "BYE")]
            remove()
            remove()

    play(main)


def test_listening_from_the_start(play: Play) -> None:
    machine = load_machine(
        {"id": "m", "initial": "a", "states": {"a": {"entry": "hello"}}},
        {"actions": {"hello": emit("HELLO")}},
    )

    async def main() -> None:
        seen: list[Any] = []
        actor = start(machine)
        actor.on("*", lambda event: seen.append(event["type"]))
        actor.subscribe(lambda snapshot: seen.append(snapshot.value))
        async with actor:
            assert seen == ["HELLO", "a"]

    play(main)


def test_a_snapshot_read_in_the_middle_of_a_step_is_the_old_one(play: Play) -> None:
    actor: Actor[Any]
    seen: list[Any] = []

    async def act() -> None:
        seen.append((actor.snapshot.value, actor.snapshot.context))
        await asyncio.sleep(0)
        seen.append((actor.snapshot.value, actor.snapshot.context))

    async def main() -> None:
        nonlocal actor
        async with start(acting(act)) as actor:
            actor.subscribe(lambda snapshot: seen.append((actor.snapshot.value, snapshot is actor.snapshot)))
            await actor.send("GO")
            assert seen == [("idle", {"count": 0}), ("idle", {"count": 0}), ("gone", True)]

    play(main)


def test_async_actions_are_awaited_in_order_before_the_snapshot_is_shown(play: Play) -> None:
    seen: list[str] = []

    def action(name: str) -> Any:
        async def act() -> None:
            seen.append(f"{name} begins")
            await asyncio.sleep(0.001)
            seen.append(f"{name} ends")

        return act

    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "entry": "first",
            "states": {
                "a": {"exit": "out", "on": {"GO": {"target": "b", "actions": ["plain", "over"]}}},
                "b": {"entry": "into"},
            },
        },
        {
            "actions": {
                "first": action("first"),
                "out": action("out"),
                "plain": lambda: seen.append("plain"),
                "over": action("over"),
                "into": action("into"),
            }
        },
    )

    async def main() -> None:
        async with start(machine) as actor:
            assert seen == ["first begins", "first ends"]
            seen.clear()
            actor.subscribe(lambda snapshot: seen.append(f"in {snapshot.value}"))
            await actor.send("GO")
            assert seen == [
                "out begins",
                "out ends",
                "plain",
                "over begins",
                "over ends",
                "into begins",
                "into ends",
                "in b",
            ]

    play(main)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_action_s_failure_is_the_machine_s_error(play: Play, kind: str) -> None:
    def fail() -> None:
        raise ValueError("no luck")

    async def fail_later() -> None:
        await asyncio.sleep(0)
        fail()

    async def main() -> None:
        async with start(acting(fail if kind == "sync" else fail_later)) as actor:
            snapshot = await actor.send("GO")
            assert (snapshot.status, snapshot.value, snapshot.context) == ("error", "idle", {"count": 0})
            with pytest.raises(ValueError, match="no luck") as caught:
                await actor.result()
            names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
            assert names[-1] == "fail"

    play(main)


def test_an_unobserved_error_is_reported_once(play: Play) -> None:
    async def main() -> None:
        async with start(failing()) as actor:
            await actor.send("GO")
        await actor.aclose()

    play(main, reports=1)
    assert "nobody asked for its result" in play.messages[0]
    error = play.reported[0]["exception"]
    assert isinstance(error, ValueError)
    assert traceback.extract_tb(error.__traceback__)[-1].name == "act"


@pytest.mark.parametrize("how", ["result", "wait_for", "on_error", "raised out of the block"])
def test_an_observed_error_is_not_reported(play: Play, how: str) -> None:
    async def main() -> None:
        async with start(failing()) as actor:
            told: list[Any] = []
            if how == "on_error":
                actor.subscribe(lambda _snapshot: None, on_error=told.append)
            await actor.send("GO")
            if how == "result":
                with pytest.raises(ValueError):
                    await actor.result()
            elif how == "wait_for":
                with pytest.raises(ExecutionError):
                    await actor.wait_for(lambda s: s.value == "gone")
            elif how == "on_error":
                assert isinstance(told[0], ValueError)
            else:
                raise actor.snapshot.error

    async def outer() -> None:
        with pytest.raises(ValueError):
            await main()
            raise ValueError("at the end") from None

    play(outer)


def test_an_error_that_is_no_exception(play: Play) -> None:
    async def main() -> None:
        saved = {
            "status": "error",
            "error": {"why": "json"},
            "value": "off",
            "context": {"count": 0},
            "children": {},
        }
        async with start(toggle(), snapshot=saved) as actor:
            with pytest.raises(ExecutionError, match=r"failed: .*json"):
                await actor.result()
        async with start(toggle(), snapshot=saved):
            pass

    play(main, reports=1)


def test_an_error_of_a_child_climbs(play: Play) -> None:
    async def work() -> None:
        raise ValueError("in the child")

    machine = load_machine(
        {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "work"}}}}, {"actors": {"work": work}}
    )

    async def main() -> None:
        async with start(machine) as actor:
            with pytest.raises(ValueError, match="in the child"):
                await actor.result()

    play(main)


def test_the_logger_gets_what_log_actions_say(play: Play) -> None:
    from statecharts import log

    machine = load_machine(
        {"id": "m", "initial": "a", "states": {"a": {"entry": ["one", "two"]}}},
        {"actions": {"one": log("hello"), "two": log("world", "label")}},
    )

    async def main() -> None:
        lines: list[Any] = []
        async with start(machine, logger=lambda *parts: lines.append(parts)):
            assert lines == [("hello",), ("label", "world")]
        async with start(machine):
            pass

    play(main)


def test_stop_drops_what_waits_and_finishes_the_step(play: Play) -> None:
    gate = asyncio.Event()
    cleaned: list[str] = []

    async def main() -> None:
        async with start(acting(gate.wait)) as actor:
            go = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            count = asyncio.create_task(actor.send("COUNT"))
            stop = asyncio.create_task(actor.stop())
            await asyncio.sleep(0)
            assert not stop.done()
            gate.set()
            assert ((await stop).status, (await stop).value) == ("stopped", "gone")
            assert (await count).context["count"] == 1
            await go
            assert (await actor.stop()).status == "stopped"
        async with start(invoking(lambda send_back: lambda: cleaned.append("x"))) as actor:
            await actor.send("GO")
            actor.post("LEAVE")
            assert (await actor.stop()).status == "stopped"
            assert cleaned == ["x"]
        assert (await actor.stop()).status == "stopped"

    play(main)


def test_inspection(play: Play) -> None:
    async def main() -> None:
        kinds: list[str] = []
        async with start(toggle(), inspect=lambda event: kinds.append(event.type)) as actor:
            kinds.clear()
            await actor.send("TOGGLE")
            assert kinds == ["@xstate.event", "@xstate.microstep", "@xstate.snapshot"]

    play(main)
