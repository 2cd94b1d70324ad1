"""A store in memory: for tests, try-outs, and as the plainest statement of what a store does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from threading import RLock

from ...durability.commits import Commit, Job, Loaded
from ...durability.rows import ACCEPTED as WAITS
from ...durability.rows import (
    ACTIVE,
    DELIVER,
    INVOKE,
    OPEN,
    PENDING,
    RESIDENT,
    RUNNING,
    SEND,
    UNKNOWN,
    WITHDRAWN,
    DefinitionRow,
    EffectRow,
    InboxRow,
    Instance,
    LogRow,
    TimerRow,
)
from ...durability.store import Answer, Claim, Clock, EffectQuery, InstanceQuery, Settlement
from ...errors import StoreError, UsageError
from ...json_text import loads
from .clocks import SystemClock

Key = tuple[str, str]
OWN = (RESIDENT, DELIVER, SEND)
"""What the runtime does itself, and may do again."""
RESTORED = "the data are from a backup: nobody knows whether it was done after that was made"


class MemoryStore:
    """A store that is gone with its process."""

    lanes = 1

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock: Clock = SystemClock() if clock is None else clock
        self._lock = RLock()
        self._definitions: dict[str, DefinitionRow] = {}
        self._instances: dict[Key, Instance] = {}
        self._inbox: dict[Key, dict[int, InboxRow]] = {}
        self._events: dict[Key, dict[str, int]] = {}
        self._log: dict[Key, list[LogRow]] = {}
        self._effects: dict[str, EffectRow] = {}
        self._timers: dict[Key, dict[int, TimerRow]] = {}
        self._tombstones: dict[Key, int] = {}
        self._epoch = 1

    def open(self, *, migrating: bool = True) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do; the data stay while the object does."""

    def reset(self) -> None:
        """Nothing to do."""

    def now(self) -> int:
        """The clock, in ms."""
        return self._clock.now()

    # --------------------------------------------------------------- decisions

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Decide and keep what was decided."""
        with self._lock:
            return [self._one(job) for job in jobs]

    def _one(self, job: Job) -> Answer:
        try:
            commit = job.decide(self._load(job))
        except Exception as error:
            return error
        if commit.after is not None:
            for settlement in commit.settled:
                if not self._holds(settlement):
                    return UsageError(f"effect {settlement.id!r} has moved on meanwhile; look at it again")
            events = self._events.get((job.namespace, job.instance), {})
            for row in commit.arrived:
                if row.event_id in events:
                    return StoreError(f"instance {row.instance!r} has an event {row.event_id!r} already")
            self._write(commit)
        return commit

    def _load(self, job: Job) -> Loaded:
        key = (job.namespace, job.instance)
        instance = self._instances.get(key)
        known = None
        if job.event_id is not None:
            seq = self._events.get(key, {}).get(job.event_id)
            known = None if seq is None else self._inbox[key][seq]
        if instance is None:
            return Loaded(self.now(), None, known, (), forget_at=self._tombstones.get(key))
        waiting = tuple(row for row in self._inbox[key].values() if row.status == WAITS) if instance.pending else ()
        effects = tuple(row for row in self._of(*key) if row.status in OPEN) if job.needs_effects else ()
        return Loaded(self.now(), instance, known, waiting[:64], effects)

    def _write(self, commit: Commit) -> None:
        after = commit.after
        assert after is not None
        key = (after.namespace, after.id)
        existing = self._instances.get(key)
        if (None if existing is None else existing.revision) != (None if commit.before is None else commit.before.revision):
            raise StoreError(f"instance {after.id!r} was changed by another writer")
        if commit.definition is not None:
            self._definitions.setdefault(commit.definition.hash, commit.definition)
        if after.state is None and existing is not None:
            after = replace(after, state=existing.state)
        self._instances[key] = after
        for row in commit.arrived:
            self._put(row)
        for row in commit.handled:
            self._inbox[key][row.seq] = row
        self._log.setdefault(key, []).extend(commit.log)
        timers = self._timers.setdefault(key, {})
        for settlement in commit.settled:
            self._move(settlement)
        for session in commit.withdrawn:
            self._withdraw(after, session)
        for handle in commit.timers_gone:
            timers.pop(handle, None)
        for effect in (*commit.renamed, *commit.effects):
            self._effects[effect.id] = effect
        for timer in commit.timers_set:
            timers[timer.handle] = timer
        if commit.closes:
            self._withdraw(after, None)
            timers.clear()
        if commit.erases:
            self._erase(key, after.version)

    def _put(self, row: InboxRow) -> None:
        key = (row.namespace, row.instance)
        self._inbox.setdefault(key, {})[row.seq] = row
        self._events.setdefault(key, {})[row.event_id] = row.seq

    def _withdraw(self, instance: Instance, session: int | None) -> None:
        for row in self._of(instance.namespace, instance.id):
            if row.kind in (INVOKE, RESIDENT, DELIVER) and row.status in OPEN and session in (None, row.session):
                if row.status == PENDING:
                    row = replace(row, status=WITHDRAWN, settled_at=instance.updated_at)
                self._effects[row.id] = replace(row, is_cancelled=True)

    def _of(self, namespace: str, instance: str | None = None) -> list[EffectRow]:
        return [
            row for row in self._effects.values() if row.namespace == namespace and instance in (None, row.instance)
        ]

    # ----------------------------------------------------------------- reading

    def instance(self, namespace: str, id: str) -> Instance | None:
        """One instance, if there is one."""
        with self._lock:
            return self._instances.get((namespace, id))

    def instances(self, query: InstanceQuery) -> list[Instance]:
        """Instances by id."""
        with self._lock:
            found = [one for one in self._instances.values() if self._fits(one, query)]
        return sorted(found, key=lambda one: one.id)[: query.limit]

    def _fits(self, one: Instance, query: InstanceQuery) -> bool:
        same = ("machine", "definition", "status", "needs_attention", "is_suspended")
        if one.namespace != query.namespace or one.id <= query.after:
            return False
        if any(getattr(query, name) not in (None, getattr(one, name)) for name in same):
            return False
        if query.before is not None and one.entered_at >= query.before:
            return False
        if query.with_timer is not None and (one.next_due is None or one.next_due > query.with_timer):
            return False
        if query.state is not None and not _is_in(f"{one.machine}.{query.state}", loads(one.configuration)):
            return False
        if query.with_effect is None:
            return True
        return any(row.status == query.with_effect for row in self._of(one.namespace, one.id))

    def inbox(
        self, namespace: str, instance: str, *, event_id: str | None = None, statuses: tuple[str, ...] = (), limit: int = 100
    ) -> list[InboxRow]:
        """Inbox rows in their order."""
        with self._lock:
            rows = list(self._inbox.get((namespace, instance), {}).values())
        found = [row for row in rows if event_id in (None, row.event_id) and (not statuses or row.status in statuses)]
        return found[:limit]

    def log(self, namespace: str, instance: str, *, after: int = 0, limit: int = 1_000) -> list[LogRow]:
        """Log rows by version."""
        with self._lock:
            return self._log.get((namespace, instance), [])[after : after + limit]

    def effects(self, query: EffectQuery) -> list[EffectRow]:
        """Effects, oldest first."""
        with self._lock:
            rows = self._of(query.namespace, query.instance)
        found = [
            row
            for row in rows
            if query.id in (None, row.id)
            and query.key in (None, row.key)
            and query.kind in (None, row.kind)
            and query.session in (None, row.session)
            and (not query.statuses or row.status in query.statuses)
        ]
        return found[: query.limit]

    def timers(self, namespace: str, instance: str) -> list[TimerRow]:
        """Timers, first first."""
        with self._lock:
            rows = list(self._timers.get((namespace, instance), {}).values())
        return sorted(rows, key=lambda row: (row.due_at, row.handle))

    def definition(self, digest: str) -> DefinitionRow | None:
        """One definition, if it is known."""
        return self._definitions.get(digest)

    def definitions(self) -> list[DefinitionRow]:
        """All definitions."""
        return sorted(self._definitions.values(), key=lambda row: (row.machine, row.created_at, row.hash))

    # -------------------------------------------------------------------- work

    def due(self, namespace: str, definitions: tuple[str, ...], limit: int) -> list[str]:
        """Instances with something to do."""
        now = self.now()
        with self._lock:
            found = [
                one
                for one in self._able(namespace, definitions)
                if one.pending or (one.next_due is not None and one.next_due <= now)
            ]
        found.sort(key=lambda one: (one.updated_at if one.next_due is None else one.next_due, one.id))
        return [one.id for one in found[:limit]]

    def _able(self, namespace: str, definitions: tuple[str, ...]) -> list[Instance]:
        return [
            one
            for one in self._instances.values()
            if one.namespace == namespace and not one.is_suspended and one.definition in definitions
        ]

    def next_due(self, namespace: str, definitions: tuple[str, ...]) -> int | None:
        """When there is something to do."""
        with self._lock:
            times = [one.next_due for one in self._able(namespace, definitions) if one.next_due is not None]
            rows = self._of(namespace)
            times += [row.next_at for index, row in self._claimable(namespace, definitions, rows) if _is_free(row, index, rows)]
        return min(times, default=None)

    def claim(self, claim: Claim) -> list[EffectRow]:
        """Take effects."""
        now = self.now()
        with self._lock:
            rows = self._of(claim.namespace)
            due = [
                row
                for index, row in self._claimable(claim.namespace, claim.definitions, rows)
                if row.next_at <= now and _is_free(row, index, rows)
            ]
            due.sort(key=lambda row: row.next_at)
            taken = []
            for row in due[: max(claim.limit, 0)]:
                row = replace(
                    row,
                    status=RUNNING,
                    owner=claim.owner,
                    fence=row.fence + 1,
                    attempts=row.attempts + 1,
                    beat=0,
                    called_at=None,
                )
                self._effects[row.id] = row
                taken.append(row)
            return sorted(taken, key=lambda row: (row.next_at, row.version, row.number))

    def _claimable(
        self, namespace: str, definitions: tuple[str, ...], rows: list[EffectRow]
    ) -> list[tuple[int, EffectRow]]:
        """Of ``rows``, with their places, those that could be claimed if nothing stood in their way."""
        resting = {one.id for one in self._instances.values() if one.namespace == namespace and one.is_suspended}
        return [
            (index, row)
            for index, row in enumerate(rows)
            if row.status == PENDING and row.kind != DELIVER and row.definition in definitions and row.instance not in resting
        ]

    def _effect(self, namespace: str, id: str) -> EffectRow | None:
        row = self._effects.get(id)
        return row if row is not None and row.namespace == namespace else None

    def call(self, namespace: str, id: str, fence: int, owner: str) -> bool:
        """Write down that a call begins."""
        with self._lock:
            row = self._effect(namespace, id)
            if row is None or (row.status, row.fence, row.owner, row.called_at) != (RUNNING, fence, owner, None):
                return False
            self._effects[id] = replace(row, called_at=self.now(), beat=row.beat + 1)
            return True

    def beat(self, namespace: str, owner: str, ids: Sequence[str]) -> dict[str, bool]:
        """Signs of life."""
        found = {}
        with self._lock:
            for id_ in ids:
                row = self._effect(namespace, id_)
                if row is not None and row.status == RUNNING and row.owner == owner:
                    self._effects[id_] = replace(row, beat=row.beat + 1)
                    found[id_] = row.is_cancelled
        return found

    def settle(self, settlement: Settlement) -> bool:
        """Move an effect on, and tell its instance."""
        with self._lock:
            if not self._holds(settlement):
                return False
            self._move(settlement)
            self._tell(settlement.outcome)
            return True

    def _holds(self, settlement: Settlement) -> bool:
        row = self._effect(settlement.namespace, settlement.id)
        if row is None or row.fence != settlement.fence or row.status not in settlement.was:
            return False
        return settlement.beat in (None, row.beat)

    def _move(self, settlement: Settlement) -> None:
        row = self._effects[settlement.id]
        status = WITHDRAWN if settlement.status == PENDING and row.is_cancelled else settlement.status
        self._effects[row.id] = replace(
            row,
            status=status,
            next_at=row.next_at if settlement.next_at is None else settlement.next_at,
            result=settlement.result,
            error=settlement.error,
            external_id=settlement.external_id or row.external_id,
            owner=None,
            settled_at=None if status in (PENDING, UNKNOWN) else self.now(),
        )

    def _tell(self, row: InboxRow | None) -> None:
        instance = None if row is None else self._instances.get((row.namespace, row.instance))
        if row is None or instance is None:
            return
        self._put(replace(row, seq=instance.next_seq))
        waits = row.status == WAITS
        self._instances[(row.namespace, row.instance)] = replace(
            instance,
            next_seq=instance.next_seq + 1,
            pending=instance.pending + waits,
            revision=instance.revision + 1,
            needs_attention=instance.needs_attention or not waits,
        )

    def running(self, namespace: str) -> list[EffectRow]:
        """Effects that somebody has claimed."""
        with self._lock:
            return [row for row in self._of(namespace) if row.status == RUNNING]


    # ------------------------------------------------------------ housekeeping

    def epoch(self) -> int:
        """How often the data came from a backup, and one."""
        return self._epoch

    def mark_restored(self) -> int:
        """Nothing of then is called by itself any more."""
        with self._lock:
            self._epoch += 1
            doubtful = [row for row in self._effects.values() if row.status in (PENDING, RUNNING)]
            for row in doubtful:
                own = row.kind in OWN
                self._effects[row.id] = replace(
                    row,
                    status=PENDING if own else UNKNOWN,
                    owner=None,
                    fence=row.fence + 1,
                    error=row.error if own else RESTORED,
                )
            return sum(row.kind not in OWN for row in doubtful)

    def purge(self, namespace: str, before: int, forget_at: int, limit: int) -> int:
        """Delete instances that are over."""
        now = self.now()
        with self._lock:
            for key in [key for key, when in self._tombstones.items() if when <= now and key[0] == namespace]:
                for kept in (self._tombstones, self._inbox, self._events):
                    kept.pop(key, None)
            gone = sorted(one.id for one in self._instances.values() if self._is_over(one, namespace, before))[:limit]
            for name in gone:
                key = (namespace, name)
                for table in (self._instances, self._log, self._timers):
                    table.pop(key, None)
                for row in self._of(*key):
                    del self._effects[row.id]
                self._inbox[key] = {seq: replace(row, body=None, error=None) for seq, row in self._inbox[key].items()}
                self._tombstones[key] = forget_at
            return len(gone)

    def _is_over(self, one: Instance, namespace: str, before: int) -> bool:
        if one.namespace != namespace or one.status == ACTIVE or one.pending or one.updated_at >= before:
            return False
        return not any(row.status in OPEN for row in self._of(namespace, one.id))

    def _erase(self, key: Key, version: int) -> None:
        self._log[key] = [row if row.version == version else replace(row, payload=None, salt=None) for row in self._log[key]]
        self._inbox[key] = {seq: replace(row, body=None, error=None) for seq, row in self._inbox[key].items()}
        for row in self._of(*key):
            self._effects[row.id] = replace(row, given=None, result=None, error=None)


def _is_in(state: str, leaves: Iterable[str]) -> bool:
    return any(leaf == state or leaf.startswith(f"{state}.") for leaf in leaves)


def _is_free(row: EffectRow, index: int, rows: list[EffectRow]) -> bool:
    """Whether nothing stands in the way of an effect: an older action of its instance, another with its key."""
    for at, other in enumerate(rows):
        if other.id == row.id:
            continue
        in_lane = row.lane is not None and row.lane == other.lane and row.instance == other.instance
        if in_lane and at < index and other.status in OPEN:
            return False
        if other.key == row.key and (other.status in (RUNNING, UNKNOWN) or (other.status == PENDING and at < index)):
            return False
    return True
