"""What waits in inboxes, and timers that are due."""

from __future__ import annotations

from ....durability.commits import Job
from .committing import Committer


class Pump:
    """Finds instances with something to do, and makes the jobs for it."""

    def __init__(self, committer: Committer, namespace: str, batch: int = 64) -> None:
        self._committer = committer
        self._namespace = namespace
        self._batch = batch

    def jobs(self) -> list[Job]:
        """A job for each of the instances that have waited longest."""
        decider = self._committer.decider
        definitions = tuple(decider.registry.by_hash)
        names = self._committer.store.due(self._namespace, definitions, self._batch)
        return [decider.advance(self._namespace, name) for name in names]

    def next_due(self) -> int | None:
        """When there is something to do again, in ms of the store's clock."""
        return self._committer.store.next_due(self._namespace, tuple(self._committer.decider.registry.by_hash))
