"""Promises, observables and callbacks as tasks: they start late, end early, and bring back what belongs to them."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial
from typing import Any

import pytest
from loops import Play
from sample_machines import invoking

from statecharts import (
    UsageError,
    from_promise,
    start,
)


def test_a_promise_resolves_and_rejects(play: Play) -> None:
    fails = False

    async def work() -> Any:
        await asyncio.sleep(0)
        if fails:
            raise ValueError("no luck")
        return {"a": [1]}

    async def main() -> None:
        nonlocal fails
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            assert (await actor.wait_for(lambda s: s.value == "done", 5)).context["got"] == {"a": [1]}
            fails = True
            await actor.send("AGAIN")
            assert (await actor.wait_for(lambda s: s.value == "failed", 5)).context["got"] == "no luck"
            assert not actor._outside

    play(main)


def test_a_result_that_is_no_json_is_a_rejection(play: Play) -> None:
    async def work() -> Any:
        return {1: "keys are strings"}

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            snapshot = await actor.wait_for(lambda s: s.value == "failed", 5)
            assert "object keys are strings" in snapshot.context["got"]

    play(main)


def test_a_promise_starts_when_its_step_has_settled(play: Play) -> None:
    seen: list[Any] = []
    actor: Any = None

    async def work() -> None:
        seen.append(actor.snapshot.value)

    async def main() -> None:
        nonlocal actor
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await actor.wait_for(lambda s: s.value == "done", 5)
            assert seen == ["busy"]

    play(main)


def test_a_promise_of_a_state_that_is_only_passed_through_never_runs(play: Play, no_breath: None) -> None:
    called: list[int] = []

    async def work() -> None:
        called.append(1)

    async def main() -> None:
        async with start(invoking(work)) as actor:
            actor.post("GO")
            actor.post("LEAVE")
            await actor.send("GO")
            await actor.send("LEAVE")
            await asyncio.sleep(0.01)
            assert not called
            assert not actor._tasks
            assert not actor._outside

    play(main)


def test_leaving_the_state_cancels_the_promise(play: Play) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await asyncio.sleep(0)
            await actor.send("SELF")
            await asyncio.sleep(0.01)
            assert ended == ["cancelled"]
            assert actor.snapshot.value == "busy"
            assert len(actor._outside) == 1
        assert ended == ["cancelled", "cancelled"]

    play(main)


def test_a_promise_that_resists_cancellation_changes_nothing_any_more(play: Play) -> None:
    async def work() -> str:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
        return "late"

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await asyncio.sleep(0)
            await actor.send("LEAVE")
            await actor.send("GO")
            await asyncio.sleep(0.03)
            assert actor.snapshot.value == "busy"
            assert actor.snapshot.context["got"] is None

    play(main)


def test_a_promise_may_send_to_its_own_machine(play: Play) -> None:
    actor: Any = None
    seen: list[Any] = []

    async def work() -> None:
        seen.append((await actor.send("VALUE", value=1)).context["values"])
        await actor.send("LEAVE")  # which cancels the sender itself
        seen.append("the send came back")
        await asyncio.sleep(0)
        seen.append("never")

    async def main() -> None:
        nonlocal actor
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await actor.wait_for(lambda s: s.value == "idle", 5)
            await asyncio.sleep(0.01)
            assert seen == [[1], "the send came back"]

    play(main)


@pytest.mark.parametrize("how", ["plain", "lambda", "partial", "object"])
def test_a_plain_function_runs_in_a_thread(play: Play, how: str) -> None:
    here = threading.get_ident()

    def work(input: Any = None) -> str:
        assert threading.get_ident() != here
        return "from a thread"

    class Callable:
        def __call__(self, input: Any) -> str:
            return work()

    made = {
        "plain": work,
        "lambda": lambda: work(None),
        "partial": partial(work, None),
        "object": Callable(),
    }[how]

    async def main() -> None:
        async with start(invoking(from_promise(made))) as actor:
            await actor.send("GO")
            assert (await actor.wait_for(lambda s: s.value == "done", 5)).context["got"] == "from a thread"

    play(main)


def test_a_function_that_returns_an_awaitable(play: Play) -> None:
    async def later() -> str:
        return "awaited"

    async def main() -> None:
        async with start(invoking(from_promise(lambda input: later()))) as actor:
            await actor.send("GO")
            assert (await actor.wait_for(lambda s: s.value == "done", 5)).context["got"] == "awaited"

    play(main)


def test_nothing_piles_up_over_many_runs(play: Play) -> None:
    async def work() -> int:
        return 1

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            for _ in range(100):
                await actor.wait_for(lambda s: s.value == "done", 5)
                await actor.send("AGAIN")
            await actor.wait_for(lambda s: s.value == "done", 5)
            await asyncio.sleep(0.01)
            assert not actor._tasks
            assert not actor._outside
            assert not actor._arrivals
            assert len(actor.system.cells) <= 2

    play(main)


def test_closing_from_the_actor_s_own_work_is_refused(play: Play) -> None:
    actor: Any = None
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.create_task(actor.aclose())
        except UsageError as error:
            seen.append(str(error))
        await actor.stop()

    async def main() -> None:
        nonlocal actor
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await asyncio.sleep(0.01)
            assert actor.snapshot.status == "stopped"
            assert "use stop()" in seen[0]

    play(main)


def test_a_late_result_of_a_thread_changes_nothing(play: Play) -> None:
    def work() -> str:
        time.sleep(0.05)
        return "late"

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await asyncio.sleep(0.01)
            before = await actor.send("LEAVE")
            await asyncio.sleep(0.1)
            assert actor.snapshot is before

    play(main)
