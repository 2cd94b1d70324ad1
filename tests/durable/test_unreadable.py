"""A stored state that its machine cannot go on from: nothing that comes is lost, and an operator can see and end it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from sample_agents import World, mailer

from statecharts import Runtime
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.adapters.stores.sqlite import SqliteStore


def test_it_rests_keeps_what_comes_and_can_be_cancelled(tmp_path: Path) -> None:
    file = tmp_path / "u.db"

    def runtime_over() -> Runtime:
        return Runtime(SqliteStore(file), [mailer(World())], clock=SystemClock())

    async def main() -> None:
        async with runtime_over() as runtime:
            for name in ("sent", "worked", "cancelled"):
                await runtime.start("mailer", name)
        with sqlite3.connect(file) as connection:
            connection.execute("""UPDATE instance SET state = replace(state, '"value":"idle"', '"value":"nowhere"')""")
        connection.close()
        async with runtime_over() as runtime:
            assert (await runtime.send("sent", "GO", event_id="e")).outcome == "accepted"
            row = await runtime.get("sent")
            assert row.is_suspended and row.needs_attention and "nowhere" in (row.last_error or "")
            assert [one.event_id for one in await runtime.inbox("sent", statuses=("accepted",))] == ["e"]
            receipt = await runtime.cancel("cancelled", actor="op", reason="it is broken")
            row = await runtime.get("cancelled")
            assert (receipt.outcome, row.status, row.is_suspended) == ("applied", "cancelled", False)
            await runtime.resume("sent", actor="op", reason="try again")
            await runtime.run_worker(until_idle=True)
            row = await runtime.get("sent")
            assert row.is_suspended and row.pending == 1

    asyncio.run(main())
