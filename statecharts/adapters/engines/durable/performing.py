"""Users' functions, called for effects: coroutines in the event loop, plain functions in threads."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import Executor
from typing import Any, TypeVar

from ....durability.effects import named
from ....durability.rows import INVOKE, RESIDENT, SEND
from ....errors import StoreError
from ....interpreter.actors import PromiseLogic
from .batching import Batcher
from .calls import Call, enter
from .residents import Resident
from .telemetry import Telemetry
from .worker import Attempt, Worker

PAUSES = (0.05, 0.5, 2.0, 5.0)
"""Seconds between the attempts to store an outcome. In the end the effect's lease runs out."""
log = logging.getLogger("statecharts.durable")
T = TypeVar("T")


class CallTimeout(TimeoutError):
    """A call took longer than its effect's ``timeout``."""


class CallCancelled(Exception):
    """A call ended in a cancellation that did not come from here."""


class Performer:
    """Makes the calls of a worker, each in a task of its own."""

    def __init__(
        self,
        worker: Worker,
        batcher: Batcher,
        store_calls: Executor,
        user_calls: Executor,
        on_settled: Callable[[], None],
        poll: float,
        telemetry: Telemetry,
    ) -> None:
        self._worker = worker
        self._telemetry = telemetry
        self._batcher = batcher
        self._poll = poll
        self._residents: dict[str, Resident] = {}
        self._store_calls = store_calls
        self._user_calls = user_calls
        self._on_settled = on_settled
        self._tasks: set[asyncio.Task[None]] = set()
        self._by_attempt: dict[str, Call] = {}

    @property
    def count(self) -> int:
        """How many calls are being made; actors that stay are none."""
        return len(self._tasks) - len(self._residents)

    def wake(self) -> None:
        """There may be something for an actor that stays."""
        for resident in self._residents.values():
            resident.wake()

    def withdrawn(self, instance: str, sessions: Collection[int]) -> None:
        """These actors of an instance were stopped just now."""
        attempts = [one for one in self._worker.running.values() if one.row.instance == instance and one.row.session in sessions]
        for attempt in attempts:
            attempt.is_cancelled = True
        self.tell(attempts)

    def start(self, attempt: Attempt) -> None:
        """Make the call of ``attempt``."""
        task = asyncio.get_running_loop().create_task(self._perform(attempt), name=f"effect {attempt.row.id}")
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def tell(self, attempts: list[Attempt]) -> None:
        """Signal the calls of attempts that are cancelled or lost."""
        for attempt in attempts:
            call = self._by_attempt.get(attempt.row.id)
            if call is not None:
                call._cancelled.set()
            resident = self._residents.get(attempt.row.id)
            if resident is not None:
                resident.ended.set()

    async def drain(self, grace: float) -> None:
        """Wait up to ``grace`` seconds for the calls that are being made, having told them; the rest is left to its leases."""
        for call in self._by_attempt.values():
            call._cancelled.set()
        for resident in self._residents.values():
            resident.ended.set()
        if self._tasks:
            _, late = await asyncio.wait(set(self._tasks), timeout=grace)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=1)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("an effect could not be settled; its lease will run out", exc_info=error)
        self._on_settled()

    async def _in_store(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._store_calls, function, *arguments)

    async def _perform(self, attempt: Attempt) -> None:
        row = attempt.row
        if row.kind == SEND:
            await self._in_store(attempt.relay)
            return
        if row.key != row.id and await self._in_store(attempt.replayed):
            return
        try:
            function, arguments = self._worker.function(row)
        except Exception as error:
            log.error("effect %s (%s) cannot be called: %s", row.id, row.name, error)
            await self._in_store(attempt.give_up, error)
            return
        external: list[str] = []
        call = Call(row.key, row.instance, row.id, row.attempts, attempt.rules.timeout / 1000, _report=external.append)
        self._by_attempt[row.id] = call
        try:
            await self._call(attempt, call, function, arguments, external)
        finally:
            self._by_attempt.pop(row.id, None)

    async def _call(
        self, attempt: Attempt, call: Call, function: Any, arguments: tuple[Any, ...], external: list[str]
    ) -> None:
        if not await self._in_store(attempt.begin):
            return
        if attempt.is_cancelled:
            call._cancelled.set()
        if attempt.row.kind == RESIDENT:
            await self._stay(attempt, call, function, arguments)
            return
        try:
            with self._telemetry.effect(attempt.row, attempt.name):
                value = await self._within(attempt, call, function, arguments)
        except asyncio.CancelledError:
            raise  # this worker ends; what became of the call is for whoever finds the lease
        except Exception as error:
            level = logging.WARNING if attempt.rules.idempotent else logging.ERROR
            log.log(level, "effect %s (%s) of %s failed: %r", attempt.row.id, named(attempt.row.name), call.instance, error)
            kept = await self._report(attempt.fail, error, external[-1] if external else None)
        else:
            kept = await self._report(attempt.succeed, value, external[-1] if external else None)
        if not kept:
            log.error("effect %s: its outcome came too late, another worker has it", attempt.row.id)

    async def _stay(self, attempt: Attempt, call: Call, logic: Any, arguments: tuple[Any, ...]) -> None:
        enter(call)
        resident = Resident(attempt, self._worker, self._batcher, self._in_store, self._poll)
        self._residents[attempt.row.id] = resident
        if attempt.is_cancelled:
            resident.ended.set()
        try:
            await resident.run(logic, arguments)
        finally:
            self._residents.pop(attempt.row.id, None)

    async def _report(self, report: Callable[..., bool], *arguments: Any) -> bool:
        """Store an outcome. While the store is away it is kept here: without it nobody would know what became of the call."""
        for pause in PAUSES:
            try:
                return await self._in_store(report, *arguments)
            except StoreError as error:
                log.warning("the outcome of a call cannot be stored, trying again in %s s: %s", pause, error)
                await asyncio.sleep(pause)
        return await self._in_store(report, *arguments)

    async def _within(self, attempt: Attempt, call: Call, function: Any, arguments: tuple[Any, ...]) -> Any:
        """The call, bounded by its timeout. A plain function cannot be stopped: its thread goes on, and may still report."""
        timeout = call.timeout
        if _is_coroutine(function):
            task = asyncio.get_running_loop().create_task(_in_context(call, function.call, arguments))
            try:
                done, _ = await asyncio.wait({task}, timeout=timeout)
            except asyncio.CancelledError:
                task.cancel()
                raise
            if not done:
                task.cancel()
                await asyncio.wait({task}, timeout=1)
                raise CallTimeout(f"no answer within {timeout} s")
            if task.cancelled():
                raise CallCancelled("the function was cancelled from inside")
            return task.result()
        context = contextvars.copy_context()
        context.run(enter, call)
        future = asyncio.get_running_loop().run_in_executor(self._user_calls, context.run, function.call, *arguments)
        done_, _ = await asyncio.wait({future}, timeout=timeout)
        if not done_:
            future.add_done_callback(lambda late: self._late(attempt, late))
            raise CallTimeout(f"no answer within {timeout} s")
        value = future.result()
        if inspect.isawaitable(value):
            async with asyncio.timeout(timeout):
                return await _awaited(call, value)
        return value

    def _late(self, attempt: Attempt, future: asyncio.Future[Any]) -> None:
        """A thread that was given up has an answer after all, which counts if the effect is still its own."""
        if future.cancelled() or future.exception() is not None:
            return
        value = future.result()
        if attempt.row.kind == INVOKE or value is None:
            threading.Thread(target=attempt.succeed, args=(value,), daemon=True).start()


def _is_coroutine(function: Any) -> bool:
    if isinstance(function, PromiseLogic):
        return function.is_async
    return inspect.iscoroutinefunction(function.function)


async def _in_context(call: Call, function: Callable[..., Awaitable[Any]], arguments: tuple[Any, ...]) -> Any:
    enter(call)
    return await function(*arguments)


async def _awaited(call: Call, value: Awaitable[Any]) -> Any:
    enter(call)
    return await value
