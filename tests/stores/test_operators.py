"""What operators do, in every store: each an entry in the log, and all of it or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from store_desk import Desk, clerk
from test_work import settled

from statecharts.durability.commits import Commit, Job, Loaded
from statecharts.durability.migrations import Migration
from statecharts.durability.moves import MovePlan
from statecharts.durability.rows import OPEN
from statecharts.errors import UnknownInstance, UsageError


def unknown(desk: Desk, kind: str = "GO") -> Any:
    """An effect of which nobody knows."""
    desk.start("a"), desk.send("a", kind)
    (row,) = desk.claim()
    assert desk.store.settle(settled(row, "UNKNOWN", error="lost"))
    return desk.effects()[0]


def last(desk: Desk) -> tuple[Any, ...]:
    row = desk.store.log("main", "a")[-1]
    return row.kind, row.actor, row.reason


def test_cancel_closes_timers_and_effects(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "LATER"), desk.send("a", "TELL"), desk.send("a", "GO")
    receipt = desk.ask(desk.operator.cancel("main", "a", desk.order("enough")))
    row = desk.instance("a")
    assert receipt.outcome == "applied" and (row.status, row.next_due) == ("cancelled", None)
    assert store.timers("main", "a") == [] and last(desk) == ("cancel", "op", "enough")
    assert [(one.kind, one.status) for one in desk.effects()] == [("action", "PENDING"), ("invoke", "WITHDRAWN")]
    with pytest.raises(UsageError, match="cancelled"):
        desk.ask(desk.operator.cancel("main", "a", desk.order()))


def test_cancel_without_the_machine(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "LATER"), desk.send("a", "GO")
    (running,) = desk.claim()
    gate = Desk(store, ())
    state = desk.instance("a").state
    gate.ask(gate.operator.cancel("main", "a", gate.order()))
    assert (desk.instance("a").status, desk.instance("a").state) == ("cancelled", state)
    assert store.timers("main", "a") == [] and store.beat("main", "w", [running.id]) == {running.id: True}


def test_suspend_keeps_what_comes_and_resume_goes_on(desk: Desk, store: Any) -> None:
    desk.start("a")
    with pytest.raises(UsageError, match="not suspended"):
        desk.ask(desk.operator.resume("main", "a", desk.order()))
    desk.ask(desk.operator.suspend("main", "a", desk.order("wait")))
    assert last(desk) == ("suspend", "op", "wait") and desk.instance("a").is_suspended
    assert desk.send("a", "ADD").outcome == "accepted" and desk.advance("a") == 0
    with pytest.raises(UsageError, match="already"):
        desk.ask(desk.operator.suspend("main", "a", desk.order()))
    desk.ask(desk.operator.resume("main", "a", desk.order()))
    assert (desk.advance("a"), desk.count("a")) == (1, 1)


def test_who_says_that_it_was_done(desk: Desk) -> None:
    row = unknown(desk)
    desk.ask(desk.operator.settle_done(row, {"ok": 1}, desk.order("I looked")))
    found = desk.effects()[0]
    assert (found.status, found.result) == ("DONE", '{"ok":1}') and last(desk) == ("effect-done", "op", "I looked")
    assert desk.instance("a").pending == 1
    assert desk.advance("a") == 1 and desk.instance("a").configuration == '["clerk.idle"]'


def test_who_says_that_it_was_not(desk: Desk) -> None:
    row = unknown(desk)
    desk.ask(desk.operator.settle_failed(row, "it never came", desk.order()))
    assert desk.effects()[0].status == "FAILED" and desk.advance("a") == 1
    assert desk.instance("a").configuration == '["clerk.failed"]'


def test_who_has_it_called_again(desk: Desk) -> None:
    row = unknown(desk, "TELL")
    desk.ask(desk.operator.retry(row, desk.order()))
    (again,) = desk.claim()
    assert (again.id, again.fence, again.attempts) == (row.id, 2, 2)


def test_an_effect_that_has_moved_on_leaves_all_as_it_is(desk: Desk, store: Any) -> None:
    row = unknown(desk)
    job = desk.operator.settle_done(row, 1, desk.order())
    assert store.settle(settled(row, "FAILED", was=("UNKNOWN",)))
    before = desk.all_of("a")
    with pytest.raises(UsageError, match="moved on"):
        desk.ask(job)
    assert desk.all_of("a") == before
    assert desk.send("a", "ADD").outcome == "applied"


def test_dead_letters_are_tried_again_or_dropped(desk: Desk, store: Any) -> None:
    desk.start("a"), desk.send("a", "BAD", "bad"), desk.send("a", "BAD", "worse")
    desk.ask(desk.operator.revive("main", "a", "bad", desk.order()))
    assert (desk.instance("a").pending, store.inbox("main", "a", event_id="bad")[0].status) == (1, "accepted")
    assert desk.advance("a") == 1 and store.inbox("main", "a", event_id="bad")[0].status == "dead"
    desk.ask(desk.operator.drop("main", "a", "worse", desk.order()))
    assert store.inbox("main", "a", event_id="worse")[0].status == "dropped"
    with pytest.raises(UsageError, match="no dead letter"):
        desk.ask(desk.operator.drop("main", "a", "worse", desk.order()))


def test_open_effects_are_loaded_for_who_asks(desk: Desk) -> None:
    desk.start("a"), desk.start("b"), desk.send("b", "TELL")
    for kind in ("TELL", "TELL", "GO", "LEAVE", "KEYED"):
        desk.send("a", kind)
    desk.claim(1)
    seen: list[Loaded] = []
    for needs in (False, True):
        desk.ask(Job("main", "a", lambda loaded: Commit(seen.append(loaded)), needs_effects=needs))
    assert seen[0].effects == () and list(seen[1].effects) == desk.effects(instance="a", statuses=OPEN)
    assert [row.kind for row in seen[1].effects] == ["action", "action", "invoke"]


def test_migrating_renames_open_effects(store: Any) -> None:
    old, new = clerk(), clerk(description="another")
    desk, both = Desk(store, (old,)), Desk(store, (old, new))
    desk.start("a"), desk.send("a", "TELL"), desk.send("a", "KEYED"), desk.send("a", "LEAVE"), desk.send("a", "GO")
    source = store.definition(desk.definitions[0])
    migration = Migration(both.decider, source, both.hosted[1], MovePlan())
    assert both.ask(migration.job("main", "a", desk.order(), dry_run=True)).problems == ()
    assert desk.instance("a").definition == source.hash
    assert both.ask(migration.job("main", "a", desk.order())).problems == ()
    assert desk.instance("a").definition == both.definitions[1] != source.hash
    assert [(row.status, row.definition) for row in desk.effects()] == [
        ("PENDING", both.definitions[1]),
        ("WITHDRAWN", source.hash),
        ("PENDING", both.definitions[1]),
    ]
    assert desk.claim() == [] and len(both.claim()) == 2
    assert both.send("a", "ADD", "after").outcome == "applied"


def test_nobody_operates_on_nothing(desk: Desk) -> None:
    with pytest.raises(UnknownInstance):
        desk.ask(desk.operator.suspend("main", "a", desk.order()))
    with pytest.raises(UsageError):
        desk.order(" ")
