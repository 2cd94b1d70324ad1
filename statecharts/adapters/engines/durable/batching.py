"""Many jobs at once: those that come while a commit is under way go into the next one together."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor

from ....durability.commits import Commit, Job
from ....errors import StoreError
from .committing import Committer

log = logging.getLogger("statecharts.durable")
Entry = tuple[Job, "asyncio.Future[Commit]"]


class Batcher:
    """Takes jobs in an event loop and commits them in threads, at most ``lanes`` commits side by side.

    ``committed`` is told of each that is, with the seconds it took, before whoever
    waits. Jobs for one instance are committed in the order in which they came: while
    one is under way, another of the same instance waits for the next batch.
    """

    def __init__(
        self,
        committer: Committer,
        executor: Executor,
        lanes: int,
        committed: Callable[[Commit, float], None],
        size: int = 64,
    ) -> None:
        self._committer = committer
        self._committed = committed
        self._executor = executor
        self._lanes = lanes
        self._size = size
        self._waiting: deque[Entry] = deque()
        self._busy: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, job: Job) -> Commit:
        """The answer to ``job``, once it is committed. Raises what it was answered with."""
        future: asyncio.Future[Commit] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        self._start()
        return await asyncio.shield(future)  # who stops waiting does not take back what was asked

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or is under way."""
        return not self._waiting and not self._tasks

    async def drain(self) -> None:
        """Wait until all that was submitted has been answered."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def _start(self) -> None:
        while self._waiting and len(self._tasks) < self._lanes:
            batch = self._next_batch()
            if not batch:
                return
            task = asyncio.get_running_loop().create_task(self._commit(batch))
            self._tasks.add(task)
            task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._waiting:
            self._start()

    def _next_batch(self) -> list[Entry]:
        """The first jobs whose instances nobody is busy with; with several lanes each takes its share."""
        wanted = self._size if self._lanes == 1 else max(1, min(self._size, len(self._waiting) // self._lanes))
        batch: list[Entry] = []
        passed: list[Entry] = []
        while self._waiting and len(batch) < wanted:
            entry = self._waiting.popleft()
            key = (entry[0].namespace, entry[0].instance)
            (passed if key in self._busy else batch).append(entry)
        self._waiting.extendleft(reversed(passed))
        self._busy.update((job.namespace, job.instance) for job, _ in batch)
        return batch

    async def _commit(self, batch: list[Entry]) -> None:
        jobs = [job for job, _ in batch]
        loop = asyncio.get_running_loop()
        began = time.perf_counter()
        try:
            answers = await loop.run_in_executor(self._executor, self._committer.commit, jobs)
        except asyncio.CancelledError:
            self._refuse(batch, StoreError("the loop was closed while a commit was under way"))
            raise
        except Exception as error:
            self._refuse(batch, error)
        except BaseException as error:  # raised by a machine's own code, in another thread: it is nobody's interrupt here
            log.critical("a machine's code raised %r; nothing was written", error)
            self._refuse(batch, StoreError(f"nothing was written: the machine's code raised {type(error).__name__}"))
        else:
            took = time.perf_counter() - began
            for (_, future), answer in zip(batch, answers, strict=True):
                if isinstance(answer, Commit):
                    self._committed(answer, took)
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                    future.exception()
                else:
                    future.set_result(answer)
        finally:
            self._busy.difference_update((job.namespace, job.instance) for job in jobs)

    def _refuse(self, batch: list[Entry], error: Exception) -> None:
        for _, future in batch:
            if not future.done():
                future.set_exception(error)
                future.exception()  # seen, should nobody wait for it any more
