"""Starting and telling: what is written for an event, once, and for one that cannot be applied."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from store_backends import Backend
from store_desk import Desk

from statecharts.durability.commits import Commit, Job, Loaded
from statecharts.errors import Busy, UnknownInstance


def test_an_empty_store_knows_nothing(desk: Desk) -> None:
    store = desk.store
    assert store.instance("main", "a") is None and store.definition("x") is None and store.definitions() == []
    assert desk.all_of("a") == (None, [], [], [], [])
    assert store.due("main", desk.definitions, 10) == [] and store.next_due("main", desk.definitions) is None
    with pytest.raises(UnknownInstance):
        desk.send("a", "ADD")
    assert desk.advance("a") == 0


def test_a_start_writes_all_of_it(desk: Desk, backend: Backend) -> None:
    receipt = desk.start("a", event_id="begin")
    assert (receipt.outcome, receipt.version, receipt.states) == ("applied", 1, ("clerk.idle",))
    row, inbox, log, effects, timers = desk.all_of("a")
    assert (row.version, row.revision, row.status, row.next_seq, row.pending) == (1, 1, "active", 2, 0)
    assert (row.created_at, row.is_suspended, row.needs_attention) == (backend.clock.ms, False, False)
    assert [(one.seq, one.event_id, one.status, one.version) for one in inbox] == [(1, "begin", "applied", 1)]
    assert [(one.version, one.kind, one.event_id) for one in log] == [(1, "start", "begin")]
    assert (effects, timers) == ([], []) and log[0].hash == row.head
    assert desk.store.definition(row.definition) == desk.hosted[0].row(backend.clock.ms)


def test_a_second_start_is_a_duplicate_or_refused(desk: Desk) -> None:
    desk.start("a", event_id="begin")
    before = desk.all_of("a")
    assert desk.start("a", event_id="begin").outcome == "duplicate"
    assert desk.start("a", event_id="another").outcome == "refused"
    assert desk.all_of("a") == before


def test_an_event_is_applied_once(desk: Desk) -> None:
    desk.start("a")
    first = desk.send("a", "ADD", "e")
    again = desk.send("a", "ADD", "e")
    assert (first.outcome, again.outcome, again.first) == ("applied", "duplicate", first)
    assert desk.count("a") == 1 and len(desk.store.log("main", "a")) == 2


def test_an_id_that_was_used_for_another_event_is_refused(desk: Desk) -> None:
    desk.start("a")
    desk.send("a", "ADD", "e")
    before = desk.all_of("a")
    receipt = desk.send("a", "ADD", "e", more=1)
    assert receipt.outcome == "refused" and "another event" in (receipt.reason or "")
    assert desk.all_of("a") == before


def test_a_timer_that_is_poison_is_a_dead_letter(desk: Desk, backend: Backend) -> None:
    desk.start("a"), desk.send("a", "SPOIL")
    backend.clock.ms += 10
    assert desk.advance("a") == 1
    row, inbox, log, _, timers = desk.all_of("a")
    assert (inbox[-1].kind, inbox[-1].status, row.needs_attention, timers) == ("timer", "dead", True, [])
    assert log[-1].kind == "dead-letter" and desk.send("a", "ADD").outcome == "applied"


def test_what_no_state_takes_leaves_but_a_receipt(desk: Desk) -> None:
    desk.start("a")
    receipt = desk.send("a", "LEAVE", "e")
    assert receipt.outcome == "refused" and "ADD" in receipt.allowed
    row, inbox, log, _, _ = desk.all_of("a")
    assert (row.version, row.revision, len(log), inbox[1].status) == (1, 2, 1, "refused")
    assert desk.send("a", "LEAVE", "e").first == replace(receipt)


def test_who_has_not_the_machine_accepts_and_a_worker_applies_in_order(desk: Desk, store: Any) -> None:
    gate = Desk(store, ())
    desk.start("a")
    receipts = [gate.send("a", kind, event_id=kind) for kind in ("GO", "ADD", "LEAVE", "WAIT")]
    assert {receipt.outcome for receipt in receipts} == {"accepted"}
    assert desk.instance("a").pending == 4 and store.due("main", desk.definitions, 10) == ["a"]
    assert desk.advance("a") == 4
    _, inbox, log, _, timers = desk.all_of("a")
    assert [row.event_type for row in log] == ["start", "GO", "ADD", "LEAVE", "WAIT"] and len(timers) == 1
    assert {row.status for row in inbox} == {"applied"} and desk.instance("a").pending == 0
    assert gate.send("a", "GO", event_id="GO").outcome == "duplicate"
    assert store.due("main", desk.definitions, 10) == []


def test_older_events_go_first(desk: Desk, store: Any) -> None:
    gate = Desk(store, ())
    desk.start("a")
    gate.send("a", "ADD", "older")
    assert desk.send("a", "ADD", "newer").outcome == "applied"
    assert [row.event_id for row in store.log("main", "a")] == ["start-a", "older", "newer"]


def test_a_decision_sees_64_that_wait(desk: Desk, store: Any) -> None:
    gate = Desk(store, ())
    desk.start("a")
    for index in range(70):
        gate.send("a", "ADD", f"g{index}")
    seen: list[Loaded] = []

    def look(loaded: Loaded) -> Commit:
        seen.append(loaded)
        return Commit("seen")

    assert desk.ask(Job("main", "a", look)) == "seen"
    assert [row.event_id for row in seen[0].waiting] == [f"g{index}" for index in range(64)]
    assert (desk.advance("a"), desk.advance("a"), desk.count("a")) == (64, 6, 70)
    assert [row.event_id for row in store.log("main", "a", after=1)] == [f"g{index}" for index in range(70)]


def test_a_full_queue_is_busy(store: Any) -> None:
    Desk(store).start("a")
    gate = Desk(store, (), queue=2)
    gate.send("a", "ADD"), gate.send("a", "ADD")
    before = gate.all_of("a")
    with pytest.raises(Busy):
        gate.send("a", "ADD")
    assert gate.all_of("a") == before


@pytest.mark.parametrize("why", ["poison", "nul \0 and half a pair \ud83d"])
def test_poison_is_a_dead_letter_and_changes_nothing_else(desk: Desk, why: str) -> None:
    desk.start("a")
    before = desk.instance("a")
    receipt = desk.send("a", "BAD", "e", why=why)
    assert receipt.outcome == "dead"
    row, inbox, log, _, _ = desk.all_of("a")
    assert (row.version, row.state, row.needs_attention) == (before.version, before.state, False) and len(log) == 1
    assert inbox[1].status == "dead" and "ValueError" in inbox[1].error
    assert desk.send("a", "ADD").outcome == "applied"


def test_jobs_of_one_call_stand_alone(desk: Desk) -> None:
    def broken(loaded: Loaded) -> Commit:
        raise RuntimeError("mine")

    desk.start("a")
    jobs = [desk.starting("b"), Job("main", "a", broken), desk.sending("x", "ADD"), desk.sending("a", "ADD")]
    answers = desk.run(*jobs)
    assert [type(answer).__name__ for answer in answers] == ["Receipt", "RuntimeError", "UnknownInstance", "Receipt"]
    assert desk.count("a") == 1 and desk.instance("b").version == 1


def test_a_job_whose_rows_do_not_fit_takes_no_other_with_it(desk: Desk) -> None:
    """Its event's id is taken, say, by somebody who did not look."""
    desk.start("a"), desk.start("b"), desk.send("a", "ADD", "taken")
    job = desk.sending("a", "ADD", "new")

    def decide(loaded: Loaded) -> Commit:
        commit = job.decide(loaded)
        commit.arrived = [replace(row, event_id="taken") for row in commit.arrived]
        return commit

    before = desk.all_of("a")
    answers = desk.run(desk.sending("b", "ADD"), replace(job, decide=decide), desk.starting("c"))
    assert [type(answer).__name__ for answer in answers] == ["Receipt", "StoreError", "Receipt"]
    assert desk.all_of("a") == before and desk.count("b") == 1 and desk.instance("c").version == 1


