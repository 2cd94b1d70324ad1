"""Erasing, purging, and going on from a backup."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from clocks import TestClock
from sample_agents import Open, World, mailer

from statecharts import Runtime, UnknownInstance, UsageError, load_machine
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.adapters.stores.sqlite import SqliteStore

HOUR = 3_600_000
DOCUMENT: dict[str, Any] = {
    "id": "case",
    "initial": "open",
    "context": {"name": None},
    "states": {"open": {"on": {"NAME": {"actions": "name"}, "END": "ended"}}, "ended": {"type": "final"}},
}


def case() -> Any:
    return load_machine(DOCUMENT, {"updates": {"name": lambda event: {"name": event["name"]}}})


async def ended(runtime: Runtime, name: str = "c") -> None:
    await runtime.start("case", name)
    await runtime.send(name, {"type": "NAME", "name": "Ada Lovelace"}, event_id="n")
    await runtime.send(name, "END", event_id="e")


def test_what_is_erased_is_gone_and_the_chain_holds(opened: Open) -> None:
    async def main() -> None:
        async with opened(case()) as runtime:
            await ended(runtime)
            receipt = await runtime.erase("c", actor="dpo", reason="asked to")
            assert receipt.outcome == "applied"
            rows = [*await runtime.log("c"), *await runtime.inbox("c"), await runtime.get("c"), *await runtime.effects()]
            assert "Ada" not in repr(rows)
            assert [row.actor for row in await runtime.log("c")][-1] == "dpo"
            report = await runtime.verify("c", replay=True)
            assert report.is_clean
            assert [(one.version, one.kind) for one in report.findings] == [(1, "erased"), (2, "erased"), (3, "erased")]
            assert (await runtime.send("c", {"type": "NAME", "name": "Ada Lovelace"}, event_id="n")).outcome == "duplicate"
            assert (await runtime.send("c", "NAME")).outcome == "refused"
            with pytest.raises(Exception, match="was erased"):
                await runtime.state_at("c", 2)

    asyncio.run(main())


def test_what_is_active_or_open_is_not_erased(opened: Open) -> None:
    world = World(lambda: 1 / 0)

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            with pytest.raises(UsageError, match="is active"):
                await runtime.erase("m", actor="dpo", reason="x")
            await runtime.run_worker(until_idle=True)
            await runtime.cancel("m", actor="dpo", reason="x")
            with pytest.raises(UsageError, match="open effects"):
                await runtime.erase("m", actor="dpo", reason="x")

    asyncio.run(main())


def test_a_purge_keeps_ids_for_a_while(opened: Open) -> None:
    clock = TestClock()

    async def main() -> None:
        async with opened(case(), clock=clock) as runtime:
            await ended(runtime, "old")
            await runtime.start("case", "running")
            clock.advance(HOUR)
            await ended(runtime, "new")
            assert await runtime.purge(older_than=HOUR // 2, keep_ids=HOUR) == 1
            assert [row.id for row in await runtime.instances()] == ["new", "running"]
            with pytest.raises(UnknownInstance):
                await runtime.get("old")
            again = await runtime.send("old", "END", event_id="e")
            assert again.outcome == "duplicate" and again.is_applied
            with pytest.raises(UnknownInstance):
                await runtime.send("old", "END", event_id="f")
            assert (await runtime.start("case", "old")).outcome == "duplicate"
            taken = await runtime.start("case", "old", event_id="anew")
            assert taken.outcome == "refused" and "has been purged" in (taken.reason or "")
            clock.advance(2 * HOUR)
            assert await runtime.purge(older_than=10 * HOUR, keep_ids=HOUR) == 0
            with pytest.raises(UnknownInstance):
                await runtime.send("old", "END", event_id="e")
            assert (await runtime.start("case", "old")).outcome == "applied"
            assert (await runtime.verify("old", replay=True)).is_clean

    asyncio.run(main())


def test_what_has_open_effects_is_not_purged(opened: Open) -> None:
    clock = TestClock()
    world = World(lambda: 1 / 0)

    async def main() -> None:
        async with opened(mailer(world), clock=clock) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            await runtime.cancel("m", actor="op", reason="x")
            clock.advance(HOUR)
            assert await runtime.purge(older_than=1, keep_ids=1) == 0
            (row,) = await runtime.effects()
            await runtime.settle(row.id, error="nothing happened", actor="op", reason="x")
            await runtime.run_worker(until_idle=True)
            clock.advance(HOUR)
            assert await runtime.purge(older_than=1, keep_ids=1) == 1
            assert await runtime.effects() == []

    asyncio.run(main())


def test_a_backup_sends_nothing_again(tmp_path: Path) -> None:
    """It was made while an effect was PENDING; after it the effect was done."""
    file, backup = tmp_path / "live.db", tmp_path / "backup.db"
    world = World()

    def at(path: Path) -> Runtime:
        return Runtime(SqliteStore(path), [mailer(world)], clock=SystemClock())

    async def main() -> None:
        async with at(file) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
        shutil.copy(file, backup)
        async with at(file) as runtime:
            await runtime.run_worker(until_idle=True)
            assert sum(world.calls.values()) == 1
        async with at(backup) as runtime:
            assert await runtime.mark_restored() == 1
            assert await asyncio.to_thread(runtime.store.epoch) == 2
            await runtime.run_worker(until_idle=True)
            (row,) = await runtime.effects()
            assert row.status == "UNKNOWN" and "from a backup" in (row.error or "")
            assert sum(world.calls.values()) == 1
            await runtime.settle(row.id, result="ok", actor="op", reason="the receiver has it")
            await runtime.run_worker(until_idle=True)
            assert "sent" in (await runtime.get("m")).configuration

    asyncio.run(main())
