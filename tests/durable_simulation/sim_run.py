"""One seed, from the first start to the last rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sim_checks import Historian, at_rest
from sim_clocks import LEASE, DatabaseClock, ProcessClock, VirtualTime
from sim_processes import Process
from sim_receivers import Violation
from sim_stores import SharedMemory
from sim_world import EVENTS, REGISTRY, World

from statecharts.adapters.stores.sqlite import SqliteStore
from statecharts.durability.rows import ACTION, FAILED, UNKNOWN

ON_SQLITE = 20
"""Each so-many-th seed runs on SQLite."""


@dataclass(frozen=True, slots=True)
class Story:
    """What has happened under a seed. ``fault`` is what must never be."""

    seed: int
    trace: tuple[str, ...]
    coverage: Counter[str]
    fault: BaseException | None

    def told(self) -> str:
        """For people: how it went, and how to see it again."""
        return "\n".join(
            [*self.trace, f"seed {self.seed}: {'nothing wrong' if self.fault is None else repr(self.fault)}", f"again: python tests/durable_simulation/replay.py {self.seed}"]
        )


def run(seed: int) -> Story:
    """The story of ``seed``."""
    if seed % ON_SQLITE != ON_SQLITE - 1:
        clock = DatabaseClock(ProcessClock(VirtualTime(), 0))
        return _lived(seed, World(seed, SharedMemory(clock), clock))
    with TemporaryDirectory(prefix="simulated") as directory:
        clock = DatabaseClock(ProcessClock(VirtualTime(), 0))
        store = SqliteStore(Path(directory) / "store.db", synchronous="NORMAL", clock=clock)
        store.open()
        try:
            return _lived(seed, World(seed, store, clock))
        finally:
            store.close()


def _lived(seed: int, world: World) -> Story:
    fault: BaseException | None = None
    try:
        _live(world)
        _rest(world)
        world.senders.settle_accounts()
        Historian(world.database, world.namespace, REGISTRY, world.tracker, world.outside, world.random).check()
    except Exception as error:
        fault = error
    return Story(seed, tuple(world.trace), world.coverage, fault)


# ----------------------------------------------------------------- the two phases


def _live(world: World) -> None:
    """Faults and all."""
    random = world.random
    world.count(f"store: {type(world.database).__name__}")
    for number in range(random.randint(2, 4)):
        machine = random.choice(list(EVENTS))
        world.start(f"{machine}{number}", machine)
    names = list(CHANCES)
    weights = [weight for weight, _ in CHANCES.values()]
    for name in random.choices(names, weights, k=random.randint(60, 110)):
        able = [one for one in world.processes if one.is_able]
        if name == "wake":
            _wake(world)
        elif able:
            CHANCES[name][1](world, random.choice(able))


def _wake(world: World) -> None:
    asleep = [one for one in world.processes if not one.is_able]
    if not asleep:
        return
    process = world.random.choice(asleep)
    if process.is_down:
        process.restart()
    process.is_paused = False
    world.trace.append(f"{world.time.ms:>7} {process.name} goes on")


def _call(world: World, process: Process) -> None:
    if process.flights:
        world.move(process, world.random.choice(process.flights))


def _submit(world: World, process: Process) -> None:
    if process.prepared:
        world.submit(process)


def _pass(world: World, _process: Process) -> None:
    if world.random.random() < 0.15:
        world.advance(LEASE + LEASE // 2, sweeping=True)
    else:
        world.advance(world.random.choice((1, 50, 200, 500, 900, 1_500, 3_000)))


def _pause(world: World, process: Process) -> None:
    world.count("fault: stopped for a while")
    process.is_paused = True
    world.trace.append(f"{world.time.ms:>7} {process.name} is stopped")
    if world.random.random() < 0.5:  # for longer than its leases last
        world.advance(LEASE + LEASE // 2, sweeping=True)


def _shift(world: World, process: Process) -> None:
    world.count("fault: a clock is set")
    if world.random.random() < 0.5:
        world.sweep(process)
    process.clock.skew += world.random.choice((-3_600_000, 3_600_000, -60_000, 60_000))
    world.trace.append(f"{world.time.ms:>7} {process.name} has its clock set to {process.clock.now()}")
    if process.is_able:
        world.sweep(process)


CHANCES: dict[str, tuple[float, Callable[[World, Process], None]]] = {
    "deliver": (22, World.deliver),
    "prepare": (4, World.prepare),
    "submit": (3, _submit),
    "pump": (8, World.pump),
    "claim": (10, World.claim),
    "call": (26, _call),
    "pass": (12, _pass),
    "sweep": (3, World.sweep),
    "probe": (3.5, World.probe),
    "operate": (8, World.operate),
    "crash": (0.8, World.crash),
    "pause": (1.2, _pause),
    "shift": (0.7, _shift),
    "wake": (5, lambda _world, _process: None),
}


def _rest(world: World) -> None:
    """The faults stop, and everything must come to rest."""
    world.trace.append("        the faults stop")
    world.line.is_faulty = False
    for process in world.processes:
        process.is_paused = False
        if process.is_down:
            process.restart()
        _submit(world, process)
    reason: str | None = ""
    for _ in range(60):
        for process in world.processes:
            _work(world, process)
        _look_after(world)
        reason = at_rest(world.database, world.namespace, world.tracker, max(one.clock.now() for one in world.processes))
        dues = [one.next_due for one in world.tracker.instances() if one.next_due is not None]
        if reason is None and not dues:
            return
        _jump(world, reason, dues)
    raise Violation(f"I8: {reason or 'timers go on for ever'}")


def _work(world: World, process: Process) -> None:
    for flight in list(process.flights):
        while flight in process.flights:
            world.move(process, flight)
    for _ in range(4):
        world.pump(process)
    world.claim(process)
    world.sweep(process)
    world.probe(process)


def _look_after(world: World) -> None:
    process = world.processes[0]
    for instance in world.tracker.instances():
        if instance.is_suspended:
            world.do(process, world.operators.resumed(process.operator, instance.id))
    for row in world.tracker.rows():
        is_failed = row.status == FAILED and row.kind == ACTION and world.random.random() < 0.2
        if row.status == UNKNOWN or is_failed:
            world.do(process, world.operators.decide(process.operator, row))
    for instance in world.tracker.instances():
        deed = world.operators.letter(process.operator, instance) if world.random.random() < 0.3 else None
        if deed is not None:
            world.do(process, deed)


def _jump(world: World, reason: str | None, dues: list[int]) -> None:
    """On to when there is something to do, by the slowest clock."""
    now = min(one.clock.now() for one in world.processes)
    waits = [row.next_at for row in world.tracker.rows() if row.status == "PENDING"]
    times = [time - now for time in (*dues, *waits) if time > now]
    if times and (reason is None or waits or "timer" in reason):
        step = min(times) + 1
        if step > 4 * LEASE:  # nothing runs that would have to beat meanwhile
            world.time.ms += step - 4 * LEASE
            step = 4 * LEASE
        world.advance(step)
    world.advance(LEASE // 2)
