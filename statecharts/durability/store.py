"""What the durable runtime asks of a store.

All calls block, and may be made from any thread; a host that must not block
makes them elsewhere. Each is one transaction, or with several jobs one for
each: when it returns, what it wrote is on disk as far as the store's settings
promise that; when it raises :class:`StoreError`, nothing was written, and when
it raises :class:`CommitUnknown`, nobody knows, or only some of the jobs are
written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .commits import Commit, Job
from .rows import DefinitionRow, EffectRow, InboxRow, Instance, LogRow, TimerRow

Answer = Commit | Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceQuery:
    """Which instances: members that are ``None`` do not matter.

    ``state``: a path below the machine's id, active at any depth. ``before``:
    in its configuration since before that time. ``with_effect``: one of an
    open effect's statuses. ``with_timer``: has one that is due. ``after``: the
    last id of the page before.
    """

    namespace: str
    machine: str | None = None
    definition: str | None = None
    status: str | None = None
    state: str | None = None
    before: int | None = None
    with_effect: str | None = None
    with_timer: int | None = None
    needs_attention: bool | None = None
    is_suspended: bool | None = None
    after: str = ""
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectQuery:
    """Which effects, oldest first."""

    namespace: str
    instance: str | None = None
    id: str | None = None
    key: str | None = None
    kind: str | None = None
    session: int | None = None
    statuses: tuple[str, ...] = ()
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A worker asks for effects of the ``definitions`` it can run, at most ``limit``."""

    namespace: str
    owner: str
    definitions: tuple[str, ...]
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """An effect moves on, if its row is still as the sender thinks: ``fence``, one of the statuses in ``was``, and ``beat`` if given.

    ``status`` is the new one. With ``outcome`` the instance's inbox gets an
    event, in the same transaction. PENDING again: not before ``next_at``; and if its state was left (``is_cancelled``), by now
    or long ago, it becomes WITHDRAWN instead.
    """

    namespace: str
    id: str
    fence: int
    was: tuple[str, ...]
    status: str
    beat: int | None = None
    next_at: int | None = None
    result: str | None = None
    error: str | None = None
    external_id: str | None = None
    outcome: InboxRow | None = None


class Store(Protocol):
    """A place for instances. ``lanes`` is how many calls of :meth:`commit` gain from being made side by side."""

    lanes: int

    def open(self, *, migrating: bool = True) -> None:
        """Connect, check settings and schema. Raises :class:`StoreError` saying what is wrong and what to do.

        An older schema is brought up to date, and an empty store gets its tables, unless ``migrating`` is false: then both are errors.
        """

    def close(self) -> None:
        """Let go of all connections."""

    def reset(self) -> None:
        """Drop all connections and connect anew, after a commit of which nobody knows what became."""

    def now(self) -> int:
        """The store's clock, in ms."""

    # ------------------------------------------------------------- decisions

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Load what each job asks for, let it decide, write what it answers: each job all or nothing, in their order.

        A job whose decision raises is answered with the exception, and the
        others go on. One that loses against another writer decides again.
        """

    # --------------------------------------------------------------- reading

    def instance(self, namespace: str, id: str) -> Instance | None: ...
    def instances(self, query: InstanceQuery) -> list[Instance]: ...
    def inbox(
        self, namespace: str, instance: str, *, event_id: str | None = None, statuses: tuple[str, ...] = (), limit: int = 100
    ) -> list[InboxRow]:
        """Rows in their order."""

    def log(self, namespace: str, instance: str, *, after: int = 0, limit: int = 1_000) -> list[LogRow]:
        """Versions above ``after``."""

    def effects(self, query: EffectQuery) -> list[EffectRow]: ...
    def timers(self, namespace: str, instance: str) -> list[TimerRow]: ...
    def definition(self, digest: str) -> DefinitionRow | None: ...
    def definitions(self) -> list[DefinitionRow]: ...

    # ------------------------------------------------------------------ work

    def due(self, namespace: str, definitions: tuple[str, ...], limit: int) -> list[str]:
        """Instances that have something waiting or a timer due, longest first; not those that are suspended."""

    def next_due(self, namespace: str, definitions: tuple[str, ...]) -> int | None:
        """When the next timer, or effect that could be claimed, is due; it may be past. Not of instances that are suspended."""

    def claim(self, claim: Claim) -> list[EffectRow]:
        """Make up to ``limit`` PENDING effects that are due RUNNING, each with the next fence and one more attempt.

        Of those in one lane of an instance the first open one only. No effect while another with its key is RUNNING or UNKNOWN, or an
        older one PENDING; none of an instance that is suspended; none of kind
        ``deliver``, which go to whoever runs their resident.
        """

    def call(self, namespace: str, id: str, fence: int, owner: str) -> bool:
        """Write down that the call is about to be made (``called_at``); false when the row is not this owner's any more."""

    def beat(self, namespace: str, owner: str, ids: Sequence[str]) -> dict[str, bool]:
        """A sign of life for each effect that is still the owner's: whether it is to be cancelled. Those that are not are missing."""

    def settle(self, settlement: Settlement) -> bool:
        """Move an effect on; false, and nothing is written, when its row is not as the sender thinks."""

    def running(self, namespace: str) -> list[EffectRow]:
        """All RUNNING effects, for whoever looks for leases that stand still."""


    # ---------------------------------------------------------- housekeeping

    def epoch(self) -> int:
        """How often this store was restored from a backup, and one."""

    def mark_restored(self) -> int:
        """Say that the data come from a backup: the epoch rises, and no effect of then is called by itself any more.

        What was PENDING or RUNNING may have been done since the backup was made,
        so it is UNKNOWN now; only what the runtime does itself (actors that stay,
        events for other instances) goes on. How many effects that were.
        """

    def purge(self, namespace: str, before: int, forget_at: int, limit: int) -> int:
        """Delete up to ``limit`` instances that have been over since before ``before``; how many.

        Not those with open effects or rows that wait. Their event ids and receipts
        are kept until ``forget_at``, and their names cannot be used again before;
        what earlier purges kept until now is deleted too.
        """


class Clock(Protocol):
    """Time, as a test may set it."""

    def now(self) -> int:
        """Wall-clock ms."""

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""


