"""A world: one database, a few processes, receivers, senders and operators; and what the scheduler may let happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from sim_clocks import LEASE, DatabaseClock, ProcessClock, SeededEntropy, VirtualTime
from sim_machines import EVENTS, NotSent, machines
from sim_operators import Deed, Operators
from sim_processes import ANSWERED, BEGUN, LATE, Flight, Process
from sim_receivers import Outside, Violation
from sim_senders import Senders, Sent
from sim_stores import RACE, Crash, Line, SharedMemory
from sim_tracking import Tracker

from statecharts.durability.applying import Told
from statecharts.durability.commits import Commit, Job
from statecharts.durability.definitions import Registry
from statecharts.durability.store import Store
from statecharts.errors import StoreError, UsageError
from statecharts.values import UNDEFINED

_OUTSIDE: list[Outside] = [Outside(Random(0))]
REGISTRY = Registry(machines(lambda key: _OUTSIDE[0].probe(key)))
"""The machines, made once; their probes ask the receivers of the world that runs."""


class World:
    """What there is under one seed: over ``database``, which is empty and goes by ``clock``."""

    def __init__(self, seed: int, database: Store, clock: DatabaseClock) -> None:
        self.random = random = Random(seed)
        self.coverage: Counter[str] = Counter()
        self.trace: list[str] = []
        self.namespace = f"seed{seed}"
        self.time = VirtualTime()
        self.outside = _OUTSIDE[0] = Outside(random)
        self.line = Line(random, random.choice((0.0, 0.02, 0.05, 0.1)), self.count)
        wrong = random.random() < 0.5
        clocks = [ProcessClock(self.time, random.randint(-300_000, 300_000) if wrong else 0) for _ in range(random.randint(2, 3))]
        self.database = database
        if isinstance(database, SharedMemory):
            database.between = self._between
        clock.current = clocks[0]
        self._clock = clock
        entropy = SeededEntropy(seed)
        self.processes = [
            Process(f"p{number}", self.namespace, database, clock, own, self.line, entropy, self._known(number))
            for number, own in enumerate(clocks, 1)
        ]
        self.tracker = Tracker(self.database, self.namespace, self.time, self.coverage)
        self.senders = Senders(self.database, self.namespace, random)
        self.operators = Operators(self.database, self.namespace, random, self.outside, self.tracker)
        self.instances: dict[str, str] = {}
        self._is_racing = False

    def _known(self, number: int) -> Registry:
        """The first process knows all machines; each other one sometimes lacks some."""
        if number == 1 or self.random.random() < 0.7:
            return REGISTRY
        self.count("a process that lacks machines")
        return Registry(self.random.sample(list(REGISTRY.by_hash.values()), 3))

    def count(self, what: str) -> None:
        """One more for the table."""
        self.coverage[what] += 1

    def act(self, process: Process, what: str, function: Callable[[], Any], detail: str = "") -> Any:
        """Let ``process`` do something; it may meet its end in it."""
        self.senders.is_raced = False
        try:
            said = function()
        except Crash:
            process.crash(self.outside)
            said = "and is gone"
        except StoreError as error:
            said = error
        self.trace.append(f"{self.time.ms:>7} {process.name} {what}{detail}: {said}")
        self.tracker.look(what)
        return said

    # ------------------------------------------------------------------- events

    def start(self, name: str, machine: str) -> None:
        """Start an instance: asked for again until there is an answer."""
        sent = Sent(name, Told(f"start-{name}", "null", "user"))
        self.senders.sent.append(sent)
        for _ in range(40):
            process = self.random.choice([one for one in self.processes if one.knows(machine)])
            if process.is_down:
                process.restart()
            job = process.decider.start(self.namespace, machine, name, sent.told, UNDEFINED)
            self.act(process, "start", lambda process=process, job=job: self._submit(process, [(sent, job)]), f" {name}")
            if sent.answers:
                self.instances[name] = machine
                return
        raise Violation(f"instance {name} cannot be started")

    def deliver(self, process: Process, only: str | None = None) -> None:
        """Somebody sends something."""
        sent, kind = self.senders.next(self.instances if only is None else {only: self.instances[only]})
        self.count(f"sent: {kind}")
        detail = f" {sent.told.event_id} {sent.told.text} to {sent.instance}"
        self.act(process, "send", lambda: self._submit(process, [(sent, self._job(process, sent))]), detail)

    def prepare(self, process: Process) -> None:
        """A job is made now and carried out later, with others, as a batcher does."""
        sent, kind = self.senders.next(self.instances)
        self.count(f"sent: {kind}")
        process.prepared.append((sent, self._job(process, sent)))
        self.trace.append(f"{self.time.ms:>7} {process.name} prepares {sent.told.event_id} {sent.told.text} to {sent.instance}")

    def submit(self, process: Process) -> None:
        """Carry out what was prepared."""
        batch, process.prepared = process.prepared, []
        self.act(process, "batch", lambda: self._submit(process, batch), f" of {len(batch)}")

    def _job(self, process: Process, sent: Sent) -> Job:
        return process.decider.send(self.namespace, sent.instance, sent.told)

    def _submit(self, process: Process, batch: list[tuple[Sent, Job]]) -> str:
        before = [self.senders.stored(sent) for sent, _ in batch]
        ids = [(sent.instance, sent.told.event_id) for sent, _ in batch]
        answers: list[Any]
        try:
            answers = process.committer.commit([job for _, job in batch])
        except StoreError as error:
            answers = [error] * len(batch)
        if len(batch) > 1:
            self.senders.is_raced = self.senders.is_raced or len(set(ids)) < len(ids)
        said = []
        for (sent, _), row, answer in zip(batch, before, answers, strict=True):
            said.append(self.senders.answered(sent, row, answer, is_alone=len(batch) == 1))
            self.count(f"answer: {said[-1].partition(':')[0]}")
        return ", ".join(said)

    def _between(self, job: Job) -> None:
        """Another process comes in between the reading and the writing of a decision."""
        if self._is_racing or not self.line.is_faulty or self.random.random() >= 0.03:
            return
        others = [one for one in self.processes if one.is_able and one.clock is not self._clock.current]
        if not others or job.instance not in self.instances:
            return
        self.count(f"fault: {RACE}")
        mine, self._is_racing = self._clock.current, True
        try:
            process = self.random.choice(others)
            if self.random.random() < 0.6:
                self.deliver(process, job.instance)
            else:
                self.pump(process)
        finally:
            self._clock.current, self._is_racing = mine, False
            self.senders.is_raced = True

    def pump(self, process: Process) -> None:
        """What waits, and timers that are due."""
        self.act(process, "pump", lambda: self._pump(process))

    def _pump(self, process: Process) -> str:
        jobs = process.pump.jobs()
        answers = process.committer.commit(jobs) if jobs else []
        for job, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, Exception) and not isinstance(answer, StoreError):
                raise Violation(f"instance {job.instance} cannot go on: {answer!r}") from answer
        return ", ".join(f"{job.instance} {answer.answer if isinstance(answer, Commit) else answer}" for job, answer in zip(jobs, answers, strict=True))

    # -------------------------------------------------------------------- calls

    def claim(self, process: Process) -> None:
        """Take up to three effects."""
        self.act(process, "claim", lambda: process.claim(self.random.randint(1, 3)))

    def move(self, process: Process, flight: Flight) -> None:
        """A call goes on."""
        row, error = flight.attempt.row, flight.error
        if isinstance(error, NotSent) and flight.attempt.rules.is_not_done(error):
            self.tracker.not_sent.add(row.id)
        elif error is not None or flight.stage in (BEGUN, LATE):
            self.tracker.excuses[row.id] += 0 if error is None else 1
        stage = flight.stage
        what = "late report" if stage == LATE else "report" if stage == ANSWERED else "call"
        if stage == BEGUN:
            self.act(process, what, lambda: self._call(process, flight))
        else:
            self.act(process, what, lambda: process.move(flight, self.outside, self.random, self.line.is_faulty))
        self.tracker.not_sent.discard(row.id)

    def _call(self, process: Process, flight: Flight) -> str:
        self.tracker.excuses[flight.attempt.row.id] += 1  # for the time-out that may come of it
        said = process.move(flight, self.outside, self.random, self.line.is_faulty)
        if flight.stage != LATE:
            self.tracker.excuses[flight.attempt.row.id] -= 1
        self.count(f"receiver {said.partition(') ')[2].partition(':')[0]}")
        return said

    def beat(self, process: Process) -> None:
        """Signs of life."""
        process.beaten = self.time.ms
        ids = list(process.worker.running)
        if ids and isinstance(self.act(process, "beat", lambda: len(process.worker.beat())), int):
            self.tracker.heard(ids, process.worker.owner)
            for attempt in process.worker.running.values():
                if process.stored(attempt.row).is_cancelled and not (attempt.is_cancelled or attempt.is_lost):
                    raise Violation(f"the state of effect {attempt.row.id} was left, and its worker is not told")

    def sweep(self, process: Process) -> None:
        """Look for leases that stand still."""
        self.act(process, "sweep", process.reconciler.sweep)

    def probe(self, process: Process) -> None:
        """Ask receivers about what nobody knows."""
        self.act(process, "probe", lambda: self._probe(process))

    def _probe(self, process: Process) -> int:
        moved = 0
        for row in process.reconciler.doubtful():
            answer: Any = process.reconciler.ask(row)
            self.count(f"a probe says {answer.status}")
            if process.reconciler.learned(row, answer):
                moved += 1
                if answer.status not in ("done", "not_done"):
                    raise Violation(f"effect {row.id} was settled by a probe that says {answer.status}")
        return moved

    # --------------------------------------------------------- operators, clocks

    def operate(self, process: Process) -> None:
        """A person does something, if there is something to do."""
        deed = self.operators.next(process.operator)
        if deed is not None:
            self.do(process, deed)

    def do(self, process: Process, deed: Deed) -> None:
        """Carry out a deed."""
        self.count(f"operator: {deed.what}")
        self.act(process, f"operator's {deed.what}", lambda: self._do(process, deed), f" of {deed.instance}")

    def _do(self, process: Process, deed: Deed) -> str:
        if deed.what == "revive":
            self.tracker.excuses[f"revived:{deed.instance}:{deed.event_id}"] += 1
        try:
            answer = process.committer.one(deed.job).answer
        except UsageError as error:
            self._is_done(deed, False)
            return f"may not: {error}"
        self._is_done(deed, True)
        return str(answer.outcome)

    def _is_done(self, deed: Deed, said: bool) -> None:
        logged = any(row.event_id == deed.order.id for row in self.database.log(self.namespace, deed.instance))
        if logged != said and not self.senders.is_raced:
            raise Violation(f"an operator was told that {deed.what} {'was' if said else 'was not'} done; the log says otherwise")

    def advance(self, by: int, *, sweeping: bool = False) -> None:
        """Time passes; the heartbeats of all that are awake go on."""
        end = self.time.ms + by
        while self.time.ms < end:
            self.time.ms = min(end, self.time.ms + LEASE // 4)
            for process in self.processes:
                if process.is_able and self.time.ms - process.beaten >= LEASE // 4:
                    self.beat(process)
                if process.is_able and sweeping:
                    self.sweep(process)

    def crash(self, process: Process) -> None:
        """Killed from outside."""
        self.count("fault: killed")
        process.crash(self.outside)
        self.trace.append(f"{self.time.ms:>7} {process.name} is killed")


__all__ = ["EVENTS", "REGISTRY", "World"]
