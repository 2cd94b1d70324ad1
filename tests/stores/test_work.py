"""Timers and effects: rows that come and go with the state, and who may take them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from store_backends import Backend
from store_desk import Desk

from statecharts.durability.rows import ACCEPTED, DEAD, RESULT, EffectRow, InboxRow
from statecharts.durability.store import Settlement


def settled(row: EffectRow, status: str, **members: Any) -> Settlement:
    members.setdefault("was", ("RUNNING",))
    return Settlement(namespace=row.namespace, id=row.id, fence=row.fence, status=status, **members)


def told(row: EffectRow, status: str = ACCEPTED) -> InboxRow:
    """The event that goes with an outcome."""
    return InboxRow(
        namespace=row.namespace,
        instance=row.instance,
        seq=0,
        event_id=f"result:{row.id}",
        kind=RESULT,
        body=f'{{"effect":"{row.id}","name":"send","session":{row.session},"status":"done","data":null}}',
        target=None,
        digest="d",
        actor=f"effect:{row.id}",
        status=status,
        received_at=1,
        handled_at=None if status == ACCEPTED else 1,
        version=None,
        receipt=None,
        error=None,
    )


# ---------------------------------------------------------------------- timers


def test_timer_rows_are_the_timers_of_the_state(desk: Desk, backend: Backend) -> None:
    desk.start("a")
    desk.send("a", "LATER"), desk.send("a", "LATER"), desk.send("a", "WAIT")
    _, _, _, _, timers = desk.all_of("a")
    now = backend.clock.ms
    assert [(row.due_at - now, row.event_type, row.version) for row in timers] == [
        (500, "ADD", 2),
        (500, "ADD", 3),
        (1000, "xstate.after.1000.clerk.waiting", 4),
    ]
    assert desk.instance("a").next_due == now + 500
    desk.send("a", "LEAVE")  # `after` goes with its state, a delayed raise stays
    assert [row.version for row in desk.store.timers("main", "a")] == [2, 3]


def test_what_is_due_fires_once_and_in_order(desk: Desk, backend: Backend, store: Any) -> None:
    desk.start("a"), desk.send("a", "LATER"), desk.send("a", "WAIT")
    assert store.due("main", desk.definitions, 10) == []
    assert store.next_due("main", desk.definitions) == backend.clock.ms + 500
    backend.clock.ms += 999
    assert store.due("main", desk.definitions, 10) == ["a"] and store.due("main", ("other",), 10) == []
    assert (desk.advance("a"), desk.advance("a"), desk.count("a")) == (1, 0, 1)
    backend.clock.ms += 1
    assert desk.send("a", "ADD").version == 6  # after the timer that was due before it
    assert store.timers("main", "a") == [] and desk.instance("a").next_due is None
    kinds = [row.kind for row in store.log("main", "a")]
    assert kinds == ["start", "event", "event", "timer", "timer", "event"] and desk.count("a") == 3


def test_the_longest_overdue_go_first(desk: Desk, backend: Backend, store: Any) -> None:
    for name in ("z", "b", "m"):
        desk.start(name), desk.send(name, "WAIT")
        backend.clock.ms += 10
    Desk(store, ()).send("b", "ADD")
    backend.clock.ms += 2_000
    assert store.due("main", desk.definitions, 10) == ["z", "b", "m"]
    assert store.due("main", desk.definitions, 2) == ["z", "b"]


def test_the_end_takes_timers_and_what_nobody_has_begun(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "TELL"), desk.send("a", "LATER"), desk.send("a", "END")
    assert store.timers("main", "a") == [] and desk.instance("a").next_due is None
    assert [(row.kind, row.status) for row in desk.effects(instance="a")] == [("action", "PENDING")]


# --------------------------------------------------------------------- effects


def test_an_effect_is_written_with_its_event(desk: Desk, backend: Backend) -> None:
    desk.start("a"), desk.send("a", "GO")
    row = desk.effects(instance="a")[0]
    now = backend.clock.ms
    assert (row.kind, row.status, row.version, row.number, row.key) == ("invoke", "PENDING", 2, 0, row.id)
    assert (row.next_at, row.created_at, row.fence, row.attempts, row.owner) == (now, now, 0, 0, None)


def test_leaving_withdraws_what_nobody_has_begun_and_tells_who_runs(desk: Desk, store: Any) -> None:
    for name in ("a", "b"):
        desk.start(name), desk.send(name, "GO")
    (running,) = desk.claim(1)
    desk.send("a", "LEAVE"), desk.send("b", "LEAVE")
    rows = {row.instance: row for row in desk.effects()}
    assert (rows["a"].status, rows["a"].is_cancelled, rows["a"].settled_at) == ("RUNNING", True, None)
    assert (rows["b"].status, rows["b"].is_cancelled, rows["b"].settled_at) == ("WITHDRAWN", True, desk.store.now())
    assert store.beat("main", "w", [running.id]) == {running.id: True}
    assert desk.claim() == []


def test_a_claim_takes_what_is_due_and_no_more_than_asked(desk: Desk, backend: Backend, store: Any) -> None:
    for name in ("a", "b", "c"):
        desk.start(name), desk.send(name, "GO")
        backend.clock.ms += 1
    assert desk.claim(0) == [] and desk.claim(-1) == []
    first = desk.claim(2, owner="one")
    assert [(row.instance, row.status, row.owner, row.fence, row.attempts, row.beat) for row in first] == [
        ("a", "RUNNING", "one", 1, 1, 0),
        ("b", "RUNNING", "one", 1, 1, 0),
    ]
    assert desk.effects(statuses=("RUNNING",)) == first == store.running("main")
    assert [row.instance for row in desk.claim(owner="two")] == ["c"] and desk.claim() == []


def test_a_claim_asks_for_definitions(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "GO")
    stranger = Desk(store, ())
    assert stranger.claim() == [] and store.next_due("main", stranger.definitions) is None
    assert len(desk.claim()) == 1


def test_what_is_postponed_waits(desk: Desk, backend: Backend, store: Any) -> None:
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    at = backend.clock.ms + 50
    assert store.settle(settled(row, "PENDING", next_at=at, error="not now"))
    assert desk.claim() == [] and store.next_due("main", desk.definitions) == at
    backend.clock.ms = at
    (again,) = desk.claim()
    assert (again.fence, again.attempts, again.error, again.called_at) == (2, 2, "not now", None)


def test_ordered_actions_of_an_instance_run_one_after_the_other(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.start("b")
    for name, kind in (("a", "TELL"), ("a", "NOTE"), ("a", "TELL"), ("b", "TELL")):
        desk.send(name, kind)
    first = desk.claim()
    assert [(row.instance, row.version, row.lane) for row in first] == [("a", 2, "action"), ("b", 2, "action"), ("a", 3, None)]
    assert desk.claim() == []
    assert store.settle(settled(first[0], "UNKNOWN")) and desk.claim() == []  # who knows whether it has happened
    assert store.settle(settled(first[0], "FAILED", was=("UNKNOWN",)))
    assert [(row.instance, row.version) for row in desk.claim()] == [("a", 4)]


def test_one_effect_of_a_key_at_a_time(desk: Desk, store: Any, backend: Backend) -> None:
    for name in ("a", "b"):
        desk.start(name), desk.send(name, "KEYED")
    (first,) = desk.claim()
    assert (first.instance, first.key) == ("a", "the-key") and desk.claim() == []
    assert store.settle(settled(first, "PENDING", next_at=backend.clock.ms + 10)) and desk.claim() == []  # the older one first
    backend.clock.ms += 10
    (again,) = desk.claim()
    assert again.id == first.id and store.settle(settled(again, "UNKNOWN")) and desk.claim() == []
    assert store.settle(settled(again, "DONE", was=("UNKNOWN",), result="1"))
    assert [row.instance for row in desk.claim()] == ["b"]


def test_nothing_of_a_suspended_instance_is_taken_or_waited_for(desk: Desk, store: Any, backend: Backend) -> None:
    desk.start("a"), desk.send("a", "GO")
    desk.ask(desk.operator.suspend("main", "a", desk.order()))
    Desk(store, ()).send("a", "ADD")
    assert desk.claim() == [] and store.due("main", desk.definitions, 10) == []
    assert store.next_due("main", desk.definitions) is None
    desk.ask(desk.operator.resume("main", "a", desk.order()))
    assert store.due("main", desk.definitions, 10) == ["a"] and len(desk.claim()) == 1


def test_what_is_to_be_tried_again_is_withdrawn_if_its_state_was_left_meanwhile(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim(1)
    desk.send("a", "LEAVE")
    assert store.settle(settled(row, "PENDING", next_at=0))
    (row,) = desk.effects()
    assert (row.status, row.settled_at) == ("WITHDRAWN", store.now())
    assert desk.claim() == []


def test_nobody_waits_for_what_another_effect_stands_in_the_way_of(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "TELL"), desk.send("a", "TELL")
    desk.start("b"), desk.start("c"), desk.send("b", "KEYED"), desk.send("c", "KEYED")
    for row in desk.claim():
        store.settle(settled(row, "UNKNOWN"))
    assert desk.claim() == [] and store.next_due("main", desk.definitions) is None


def test_what_is_for_a_resident_goes_to_nobody_else(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "HEAR"), desk.send("a", "SAY"), desk.send("a", "SAY")
    (resident,) = desk.claim()
    assert resident.kind == "resident" and desk.claim() == [] and store.next_due("main", desk.definitions) is None
    told_to = desk.effects(kind="deliver", session=resident.session, statuses=("PENDING",))
    assert [row.version for row in told_to] == [3, 4] and desk.effects(kind="deliver", session=99) == []
    desk.send("a", "LEAVE")
    assert [(row.status, row.is_cancelled) for row in desk.effects()] == [("RUNNING", True), ("WITHDRAWN", True), ("WITHDRAWN", True)]


def test_a_call_is_written_down_once_by_its_owner(desk: Desk, store: Any, backend: Backend) -> None:
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim(owner="w")
    assert not store.call("main", row.id, row.fence + 1, "w") and not store.call("main", row.id, row.fence, "v")
    assert not store.call("main", "no-such", 1, "w") and not store.call("other", row.id, row.fence, "w")
    assert store.call("main", row.id, row.fence, "w")
    found = desk.effects()[0]
    assert (found.called_at, found.beat) == (backend.clock.ms, 1)
    assert not store.call("main", row.id, row.fence, "w")


def test_beats_are_for_the_owner(desk: Desk, store: Any) -> None:
    for name in ("a", "b"):
        desk.start(name), desk.send(name, "GO")
    first, second = desk.claim(owner="w")
    assert store.beat("main", "w", [first.id, second.id, "no-such"]) == {first.id: False, second.id: False}
    assert store.beat("main", "v", [first.id]) == {} and store.beat("main", "w", []) == {}
    assert store.beat("other", "w", [first.id]) == {}
    assert [row.beat for row in store.running("main")] == [1, 1]


@pytest.mark.parametrize(
    "change",
    [{"fence": 2}, {"was": ("UNKNOWN",)}, {"was": ()}, {"beat": 1}, {"id": "no-such"}, {"namespace": "other"}],
)
def test_a_settlement_that_does_not_hold_writes_nothing(desk: Desk, store: Any, change: dict[str, Any]) -> None:
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    before = desk.all_of("a")
    settlement = replace(settled(row, "DONE", result="1", outcome=told(row)), **change)
    assert store.settle(settlement) is False and desk.all_of("a") == before


def test_settling(desk: Desk, store: Any, backend: Backend) -> None:
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    store.call("main", row.id, row.fence, "w")
    assert store.settle(settled(row, "UNKNOWN", beat=1, error="lost", external_id="x"))
    found = desk.effects()[0]
    assert (found.status, found.owner, found.error, found.external_id, found.settled_at) == ("UNKNOWN", None, "lost", "x", None)
    assert store.settle(settled(row, "DONE", was=("UNKNOWN", "RUNNING"), result='"r"'))
    found = desk.effects()[0]
    assert (found.status, found.result, found.error, found.external_id) == ("DONE", '"r"', None, "x")
    assert found.settled_at == backend.clock.ms


def test_an_outcome_joins_the_inbox_of_its_instance(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    before = desk.instance("a")
    assert store.settle(settled(row, "DONE", result="null", outcome=told(row)))
    after = desk.instance("a")
    assert after == replace(before, revision=before.revision + 1, next_seq=before.next_seq + 1, pending=1)
    (event,) = store.inbox("main", "a", statuses=("accepted",))
    assert event == replace(told(row), seq=before.next_seq)
    assert desk.advance("a") == 1 and desk.instance("a").configuration == '["clerk.idle"]' and desk.count("a") == 1


def test_an_outcome_that_is_dead_calls_for_attention(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    assert store.settle(settled(row, "DONE", outcome=told(row, DEAD)))
    after = desk.instance("a")
    assert (after.pending, after.needs_attention) == (0, True)
    assert store.due("main", desk.definitions, 10) == []


def test_an_outcome_counts_as_a_write_to_the_instance(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "GO")
    (row,) = desk.claim()
    store.settle(settled(row, "DONE", result="null", outcome=told(row)))
    receipt = desk.send("a", "ADD")  # the cached state is of an older revision
    assert [one.kind for one in store.log("main", "a", after=2)] == ["result", "event"] and receipt.version == 4


def test_namespaces_know_nothing_of_each_other(store: Any, backend: Backend) -> None:
    one, two = Desk(store, namespace="one"), Desk(store, namespace="two")
    for desk in (one, two):
        desk.start("a"), desk.send("a", "KEYED", "e"), desk.send("a", "LEAVE"), desk.send("a", "WAIT"), desk.send("a", "LEAVE")
        desk.send("a", "KEYED", "f"), desk.start("w"), desk.send("w", "WAIT")
    (first,), (second,) = one.claim(), two.claim()
    assert first.key == second.key and first.namespace == "one" and second.namespace == "two"
    assert store.running("one") == [first] and one.effects(statuses=("RUNNING",)) == [first]
    backend.clock.ms += 5_000
    assert one.advance("w") == 1
    assert (store.due("one", one.definitions, 9), store.due("two", two.definitions, 9)) == ([], ["w"])
    assert store.instance("three", "a") is None
