"""A worker at work: claiming, pumping, beating, sweeping, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar

from ....durability.commits import Commit
from ....effect_policies import ProbeAnswer
from ....errors import StatechartError, StoreError
from .batching import Batcher
from .performing import Performer
from .pump import Pump
from .reconciling import Reconciler
from .telemetry import Telemetry
from .worker import Attempt, Worker

log = logging.getLogger("statecharts.durable")
T = TypeVar("T")


class Heart(threading.Thread):
    """Beats for a worker's effects in a thread of its own, so that a blocked event loop loses no lease."""

    def __init__(self, worker: Worker, every: float, tell: Callable[[Any], None]) -> None:
        super().__init__(name="statecharts heartbeat", daemon=True)
        self._worker = worker
        self._every = every
        self._tell = tell
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.wait(self._every):
            try:
                told = self._worker.beat()
            except StatechartError as error:
                log.warning("the heartbeat failed, the next one may not: %s", error)
                continue
            if told:
                self._tell(told)

    def stop(self) -> None:
        """End it, after the beat that may be under way."""
        self._stopped.set()


class Ear(threading.Thread):
    """Listens for hints that there is work, where a store gives any."""

    def __init__(self, wait: Callable[[float], bool], heard: Callable[[], None]) -> None:
        super().__init__(name="statecharts hints", daemon=True)
        self._wait = wait
        self._heard = heard
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._wait(1.0):
                    self._heard()
            except StatechartError:  # polling goes on all the same
                self._stopped.wait(1.0)

    def stop(self) -> None:
        """End it, within a second."""
        self._stopped.set()


class Working:
    """One run of a worker in an event loop.

    ``poll`` (seconds) is how long it may take to see what other processes have
    done; what happens in this process it is told at once (:meth:`wake`).
    """

    def __init__(
        self,
        worker: Worker,
        batcher: Batcher,
        pump: Pump,
        reconciler: Reconciler,
        store_calls: Executor,
        *,
        telemetry: Telemetry,
        lease: int,
        concurrency: int,
        poll: float,
        threads: int,
    ) -> None:
        self._worker = worker
        self._batcher = batcher
        self._pump = pump
        self._reconciler = reconciler
        self._store_calls = store_calls
        self._telemetry = telemetry
        self._lease = lease / 1000
        self._concurrency = concurrency
        self._poll = poll
        self._user_calls = ThreadPoolExecutor(threads, thread_name_prefix="statecharts effect")
        self._performer = Performer(worker, batcher, store_calls, self._user_calls, self.wake, poll, telemetry)
        self._loop = asyncio.get_running_loop()
        self._awake = asyncio.Event()
        self._stopping = self._is_troubled = False
        self._claiming: asyncio.Future[list[Attempt]] | None = None
        self.ended = asyncio.Event()
        self._swept = -self._lease
        self._next_probe = 0.0

    def wake(self) -> None:
        """Something may have to be done."""
        self._awake.set()

    def committed(self, commit: Commit) -> None:
        """This process has written something."""
        after = commit.after
        assert after is not None
        if commit.withdrawn or commit.closes:
            sessions = range(1 << 62) if commit.closes else commit.withdrawn
            self._performer.withdrawn(after.id, sessions)
        self._performer.wake()
        self._awake.set()

    def stop(self) -> None:
        """Claim nothing more; :meth:`run` ends when what is running has ended, or its grace is over."""
        self._stopping = True
        self._awake.set()

    async def run(self, grace: float, until_idle: bool) -> None:
        """Work until :meth:`stop`, or with ``until_idle`` until there is nothing to do now."""
        heart = Heart(self._worker, self._lease / 4, self._told)
        heart.start()
        ear = self._listening()
        try:
            while not self._stopping:
                self._awake.clear()
                try:
                    busy = await self._round()
                except StoreError as error:
                    log.warning("the store cannot be used now, trying again: %s", error)
                    await asyncio.sleep(min(self._poll, 1.0))
                    continue
                if busy:
                    continue
                if until_idle and not self._performer.count and not self._awake.is_set():
                    break
                await self._sleep()
        finally:
            try:
                await self._give_back()
                await self._performer.drain(grace)
            finally:
                heart.stop()
                if ear is not None:
                    ear.stop()
                self._user_calls.shutdown(wait=False, cancel_futures=True)
                self.ended.set()

    def _listening(self) -> Ear | None:
        """Another process may write something: PostgreSQL tells at once, the others are polled."""
        wait: Callable[[float], bool] | None = getattr(self._worker.store, "wait_for_work", None)
        if wait is None:
            return None
        ear = Ear(wait, lambda: self._from_outside(self.wake))
        ear.start()
        return ear

    def _from_outside(self, function: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(function, *arguments)

    def _told(self, attempts: Any) -> None:
        self._from_outside(self._performer.tell, attempts)

    async def _in_store(self, function: Callable[..., T], *arguments: Any) -> T:
        return await self._loop.run_in_executor(self._store_calls, function, *arguments)

    async def _round(self) -> bool:
        """Look everywhere once; whether there was something."""
        moved = await self._pump_once()
        free = self._concurrency - self._performer.count
        if free > 0 and not self._stopping:
            attempts = await self._claim(free)
            for attempt in attempts:
                self._performer.start(attempt)
            moved = moved or bool(attempts)
        now = time.monotonic()
        if now - self._swept >= self._lease / 4:
            self._swept = now
            expired = await self._in_store(self._reconciler.sweep)
            self._telemetry.count("expired", expired)
            moved = bool(expired) or moved
            await self._probe()
        return moved

    async def _claim(self, limit: int) -> list[Attempt]:
        """Claim effects. A thread does it, which a cancellation does not stop: what it claims then is given back."""
        claiming = asyncio.ensure_future(self._in_store(self._worker.claim, limit))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            self._claiming = claiming
            raise

    async def _give_back(self) -> None:
        if self._claiming is not None:
            with contextlib.suppress(StoreError):  # then their leases run out
                for attempt in await self._claiming:
                    await self._in_store(attempt.hand_back)

    async def _pump_once(self) -> bool:
        jobs = await self._in_store(self._pump.jobs)
        answers = await asyncio.gather(*map(self._batcher.submit, jobs), return_exceptions=True)
        moved = self._is_troubled = False
        for job, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, BaseException):
                log.error("instance %s cannot go on: %s", job.instance, answer)
                self._is_troubled = True
            else:
                moved = moved or bool(answer.answer)
        return moved

    async def _probe(self) -> None:
        for row in await self._in_store(self._reconciler.doubtful):
            try:
                answer = self._reconciler.ask(row)
                told = answer if isinstance(answer, ProbeAnswer) else await answer
                await self._in_store(self._reconciler.learned, row, told)
            except StoreError:
                raise
            except Exception as error:
                log.warning("the probe of effect %s failed: %r", row.id, error)

    async def _sleep(self) -> None:
        due = await self._in_store(self._pump.next_due)
        wait = self._poll
        if due is not None and not self._is_troubled:  # what fails now is not tried again at once
            now = await self._in_store(self._worker.store.now)
            is_full = self._performer.count >= self._concurrency  # then what is due may have to wait for a call to end
            wait = min(wait, max((due - now) / 1000, 0.05 if is_full else 0.001))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):  # wait_for of Python 3.11 may lose a cancellation
                await self._awake.wait()
