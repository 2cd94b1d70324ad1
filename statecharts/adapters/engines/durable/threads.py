"""The durable runtime without an event loop: the same calls, which wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import wraps
from types import TracebackType
from typing import Any, Generic, TypeVar

from ....errors import UsageError
from .runtime import DurableRuntime

R = TypeVar("R", bound=DurableRuntime)


class Blocking(Generic[R]):
    """A runtime in a loop of its own, in a thread of its own. Every method of the runtime is here, and blocks::

        with Blocking(Runtime.open("sqlite:///support.db", machines=[support_agent])) as runtime:
            receipt = runtime.send("ticket-77", {"type": "APPROVE"}, event_id="evt_1")

    May be used from any thread.
    """

    def __init__(self, runtime: R) -> None:
        self._runtime = runtime
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="statecharts runtime", daemon=True)
        self._tasks: set[asyncio.Task[Any]] = set()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def __enter__(self) -> Blocking[R]:
        self._thread.start()
        try:
            self._await(self._runtime.__aenter__())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._await(self._stop_tasks())
            self._await(self._runtime.close())
        finally:
            self._end()

    async def _stop_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _await(self, awaitable: Awaitable[Any]) -> Any:
        async def wait() -> Any:
            return await awaitable

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()

    def start_worker(self, **options: Any) -> None:
        """Let a worker run beside this (:meth:`DurableRuntime.run_worker`), until the end of the ``with``."""

        async def begin() -> None:
            task = asyncio.get_running_loop().create_task(self._runtime.run_worker(**options))
            self._tasks.add(task)

        self._await(begin())

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._runtime, name)
        if not asyncio.iscoroutinefunction(found):
            return found

        @wraps(found)
        def call(*arguments: Any, **options: Any) -> Any:
            if threading.current_thread() is self._thread:
                raise UsageError(f"{name}() would wait for itself here; use the runtime's own coroutine")
            return self._await(found(*arguments, **options))

        made: Callable[..., Any] = call
        return made
