"""Leases with real processes and threads: paused, blocked, storms."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "stores"))

from children import Say, in_child

from statecharts import Implementations, Machine, Runtime, current_call, load_machine
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.adapters.stores.sqlite import SqliteStore

LEASE = 400
DOCUMENT = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "work", "onDone": "b", "onError": "c"}}, "b": {}, "c": {}}}


def machine(work: Any, **policy: Any) -> Machine[Any, Any]:
    impl = Implementations()
    impl.actors["work"] = work
    impl.effect("work", **{"timeout": LEASE - 1, **policy})
    return load_machine(DOCUMENT, impl)


def runtime_at(file: Path, work: Any, **policy: Any) -> Runtime:
    return Runtime(SqliteStore(file), [machine(work, **policy)], clock=SystemClock(), lease=LEASE)


async def status(runtime: Runtime) -> str:
    return (await runtime.effects())[0].status


async def reaches(runtime: Runtime, wanted: str) -> None:
    async with asyncio.timeout(10):
        while await status(runtime) != wanted:
            await asyncio.sleep(0.02)


def paused_worker(file: Path, say: Say, then: str) -> None:
    """Says its pid in the call, and is stopped there."""

    async def work() -> str:
        say(f"calling {os.getpid()}")
        os.kill(os.getpid(), signal.SIGSTOP)
        return "late"

    async def main() -> None:
        async with runtime_at(file, work) as runtime:
            worker = asyncio.create_task(runtime.run_worker(poll=0.02))
            try:
                await runtime.wait("m", lambda row: then in row.configuration, timeout=8)
                say("applied")
            finally:
                worker.cancel()

    asyncio.run(main())


@pytest.mark.parametrize("decided", [False, True])
def test_a_worker_that_was_stopped_past_its_lease(tmp_path: Path, decided: bool) -> None:
    """Another finds its effect and cannot know: UNKNOWN. The late result counts only if nobody has decided meanwhile."""
    file = tmp_path / "s.db"
    ended: list[Any] = []
    thread = threading.Thread(
        target=lambda: ended.append(in_child(lambda say: paused_worker(file, say, "m.c" if decided else "m.b"), timeout=30))
    )

    async def idle() -> None:
        raise AssertionError("nobody else may call")

    async def started() -> None:
        async with runtime_at(file, idle) as runtime:
            await runtime.start("m", "m")

    async def main() -> None:
        async with runtime_at(file, idle) as runtime:
            await reaches(runtime, "RUNNING")
            async with asyncio.timeout(10):
                while (await runtime.effects())[0].called_at is None:
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            watching = asyncio.create_task(runtime.run_worker(poll=0.02))
            await reaches(runtime, "UNKNOWN")
            (row,) = await runtime.effects()
            if decided:
                await runtime.settle(row.id, error="given up", actor="op", reason="no sign of life")
            os.kill(stopped_child(), signal.SIGCONT)
            expected = "FAILED" if decided else "DONE"
            await reaches(runtime, expected)
            await runtime.wait("m", lambda one: ("m.c" if decided else "m.b") in one.configuration, timeout=8)
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await asyncio.sleep(0.2)
            assert await status(runtime) == expected
            assert (await runtime.verify("m", replay=True)).is_clean

    asyncio.run(started())
    forked(thread)
    asyncio.run(main())
    thread.join()
    assert ended[0].code == 0 and ended[0].lines[-1] == "applied"


def forked(thread: threading.Thread) -> None:
    """Start a thread that forks, while no other thread runs: one that holds a lock would hold it in the child for ever."""
    end = time.monotonic() + 5
    while any(one.name.startswith("statecharts") for one in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.01)
    thread.start()
    time.sleep(0.3)


def stopped_child() -> int:
    """The child of this process that is stopped."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            if fields[0] == "T" and int(fields[1]) == os.getpid():
                return int(entry.name)
    raise LookupError("no child is stopped")


def test_a_blocked_loop_keeps_its_lease(tmp_path: Path) -> None:
    """The heart beats in a thread of its own: another worker sees it, and leaves the effect alone."""
    file = tmp_path / "b.db"
    calls: list[str] = []

    async def blocking() -> str:
        call = current_call()
        assert call is not None
        calls.append(call.key)
        time.sleep(LEASE / 1000 * 3)  # not even the loop's own timers run
        return "done"

    def other(say: Say) -> None:
        async def never() -> None:
            say("called")

        async def main() -> None:
            async with runtime_at(file, never) as runtime:
                await reaches(runtime, "RUNNING")
                worker = asyncio.create_task(runtime.run_worker(poll=0.02))
                await asyncio.sleep(LEASE / 1000 * 2.3)
                say(await status(runtime))
                worker.cancel()
                await asyncio.gather(worker, return_exceptions=True)

        asyncio.run(main())

    async def started() -> None:
        async with runtime_at(file, blocking) as runtime:
            await runtime.start("m", "m")

    async def worked() -> None:
        async with runtime_at(file, blocking) as runtime:
            worker = asyncio.create_task(runtime.run_worker(poll=0.02))
            await runtime.wait("m", lambda row: "m.a" not in row.configuration, timeout=10)
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)

    asyncio.run(started())
    ended: list[Any] = []
    thread = threading.Thread(target=lambda: ended.append(in_child(other)))
    forked(thread)
    asyncio.run(worked())
    thread.join()
    assert ended[0].lines == ("RUNNING",)
    assert len(calls) == 1


def test_a_storm_of_timers(tmp_path: Path) -> None:
    """All due at once: each fires once, and newer events wait for none of other instances."""
    document = {
        "id": "t",
        "initial": "a",
        "context": {"fired": 0},
        "states": {"a": {"after": {"50": {"target": "b", "actions": "count"}}}, "b": {"on": {"E": "c"}}, "c": {}},
    }
    timed = load_machine(document, {"updates": {"count": lambda context: {"fired": context["fired"] + 1}}})

    async def main() -> None:
        async with Runtime(SqliteStore(tmp_path / "t.db"), [timed], clock=SystemClock()) as runtime:
            await runtime.start_many("t", {f"i{n}": None for n in range(1_000)})
            await asyncio.sleep(0.06)
            first = asyncio.create_task(runtime.run_worker(until_idle=True))
            second = asyncio.create_task(runtime.run_worker(until_idle=True))
            receipt = await runtime.send("i999", "E")
            assert receipt.states == ("t.c",)
            await asyncio.gather(first, second)
            rows = await runtime.instances(limit=2_000)
            assert sum('"t.a"' in row.configuration for row in rows) == 0
            assert all('"fired":1' in (row.state or "") for row in rows)
            assert {row.version for row in rows} == {2, 3}

    asyncio.run(main())
