"""The one database of a world, and how a process reaches it: over a line on which things go wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from sim_clocks import DatabaseClock, ProcessClock

from statecharts.adapters.stores.memory import MemoryStore
from statecharts.durability.commits import Commit, Job, Loaded
from statecharts.durability.decisions import StateMissing
from statecharts.durability.store import Answer, Claim, Settlement, Store
from statecharts.errors import CommitUnknown, StoreError, UsageError

T = TypeVar("T")
CRASH_BEFORE, CRASH_AFTER, ERROR, LOST, LOST_UNWRITTEN, RACE = (
    "crash before a store call",
    "crash after a store call",
    "the store fails",
    "a commit's reply is lost, it was written",
    "a commit's reply is lost, it was not written",
    "another writer comes in between",
)
FAULTS = (CRASH_BEFORE, CRASH_AFTER, ERROR, LOST, LOST, LOST_UNWRITTEN)


class Crash(BaseException):
    """The process that meets it is gone."""


class SharedMemory(MemoryStore):
    """A memory store that decides as an optimistic database does: others may write between the reading and the writing."""

    def __init__(self, clock: DatabaseClock) -> None:
        super().__init__(clock=clock)
        self.between: Callable[[Job], None] = lambda _job: None

    def _one(self, job: Job) -> Answer:
        for _ in range(5):
            try:
                commit = job.decide(self._load(job))
            except Exception as error:
                return error
            if commit.after is None:
                return commit
            self.between(job)
            if not all(map(self._holds, commit.settled)):
                return UsageError("an effect has moved on meanwhile; look at it again")
            try:
                self._write(commit)
            except StoreError:
                continue
            return commit
        raise StoreError("changed by other writers again and again")


class Line:
    """What goes wrong between the processes and the database, by the seed."""

    def __init__(self, random: Random, rate: float, count: Callable[[str], None]) -> None:
        self._random = random
        self._rate = rate
        self._count = count
        self._down = 0
        self.is_faulty = True

    def draw(self, writes: bool) -> str | None:
        """The fault that meets the next call."""
        if not self.is_faulty:
            return None
        if self._down:
            self._down -= 1
            return ERROR
        if self._random.random() >= self._rate:
            return None
        fault = self._random.choice(FAULTS) if writes else ERROR
        if fault in (LOST, LOST_UNWRITTEN) and self._random.random() < 0.2:
            self._down = self._random.randint(1, 8)  # and it stays away for a while
        self._count(f"fault: {fault}")
        return fault

    def is_late(self) -> bool:
        """Whether a transaction fails at its end rather than at its beginning."""
        if self._random.random() < 0.5:
            return False
        self._count("fault: all is decided, nothing is written")
        return True


class FaultyStore:
    """The database as one process sees it."""

    lanes = 1

    def __init__(self, database: Store, clock: DatabaseClock, own: ProcessClock, line: Line) -> None:
        self._database = database
        self._clock = clock
        self._own = own
        self._line = line

    def _ask(
        self, function: Callable[..., T], *arguments: Any, writes: bool = False, undone: Callable[[], None] | None = None
    ) -> T:
        self._clock.current = self._own
        fault = self._line.draw(writes)
        if undone is not None and fault in (CRASH_BEFORE, ERROR, LOST_UNWRITTEN) and self._line.is_late():
            undone()
        if fault == CRASH_BEFORE:
            raise Crash
        if fault == ERROR:
            raise StoreError("the store cannot be reached")
        if fault == LOST_UNWRITTEN:
            raise CommitUnknown("the connection was lost")
        result = function(*arguments)
        if fault == CRASH_AFTER:
            raise Crash
        if fault == LOST:
            raise CommitUnknown("the connection was lost")
        return result

    def open(self) -> None: ...
    def close(self) -> None: ...

    def reset(self) -> None:
        self._ask(lambda: None)

    def now(self) -> int:
        return self._own.now()

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        jobs = [replace(job, decide=_unloaded(job)) for job in jobs]
        return self._ask(self._database.commit, jobs, writes=True, undone=lambda: self._undone(jobs))

    def _undone(self, jobs: Sequence[Job]) -> None:
        """A transaction that comes to nothing at its very end: all is decided, nothing is written."""

        def decided(job: Job) -> Callable[[Loaded], Commit]:
            def decide(loaded: Loaded) -> Commit:
                job.decide(loaded)
                raise StoreError("rolled back")

            return decide

        self._database.commit([replace(job, decide=decided(job)) for job in jobs])

    def claim(self, claim: Claim) -> Any:
        return self._ask(self._database.claim, claim, writes=True)

    def call(self, namespace: str, id: str, fence: int, owner: str) -> bool:
        return self._ask(self._database.call, namespace, id, fence, owner, writes=True)

    def beat(self, namespace: str, owner: str, ids: Sequence[str]) -> dict[str, bool]:
        return self._ask(self._database.beat, namespace, owner, ids, writes=True)

    def settle(self, settlement: Settlement) -> bool:
        return self._ask(self._database.settle, settlement, writes=True)

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._database, name)
        return lambda *arguments, **named: self._ask(lambda: function(*arguments, **named))


def _unloaded(job: Job) -> Callable[[Loaded], Commit]:
    """As a database does it: the state is not loaded if the job says that it is here already."""

    def decide(loaded: Loaded) -> Commit:
        instance = loaded.instance
        if instance is not None and instance.revision == job.seen_revision:
            loaded = replace(loaded, instance=replace(instance, state=None))
        return job.decide(loaded)

    return decide


__all__ = ["FAULTS", "RACE", "Crash", "FaultyStore", "Line", "SharedMemory", "StateMissing"]
