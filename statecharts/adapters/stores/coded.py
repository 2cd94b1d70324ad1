"""A store whose texts are encoded on their way in: encrypted, say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from ...durability.commits import Commit, Job, Loaded
from ...durability.rows import DefinitionRow, EffectRow, InboxRow, Instance, LogRow, TimerRow
from ...durability.store import Answer, Claim, EffectQuery, InstanceQuery, Settlement, Store

R = TypeVar("R", Instance, InboxRow, LogRow, EffectRow, Settlement)
CODED: dict[type, tuple[str, ...]] = {
    Instance: ("state", "output", "last_error"),
    InboxRow: ("body", "receipt", "error"),
    LogRow: ("payload",),
    EffectRow: ("given", "result", "error"),
    Settlement: ("result", "error"),
}
"""What of a row is encoded. Names, keys, states and times stay readable: they are looked for, and shown."""


class Codec(Protocol):
    """Two functions that undo each other. ``encode`` may give a text another form each time."""

    def encode(self, text: str) -> str: ...
    def decode(self, text: str) -> str: ...


class CodedStore:
    """``store`` with a codec before it. The hashes of the log are those of the texts as they were, so they do not depend on it."""

    def __init__(self, store: Store, codec: Codec) -> None:
        self._store = store
        self._codec = codec
        self.lanes = store.lanes
        wait = getattr(store, "wait_for_work", None)
        if wait is not None:
            self.wait_for_work = wait

    def _in(self, row: R) -> R:
        return self._changed(row, self._codec.encode)

    def _out(self, row: R) -> R:
        return self._changed(row, self._codec.decode)

    def _changed(self, row: R, change: Any) -> R:
        changes = {name: change(value) for name in CODED[type(row)] if (value := getattr(row, name)) is not None}
        return replace(row, **changes)

    # --------------------------------------------------------------- decisions

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Jobs see texts as they are, and the store as they are kept."""
        return self._store.commit([replace(job, decide=self._deciding(job)) for job in jobs])

    def _deciding(self, job: Job) -> Any:
        def decide(loaded: Loaded) -> Commit:
            commit = job.decide(self._loaded(loaded))
            if commit.after is None:
                return commit
            return replace(
                commit,
                before=loaded.instance,
                after=self._in(commit.after),
                arrived=[self._in(row) for row in commit.arrived],
                handled=[self._in(row) for row in commit.handled],
                log=[self._in(row) for row in commit.log],
                effects=[self._in(row) for row in commit.effects],
                settled=[self._settlement(one) for one in commit.settled],
                renamed=[self._in(row) for row in commit.renamed],
            )

        return decide

    def _loaded(self, loaded: Loaded) -> Loaded:
        return replace(
            loaded,
            instance=None if loaded.instance is None else self._out(loaded.instance),
            known=None if loaded.known is None else self._out(loaded.known),
            waiting=tuple(self._out(row) for row in loaded.waiting),
            effects=tuple(self._out(row) for row in loaded.effects),
        )

    def _settlement(self, settlement: Settlement) -> Settlement:
        outcome = settlement.outcome
        return replace(self._in(settlement), outcome=None if outcome is None else self._in(outcome))

    # ----------------------------------------------------------------- reading

    def instance(self, namespace: str, id: str) -> Instance | None:
        """One instance, if there is one."""
        found = self._store.instance(namespace, id)
        return None if found is None else self._out(found)

    def instances(self, query: InstanceQuery) -> list[Instance]:
        """Instances by id."""
        return [self._out(row) for row in self._store.instances(query)]

    def inbox(
        self, namespace: str, instance: str, *, event_id: str | None = None, statuses: tuple[str, ...] = (), limit: int = 100
    ) -> list[InboxRow]:
        """Inbox rows in their order."""
        rows = self._store.inbox(namespace, instance, event_id=event_id, statuses=statuses, limit=limit)
        return [self._out(row) for row in rows]

    def log(self, namespace: str, instance: str, *, after: int = 0, limit: int = 1_000) -> list[LogRow]:
        """Log rows by version."""
        return [self._out(row) for row in self._store.log(namespace, instance, after=after, limit=limit)]

    def effects(self, query: EffectQuery) -> list[EffectRow]:
        """Effects, oldest first."""
        return [self._out(row) for row in self._store.effects(query)]

    # -------------------------------------------------------------------- work

    def claim(self, claim: Claim) -> list[EffectRow]:
        """Take effects."""
        return [self._out(row) for row in self._store.claim(claim)]

    def settle(self, settlement: Settlement) -> bool:
        """Move an effect on, and tell its instance."""
        return self._store.settle(self._settlement(settlement))

    def running(self, namespace: str) -> list[EffectRow]:
        """Effects that somebody has claimed."""
        return [self._out(row) for row in self._store.running(namespace)]

    # ------------------------------------------------- what has no texts of users

    def open(self, *, migrating: bool = True) -> None:
        """Connect and check."""
        self._store.open(migrating=migrating)

    def close(self) -> None:
        """Let go of all connections."""
        self._store.close()

    def reset(self) -> None:
        """Connect anew."""
        self._store.reset()

    def now(self) -> int:
        """The store's clock, in ms."""
        return self._store.now()

    def timers(self, namespace: str, instance: str) -> list[TimerRow]:
        """Timers, first first."""
        return self._store.timers(namespace, instance)

    def definition(self, digest: str) -> DefinitionRow | None:
        """One definition, if it is known."""
        return self._store.definition(digest)

    def definitions(self) -> list[DefinitionRow]:
        """All definitions."""
        return self._store.definitions()

    def due(self, namespace: str, definitions: tuple[str, ...], limit: int) -> list[str]:
        """Instances with something to do."""
        return self._store.due(namespace, definitions, limit)

    def next_due(self, namespace: str, definitions: tuple[str, ...]) -> int | None:
        """When there is something to do."""
        return self._store.next_due(namespace, definitions)

    def call(self, namespace: str, id: str, fence: int, owner: str) -> bool:
        """Write down that a call begins."""
        return self._store.call(namespace, id, fence, owner)

    def beat(self, namespace: str, owner: str, ids: Sequence[str]) -> dict[str, bool]:
        """Signs of life."""
        return self._store.beat(namespace, owner, ids)

    def epoch(self) -> int:
        """How often the data came from a backup, and one."""
        return self._store.epoch()

    def mark_restored(self) -> int:
        """Nothing of then is called by itself any more."""
        return self._store.mark_restored()

    def purge(self, namespace: str, before: int, forget_at: int, limit: int) -> int:
        """Delete instances that are over."""
        return self._store.purge(namespace, before, forget_at, limit)
