"""What is PostgreSQL's own: round trips, settings, schema, hints."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import store_postgres as pg
from store_backends import Backend
from store_desk import Desk, shuttle
from store_process import processes
from store_schemas import FILES, postgres_schema
from test_races import at_once
from test_work import settled, told

from statecharts.adapters.stores.postgres import PostgresStore
from statecharts.adapters.stores.postgres_schema import check_settings, migrate, schema_version
from statecharts.adapters.stores.sql_files import Migration
from statecharts.durability.commits import Commit, Job, Loaded
from statecharts.errors import StoreError, StoreVersionError

# ----------------------------------------------------------------- round trips


def sent(store: Any, path: Path, work: Callable[[], Any]) -> list[str]:
    """The messages that a store with one connection sends to the server, as libpq writes them down."""
    with store._pool.lease() as connection:
        wire = connection.pgconn
    with path.open("wb") as file:
        wire.trace(file.fileno())
        wire.set_trace_flags(1)  # without times
        work()
        wire.untrace()
    return [line for line in path.read_text("utf-8", "replace").splitlines() if line.startswith("F\t")]


def trips(messages: list[str]) -> int:
    """Each Sync or Query asks for an answer."""
    return sum(line.split("\t")[2] in ("Sync", "Query") for line in messages)


def test_an_event_takes_two_round_trips(postgres: Backend, tmp_path: Path) -> None:
    store = postgres.store(pool=1, clock=None)
    desk = Desk(store, (shuttle(),))
    desk.start("a", "shuttle")
    messages = sent(store, tmp_path / "trace", lambda: desk.send("a", "GO"))
    assert trips(messages) == 2, messages
    assert len(store.timers("main", "a")) == len(desk.effects()) == 1


def test_a_known_event_and_one_that_waits_take_no_more(postgres: Backend, tmp_path: Path) -> None:
    store = postgres.store(pool=1)
    desk, gate = Desk(store), Desk(store, ())
    desk.start("a"), desk.send("a", "ADD", "e")
    assert trips(sent(store, tmp_path / "trace", lambda: desk.send("a", "ADD", "e"))) == 1
    for _ in range(5):
        assert trips(sent(store, tmp_path / "trace", lambda: gate.send("a", "ADD"))) == 2
    assert trips(sent(store, tmp_path / "trace", lambda: desk.advance("a"))) == 2 and desk.count("a") == 6


def test_work_takes_one_round_trip_a_call(postgres: Backend, tmp_path: Path) -> None:
    store = postgres.store(pool=1)
    desk = Desk(store)
    desk.start("a"), desk.send("a", "GO")
    taken: list[Any] = []
    assert trips(sent(store, tmp_path / "trace", lambda: taken.extend(desk.claim()))) == 1
    (row,) = taken
    for work in (
        lambda: store.call("main", row.id, row.fence, "w"),
        lambda: store.beat("main", "w", [row.id]),
        lambda: store.settle(settled(row, "DONE", result="null", outcome=told(row))),
    ):
        assert trips(sent(store, tmp_path / "trace", work)) == 1
    assert desk.instance("a").pending == 1


def test_no_connection_keeps_a_state(postgres: Backend, tmp_path: Path) -> None:
    """So that a pooler may give each transaction another connection."""
    store = postgres.store(pool=1)
    desk = Desk(store)

    def work() -> None:
        for name in "abcdefgh":
            desk.start(name), desk.send(name, "GO"), desk.claim(), store.next_due("main", desk.definitions)

    messages = sent(store, tmp_path / "trace", work)
    parsed = [line for line in messages if "\tParse\t" in line]
    assert parsed and all('\tParse\t "" ' in line for line in parsed)
    assert not any(word in line for line in messages for word in ('"BEGIN', '"SET ', "LISTEN", "pg_advisory_lock"))


def test_lanes_run_side_by_side(postgres: Backend) -> None:
    store = postgres.store()
    assert store.lanes == 4 and postgres.made(pool=2).lanes == 2
    meeting = threading.Barrier(4)

    def meet(loaded: Loaded) -> Commit:
        meeting.wait(10)
        return Commit("met")

    assert [answer[0].answer for answer in at_once(4, lambda index: store.commit([Job("main", f"i{index}", meet)]))] == ["met"] * 4
    with pytest.raises(StoreError, match="at least one"):
        postgres.made(pool=0)


# -------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("synchronous_commit=off", "synchronous_commit is off"),
        ("default_transaction_isolation=serializable", "'read committed'"),
        ("default_transaction_isolation=repeatable\\ read", "'read committed'"),
        ("default_transaction_read_only=on", "takes no writes"),
    ],
)
def test_settings_that_lose_data_are_refused(postgres: Backend, setting: str, message: str) -> None:
    from psycopg.conninfo import make_conninfo

    store = PostgresStore(make_conninfo(pg.server_url(), options=f"-c {setting}"), schema=postgres._schema)
    with pytest.raises(StoreError, match=message):
        store.open()
    with pytest.raises(StoreError, match="closed"):
        store.now()


@pytest.mark.parametrize(
    ("place", "value", "message"), [(1, "off", "fsync is off"), (2, "LATIN1", "LATIN1"), (5, 110_022, "PostgreSQL 11")]
)
def test_servers_that_lose_data_are_refused(place: int, value: Any, message: str) -> None:
    found: list[Any] = ["on", "on", "UTF8", "read committed", "off", 150_000]

    class Connection:
        def execute(self, sql: bytes, given: Any) -> Any:
            return self

        def fetchall(self) -> Any:
            return [tuple(found)]

    pytest.importorskip("psycopg")
    check_settings(Connection(), "s")  # type: ignore[arg-type]
    found[place] = value
    with pytest.raises(StoreError, match=message):
        check_settings(Connection(), "s")  # type: ignore[arg-type]


def test_every_connection_flushes(postgres: Backend) -> None:
    store = postgres.store(pool=2)
    with store._pool.lease() as one, store._pool.lease() as two:
        for connection in (one, two):
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
            assert connection.execute("SHOW fsync").fetchone() == ("on",)


def test_without_the_driver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(StoreError, match=r"pip install 'statecharts\[postgres\]'"):
        PostgresStore("postgresql://nowhere/").open()


def test_nobody_there(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="cannot be reached"):
        PostgresStore(f"postgresql:///x?host={tmp_path}").open()


# ---------------------------------------------------------------------- schema


@pytest.mark.parametrize("name", ["", "Upper", 'x"; DROP TABLE y', "1st", "pg_mine", "x" * 41, "a-b"])
def test_names_of_schemas(name: str) -> None:
    with pytest.raises(StoreError, match="schema's name"):
        PostgresStore("postgresql://nowhere/", schema=name)


def test_schemas_are_stores_of_their_own(postgres: Backend, tmp_path: Path) -> None:
    other = Backend("postgres", tmp_path, postgres.clock)
    one, two = Desk(postgres.store()), Desk(other.store())
    one.start("a"), two.start("a")
    one.send("a", "ADD", "e")
    assert (one.count("a"), two.count("a"), two.send("a", "ADD", "e").outcome) == (1, 0, "applied")
    other.close()


def set_meta(backend: Backend, **values: int) -> None:
    with pg.outside() as connection:
        for name, value in values.items():
            connection.execute(f"UPDATE {backend._schema}.meta SET value = %s WHERE name = %s", (str(value), name))


def test_an_older_schema_waits_for_a_migration(postgres: Backend) -> None:
    with pytest.raises(StoreVersionError, match="schema 0, this release needs 1; run `statecharts store migrate`"):
        postgres.made().open(migrating=False)
    postgres.store().close()
    store = postgres.made()
    store.open(migrating=False)
    store.close()


def test_a_newer_schema_is_read_if_it_says_that_it_can_be(postgres: Backend) -> None:
    postgres.store().close()
    set_meta(postgres, schema=2, min_reader=1)
    postgres.store().close()
    set_meta(postgres, schema=2, min_reader=2)
    with pytest.raises(StoreVersionError, match="takes a release that knows 2; this one knows 1"):
        postgres.made().open()


def test_the_schema_is_what_all_migrations_make(postgres: Backend) -> None:
    postgres.store()
    with pg.outside() as connection:
        found = postgres_schema(connection, postgres._schema)
        assert found == (FILES / "postgres.sql").read_text("utf-8"), "python tests/stores/store_schemas.py writes it anew"
        assert migrate(connection, postgres._schema) == []


def test_a_migration_that_fails_leaves_the_schema_before_it(postgres: Backend) -> None:
    postgres.store()
    steps = (Migration(2, "two", 1, "CREATE TABLE {schema}.two ()"), Migration(3, "three", 3, "CREATE TABLE {schema}.three (); nonsense"))
    with pg.outside() as connection:
        with pytest.raises(StoreError, match="nonsense"):
            migrate(connection, postgres._schema, steps)
        assert schema_version(connection, postgres._schema) == (2, 1)
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (postgres._schema,)).fetchall()
        assert ("two",) in tables and ("three",) not in tables


def test_four_processes_migrate_at_once(postgres: Backend) -> None:
    processes("open", postgres.url, postgres._schema, ("1", "2", "3", "4"), 0)
    with pg.outside() as connection:
        rows = connection.execute(f"SELECT name, value FROM {postgres._schema}.meta ORDER BY name").fetchall()
    assert rows == [("epoch", "1"), ("min_reader", "1"), ("schema", "1")]


def test_two_processes_write_and_claim(postgres: Backend) -> None:
    desk = Desk(postgres.store())
    for index in range(20):
        desk.start(f"i{index}")
    processes("send", postgres.url, postgres._schema, ("one", "two"), 100)
    assert sum(desk.count(f"i{index}") for index in range(20)) == 200
    for index in range(100):
        desk.start(f"c{index}"), desk.send(f"c{index}", "GO")
    taken = [id for out in processes("claim", postgres.url, postgres._schema, ("one", "two"), 8) for id in out.split()]
    assert len(taken) == len(set(taken)) == 100


# ----------------------------------------------------------------------- clock


def test_the_clock_is_the_databases(postgres: Backend) -> None:
    store = postgres.store(clock=None)
    desk = Desk(store)
    before = store.now()
    assert abs(before - time.time() * 1000) < 60_000
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    assert store.call("main", row.id, row.fence, "w")
    store.settle(settled(row, "DONE"))
    row = desk.effects()[0]
    times = [before, desk.instance("a").created_at, row.created_at, row.called_at, row.settled_at, store.now()]
    assert times == sorted(times)
    desk.send("a", "LEAVE"), desk.send("a", "WAIT")
    assert store.due("main", desk.definitions, 5) == []


# ----------------------------------------------------------------------- hints


def test_a_hint_wakes_who_waits(postgres: Backend) -> None:
    listening, store = postgres.store(), postgres.store()
    desk = Desk(store)
    desk.start("a")
    assert listening.wait_for_work(0.05) in (True, False)  # begins to listen
    while listening.wait_for_work(0.3):
        pass
    desk.send("a", "ADD")  # leaves nothing to do
    assert not listening.wait_for_work(0.3)
    for work in (
        lambda: desk.send("a", "GO"),
        lambda: store.settle(settled(desk.claim()[0], "PENDING")),
        lambda: Desk(store, ()).send("a", "ADD"),
    ):
        began = time.monotonic()
        work()
        assert listening.wait_for_work(20) and time.monotonic() - began < 10
        while listening.wait_for_work(0.2):
            pass


def test_waiting_without_a_server_is_waiting(postgres: Backend, tmp_path: Path) -> None:
    store = postgres.store(listen_url=f"postgresql:///x?host={tmp_path}")
    began = time.monotonic()
    assert not store.wait_for_work(0.3) and time.monotonic() - began >= 0.25
    Desk(store).start("a")
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.wait_for_work(1)


def test_closing_ends_the_waiting(postgres: Backend) -> None:
    store = postgres.store()
    waiting = threading.Thread(target=store.wait_for_work, args=(60,))
    waiting.start()
    time.sleep(0.1)
    store.close()
    waiting.join(10)
    assert not waiting.is_alive()
