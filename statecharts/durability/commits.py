"""What a decision sees and what it answers with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .rows import DefinitionRow, EffectRow, InboxRow, Instance, LogRow, TimerRow


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a store has found for a :class:`Job`, in one view of the data.

    ``known`` is the inbox row of the job's event id, ``waiting`` the first rows
    that wait, in order. ``effects`` are the open ones, if the job asked for them.
    ``now`` is the store's clock. ``forget_at``: there was an instance of this name
    which has been purged, and of which ids are kept until then. ``held``: the actor
    system of this very row, where it was made in the same transaction.
    """

    now: int
    instance: Instance | None
    known: InboxRow | None
    waiting: tuple[InboxRow, ...]
    effects: tuple[EffectRow, ...] = ()
    forget_at: int | None = None
    held: Any = None


@dataclass(slots=True)
class Commit:
    r"""What is to be written, all of it or nothing, and the ``answer`` to give afterwards.

    ``before`` is the instance as it was loaded; when it has another revision by
    now, nothing is written. ``after`` is the row as it is to be (``None``: there
    is nothing to write at all). ``handled`` are inbox rows that were waiting.
    ``withdrawn`` are the sessions of actors that were stopped: their effects that
    nobody has begun are withdrawn, those that run are told. ``timers_gone`` are
    handles. ``renamed`` are open effects with another definition and name, each as
    it was loaded otherwise. ``settled`` are :class:`~.store.Settlement`\ s; when one of them does not
    hold any more, nothing is written. ``closes``: the instance is over; none of its timers stays, and no actor's
    effect that nobody has begun. ``erases``: the payloads of all that is
    over are deleted (:meth:`.controls.Operator.erase`). ``shown``: what was emitted and logged, a mapping a
    version. ``timer_lags``: how late timers
    fired, in ms. ``held`` is the actor system afterwards, for the decider's cache.
    """

    answer: Any
    before: Instance | None = None
    after: Instance | None = None
    definition: DefinitionRow | None = None
    arrived: list[InboxRow] = field(default_factory=list)
    handled: list[InboxRow] = field(default_factory=list)
    log: list[LogRow] = field(default_factory=list)
    effects: list[EffectRow] = field(default_factory=list)
    settled: list[Any] = field(default_factory=list)
    withdrawn: list[int] = field(default_factory=list)
    renamed: list[EffectRow] = field(default_factory=list)
    timers_set: list[TimerRow] = field(default_factory=list)
    timers_gone: list[int] = field(default_factory=list)
    closes: bool = False
    shown: list[dict[str, Any]] = field(default_factory=list)
    erases: bool = False
    timer_lags: list[int] = field(default_factory=list)
    held: Any = None


@dataclass(frozen=True, slots=True)
class Job:
    """A question to an instance: what to load, and who decides.

    ``event_id``: the inbox row to look for. ``seen_revision``: the state of an
    instance with this revision need not be loaded, ``decide`` has it.
    ``needs_effects``: its open effects are to be loaded. ``logged_id``: the event
    id of its log row, of a job that has none in the inbox.
    """

    namespace: str
    instance: str
    decide: Callable[[Loaded], Commit]
    event_id: str | None = None
    seen_revision: int | None = None
    needs_effects: bool = False
    logged_id: str | None = None
