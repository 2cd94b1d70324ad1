"""Jobs for a store, until there is an answer that is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....durability.commits import Commit, Job
from ....durability.decisions import Decider, StateMissing
from ....durability.receipts import DUPLICATE, Receipt
from ....durability.store import Answer, Store
from ....errors import CommitUnknown, StatechartError

TRIES = 3
"""So often a commit is tried whose reply is lost each time."""


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
                answers[index] = answer = self.store.commit([replace(jobs[index], seen_revision=None)])[0]
            if isinstance(answer, Commit):
                self.decider.remember(answer)
        return answers

    def one(self, job: Job) -> Commit:
        """The answer to one job. Raises what it was answered with."""
        answer = self.commit([job])[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _forget(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.decider.cache.drop((job.namespace, job.instance))

    def _ask_again(self, jobs: Sequence[Job], error: CommitUnknown) -> list[Answer]:
        last: StatechartError = error
        for _ in range(TRIES):
            self._forget(jobs)
            try:
                self.store.reset()
                again = [replace(job, seen_revision=None) for job in jobs]
                return [_own(answer) for answer in self.store.commit(again)]
            except StatechartError as problem:
                last = problem
        raise CommitUnknown(f"{error}; and the store cannot be asked what became of it: {last}") from error


def _own(answer: Answer) -> Answer:
    """The receipt of an event that turns out to be there: it is this one that was applied."""
    if isinstance(answer, Commit) and isinstance(answer.answer, Receipt):
        receipt = answer.answer
        if receipt.outcome == DUPLICATE and receipt.first is not None:
            answer.answer = receipt.first
    return answer