def test_a_job_that_only_looks_writes_nothing(desk: Desk) -> None:
    desk.start("a")
    before = desk.all_of("a")
    assert desk.ask(Job("main", "a", lambda loaded: Commit(loaded.instance and loaded.instance.id))) == "a"
    assert desk.all_of("a") == before


def test_what_is_loaded(desk: Desk, backend: Backend) -> None:
    desk.start("a", event_id="begin")
    seen: list[Loaded] = []
    for event_id, revision in ((None, None), ("begin", 1), ("other", 7)):
        desk.ask(Job("main", "a", lambda loaded: Commit(seen.append(loaded)), event_id, revision))
    row, inbox, *_ = desk.all_of("a")
    assert [one.known for one in seen] == [None, inbox[0], None]
    assert [one.instance for one in seen] in ([row, replace(row, state=None), row], [row, row, row])
    assert {one.now for one in seen} == {backend.clock.ms}


def test_the_end_of_a_machine(desk: Desk) -> None:
    desk.start("a")
    desk.send("a", "END")
    row = desk.instance("a")
    assert (row.status, row.configuration) == ("done", '["clerk.done"]')
    assert desk.send("a", "ADD").reason == "the instance is done"


def test_text_is_kept_as_it_is(desk: Desk) -> None:
    data = {"z": 1, "a": 1.5, "text": "héllo \u2028 \U0001f600 \\u0000 \\ \" ' %s {schema} \x7f\t", "b": [None, True]}
    desk.start("a")
    desk.send("a", "ADD", "e", **data)
    body = desk.store.inbox("main", "a", event_id="e")[0].body
    assert json.loads(body) == {"type": "ADD", **data} and body == json.dumps({"type": "ADD", **data})


def test_a_store_that_is_opened_again_goes_on(desk: Desk, store: Any, backend: Backend) -> None:
    desk.start("a")
    before = desk.all_of("a")
    store.reset()
    assert desk.all_of("a") == before
    other = Desk(backend.store())
    assert other.all_of("a") == before
    assert other.send("a", "ADD", "first").version == 2 and desk.send("a", "ADD", "second").version == 3
