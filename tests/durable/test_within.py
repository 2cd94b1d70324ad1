"""An event as part of the user's own transaction: both happen, or neither."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import store_postgres
from sample_agents import World, mailer

from statecharts import Runtime, UnknownInstance, UsageError
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.adapters.stores.sqlite import SqliteStore


class Shop:
    """A store, and a table of the user's beside it."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.file = folder / "shop.db"
        self.schema = store_postgres.fresh_schema() if kind == "postgres" else ""

    def store(self) -> Any:
        if self.kind == "sqlite":
            return SqliteStore(self.file)
        from statecharts.adapters.stores.postgres import PostgresStore

        return PostgresStore(store_postgres.server_url(), schema=self.schema)

    def runtime(self, world: World) -> Runtime:
        return Runtime(self.store(), [mailer(world)], clock=SystemClock())

    def connection(self) -> Any:
        if self.kind == "sqlite":
            made: Any = sqlite3.connect(self.file, isolation_level=None)
            made.row_factory = sqlite3.Row
            return made
        import psycopg
        from psycopg.rows import dict_row

        return psycopg.connect(store_postgres.server_url(), autocommit=True, row_factory=dict_row)

    def table(self) -> str:
        return "orders" if self.kind == "sqlite" else f"{self.schema}.orders"

    def begin(self) -> str:
        return "BEGIN IMMEDIATE" if self.kind == "sqlite" else "BEGIN"


@pytest.fixture(params=["sqlite", "postgres"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    made = Shop(request.param, tmp_path)
    yield made
    if made.schema:
        store_postgres.drop(made.schema)


def test_both_or_neither(shop: Shop) -> None:
    world = World()

    async def main() -> None:
        async with shop.runtime(world) as runtime:
            await runtime.start("mailer", "m")
            connection = shop.connection()
            connection.execute(f"CREATE TABLE {shop.table()} (n integer)")

            connection.execute(shop.begin())
            connection.execute(f"INSERT INTO {shop.table()} VALUES (1)")
            receipt = runtime.send_within(connection, "m", "GO", event_id="e1")
            assert receipt.outcome == "applied"
            connection.execute("ROLLBACK")
            assert (await runtime.get("m")).version == 1 and await runtime.inbox("m", event_id="e1") == []

            connection.execute(shop.begin())
            connection.execute(f"INSERT INTO {shop.table()} VALUES (2)")
            assert runtime.send_within(connection, "m", "NOBODY", event_id="e0").outcome == "refused"
            with pytest.raises(UnknownInstance):
                runtime.send_within(connection, "nobody", "GO", event_id="e1")
            assert runtime.send_within(connection, "m", "GO", event_id="e1", actor="user:1").outcome == "applied"
            assert runtime.send_within(connection, "m", "GO", event_id="e1").outcome == "duplicate"
            assert (await runtime.get("m")).version == 1  # nobody else sees it yet
            connection.execute("COMMIT")
            runtime.wake()
            assert (await runtime.send("m", "GO", event_id="e1")).outcome == "duplicate"
            await runtime.run_worker(until_idle=True)
            assert "sent" in (await runtime.get("m")).configuration and sum(world.calls.values()) == 1
            rows = connection.execute(f"SELECT n FROM {shop.table()}").fetchall()
            assert [row["n"] for row in rows] == [2]
            assert (await runtime.verify("m", replay=True)).is_clean
            connection.close()

    asyncio.run(main())


def test_a_connection_that_cannot_be_joined(shop: Shop, tmp_path: Path) -> None:
    async def main() -> None:
        async with shop.runtime(World()) as runtime:
            await runtime.start("mailer", "m")
            connection = shop.connection()
            with pytest.raises(UsageError, match="begin a transaction first"):
                runtime.send_within(connection, "m", "GO", event_id="e")
            with pytest.raises(UsageError, match="joins a"):
                runtime.send_within(object(), "m", "GO", event_id="e")
            connection.close()
            if shop.kind == "sqlite":
                other = sqlite3.connect(tmp_path / "other.db", isolation_level=None)
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(UsageError, match="one transaction is in one file"):
                    runtime.send_within(other, "m", "GO", event_id="e")
                other.close()

    asyncio.run(main())


def test_memory_joins_nothing() -> None:
    async def main() -> None:
        async with Runtime.open("memory:", [mailer(World())]) as runtime:
            with pytest.raises(UsageError, match="cannot join a transaction"):
                runtime.send_within(object(), "m", "GO", event_id="e")

    asyncio.run(main())
