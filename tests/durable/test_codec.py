"""With a codec no text of users' is readable in the store, and everything else is as without."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
import zlib
from pathlib import Path

import pytest
from sample_agents import World, mailer

from statecharts import Runtime


class Hidden:
    """Nothing to be proud of, but unreadable."""

    def encode(self, text: str) -> str:
        return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"))).decode()

    def decode(self, text: str) -> str:
        return zlib.decompress(base64.b64decode(text)).decode("utf-8", "surrogatepass")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_nothing_readable_is_kept(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "c.db"
    url = "memory:" if kind == "memory" else f"sqlite:///{file}"
    world = World(lambda: "a secret result")

    async def main() -> None:
        async with Runtime.open(url, [mailer(world)], codec=Hidden()) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", {"type": "GO", "note": "a secret event"}, event_id="e")
            assert (await runtime.send("m", {"type": "GO", "note": "a secret event"}, event_id="e")).outcome == "duplicate"
            await runtime.run_worker(until_idle=True)
            row = await runtime.get("m")
            assert json.loads(row.state or "")["snapshot"]["context"]["sent"] == "a secret result"
            assert (await runtime.verify("m", replay=True)).is_clean
            await runtime.send("m", "AGAIN")
            (effect,) = await runtime.effects(statuses=("PENDING",))
            await runtime.fork("m", 2, "n", actor="op", reason="x")
            (doubtful,) = await runtime.effects(instance="n")
            await runtime.settle(doubtful.id, result="another secret", actor="op", reason="x")
            await runtime.run_worker(until_idle=True)
            assert "sent" in (await runtime.get("n")).configuration
            assert "a secret" in repr(await runtime.log("m"))
            await runtime.cancel("m", actor="op", reason="x")
            await runtime.erase("m", actor="op", reason="x")
            assert effect.id

    asyncio.run(main())
    if kind == "sqlite":
        connection = sqlite3.connect(file)
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            assert "secret" not in repr(connection.execute(f"SELECT * FROM {table}").fetchall())
