"""Looks at the database after each step: which edges effects went along, and whether they were allowed to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sim_clocks import LEASE, VirtualTime
from sim_receivers import Violation

from statecharts.durability.effects import read_rules
from statecharts.durability.rows import (
    ACCEPTED,
    ACTION,
    ACTIVE,
    FAILED,
    INVOKE,
    OPEN,
    PENDING,
    RUNNING,
    SETTLED,
    UNKNOWN,
    WITHDRAWN,
    EffectRow,
    Instance,
)
from statecharts.durability.store import EffectQuery, InstanceQuery, Store
from statecharts.json_text import loads

EDGES = {
    (None, PENDING),
    (None, WITHDRAWN),
    (PENDING, RUNNING),
    (PENDING, WITHDRAWN),
    (RUNNING, SETTLED),
    (RUNNING, FAILED),
    (RUNNING, UNKNOWN),
    (RUNNING, PENDING),
    (RUNNING, WITHDRAWN),
    (UNKNOWN, SETTLED),
    (UNKNOWN, FAILED),
    (UNKNOWN, PENDING),
    (UNKNOWN, WITHDRAWN),
    (FAILED, PENDING),
}


@dataclass(slots=True)
class Known:
    """An effect as it was seen last. ``alive``: when (true time) its worker was last heard of."""

    row: EffectRow
    alive: int
    unknowns: int = 0


class Tracker:
    """Everything that can be said of the rows alone. ``excuses``: faults in the window of a call, by effect."""

    def __init__(self, database: Store, namespace: str, time: VirtualTime, coverage: Counter[str]) -> None:
        self._database = database
        self._namespace = namespace
        self._time = time
        self._coverage = coverage
        self._instances: dict[str, Instance] = {}
        self.known: dict[str, Known] = {}
        self.excuses: Counter[str] = Counter()
        self.not_sent: set[str] = set()

    def rows(self) -> list[EffectRow]:
        """All effects, oldest first."""
        return self._database.effects(EffectQuery(namespace=self._namespace, limit=100_000))

    def instances(self) -> list[Instance]:
        """All instances."""
        return self._database.instances(InstanceQuery(namespace=self._namespace))

    def look(self, cause: str) -> None:
        """Compare with what was there before ``cause``."""
        rows = self.rows()
        instances = {row.id: row for row in self.instances()}
        for row in rows:
            known = self.known.get(row.id)
            if known is None or (known.row is not row and known.row != row):
                self._changed(known, row, cause, instances, rows)
        for instance in instances.values():
            before = self._instances.get(instance.id)
            if before is None or before.revision != instance.revision:
                self._instances[instance.id] = instance
                self._fits(instance)
                if before is not None and before.is_suspended and before.version < instance.version:
                    self._rests(before)

    def heard(self, ids: list[str], owner: str) -> None:
        """A worker has given a sign of life for these, whatever the store has made of it."""
        for id_ in ids:
            known = self.known.get(id_)
            if known is not None and known.row.owner == owner:
                known.alive = self._time.ms

    # ----------------------------------------------------------------- effects

    def _changed(
        self, known: Known | None, row: EffectRow, cause: str, instances: dict[str, Instance], rows: list[EffectRow]
    ) -> None:
        before = None if known is None else known.row
        was = None if before is None else before.status
        if was != row.status:
            if (was, row.status) not in EDGES:
                raise Violation(f"effect {row.id} went from {was} to {row.status}")
            self._coverage[f"edge: {was or 'new'} → {row.status}"] += 1
            self._coverage[f"edge by cause: {was or 'new'} → {row.status} ({cause})"] += 1
        if known is None or before is None:
            self.known[row.id] = Known(row, self._time.ms)
            return
        if was == PENDING and row.status == RUNNING:
            self._claimed(before, row, instances[row.instance], rows)
        elif was == RUNNING and row.status != RUNNING:
            self._ended(known, row, cause)
        if (before.fence, before.beat) != (row.fence, row.beat):
            known.alive = self._time.ms
        known.row = row

    def _claimed(self, before: EffectRow, row: EffectRow, instance: Instance, rows: list[EffectRow]) -> None:
        if (row.fence, row.attempts) != (before.fence + 1, before.attempts + 1):
            raise Violation(f"effect {row.id} was claimed without a new fence, or its attempt was not counted")
        if row.called_at is not None:
            raise Violation(f"effect {row.id} was claimed and still has the called_at of the attempt before")
        if instance.is_suspended:
            raise Violation(f"effect {row.id} was claimed though its instance is suspended")
        if before.is_cancelled:
            raise Violation(f"effect {row.id} was claimed though its state was left")
        if row.kind == INVOKE and row.session not in _sessions(instance):
            raise Violation(f"effect {row.id} was claimed, and its actor is over")
        for other in rows:
            if other.id == row.id:
                return
            if row.lane is not None and row.lane == other.lane and other.instance == row.instance and other.status in OPEN:
                raise Violation(f"action {row.id} was claimed before the older {other.id}")
            if other.key == row.key and other.status in OPEN:
                raise Violation(f"effect {row.id} was claimed while {other.id} with its key is {other.status}")

    def _ended(self, known: Known, row: EffectRow, cause: str) -> None:
        before = known.row
        stalled = self._time.ms - known.alive
        if cause == "sweep":
            if stalled < LEASE:
                raise Violation(f"effect {row.id} was taken from a worker that was heard of {stalled} ms before")
            if before.called_at is not None:
                self.excuses[row.id] += 1
        if row.status == UNKNOWN:
            known.unknowns += 1
            if before.called_at is None:
                raise Violation(f"effect {row.id} is UNKNOWN and was never called")
            if known.unknowns > self.excuses[row.id]:
                raise Violation(f"I9: effect {row.id} is UNKNOWN for the {known.unknowns}th time after {self.excuses[row.id]} faults")
        rules = read_rules(row.policy)
        certain = before.called_at is None or rules.idempotent or row.id in self.not_sent
        if row.status in (PENDING, WITHDRAWN) and not certain:
            raise Violation(f"effect {row.id} is {row.status} again though it may have been done")
        self.not_sent.discard(row.id)

    # --------------------------------------------------------------- instances

    def _fits(self, instance: Instance) -> None:
        """I1 and I6, and the counts in the instance's row."""
        name = instance.id
        log = self._database.log(self._namespace, name, after=max(instance.version - 1, 0))
        if [row.version for row in log] != [instance.version]:
            raise Violation(f"I1: instance {name} has version {instance.version}, its log ends with {[row.version for row in log]}")
        if log[0].hash != instance.head:
            raise Violation(f"the head of instance {name} is not its newest log row")
        waiting = self._database.inbox(self._namespace, name, statuses=(ACCEPTED,), limit=1_000)
        if len(waiting) != instance.pending:
            raise Violation(f"{len(waiting)} events wait for instance {name}, its row says {instance.pending}")
        timers = {row.handle: row.due_at for row in self._database.timers(self._namespace, name)}
        state = loads(instance.state or "")
        expected = {timer["handle"]: int(-(-timer["due"] // 1)) for timer in state["timers"]} if instance.status == ACTIVE else {}
        if timers != expected:
            raise Violation(f"I6: instance {name} has the timers {expected}, its rows are {timers}")
        if instance.next_due != min(expected.values(), default=None):
            raise Violation(f"I6: the next timer of instance {name} is due at {expected}, its row says {instance.next_due}")
        if instance.status != ACTIVE:
            self._over(instance)

    def _rests(self, before: Instance) -> None:
        """A suspended instance takes nothing; only people do something to it."""
        (row,) = self._database.log(self._namespace, before.id, after=before.version, limit=1)
        if row.actor != "operator":
            raise Violation(f"instance {before.id} is suspended, and has taken {row.event_id}")

    def _over(self, instance: Instance) -> None:
        left = [row.id for row in self.rows() if row.instance == instance.id and row.status == PENDING and row.kind == INVOKE]
        if left:
            raise Violation(f"instance {instance.id} is {instance.status}, and its actors are still to be called: {left}")


def _sessions(instance: Instance) -> set[int]:
    """The numbers of the actors that a state has."""
    return {actor["session"] for actor in loads(instance.state or "")["actors"]}


__all__ = ["ACTION", "Tracker"]
