"""What is SQLite's own: the file, its settings, its statements."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from store_backends import Backend
from store_desk import Desk, shuttle
from store_process import processes
from store_schemas import FILES, sqlite_schema

from statecharts.adapters.stores.sql_files import Migration
from statecharts.adapters.stores.sqlite import SqliteStore
from statecharts.adapters.stores.sqlite_files import (
    check_schema,
    file_system,
    migrate,
    refuse_shares,
    schema_version,
)
from statecharts.durability.commits import Commit, Job, Loaded
from statecharts.errors import CommitUnknown, StoreError, StoreVersionError


def pragma(connection: Any, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.parametrize(("level", "number"), [("FULL", 2), ("NORMAL", 1), ("EXTRA", 3)])
def test_every_connection_has_the_settings(tmp_path: Path, level: str, number: int) -> None:
    store = SqliteStore(tmp_path / "s.db", synchronous=level)
    store.open()
    for connection in (store._writer, store._reader):
        assert pragma(connection, "synchronous") == number and pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "foreign_keys") == 1 and pragma(connection, "mmap_size") == 0
        assert pragma(connection, "wal_autocheckpoint") == 0 and pragma(connection, "busy_timeout") == 30_000
    store.reset()
    assert pragma(store._writer, "synchronous") == pragma(store._reader, "synchronous") == number
    store.close()


def test_full_is_what_one_gets(sqlite: Backend) -> None:
    assert pragma(sqlite.store()._writer, "synchronous") == 2
    with pytest.raises(StoreError, match="FULL, NORMAL or EXTRA"):
        sqlite.made(synchronous="OFF")


def test_a_file_of_another_application_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(StoreError, match="another application"):
        SqliteStore(path).open()


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        SqliteStore(tmp_path / "s.db").open()
    with pytest.raises(StoreError, match="no directory"):
        SqliteStore(tmp_path / "nowhere" / "s.db").open()


def test_a_closed_store_says_so(sqlite: Backend) -> None:
    store = sqlite.store()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.instance("main", "a")
    with pytest.raises(StoreError, match="closed"):
        store.commit([])


# ---------------------------------------------------------------------- schema


def set_meta(backend: Backend, **values: int) -> None:
    with sqlite3.connect(backend._path) as connection:
        connection.executemany("UPDATE meta SET value = ? WHERE name = ?", [(str(value), name) for name, value in values.items()])
    connection.close()


def test_an_older_schema_waits_for_a_migration(sqlite: Backend) -> None:
    store = sqlite.made()
    with pytest.raises(StoreVersionError, match="schema 0, this release needs 1; run `statecharts store migrate`"):
        store.open(migrating=False)
    store.open()
    store.close()
    store.open(migrating=False)
    store.close()


def test_a_newer_schema_is_read_if_it_says_that_it_can_be(sqlite: Backend) -> None:
    sqlite.store().close()
    set_meta(sqlite, schema=2, min_reader=1)
    sqlite.store().close()
    set_meta(sqlite, schema=2, min_reader=2)
    with pytest.raises(StoreVersionError, match="takes a release that knows 2; this one knows 1"):
        sqlite.made().open()


def test_migrations_are_taken_once(sqlite: Backend) -> None:
    store = sqlite.store()
    assert migrate(store._writer) == []
    check_schema(store._writer, "x")
    assert store._writer.execute("SELECT value FROM meta WHERE name = 'epoch'").fetchone() == ("1",)


def test_the_schema_is_what_all_migrations_make(sqlite: Backend) -> None:
    sqlite.store()
    assert sqlite_schema(sqlite._path) == (FILES / "sqlite.sql").read_text("utf-8"), "python tests/stores/store_schemas.py writes it anew"


def test_a_migration_that_fails_leaves_the_schema_before_it(sqlite: Backend) -> None:
    store = sqlite.store()
    steps = (Migration(2, "two", 1, "CREATE TABLE two (x)"), Migration(3, "three", 3, "CREATE TABLE three (x);\nnonsense"))
    with pytest.raises(sqlite3.OperationalError):
        migrate(store._writer, steps)
    names = {name for (name,) in store._writer.execute("SELECT name FROM sqlite_schema")}
    assert schema_version(store._writer) == (2, 1) and "two" in names and "three" not in names
    assert migrate(store._writer, steps[:1]) == []


# -------------------------------------------------------------- network shares


MOUNTS = """\
/dev/vda1 / ext4 rw 0 0
server:/x /mnt/share nfs4 rw 0 0
/dev/vdb1 /mnt/share/local ext4 rw 0 0
//server/y /mnt/with\\040blank cifs rw 0 0
broken
"""


def test_network_shares_are_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    for path, kind in (
        ("/home/s.db", "ext4"),
        ("/mnt/share/s.db", "nfs4"),
        ("/mnt/share/local/s.db", "ext4"),
        ("/mnt/shared/s.db", "ext4"),
        ("/mnt/with blank/deep/s.db", "cifs"),
    ):
        assert file_system(Path(path), str(mounts)) == kind
    with pytest.raises(StoreError, match=r"network share \(nfs4\)"):
        refuse_shares(Path("/mnt/share/s.db"), str(mounts))
    refuse_shares(Path("/mnt/share/local/s.db"), str(mounts))
    refuse_shares(Path("/mnt/share/s.db"), str(tmp_path / "none"))


# ------------------------------------------------------------------ statements


def traced(store: Any) -> list[str]:
    """What the writing connection is given from now on, by its first word; comments of the trace left out."""
    said: list[str] = []
    store._writer.set_trace_callback(lambda sql: said.append(sql.split()[0]))
    return said


def test_a_typical_event_takes_nine_statements(sqlite: Backend) -> None:
    """It leaves a state with a timer and enters one with a call: everything an event may touch but a withdrawal."""
    store = sqlite.store()
    desk = Desk(store, (shuttle(),))
    desk.start("a", "shuttle")
    said = traced(store)
    assert desk.send("a", "GO").outcome == "applied"
    store._writer.set_trace_callback(None)
    counts = Counter(said)
    assert (counts.pop("BEGIN"), counts.pop("COMMIT")) == (1, 1)
    assert sum(counts.values()) <= 9, said
    assert len(store.timers("main", "a")) == len(desk.effects()) == 1


def test_64_events_share_a_commit(sqlite: Backend) -> None:
    store = sqlite.store()
    desk = Desk(store)
    for index in range(64):
        desk.start(f"i{index}")
    said = traced(store)
    answers = desk.run(*(desk.sending(f"i{index}", "ADD") for index in range(64)))
    assert {answer.outcome for answer in answers} == {"applied"}
    counts = Counter(said)
    assert (counts["BEGIN"], counts["COMMIT"], counts["SAVEPOINT"], counts["RELEASE"]) == (1, 1, 64, 64)


def test_a_statement_that_fails_takes_all_back(sqlite: Backend) -> None:
    store = sqlite.store()
    desk = Desk(store)
    desk.start("a")
    before = desk.all_of("a")
    store._writer.execute(f"PRAGMA max_page_count = {pragma(store._writer, 'page_count') + 3}")
    with pytest.raises(StoreError, match="full"):
        desk.run(desk.sending("a", "ADD", "fine"), *(desk.starting(f"b{index}") for index in range(100)))
    desk.decider.cache.clear()
    assert desk.all_of("a") == before and store.instance("main", "b0") is None
    store._writer.execute("PRAGMA max_page_count = 100000")
    assert desk.send("a", "ADD", "fine").outcome == "applied"


def test_a_full_disk_loses_nothing_that_was_answered(sqlite: Backend) -> None:
    store = sqlite.store()
    desk = Desk(store)
    desk.start("a")
    store._writer.execute(f"PRAGMA max_page_count = {pragma(store._writer, 'page_count') + 3}")
    answered = 0
    with pytest.raises(StoreError, match="full"):
        for index in range(1_000):
            desk.send("a", "ADD", f"e{index}", text="x" * 500)
            answered += 1
    desk.decider.cache.clear()
    assert answered and desk.count("a") == answered and len(store.log("main", "a")) == answered + 1
    store._writer.execute("PRAGMA max_page_count = 100000")
    assert desk.send("a", "ADD", f"e{answered}").outcome == "applied"


class Failing(sqlite3.Connection):
    """A connection on which a statement fails, once."""

    fails: str | None = None

    def execute(self, sql: str, *given: Any) -> Any:
        if self.fails is not None and sql.startswith(self.fails):
            Failing.fails = None
            if sql != "COMMIT":
                raise sqlite3.OperationalError("database is locked")
            super().execute(sql)
            raise sqlite3.OperationalError("disk I/O error")  # it is done all the same
        return super().execute(sql, *given)


def failing(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=Failing)


@pytest.mark.parametrize(
    ("statement", "error", "outcome"), [("BEGIN", StoreError, "applied"), ("COMMIT", CommitUnknown, "duplicate")]
)
def test_when_a_transaction_fails_at_its_ends(sqlite: Backend, statement: str, error: type[Exception], outcome: str) -> None:
    store = sqlite.store(connect=failing)
    desk = Desk(store)
    desk.start("a")
    Failing.fails = statement
    with pytest.raises(error) as caught:
        desk.send("a", "ADD", "e")
    assert type(caught.value) is error
    desk.decider.cache.clear()
    store.reset()
    assert desk.send("a", "ADD", "e").outcome == outcome and desk.count("a") == 1


def test_an_interrupt_takes_the_transaction_back(sqlite: Backend) -> None:
    store = sqlite.store()
    desk = Desk(store)
    desk.start("a")

    def interrupted(loaded: Loaded) -> Commit:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.run(desk.starting("b"), Job("main", "a", interrupted))
    assert store.instance("main", "b") is None and desk.send("a", "ADD").outcome == "applied"


# ------------------------------------------------------------- several processes


def test_two_processes_write_one_file(sqlite: Backend) -> None:
    """Scenario 306."""
    desk = Desk(sqlite.store())
    for index in range(20):
        desk.start(f"i{index}")
    processes("send", str(sqlite._path), "", ("one", "two"), 100)
    assert sum(desk.count(f"i{index}") for index in range(20)) == 200


def test_two_workers_claim_each_item_once(sqlite: Backend) -> None:
    """Scenario 309."""
    desk = Desk(sqlite.store())
    names = [f"i{index}" for index in range(1_000)]
    desk.run(*map(desk.starting, names))
    desk.run(*(desk.sending(name, "GO") for name in names))
    found = processes("claim", str(sqlite._path), "", ("one", "two"), 8)
    taken = Counter(id for out in found for id in out.split())
    assert len(taken) == 1_000 and set(taken.values()) == {1}


def test_one_process_checkpoints(sqlite: Backend) -> None:
    one, two = sqlite.store(), sqlite.store()
    assert one.checkpoint() and not two.checkpoint()
    one.close()
    assert two.checkpoint()
