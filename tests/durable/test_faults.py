"""What goes wrong between a process and its store, and between two versions of one commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from parts import Parts
from sample_agents import Open, World, mailer

from statecharts import Implementations, UsageError, load_machine
from statecharts.durability.rows import RUNNING, SETTLED, UNKNOWN, WITHDRAWN
from statecharts.errors import CommitUnknown, StoreError
from statecharts.json_text import loads

Make = Callable[..., Parts]


class NotSent(Exception):
    """Certainly nothing was done."""


@pytest.fixture(params=["memory", "sqlite"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes the parts of one process over an empty store."""
    parts: list[Parts] = []

    def make(machine: Any = None, **limits: int) -> Parts:
        parts.append(Parts(request.param, tmp_path, mailer(World()) if machine is None else machine, **limits))
        return parts[-1]

    yield make
    for one in parts:
        one.close()


# ------------------------------------------------------------------ withdrawing


def test_what_begins_and_ends_in_one_commit_is_never_called(made: Make) -> None:
    """Two versions of one commit: the first invokes, the second leaves."""
    parts = made()
    parts.start()
    parts.committer.one(parts.operator.suspend("n", "m", parts.order()))
    assert [parts.send(kind).outcome for kind in ("GO", "LEAVE")] == ["accepted", "accepted"]
    parts.committer.one(parts.operator.resume("n", "m", parts.order()))
    assert parts.advance() == 2
    (row,) = parts.effects()
    assert (row.status, row.is_cancelled, row.settled_at) == (WITHDRAWN, True, parts.clock.ms)
    assert parts.worker.claim(5) == []


def test_what_was_not_done_is_not_tried_again_when_its_state_was_left(made: Make) -> None:
    parts = made(mailer(World(), not_done=(NotSent,), attempts=3, backoff=1))
    parts.start()
    parts.send("GO")
    attempt = parts.claim()
    assert attempt.begin()
    parts.send("LEAVE")
    assert attempt.fail(NotSent("busy"))
    (row,) = parts.effects()
    assert (row.status, row.settled_at) == (WITHDRAWN, parts.clock.ms)


def test_a_call_of_which_nobody_knows_is_not_retried_when_its_state_was_left(made: Make) -> None:
    parts = made()
    parts.start()
    parts.send("GO")
    attempt = parts.claim()
    attempt.begin()
    attempt.fail(RuntimeError("reset"))
    parts.send("LEAVE")
    (row,) = parts.effects()
    assert (row.status, row.is_cancelled) == (UNKNOWN, True)
    with pytest.raises(UsageError, match="the state that wanted it was left"):
        parts.committer.one(parts.operator.retry(row, parts.order()))
    parts.committer.one(parts.operator.settle_done(row, "sent", parts.order()))
    assert parts.effects()[0].status == SETTLED


# -------------------------------------------------------------- the store fails


@pytest.mark.parametrize("error", [StoreError("away"), CommitUnknown("away")])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_attempt_whose_store_fails_is_left_to_its_lease(made: Make, error: Exception, when: str) -> None:
    """Else its worker would beat for it for ever, and nobody else would ever have it."""
    parts = made()
    parts.start()
    parts.send("GO")
    attempt = parts.claim()
    getattr(parts.store, when)["call"] = error
    with pytest.raises(StoreError):
        attempt.begin()
    assert not parts.worker.running and parts.worker.beat() == []
    assert parts.effects()[0].status == RUNNING


def test_a_result_that_cannot_be_stored_is_left_to_its_lease(made: Make) -> None:
    parts = made()
    parts.start()
    parts.send("GO")
    attempt = parts.claim()
    attempt.begin()
    parts.store.before["settle"] = StoreError("away")
    with pytest.raises(StoreError):
        attempt.succeed("sent")
    assert not parts.worker.running
    attempt.succeed("sent")  # who has it still may try again
    assert parts.effects()[0].status == SETTLED


def test_a_result_outlives_a_store_that_is_away_for_a_moment(opened: Open) -> None:
    """The call was made and its outcome is known: it would be a pity to forget it."""
    world = World()

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            settle, away = runtime.store.settle, [StoreError("away"), CommitUnknown("away")]

            def failing(settlement: Any) -> bool:
                if away:
                    raise away.pop()
                return settle(settlement)

            runtime.store.settle = failing  # type: ignore[method-assign]
            await runtime.run_worker(until_idle=True)
            (send, _) = await runtime.effects()
            assert (send.status, world.calls) == ("DONE", {send.key: 1})

    asyncio.run(main())


