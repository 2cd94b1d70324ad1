"""A simulated process: the production parts, and calls that are on their way."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from sim_clocks import LEASE, DatabaseClock, ProcessClock, SeededEntropy
from sim_machines import NotSent
from sim_receivers import FATES, OK, UNUSABLE, Outside, Silence, Violation
from sim_stores import FaultyStore, Line

from statecharts.adapters.engines.durable.committing import Committer
from statecharts.adapters.engines.durable.pump import Pump
from statecharts.adapters.engines.durable.reconciling import Reconciler
from statecharts.adapters.engines.durable.worker import Attempt, Worker
from statecharts.durability.cache import StateCache
from statecharts.durability.controls import Operator
from statecharts.durability.decisions import Decider
from statecharts.durability.definitions import Registry
from statecharts.durability.payloads import Limits
from statecharts.durability.rows import RUNNING, EffectRow
from statecharts.durability.store import EffectQuery, Store
from statecharts.errors import StoreError

CLAIMED, BEGUN, ANSWERED, LATE = "claimed", "begun", "answered", "given up, and yet it may report"
LIMITS = Limits(queue=6, batch=3, state=4_000)


@dataclass(slots=True)
class Flight:
    """A call on its way: what the production host has in a task or a thread."""

    attempt: Attempt
    stage: str
    value: Any = None
    error: Exception | None = None
    reports: int = 0


class Process:
    """The parts of one process; :meth:`restart` makes them anew, as after a crash."""

    def __init__(
        self, name: str, namespace: str, database: Store, clock: DatabaseClock, own: ProcessClock, line: Line, entropy: SeededEntropy, registry: Registry
    ) -> None:
        self.name = name
        self.clock = own
        self._namespace = namespace
        self._database = database
        self._database_clock = clock
        self._line = line
        self._entropy = entropy
        self._registry = registry
        self._lives = 0
        self.restart()

    def restart(self) -> None:
        """Begin anew, knowing nothing."""
        self._lives += 1
        self.is_down = self.is_paused = False
        self.prepared: list[Any] = []
        self.flights: list[Flight] = []
        self.beaten = 0
        self.store = FaultyStore(self._database, self._database_clock, self.clock, self._line)
        self.decider = Decider(self._registry, LIMITS, self._entropy, StateCache(2))
        self.committer = Committer(self.store, self.decider)
        owner = f"{self.name}.{self._lives}"
        self.worker = Worker(self.committer, self._namespace, owner, self._entropy)
        self.reconciler = Reconciler(self.worker, LEASE, self.clock)
        self.pump = Pump(self.committer, self._namespace, 3)
        self.operator = Operator(self.decider)

    @property
    def is_able(self) -> bool:
        return not (self.is_down or self.is_paused)

    def knows(self, machine: str) -> bool:
        return machine in self._registry.by_id

    # ---------------------------------------------------------------- the calls

    def claim(self, limit: int) -> str:
        """Take effects to call."""
        found = self.worker.claim(limit)
        strange = [attempt.row.id for attempt in found if attempt.row.definition not in self._registry.by_hash]
        if strange:
            raise Violation(f"{self.name} has claimed the effects {strange} of machines that it has not")
        self.flights += [Flight(attempt, CLAIMED) for attempt in found]
        return ", ".join(attempt.row.id for attempt in found) or "nothing"

    def move(self, flight: Flight, outside: Outside, random: Random, is_faulty: bool) -> str:
        """The next step of a call, as the production host makes it; a store that fails ends the task."""
        key = flight.attempt.row.key
        try:
            said = self._step(flight, outside, random, is_faulty)
        except StoreError:
            self.drop(flight, outside)
            if flight.stage == ANSWERED and flight.reports < 4:  # it is tried again, a little later
                flight.reports += 1
                self.flights.append(flight)
            raise
        return f"{flight.attempt.row.id} ({key}) {said}"

    def drop(self, flight: Flight, outside: Outside) -> None:
        """The task of a call has ended."""
        if flight in self.flights:
            self.flights.remove(flight)
        if flight.stage == BEGUN:
            outside.in_flight[flight.attempt.row.key] -= 1

    def _step(self, flight: Flight, outside: Outside, random: Random, is_faulty: bool) -> str:
        attempt = flight.attempt
        if flight.stage == CLAIMED:
            if attempt.row.key != attempt.row.id and attempt.replayed():
                self.drop(flight, outside)
                return "was done before under its key"
            if not attempt.begin():
                self.drop(flight, outside)
                return "is somebody else's now"
            stored = self.stored(attempt.row)
            if stored.fence != attempt.row.fence or stored.status != RUNNING:
                raise Violation(f"a call begins for effect {stored.id}, which is {stored.status} and somebody else's")
            flight.stage = BEGUN
            outside.in_flight[attempt.row.key] += 1
            return "begins"
        if flight.stage == BEGUN:
            if is_faulty and random.random() < 0.06:  # given up before it has even arrived
                flight.stage = LATE
                return f"times out: {self._report(flight, Silence('slow'))}"
            return self._call(flight, outside, random.choice(FATES) if is_faulty else OK)
        if flight.stage == LATE:
            self.drop(flight, outside)
            self._call(flight, outside, OK)
            return f"arrives late: {self._report(flight, flight.error)}"
        self.drop(flight, outside)
        return f"reports: {self._report(flight, flight.error)}"

    def _call(self, flight: Flight, outside: Outside, fate: str) -> str:
        row = flight.attempt.row
        outside.in_flight[row.key] -= flight.stage == BEGUN
        flight.stage = ANSWERED
        if fate == UNUSABLE and flight.attempt.rules.probes and row.key == row.id:
            fate = OK  # the answer of an honest receiver is that of its probe
        try:
            flight.value = outside.call(row, self.stored(row), flight.attempt.rules.idempotent, fate)
        except (NotSent, RuntimeError, Silence) as error:
            flight.error = error
        return fate

    def _report(self, flight: Flight, error: Exception | None) -> bool:
        attempt = flight.attempt
        before = self.stored(attempt.row)
        moved = attempt.succeed(flight.value) if error is None else attempt.fail(error)
        if moved and before.fence != attempt.row.fence:
            raise Violation(f"effect {before.id} was settled by a worker that had lost it")
        return moved

    def stored(self, row: EffectRow) -> EffectRow:
        """The row as it is in the database."""
        return self._database.effects(EffectQuery(namespace=row.namespace, id=row.id))[0]

    def crash(self, outside: Outside) -> None:
        """Be gone, with all that is in memory. What has arrived outside stays there."""
        self.is_down = True
        for flight in list(self.flights):
            self.drop(flight, outside)
