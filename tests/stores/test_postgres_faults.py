"""PostgreSQL goes away, or refuses: what is certain is an error, what is not is CommitUnknown, and asking again tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import store_postgres as pg
from store_backends import Backend
from store_desk import Desk
from store_proxy import Proxy
from test_work import settled, told

from statecharts.adapters.stores.postgres import PostgresStore
from statecharts.durability.commits import Commit, Job, Loaded
from statecharts.durability.store import Claim
from statecharts.errors import CommitUnknown, StoreError


def backends_of(store: Any) -> list[int]:
    """The server's processes behind the free connections of a store."""
    return [connection.info.backend_pid for connection in store._pool._free]


def kill(pids: list[int]) -> None:
    with pg.outside() as connection:
        for pid in pids:
            connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


def trigger(schema: str, body: str) -> None:
    """Something that happens when a log row of the event ``boom`` is written."""
    with pg.outside() as connection:
        connection.execute(f"CREATE SEQUENCE {schema}.tries")
        connection.execute(f"CREATE FUNCTION {schema}.boom() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NEW; END $$")
        connection.execute(
            f"CREATE TRIGGER boom BEFORE INSERT ON {schema}.log FOR EACH ROW WHEN (NEW.event_id = 'boom') EXECUTE FUNCTION {schema}.boom()"
        )


def test_connections_that_died_are_not_used(postgres: Backend) -> None:
    store = postgres.store()
    desk = Desk(store)
    desk.start("a"), desk.send("a", "GO")
    kill(backends_of(store))
    assert desk.send("a", "ADD").outcome == "applied"
    kill(backends_of(store))
    assert len(desk.claim()) == 1
    kill(backends_of(store))
    assert desk.count("a") == 1


def test_a_connection_lost_before_the_write(postgres: Backend) -> None:
    store = postgres.store(pool=1)
    desk = Desk(store)
    desk.start("a")
    job = desk.sending("a", "ADD", "e")

    def decide(loaded: Loaded) -> Commit:
        with pg.outside() as connection:
            schema = f"%{postgres._schema}.%"
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE query LIKE %s AND pid <> pg_backend_pid()", (schema,)
            )
        return job.decide(loaded)

    with pytest.raises(CommitUnknown, match="lost while writing"):
        desk.ask(replace(job, decide=decide))
    store.reset()
    assert store.inbox("main", "a", event_id="e") == []
    assert desk.send("a", "ADD", "e").outcome == "applied"


def test_a_reset_makes_new_connections(postgres: Backend) -> None:
    store = postgres.store()
    Desk(store).start("a")
    before = backends_of(store)
    store.reset()
    assert before and not set(before) & set(backends_of(store))
    assert Desk(store).instance("a").version == 1


@pytest.fixture
def proxied(postgres: Backend) -> Iterator[tuple[Proxy, Any]]:
    """A store behind a wire that can be cut."""
    proxy = Proxy(postgres.url)
    store = PostgresStore(proxy.url, schema=postgres._schema, clock=postgres.clock)
    store.open()
    yield proxy, store
    store.close()
    proxy.close()


@pytest.mark.parametrize(("when", "outcome"), [("before", "applied"), ("after", "duplicate")])
def test_the_reply_to_a_commit_is_lost(proxied: tuple[Proxy, Any], when: str, outcome: str) -> None:
    proxy, store = proxied
    desk = Desk(store)
    desk.start("a")
    proxy.when, proxy.cut_at = when, b"apply_commit"
    with pytest.raises(CommitUnknown):
        desk.run(desk.sending("a", "ADD", "e"), desk.sending("a", "ADD", "f"))
    assert proxy.cuts == 1
    desk.decider.cache.clear()
    store.reset()
    assert [desk.send("a", "ADD", name).outcome for name in ("e", "f")] == [outcome, "applied"] and desk.count("a") == 2


@pytest.mark.parametrize("statement", [b"claim_effects", b"called_at = coalesce", b"beat = e.beat", b"settle_effect"])
def test_the_reply_to_a_workers_write_is_lost(proxied: tuple[Proxy, Any], statement: bytes) -> None:
    proxy, store = proxied
    desk = Desk(store)
    desk.start("a"), desk.send("a", "GO")
    proxy.cut_at = statement
    with pytest.raises(CommitUnknown):
        (row,) = desk.claim()
        store.call("main", row.id, row.fence, "w")
        store.beat("main", "w", [row.id])
        store.settle(settled(row, "DONE", outcome=told(row)))
    store.reset()
    assert desk.effects()[0].status == ("DONE" if statement == b"settle_effect" else "RUNNING")


