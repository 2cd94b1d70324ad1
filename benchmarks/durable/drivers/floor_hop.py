"""The thread hop of the floor: an event loop, threads that write, and batches of what came meanwhile."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from chart import event_type
from floor_values import Event, write

Job = tuple[Event, str]
BATCH = 64


class Hop:
    """Hands jobs to ``lanes`` threads, at most 64 at a time."""

    def __init__(self, commit: Callable[[list[Job]], None], lanes: int) -> None:
        self._commit = commit
        self._lanes = lanes
        self._executor = ThreadPoolExecutor(lanes)
        self._waiting: deque[tuple[Job, asyncio.Future[None]]] = deque()
        self._busy = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, job: Job) -> None:
        """Wait until ``job`` is committed."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        if self._busy < self._lanes:
            self._busy += 1
            task = asyncio.get_running_loop().create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await future

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            size = max(1, min(BATCH, len(self._waiting) // self._lanes if self._lanes > 1 else BATCH))
            batch = [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]
            try:
                await loop.run_in_executor(self._executor, self._commit, [job for job, _ in batch])
            except Exception as error:
                for _, future in batch:
                    future.set_exception(error)
                continue
            for _, future in batch:
                future.set_result(None)
        self._busy -= 1

    def close(self) -> None:
        """Let the threads go."""
        self._executor.shutdown()


class Flood:
    """Senders of events, each instance in its own order."""

    def __init__(self, hop: Hop, instances: int) -> None:
        self._hop = hop
        self._sent = dict.fromkeys((f"order-{number}" for number in range(instances)), 0)

    async def send(self, name: str, events: int) -> None:
        """Send one after the other, each when the one before is committed."""
        for _ in range(events):
            number = self._sent[name]
            self._sent[name] = number + 1
            given = {"type": event_type(number), "amount": 12.5}
            await self._hop.submit((Event(name, number, given, f"{name}:{number}"), write(given)))

    async def run(self, in_flight: int, events: int) -> None:
        """Send ``events``, of which ``in_flight`` are on their way at any time."""
        names = list(self._sent)
        await asyncio.gather(*(self.send(names[one % len(names)], events // in_flight) for one in range(in_flight)))
