"""A file that is damaged, a disk that is full, a reply that is lost: what is there afterwards is a prefix of what was done."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from oracles import violations

from statecharts import Busy, CommitUnknown, Limits, Runtime, StoreError, load_machine
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.adapters.stores.sqlite import SqliteStore
from statecharts.adapters.stores.sqlite_files import connect
from statecharts.durability.definitions import hosted

DOCUMENT: dict[str, Any] = {
    "id": "counter",
    "initial": "a",
    "context": {"n": 0, "ballast": ""},
    "states": {
        "a": {"on": {"ADD": {"target": "b", "actions": "add"}}, "after": {"60000": "b"}},
        "b": {"on": {"ADD": {"target": "a", "actions": "add"}}},
    },
}


def counter() -> Any:
    def add(context: Any, event: Any) -> dict[str, Any]:
        return {"n": context["n"] + 1, "ballast": event.get("ballast", "")}

    return load_machine(DOCUMENT, {"updates": {"add": add}})


def runtime_over(store: Any) -> Runtime:
    return Runtime(store, [counter()], clock=SystemClock())


def check(store: Any, acknowledged: dict[tuple[str, str], str]) -> int:
    """Nothing is half there; the version of the counter."""
    machine = hosted(counter())
    store.open()
    try:
        assert violations(store, "default", {machine.hash: machine}, acknowledged, {}) == []
        row = store.instance("default", "c")
        return 0 if row is None else row.version
    finally:
        store.close()


def test_a_wal_that_is_cut_or_spoilt_is_a_prefix(tmp_path: Path) -> None:
    """Truncated, its end zeroed, one byte flipped, at frame borders and anywhere."""
    live, copy = tmp_path / "live.db", tmp_path / "copy.db"

    async def main() -> None:
        async with runtime_over(SqliteStore(live)) as runtime:
            await runtime.start("counter", "c")
            for n in range(12):
                await runtime.send("c", "ADD", event_id=f"e{n}")
            shutil.copy(live, tmp_path / "base.db")  # while it is open: what was written is in the WAL
            shutil.copy(f"{live}-wal", tmp_path / "base.wal")

    asyncio.run(main())
    wal = (tmp_path / "base.wal").read_bytes()
    dice, seen = random.Random(7), set()
    frame = 24 + 4096
    borders = [32 + frame * n for n in range(1, (len(wal) - 32) // frame)]
    for n in range(120):
        at = dice.choice(borders) if n % 2 else dice.randrange(32, len(wal))
        damaged = {
            0: wal[:at],
            1: wal[:at] + bytes(len(wal) - at),
            2: wal[:at] + bytes([wal[at] ^ (1 << dice.randrange(8))]) + wal[at + 1 :],
        }[n % 3]
        for suffix in ("-wal", "-shm"):
            Path(f"{copy}{suffix}").unlink(missing_ok=True)
        shutil.copy(tmp_path / "base.db", copy)
        Path(f"{copy}-wal").write_bytes(damaged)
        try:
            seen.add(check(SqliteStore(copy), {}))
        except StoreError as error:  # so little is left that there are no tables: nothing was acknowledged to be lost then
            assert "schema 0" in str(error) or "another application" in str(error), error
    assert len(seen) > 6, seen


def limited(pages: int) -> Any:
    """A connection to a disk of so many pages."""

    def made(path: str) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    return made


@pytest.mark.parametrize("spare", range(12))
def test_a_full_disk_refuses_an_event_whole(tmp_path: Path, spare: int) -> None:
    file = tmp_path / "full.db"

    async def main() -> None:
        acknowledged: dict[tuple[str, str], str] = {}
        async with runtime_over(SqliteStore(file)) as runtime:
            await runtime.start("counter", "c")
        pages = sqlite3.connect(file).execute("PRAGMA page_count").fetchone()[0]
        refused = 0
        async with runtime_over(SqliteStore(file, connect=limited(pages + spare))) as runtime:
            for n in range(30):
                try:
                    receipt = await runtime.send("c", {"type": "ADD", "ballast": "x" * 3_000}, event_id=f"e{n}")
                    acknowledged["c", f"e{n}"] = receipt.outcome
                except StoreError as error:
                    assert "full" in str(error)
                    refused += 1
            assert refused
        check(SqliteStore(file), acknowledged)
        async with runtime_over(SqliteStore(file)) as runtime:  # there is room again
            assert (await runtime.send("c", "ADD", event_id="e29")).outcome == "applied"
            assert (await runtime.get("c")).version == 2 + len(acknowledged)
        check(SqliteStore(file), acknowledged)

    asyncio.run(main())


class LostReply(sqlite3.Connection):
    """COMMIT takes effect, or not, and its reply is an error."""

    faults: list[str]

    def execute(self, sql: str, *arguments: Any) -> Any:
        if sql == "COMMIT" and self.faults:
            if self.faults.pop(0) == "after":
                super().execute(sql)
            else:
                super().execute("ROLLBACK")
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(sql, *arguments)


@pytest.mark.parametrize("faults", [["after"], ["before"], ["after", "before"], ["before", "after"], ["before", "before", "after"]])
def test_when_the_reply_to_a_commit_is_lost_the_event_is_looked_up(tmp_path: Path, faults: list[str]) -> None:
    remaining: list[str] = []

    def made(path: str) -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=LostReply)
        connection.faults = remaining
        return connection

    async def main() -> None:
        async with runtime_over(SqliteStore(tmp_path / "r.db", connect=made)) as runtime:
            await runtime.start("counter", "c")
            remaining.extend(faults)
            receipt = await runtime.send("c", "ADD", event_id="e")
            assert (receipt.outcome, receipt.version) == ("applied", 2)
            assert (await runtime.send("c", "ADD", event_id="e")).outcome == "duplicate"
            assert (await runtime.send("c", "ADD", event_id="f")).version == 3
        check(SqliteStore(tmp_path / "r.db"), {("c", "e"): "applied", ("c", "f"): "applied"})

    asyncio.run(main())


def test_when_it_cannot_be_looked_up_the_sender_is_told(tmp_path: Path) -> None:
    remaining: list[str] = []

    def made(path: str) -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=LostReply)
        connection.faults = remaining
        return connection

    async def main() -> None:
        async with runtime_over(SqliteStore(tmp_path / "r.db", connect=made)) as runtime:
            await runtime.start("counter", "c")
            remaining.extend(["after"] + ["before"] * 9)
            with pytest.raises(CommitUnknown, match="cannot be asked what became of it"):
                await runtime.send("c", "ADD", event_id="e")
            remaining.clear()
            again = await runtime.send("c", "ADD", event_id="e")
            assert again.outcome == "duplicate" and again.is_applied

    asyncio.run(main())


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_state_one_byte_over_the_limit(tmp_path: Path, over: int) -> None:
    async def main() -> None:
        async with runtime_over(SqliteStore(tmp_path / "l.db")) as runtime:
            await runtime.start("counter", "c")
            await runtime.send("c", {"type": "ADD", "ballast": "x" * 1_000})
            size = len((await runtime.get("c")).state or "")
        limits = Limits(state=size)
        runtime = Runtime(SqliteStore(tmp_path / "m.db"), [counter()], clock=SystemClock(), limits=limits)
        async with runtime:
            await runtime.start("counter", "c")
            receipt = await runtime.send("c", {"type": "ADD", "ballast": "x" * (1_000 + over)}, event_id="e")
            assert receipt.outcome == ("dead" if over > 0 else "applied")
            assert (await runtime.get("c")).version == (1 if over > 0 else 2)

    asyncio.run(main())


def test_a_full_queue_refuses_and_forgets_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        file = tmp_path / "q.db"
        async with runtime_over(SqliteStore(file)) as runtime:
            await runtime.start("counter", "c")
        async with Runtime(SqliteStore(file), clock=SystemClock(), limits=Limits(queue=3)) as runtime:
            for n in range(3):
                assert (await runtime.send("c", "ADD", event_id=f"e{n}")).outcome == "accepted"
            with pytest.raises(Busy, match="3 events wait"):
                await runtime.send("c", "ADD", event_id="e3")
            assert (await runtime.send("c", "ADD", event_id="e2")).outcome == "duplicate"
        async with runtime_over(SqliteStore(file)) as runtime:
            await runtime.run_worker(until_idle=True)
            assert (await runtime.get("c")).version == 4

    asyncio.run(main())
