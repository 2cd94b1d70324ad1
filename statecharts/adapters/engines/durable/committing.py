"""Jobs for a store, until there is an answer that is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....durability.commits import Commit, Job
from ....durability.decisions import Decider, StateMissing
from ....durability.receipts import APPLIED, DUPLICATE, Receipt
from ....durability.store import Answer, Store
from ....errors import CommitUnknown, StatechartError, StoreError

TRIES = 3
"""So often a commit is tried whose reply is lost each time."""
LOOK_BACK = 200
"""So many versions of an instance may have come since an order was given whose reply was lost."""


class Committer:
    """Carries out decisions. After a commit of which nobody knows what became, all that was remembered is dropped and the jobs
    are asked again on a new connection: one whose event is there has been applied, and its own receipt is the answer.
    """

    def __init__(self, store: Store, decider: Decider) -> None:
        self.store = store
        self.decider = decider

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """The answers to ``jobs``. Raises :class:`StoreError`: nothing was written; :class:`CommitUnknown`: nobody knows."""
        try:
            answers = self.store.commit(jobs)
        except CommitUnknown as error:
            answers = self._ask_again(jobs, error)
        except BaseException:
            self._forget(jobs)
            raise
        for index, answer in enumerate(answers):
            if isinstance(answer, StateMissing):
                answers[index] = answer = self._with_state(jobs[index])
            if isinstance(answer, Commit):
                self.decider.remember(answer)
        return answers

    def one(self, job: Job) -> Commit:
        """The answer to one job. Raises what it was answered with."""
        answer = self.commit([job])[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _with_state(self, job: Job) -> Answer:
        """The answer to one job whose state has to be loaded after all. The others have theirs, so nothing is raised."""
        job = replace(job, seen_revision=None)
        try:
            return self.store.commit([job])[0]
        except CommitUnknown as error:
            try:
                return self._ask_again([job], error)[0]
            except CommitUnknown as unknown:
                return unknown
        except StoreError as error:
            self._forget([job])
            return error

    def _forget(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.decider.cache.drop((job.namespace, job.instance))

    def _ask_again(self, jobs: Sequence[Job], error: CommitUnknown) -> list[Answer]:
        last: StatechartError = error
        for _ in range(TRIES):
            self._forget(jobs)
            try:
                self.store.reset()
                found = [self._logged(job) for job in jobs]
                again = [replace(job, seen_revision=None) for job, answer in zip(jobs, found, strict=True) if answer is None]
                asked = iter(self.store.commit(again))
                return [_own(next(asked)) if answer is None else answer for answer in found]
            except StatechartError as problem:
                last = problem
        raise CommitUnknown(f"{error}; and the store cannot be asked what became of it: {last}") from error

    def _logged(self, job: Job) -> Commit | None:
        """The answer to an operator's order that turns out to be in the log."""
        instance = None if job.logged_id is None else self.store.instance(job.namespace, job.instance)
        if instance is None:
            return None
        for row in self.store.log(job.namespace, job.instance, after=max(instance.version - LOOK_BACK, 0), limit=LOOK_BACK):
            if row.event_id == job.logged_id:
                return Commit(Receipt(APPLIED, job.instance, job.logged_id, row.version))
        return None


def _own(answer: Answer) -> Answer:
    """The receipt of an event that turns out to be there: it is this one that was applied."""
    if isinstance(answer, Commit) and isinstance(answer.answer, Receipt):
        receipt = answer.answer
        if receipt.outcome == DUPLICATE and receipt.first is not None:
            answer.answer = receipt.first
    return answer
