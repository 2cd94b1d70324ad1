"""Faults of the runtime above its store, planted one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from statecharts import ProbeAnswer
from statecharts.adapters.engines.durable import reconciling, worker
from statecharts.adapters.engines.durable.committing import Committer
from statecharts.adapters.engines.durable.reconciling import Reconciler
from statecharts.adapters.engines.durable.worker import Attempt, Worker
from statecharts.durability import applying, chain, decisions, outcomes, turns
from statecharts.durability.applying import Applier, Told
from statecharts.durability.commits import Commit
from statecharts.durability.decisions import Decider, known_receipt
from statecharts.durability.receipts import Receipt
from statecharts.durability.rows import RUNNING, UNKNOWN
from statecharts.durability.stepping import Held
from statecharts.durability.store import Settlement
from statecharts.durability.turns import Turn
from statecharts.errors import StoreError
from statecharts.json_text import dumps, loads

Patch = pytest.MonkeyPatch


# ------------------------------------------------------------------- committing


def _watched(patch: Patch, see: Any, answer: Any) -> None:
    """``see`` is told of each decision before it is written; ``answer`` makes the answers of a commit that fails."""
    commit = Committer.commit

    def committed(self: Any, jobs: Any) -> Any:
        made: dict[int, Commit] = {}

        def watched(index: int, job: Any) -> Any:
            def decide(loaded: Any) -> Commit:
                made[index] = job.decide(loaded)
                see(self, made[index])
                return made[index]

            return replace(job, decide=decide)

        try:
            return commit(self, [watched(index, job) for index, job in enumerate(jobs)])
        except StoreError:
            return answer(jobs, made)

    patch.setattr(Committer, "commit", committed)


def answers_before_the_commit(patch: Patch) -> None:
    def answer(jobs: Any, made: dict[int, Commit]) -> Any:
        if len(made) < len(jobs):
            raise StoreError("away")
        return [made[index] for index in range(len(jobs))]

    _watched(patch, lambda _self, _commit: None, answer)


def a_failed_commit_stays_in_the_cache(patch: Patch) -> None:
    def answer(_jobs: Any, _made: Any) -> Any:
        raise StoreError("away")

    patch.setattr(Committer, "_forget", lambda self, jobs: None)
    _watched(patch, lambda self, commit: self.decider.remember(commit), answer)


def an_order_is_not_looked_up(patch: Patch) -> None:
    patch.setattr(Committer, "_logged", lambda self, job: None)


def an_unknown_commit_is_taken_for_none(patch: Patch) -> None:
    def ask(self: Any, jobs: Any, error: Any) -> Any:
        raise StoreError("nothing was written")

    patch.setattr(Committer, "_ask_again", ask)


# --------------------------------------------------------------------- deciding


def known_ids_are_looked_up_after_applying(patch: Patch) -> None:
    send = Decider._send

    def sent(self: Any, loaded: Any, name: str, told: Any) -> Commit:
        made = send(self, replace(loaded, known=None), name, told)
        if loaded.known is not None:
            made.answer = known_receipt(loaded.known, told)
            made.arrived = []
        return made

    patch.setattr(Decider, "_send", sent)


def the_payload_does_not_count(patch: Patch) -> None:
    patch.setattr(Told, "digest", property(lambda self: ""))


def a_duplicate_is_told_of_now(patch: Patch) -> None:
    def receipt(known: Any, told: Any) -> Receipt:
        made = known_receipt(known, told)
        return made if made.first is None else replace(made, first=replace(made.first, version=99))

    patch.setattr(decisions, "known_receipt", receipt)


def the_suspended_are_advanced(patch: Patch) -> None:
    def sent(self: Any, loaded: Any, name: str, told: Any) -> Commit:
        if loaded.instance is None or not loaded.instance.is_suspended:
            return send(self, loaded, name, told)
        return send(self, replace(loaded, instance=replace(loaded.instance, is_suspended=False)), name, told)

    send = Decider._send
    patch.setattr(Decider, "_send", sent)


def a_start_is_not_compared(patch: Patch) -> None:
    def started(self: Any, loaded: Any, existing: Any, told: Any) -> Receipt:
        return Receipt("applied", existing.id, told.event_id, existing.version)

    patch.setattr(Decider, "_started_before", started)


def anything_is_applied(patch: Patch) -> None:
    patch.setattr(applying, "selects", lambda snapshot, event: True)


def a_refused_event_changes_the_state(patch: Patch) -> None:
    settled = Applier._settled

    def made(self: Any, turn: Any, row: Any, status: str, *more: Any) -> Any:
        if status == "refused" and turn.held is not None:
            sealed = {**turn.held.sealed, "now": turn.held.sealed["now"] + 1}
            turn.held = replace(turn.held, sealed=sealed, text=dumps(sealed))
        return settled(self, turn, row, status, *more)

    patch.setattr(Applier, "_settled", made)


def poison_is_not_rolled_back(patch: Patch) -> None:
    patch.setattr(Turn, "is_strict", property(lambda self: False))


def overdue_timers_fire_after_the_event(patch: Patch) -> None:
    send, fire = Decider._send, Applier._fire_until
    hasty: list[bool] = []

    def sent(self: Any, *arguments: Any) -> Any:
        hasty.append(True)
        try:
            return send(self, *arguments)
        finally:
            hasty.pop()

    def fired(self: Any, turn: Any, when: int) -> int:
        return 0 if hasty else fire(self, turn, when)

    patch.setattr(Decider, "_send", sent)
    patch.setattr(Applier, "_fire_until", fired)
    more_overdue_timers_than_a_batch_are_passed_over(patch)


def more_overdue_timers_than_a_batch_are_passed_over(patch: Patch) -> None:
    for module in (decisions, applying):
        patch.setattr(module, "is_overdue", lambda turn, when: False)


def timers_fire_too_early(patch: Patch) -> None:
    due = Held.due
    patch.setattr(Held, "due", lambda self, now: due(self, now + 1_000_000))


def a_result_goes_to_a_later_entry(patch: Patch) -> None:
    apply = Applier._apply_result

    def applied(self: Any, turn: Any, row: Any) -> Any:
        body = loads(row.body)
        for actor in turn.held.state.actors:
            if actor.ref.src == body["name"].rpartition("/")[2]:
                body["session"] = actor.ref.session
        made, receipt = apply(self, turn, replace(row, body=dumps(body)))
        return replace(made, body=row.body), receipt

    patch.setattr(Applier, "_apply_result", applied)


# ------------------------------------------------------------------------ turns


def timers_stay_when_their_state_is_left(patch: Patch) -> None:
    patch.setattr(Turn, "_drop", lambda self, handle: None)


def what_ends_in_its_own_commit_is_called(patch: Patch) -> None:
    def withdraw(self: Any, session: int) -> None:
        self.commit.withdrawn.append(session)

    patch.setattr(Turn, "_withdraw", withdraw)


def a_note_is_no_version(patch: Patch) -> None:
    note = Turn.note

    def noted(self: Any, cause: Any, **changes: Any) -> None:
        note(self, cause, **changes)
        self.instance.version -= 1

    patch.setattr(Turn, "note", noted)


def a_patch_loses_the_order_of_keys(patch: Patch) -> None:
    difference = turns.difference

    def made(old: Any, new: Any) -> Any:
        return [change for change in difference(old, new) if len(change) != 3 or change[1] is not None]

    patch.setattr(turns, "difference", made)


def the_chain_leaves_something_out(patch: Patch) -> None:
    patch.setattr(chain, "HASHED", tuple(name for name in chain.HASHED if name != "actor"))


# ---------------------------------------------------------------------- calling


def called_at_is_written_after_the_call(patch: Patch) -> None:
    begin, settle = Attempt.begin, Attempt._settle

    def begun(self: Any) -> bool:
        self._called = True
        return True

    def settled(self: Any, *arguments: Any) -> bool:
        return begin(self) and settle(self, *arguments)

    patch.setattr(Attempt, "begin", begun)
    patch.setattr(Attempt, "_settle", settled)


def a_lost_attempt_is_called_all_the_same(patch: Patch) -> None:
    begin = Attempt.begin

    def begun(self: Any) -> bool:
        begin(self)
        return True

    patch.setattr(Attempt, "begin", begun)


def an_attempt_whose_store_fails_is_kept(patch: Patch) -> None:
    def begun(self: Any) -> bool:
        row = self.row
        self._called = self._worker.store.call(row.namespace, row.id, row.fence, self._worker.owner)
        if not self._called:
            self._worker.forget(self)
        return bool(self._called)

    patch.setattr(Attempt, "begin", begun)


def a_key_that_was_done_is_called_again(patch: Patch) -> None:
    patch.setattr(Attempt, "replayed", lambda self: False)


def an_exception_means_not_done(patch: Patch) -> None:
    failed = worker.failed

    def settled(row: Any, rules: Any, error: Any, now: int, jitter: float, **more: Any) -> Settlement:
        return failed(row, replace(rules, idempotent=True, attempts=9), error, now, jitter, **more)

    patch.setattr(worker, "failed", settled)


def the_cancelled_are_not_told(patch: Patch) -> None:
    beat = Worker.beat

    def beaten(self: Any) -> Any:
        told = beat(self)
        for attempt in told:
            attempt.is_cancelled = attempt.row.is_cancelled
        return told

    patch.setattr(Worker, "beat", beaten)


def results_are_not_told(patch: Patch) -> None:
    patch.setattr(outcomes, "_told", lambda row, status, data, now: None)


# ------------------------------------------------------------------ reconciling


def a_lost_call_is_made_again(patch: Patch) -> None:
    def again(row: Any, rules: Any, now: int) -> Settlement:
        return outcomes._settled(row, "PENDING", (RUNNING,), beat=row.beat, next_at=now)

    patch.setattr(reconciling, "expired", again)


def what_was_not_called_is_unknown(patch: Patch) -> None:
    def unknown(row: Any, rules: Any, now: int) -> Settlement:
        return outcomes._settled(row, UNKNOWN, (RUNNING,), beat=row.beat)

    patch.setattr(reconciling, "expired", unknown)


def leases_are_judged_by_wall_clocks(patch: Patch) -> None:
    made = Reconciler.__init__

    class Wall:
        def __init__(self, clock: Any) -> None:
            self._clock = clock

        def monotonic(self) -> float:
            return float(self._clock.now()) / 1000

    patch.setattr(Reconciler, "__init__", lambda self, worker, lease, clock: made(self, worker, lease, Wall(clock)))


def leases_are_judged_at_first_sight(patch: Patch) -> None:
    made = Reconciler.__init__
    patch.setattr(Reconciler, "__init__", lambda self, worker, lease, clock: made(self, worker, 0, clock))


def a_probe_that_does_not_know_is_taken_for_a_no(patch: Patch) -> None:
    learned = Reconciler.learned

    def told(self: Any, row: Any, answer: Any) -> bool:
        return learned(self, row, ProbeAnswer("not_done") if answer.status in ("running", "unknown") else answer)

    patch.setattr(Reconciler, "learned", told)


def expired_leases_are_left_alone(patch: Patch) -> None:
    patch.setattr(Reconciler, "sweep", lambda self: 0)


PLANTED = [value for value in list(vars().values()) if getattr(value, "__module__", None) == __name__ and not value.__name__.startswith("_")]
