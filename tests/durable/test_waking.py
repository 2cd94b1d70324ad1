"""When a worker looks again: at once where it is told, and not at once where it only fails."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
import store_postgres
from sample_agents import Open, World, mailer

from statecharts import Runtime
from statecharts.adapters.engines.durable.pump import Pump
from statecharts.adapters.engines.durable.worker import Worker
from statecharts.adapters.stores.clocks import SystemClock


def test_postgresql_tells_a_worker_of_what_others_write() -> None:
    """It would poll after half a minute."""
    schema, url = store_postgres.fresh_schema(), store_postgres.server_url()
    from statecharts.adapters.stores.postgres import PostgresStore

    async def main() -> None:
        working = Runtime(PostgresStore(url, schema=schema), [mailer(World())], clock=SystemClock())
        sending = Runtime(PostgresStore(url, schema=schema), clock=SystemClock())
        async with working, sending:
            await working.start("mailer", "m")
            worker = asyncio.create_task(working.run_worker(poll=30))
            await asyncio.sleep(1.0)  # it listens, and sleeps
            began = time.monotonic()
            assert (await sending.send("m", "GO")).outcome == "accepted"
            await sending.wait("m", lambda row: "sent" in row.configuration, timeout=20, poll=0.05)
            assert time.monotonic() - began < 15
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)

    try:
        asyncio.run(main())
    finally:
        store_postgres.drop(schema)


def test_what_fails_is_not_tried_again_at_once(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[float] = []
    jobs = Pump.jobs

    def broken(self: Any) -> Any:
        looked.append(time.monotonic())

        def decide(_loaded: Any) -> Any:
            raise RuntimeError("a fault of ours")

        from dataclasses import replace

        return [replace(job, decide=decide) for job in jobs(self)]

    async def main() -> None:
        async with opened(mailer(World())) as runtime:
            await runtime.start("mailer", "m")
        async with opened() as runtime:
            await runtime.send("m", "GO")
        monkeypatch.setattr(Pump, "jobs", broken)
        monkeypatch.setattr(Pump, "next_due", lambda self: 0)  # overdue, for ever
        async with opened(mailer(World())) as runtime:
            worker = asyncio.create_task(runtime.run_worker(poll=0.2))
            await asyncio.sleep(1.0)
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
            assert 2 <= len(looked) <= 8

    asyncio.run(main())


def test_what_a_cancelled_worker_was_claiming_is_given_back(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread claims; the worker is cancelled meanwhile, and nobody would make the call before a lease had run out."""
    claim = Worker.claim
    claiming, let_go = threading.Event(), threading.Event()

    def slow(self: Any, limit: int) -> Any:
        claiming.set()
        let_go.wait(10)
        return claim(self, limit)

    world = World()

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            monkeypatch.setattr(Worker, "claim", slow)
            worker = asyncio.create_task(runtime.run_worker())
            await asyncio.to_thread(claiming.wait, 10)
            worker.cancel()
            await asyncio.sleep(0.05)
            let_go.set()
            await asyncio.gather(worker, return_exceptions=True)
            assert [row.status for row in await runtime.effects()] == ["PENDING"] and not world.calls
            await runtime.run_worker(until_idle=True)
            assert "sent" in (await runtime.get("m")).configuration

    asyncio.run(main())
