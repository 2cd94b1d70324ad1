"""Writers that meet: what one has decided is true when it is written, or it decides again."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import store_postgres as pg
from store_backends import Backend
from store_desk import Counted, Desk, clerk
from test_work import settled

from statecharts.durability.commits import Commit, Job, Loaded
from statecharts.durability.migrations import Migration
from statecharts.durability.moves import MovePlan


def at_once(number: int, work: Callable[[int], Any]) -> list[Any]:
    """``work`` in so many threads, all begun at a barrier."""
    barrier = threading.Barrier(number)

    def begin(index: int) -> Any:
        barrier.wait(20)
        return work(index)

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(begin, range(number)))


def test_two_deciders_with_stale_caches(backend: Backend) -> None:
    one, two = Desk(backend.store()), Desk(backend.store())
    one.start("a")
    for index in range(6):
        desk = (one, two)[index % 2]
        assert desk.send("a", "ADD", f"x{index}").version == index + 2
    assert one.count("a") == 6


def test_eight_threads_and_one_instance(backend: Backend) -> None:
    store = backend.store()
    Desk(store).start("a")

    def work(index: int) -> list[str]:
        desk = Desk(store, entropy=Counted())
        return [desk.send("a", "ADD", f"{index}-{number}").outcome for number in range(10)]

    outcomes = Counter(outcome for found in at_once(8, work) for outcome in found)
    desk = Desk(store)
    assert outcomes == {"applied": 80} and desk.count("a") == 80
    log = store.log("main", "a")
    assert [row.version for row in log] == list(range(1, 82)) and len({row.event_id for row in log}) == 81
    assert all(newer.previous == older.hash for older, newer in itertools.pairwise(log))


def test_the_same_event_from_eight_threads_is_applied_once(backend: Backend) -> None:
    store = backend.store()
    Desk(store).start("a")
    receipts = at_once(8, lambda index: Desk(store).send("a", "ADD", "e"))
    assert Counter(one.outcome for one in receipts) == {"applied": 1, "duplicate": 7}
    assert Desk(store).count("a") == 1 and len({one.version for one in receipts}) == 1


def test_the_same_start_from_eight_threads_begins_once(backend: Backend) -> None:
    store = backend.store()
    receipts = at_once(8, lambda index: Desk(store).start("a"))
    assert Counter(one.outcome for one in receipts) == {"applied": 1, "duplicate": 7}


def test_two_claims_never_take_the_same(backend: Backend) -> None:
    store = backend.store()
    desk = Desk(store)
    for index in range(40):
        desk.start(f"i{index}"), desk.send(f"i{index}", "GO")

    def work(index: int) -> list[str]:
        found = []
        while rows := desk.claim(3, owner=f"w{index}"):
            found += [row.id for row in rows]
        return found

    taken = [id for found in at_once(8, work) for id in found]
    assert len(taken) == len(set(taken)) == 40


def test_claims_side_by_side_keep_keys_apart_and_actions_in_order(backend: Backend) -> None:
    store = backend.store()
    desk = Desk(store)
    for name in ("a", "b", "c"):
        desk.start(name)
        for _ in range(8):
            desk.send(name, "TELL")
    for index in range(12):
        desk.start(f"k{index}"), desk.send(f"k{index}", "KEYED")
    running: set[str] = set()
    order: list[tuple[str, int]] = []
    faults: list[str] = []
    guard = threading.Lock()

    def slot(row: Any) -> str:
        return row.key if row.lane is None else row.instance

    def work(index: int) -> None:
        idle = 0
        while idle < 20:
            rows = desk.claim(4, owner=f"w{index}")
            idle = 0 if rows else idle + 1
            with guard:
                for row in rows:
                    if slot(row) in running:
                        faults.append(row.id)
                    running.add(slot(row))
                    order.append((slot(row), row.version))
            for row in rows:
                with guard:
                    running.discard(slot(row))
                assert store.settle(settled(row, "DONE"))

    at_once(8, work)
    assert faults == [] and not desk.effects(statuses=("PENDING", "RUNNING"))
    for name in ("a", "b", "c"):
        assert [version for slot_, version in order if slot_ == name] == list(range(2, 10))
    assert len(order) == 3 * 8 + 12


def test_settling_while_events_come(backend: Backend) -> None:
    """The two lock the same rows; neither waits for the other for ever, and both are written."""
    store = backend.store()
    desk = Desk(store)
    names = [f"i{index}" for index in range(10)]
    for name in names:
        desk.start(name), desk.send(name, "GO")
    rows = desk.claim(10)

    def work(index: int) -> None:
        if index % 2:
            mine = Desk(store)
            for name in names:
                mine.send(name, "LEAVE", f"leave-{name}-{index}")
        else:
            for row in rows:
                store.beat("main", "w", [one.id for one in rows])
                store.settle(settled(row, "DONE", result="null"))

    at_once(4, work)
    assert {row.status for row in desk.effects()} == {"DONE"}
    assert {desk.instance(name).configuration for name in names} == {'["clerk.idle"]'}


def test_a_writer_in_between_makes_the_decision_anew(postgres: Backend) -> None:
    desk, other = Desk(postgres.store()), Desk(postgres.store())
    desk.start("a")
    job = desk.sending("a", "ADD", "mine")
    versions: list[int] = []

    def decide(loaded: Loaded) -> Commit:
        assert loaded.instance is not None
        versions.append(loaded.instance.version)
        if len(versions) < 3:
            other.send("a", "ADD", f"theirs{len(versions)}")
        return job.decide(loaded)

    assert desk.ask(Job("main", "a", decide, "mine")).version == 4
    assert versions == [1, 2, 3] and desk.count("a") == 3


def test_a_start_in_between_is_found(postgres: Backend) -> None:
    desk, other = Desk(postgres.store()), Desk(postgres.store())
    job = desk.starting("a")

    def decide(loaded: Loaded) -> Commit:
        if loaded.instance is None:
            other.start("a")
        return job.decide(loaded)

    assert desk.ask(Job("main", "a", decide, job.event_id)).outcome == "duplicate"
    assert desk.instance("a").version == 1


def test_who_always_loses_is_told_so(postgres: Backend) -> None:
    desk, other = Desk(postgres.store()), Desk(postgres.store())
    desk.start("a")
    tries: list[Loaded] = []
    job = desk.sending("a", "ADD", "mine")

    def decide(loaded: Loaded) -> Commit:
        tries.append(loaded)
        other.send("a", "ADD")
        return job.decide(loaded)

    answers = desk.run(Job("main", "a", decide, "mine"), desk.starting("b"))
    assert "20 attempts" in str(answers[0]) and len(tries) == 20 and answers[1].outcome == "applied"
    assert desk.store.inbox("main", "a", event_id="mine") == [] and desk.count("a") == 20


def test_an_effect_that_is_claimed_while_its_instance_moves(postgres: Backend) -> None:
    store = postgres.store()
    old, new = clerk(), clerk(description="another")
    desk, both = Desk(store, (old,)), Desk(store, (old, new))
    desk.start("a"), desk.send("a", "GO")
    migration = Migration(both.decider, store.definition(desk.definitions[0]), both.hosted[1], MovePlan())
    job = migration.job("main", "a", desk.order())
    loads: list[Loaded] = []

    def decide(loaded: Loaded) -> Commit:
        commit = job.decide(loaded)
        if not loads:
            desk.claim()
        loads.append(loaded)
        return commit

    assert "RUNNING" in str(both.ask(replace(job, decide=decide)).problems) and len(loads) == 2
    assert desk.instance("a").definition == desk.definitions[0]


def test_a_change_to_the_row_alone_is_guarded_too(postgres: Backend) -> None:
    """No row of its own collides with another's here; only the revision tells."""
    store = postgres.store()
    desk = Desk(store)
    desk.start("a")

    def noting(text: str, seen: list[Loaded], between: Callable[[], Any] = lambda: None) -> Job:
        def decide(loaded: Loaded) -> Commit:
            assert loaded.instance is not None
            seen.append(loaded)
            if len(seen) == 1:
                between()
            row = loaded.instance
            return Commit(None, row, replace(row, state=None, revision=row.revision + 1, last_error=f"{row.last_error}+{text}"))

        return Job("main", "a", decide)

    mine: list[Loaded] = []
    desk.ask(noting("mine", mine, lambda: desk.ask(noting("theirs", []))))
    assert len(mine) == 2 and desk.instance("a").last_error == "None+theirs+mine" and desk.instance("a").revision == 3


def test_a_claim_waits_for_one_that_is_not_committed(postgres: Backend) -> None:
    """Else it would not see what that one takes, and an older effect of the key that is called again would run beside it."""
    store = postgres.store()
    desk = Desk(store)
    for name in ("a", "b"):
        desk.start(name), desk.send(name, "KEYED")
    (older,) = desk.claim()
    assert store.settle(settled(older, "FAILED"))
    schema = postgres._schema
    with pg.outside() as one, ThreadPoolExecutor(1) as thread:
        with one.transaction():
            taken = one.execute(
                f"SELECT id FROM {schema}.claim_effects('main', 'x', %s, 5, %s)", (list(desk.definitions), postgres.clock.ms)
            ).fetchall()
            assert len(taken) == 1
            with pg.outside() as other:
                other.execute(f"UPDATE {schema}.effect SET status = 'PENDING' WHERE id = %s", (older.id,))
            claiming = thread.submit(desk.claim)
            time.sleep(0.2)
            assert not claiming.done()
        assert claiming.result(20) == []