def test_a_reading_that_is_lost_is_made_again(proxied: tuple[Proxy, Any]) -> None:
    proxy, store = proxied
    desk = Desk(store)
    desk.start("a")
    for statement in (b"ORDER BY due_at", b"load_instance"):
        proxy.cut_at = statement
        assert store.timers("main", "a") == [] and desk.send("a", "ADD").outcome == "applied"
    assert proxy.cuts == 2 and desk.count("a") == 2


def test_a_failure_after_others_were_written_is_not_called_nothing(postgres: Backend) -> None:
    trigger(postgres_opened(postgres)._schema, "RAISE EXCEPTION 'no space' USING ERRCODE = '53100';")
    desk = Desk(postgres.store())
    desk.start("a"), desk.start("b")
    with pytest.raises(CommitUnknown, match="some of the jobs"):
        desk.run(desk.sending("a", "ADD"), desk.sending("b", "ADD", "boom"))
    assert (desk.count("a"), desk.count("b")) == (1, 0)


def postgres_opened(backend: Backend) -> Backend:
    """With its tables."""
    backend.store().close()
    return backend


def test_a_full_disk_is_certain(postgres: Backend) -> None:
    trigger(postgres_opened(postgres)._schema, "RAISE EXCEPTION 'no space' USING ERRCODE = '53100';")
    desk = Desk(postgres.store())
    desk.start("a")
    before = desk.all_of("a")
    with pytest.raises(StoreError, match="no space") as caught:
        desk.send("a", "ADD", "boom")
    assert type(caught.value) is StoreError and desk.all_of("a") == before
    assert desk.send("a", "ADD").outcome == "applied"


@pytest.mark.parametrize("code", ["40001", "40P01"])
def test_serialization_failures_and_deadlocks_are_tried_again(postgres: Backend, code: str) -> None:
    schema = postgres_opened(postgres)._schema
    trigger(schema, f"IF nextval('{schema}.tries') < 4 THEN RAISE EXCEPTION 'meanwhile' USING ERRCODE = '{code}'; END IF;")
    desk = Desk(postgres.store())
    desk.start("a")
    assert desk.send("a", "ADD", "boom").outcome == "applied" and desk.count("a") == 1
    with pg.outside() as connection:
        assert connection.execute(f"SELECT last_value FROM {schema}.tries").fetchone() == (4,)


def test_a_worker_tries_a_deadlock_again(postgres: Backend) -> None:
    schema = postgres_opened(postgres)._schema
    trigger(schema, f"IF nextval('{schema}.tries') < 3 THEN RAISE EXCEPTION 'meanwhile' USING ERRCODE = '40P01'; END IF;")
    with pg.outside() as connection:
        connection.execute(f"CREATE TRIGGER boom BEFORE UPDATE ON {schema}.effect FOR EACH ROW EXECUTE FUNCTION {schema}.boom()")
    desk = Desk(postgres.store())
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    assert (row.fence, row.attempts) == (1, 1)


def test_what_the_database_cannot_keep_is_that_jobs_answer(postgres: Backend) -> None:
    desk = Desk(postgres.store())
    desk.start("a")

    def spoiled(text: str) -> Job:
        job = desk.sending("a", "ADD")

        def decide(loaded: Loaded) -> Commit:
            commit = job.decide(loaded)
            commit.arrived = [replace(row, actor=text) for row in commit.arrived]
            return commit

        return replace(job, decide=decide)

    answers = desk.run(spoiled("nul \0"), spoiled("half \ud800"), desk.sending("a", "ADD"))
    assert [isinstance(answer, Exception) for answer in answers] == [True, True, False]
    with pytest.raises(StoreError, match="cannot keep"):
        desk.store.instance("main", "nul \0")
    assert desk.count("a") == 1


def test_an_interrupt_leaves_nothing_behind(postgres: Backend) -> None:
    store = postgres.store(pool=1)
    desk = Desk(store)
    desk.start("a")

    def interrupted(loaded: Loaded) -> Commit:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.run(Job("main", "a", interrupted))
    assert desk.send("a", "ADD").outcome == "applied"


def test_an_outcome_whose_id_is_taken_is_an_error(postgres: Backend) -> None:
    desk = Desk(postgres.store())
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    desk.send("a", "ADD", f"result:{row.id}")
    before = desk.all_of("a")
    with pytest.raises(StoreError):
        desk.store.settle(settled(row, "DONE", outcome=told(row)))
    assert desk.all_of("a") == before


def test_the_end_of_a_store_that_is_used(postgres: Backend) -> None:
    store = postgres.store()
    Desk(store).start("a")
    store.close()
    claim = Claim(namespace="main", owner="w", definitions=(), limit=1)
    asked = (store.reset, store.definitions, lambda: store.claim(claim), lambda: store.commit([Job("main", "a", Commit)]))
    for ask in asked:
        with pytest.raises(StoreError, match="closed"):
            ask()