def test_an_order_whose_reply_is_lost_is_given_once(made: Make) -> None:
    parts = made()
    parts.start()
    parts.store.after["commit"] = CommitUnknown("away")
    order = parts.order()
    receipt = parts.committer.one(parts.operator.suspend("n", "m", order)).answer
    assert (receipt.outcome, receipt.event_id, receipt.version) == ("applied", order.id, 2)
    parts.store.before["commit"] = CommitUnknown("away")
    receipt = parts.committer.one(parts.operator.resume("n", "m", parts.order())).answer
    assert (receipt.outcome, receipt.version, parts.get().version) == ("applied", 3, 3)


def test_one_job_that_has_to_be_asked_again_does_not_make_the_others_answers_wrong(made: Make) -> None:
    """The state of ``b`` was thought to be here, and is not: that job alone is carried out again, and fails."""
    parts = made()
    parts.start("a")
    parts.start("b")
    jobs = [parts.decider.send("n", name, told) for name, told in (("a", _told("x")), ("b", _told("y")))]
    parts.decider.cache.drop(("n", "b"))
    if type(parts.store._store).__name__ == "MemoryStore":  # which loads the state whatever it is told
        jobs[1] = replace(jobs[1], decide=_unloaded(jobs[1].decide))
    first = parts.store._store.commit

    def commit(asked: Any) -> Any:
        if len(asked) == 1:
            raise StoreError("away")
        return first(asked)

    parts.store.commit = commit
    answers = parts.committer.commit(jobs)
    assert answers[0].answer.outcome == "applied"  # type: ignore[union-attr]
    assert isinstance(answers[1], StoreError)
    assert parts.get("a").version == 2 and parts.get("b").version == 1


def test_a_payload_that_is_no_json_any_more_shows(made: Make) -> None:
    from statecharts.durability.verification import TAMPERED, Verifier

    parts = made()
    parts.start()
    parts.send("GO")
    log = parts.store.log("n", "m")
    verifier = Verifier(parts.get(), None, parts.limits)
    verifier.read([log[0], replace(log[1], payload="{")])
    assert [(found.version, found.kind) for found in verifier.report().findings] == [(2, TAMPERED)]


# ---------------------------------------------------------------- business keys


def test_a_key_whose_result_could_not_be_kept_is_not_called_again(made: Make) -> None:
    parts = made(mailer(World(), key=lambda input: "one"))
    parts.start("a")
    parts.start("b")
    parts.send("GO", "a")
    first = parts.claim()
    first.begin()
    first.succeed(float("nan"))
    parts.send("GO", "b")
    assert parts.claim().replayed()
    done, again = parts.effects()
    assert (done.status, done.result, again.status, again.called_at) == (SETTLED, None, SETTLED, None)
    parts.advance("b")
    assert "mailer.failed" in parts.get("b").configuration


# ---------------------------------------------------------------- overdue timers


def test_an_event_waits_when_more_timers_are_overdue_than_one_decision_fires(made: Make) -> None:
    """Else it would be applied before those that are left."""
    document = {
        "id": "bell",
        "initial": "on",
        "context": {"heard": []},
        "states": {"on": {"on": {"SET": {"actions": {"type": "@xstate.raise", "event": {"type": "RING"}, "delay": 10}}, "*": {"actions": "hear"}}}},
    }
    impl = Implementations({"updates": {"hear": lambda context, event: {"heard": [*context["heard"], event["type"]]}}})
    parts = made(load_machine(document, impl), batch=2)
    parts.start()
    for _ in range(5):
        parts.send("SET")
    parts.clock.ms += 50
    assert parts.send("NEW").outcome == "accepted"
    assert [parts.advance(), parts.advance()] == [2, 2]
    assert loads(parts.get().state or "")["snapshot"]["context"]["heard"] == ["RING"] * 5 + ["NEW"]


def _told(id: str) -> Any:
    from statecharts.durability.applying import Told

    return Told(id, '{"type":"GO"}')


def _unloaded(decide: Any) -> Any:
    return lambda loaded: decide(replace(loaded, instance=replace(loaded.instance, state=None)))

