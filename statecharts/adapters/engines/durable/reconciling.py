"""What is done about effects that nobody has an eye on any more."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass

from ....durability.effects import read_rules
from ....durability.outcomes import expired, succeeded
from ....durability.rows import PENDING, UNKNOWN, WITHDRAWN, EffectRow
from ....durability.store import Clock, EffectQuery, Settlement
from ....effect_policies import DONE, NOT_DONE, ProbeAnswer
from .worker import Worker


@dataclass(slots=True)
class _Seen:
    """A RUNNING effect as it was when its beat was last seen to change, and when that was (monotonic seconds)."""

    fence: int
    beat: int
    since: float


class Reconciler:
    """Finds leases that stand still, and asks receivers about calls of which nobody knows what became.

    A lease is over when its ``beat`` has not changed for ``lease`` ms of *this*
    process's monotonic clock. No two clocks are compared, so it does not matter
    what any of them shows; a process that begins to look waits a full lease
    before it judges.
    """

    def __init__(self, worker: Worker, lease: int, clock: Clock) -> None:
        self._worker = worker
        self._lease = lease / 1000
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    def sweep(self) -> int:
        """Look once; how many effects were taken from workers that are gone."""
        store, moved = self._worker.store, 0
        rows = store.running(self._worker.namespace)
        seen: dict[str, _Seen] = {}
        for row in rows:
            now = self._clock.monotonic()
            before = self._seen.get(row.id)
            if before is None or (before.fence, before.beat) != (row.fence, row.beat):
                before = _Seen(row.fence, row.beat, now)
            elif now - before.since >= self._lease and row.id not in self._worker.running:
                moved += store.settle(expired(row, read_rules(row.policy), store.now()))
                continue
            seen[row.id] = before
        self._seen = seen
        return moved

    def doubtful(self) -> list[EffectRow]:
        """UNKNOWN effects whose receiver can be asked."""
        query = EffectQuery(namespace=self._worker.namespace, statuses=(UNKNOWN,), limit=1_000)
        return [row for row in self._worker.store.effects(query) if self._worker.policy(row).probe is not None]

    def ask(self, row: EffectRow) -> ProbeAnswer | Awaitable[ProbeAnswer]:
        """Ask the receiver of ``row`` what it knows of its key."""
        probe = self._worker.policy(row).probe
        assert probe is not None
        return probe(row.key)

    def learned(self, row: EffectRow, answer: ProbeAnswer) -> bool:
        """What the receiver said decides, if it knows; whether the row has moved."""
        store, now = self._worker.store, self._worker.store.now()
        if answer.status == DONE:
            return store.settle(succeeded(row, answer.result, now, self._worker.limits, (UNKNOWN,)))
        if answer.status == NOT_DONE:
            again = Settlement(
                namespace=row.namespace,
                id=row.id,
                fence=row.fence,
                was=(UNKNOWN,),
                status=WITHDRAWN if row.is_cancelled else PENDING,
                next_at=now,
                error=row.error,
            )
            return store.settle(again)
        return False
