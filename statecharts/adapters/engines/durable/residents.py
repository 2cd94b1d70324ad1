"""Actors that stay: callbacks and observables, each run by one worker at a time.

What such an actor says is an event under ``key:generation:n``, where the
generation is the fence of its row: a worker that takes over begins a new one.
Nothing about it is ever UNKNOWN. What is sent to it are rows that wait until
whoever runs it has handed them over; after a crash in between, they are handed
over again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from ....durability.applying import Told
from ....durability.outcomes import error_data, succeeded
from ....durability.payloads import checked_text
from ....durability.rows import DELIVER, IGNORED, PENDING, REFUSED
from ....durability.stepping import BACK, COMPLETE, CRASH, EMIT, FAILURE, VALUE
from ....durability.store import EffectQuery
from ....errors import PayloadError, UnknownInstance, UsageError
from ....events import to_event
from ....json_text import loads
from ....values import freeze
from ..streams import values_of
from .batching import Batcher
from .worker import Attempt, Worker

log = logging.getLogger("statecharts.durable")
T = TypeVar("T")
Saying = tuple[str, Any]
OVER = (IGNORED, REFUSED)


class Resident:
    """One run of an actor that stays."""

    def __init__(
        self,
        attempt: Attempt,
        worker: Worker,
        batcher: Batcher,
        in_store: Callable[..., Awaitable[Any]],
        poll: float,
    ) -> None:
        self._attempt = attempt
        self._worker = worker
        self._batcher = batcher
        self._in_store = in_store
        self._poll = poll
        self._said = 0
        self._loop = asyncio.get_running_loop()
        self._sayings: asyncio.Queue[Saying] = asyncio.Queue()
        self._receivers: list[Callable[[Any], Any]] = []
        self._woken = asyncio.Event()
        self.ended = asyncio.Event()
        """Set when it has to stop: its state was left, or its worker ends."""

    def wake(self) -> None:
        """There may be something for it."""
        self._woken.set()

    async def run(self, logic: Any, arguments: tuple[Any, ...]) -> None:
        """Run it to its end, or until it has to stop; then say so in its row."""
        stays = self._callback if logic.kind == "callback" else self._observable
        running = self._loop.create_task(stays(logic, arguments[0]))
        stopping = self._loop.create_task(self.ended.wait())
        try:
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not running.done():
                running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
        if self._attempt.is_lost:
            return
        if not self.ended.is_set():
            await self._in_store(self._attempt.close)
        elif self._attempt.is_cancelled:
            await self._in_store(self._attempt.withdraw)
        else:
            await self._in_store(self._attempt.hand_back)

    # ---------------------------------------------------------------- observables

    async def _observable(self, logic: Any, input: Any) -> None:
        try:
            source = logic.call(input, None, None, self._emit)
            async with contextlib.aclosing(values_of(source)) as values:
                async for value in values:
                    await self._say_what_waits()
                    what = BACK if logic.to_parent else VALUE
                    if not await self._say(what, to_event(value) if logic.to_parent else value):
                        return
        except Exception as error:
            log.warning("resident %s failed: %r", self._attempt.row.id, error)
            await self._say(FAILURE, error_data(error))
        else:
            await self._say_what_waits()
            await self._say(COMPLETE, None)

    async def _say_what_waits(self) -> None:
        """What an observable has emitted, before what it does next."""
        await asyncio.sleep(0)  # it came by way of the loop, from whatever thread
        while not self._sayings.empty():
            await self._say(*self._sayings.get_nowait())

    # ------------------------------------------------------------------ callbacks

    async def _callback(self, logic: Any, input: Any) -> None:
        try:
            cleanup = logic.call(input, None, None, self._emit, self._send_back, self._receivers.append)
            if cleanup is not None and not callable(cleanup):
                raise UsageError("a callback actor returns its clean-up function, or None")
        except Exception as error:
            log.warning("resident %s failed: %r", self._attempt.row.id, error)
            await self._say(CRASH, error_data(error))
            return
        listening = self._loop.create_task(self._hand_over())
        try:
            while await self._say(*await self._sayings.get()):
                pass
        finally:
            listening.cancel()
            if cleanup is not None:
                cleanup()

    def _send_back(self, event: str | Mapping[str, Any], **data: Any) -> None:
        self._loop.call_soon_threadsafe(self._sayings.put_nowait, (BACK, to_event(event, data)))

    def _emit(self, event: str | Mapping[str, Any], **data: Any) -> None:
        self._loop.call_soon_threadsafe(self._sayings.put_nowait, (EMIT, to_event(event, data)))

    async def _hand_over(self) -> None:
        """What was sent to it, in its order."""
        row = self._attempt.row
        query = EffectQuery(namespace=row.namespace, instance=row.instance, kind=DELIVER, session=row.session, statuses=(PENDING,))
        while True:
            self._woken.clear()
            for sent in await self._in_store(self._worker.store.effects, query):
                event = freeze(loads(sent.given or "{}")["event"])
                for receiver in list(self._receivers):
                    try:
                        receiver(event)
                    except Exception as error:
                        log.warning("resident %s failed: %r", row.id, error)
                        self._sayings.put_nowait((CRASH, error_data(error)))
                done = succeeded(sent, None, self._worker.store.now(), self._worker.limits, (PENDING,))
                await self._in_store(self._worker.store.settle, done)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll):
                    await self._woken.wait()

    # --------------------------------------------------------------------- saying

    async def _say(self, what: str, data: Any) -> bool:
        """Commit one thing it says; false when nobody wants to hear of it any more."""
        row, limits = self._attempt.row, self._worker.limits
        self._said += 1
        body: dict[str, Any] = {"session": row.session, "what": what, "name": self._attempt.name}
        try:
            text = checked_text({**body, "data": data}, f"what {self._attempt.name!r} says", limits.event, limits.depth)
        except PayloadError as error:
            log.error("resident %s: %s", row.id, error)
            text = checked_text({**body, "what": FAILURE, "data": error_data(error)}, "the error", limits.event, limits.depth)
        told = Told(f"{row.key}:{row.fence}:{self._said}", text, f"effect:{row.id}")
        try:
            answer = await self._batcher.submit(self._worker.committer.decider.report(row.namespace, row.instance, told))
        except UnknownInstance:
            return False
        return answer.answer not in OVER
