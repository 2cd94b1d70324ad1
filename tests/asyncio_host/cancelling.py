"""An event loop in which the n-th suspension of any task is met by a cancellation."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any

from loops import new_loop

PATIENCE = 0.03
"""Seconds without any suspension after which a run is stuck (its threads take much less)."""


class Plan:
    """Counts the suspensions of all tasks and cancels the task of the ``at``-th (and, if asked, once more).

    ``again`` suspensions of the same task later it is cancelled a second time.
    """

    def __init__(self, at: int, again: int = 0) -> None:
        self.at = at
        self.again = again
        self.count = 0
        self.victim: asyncio.Task[Any] | None = None
        self.name = ""

    def suspended(self, coroutine: Any) -> None:
        self.count += 1
        task = asyncio.current_task()
        if self.count == self.at:
            self.victim = task
            self.name = getattr(coroutine, "__qualname__", "?")
        elif self.victim is None or task is not self.victim or not self.again:
            return
        else:
            self.again -= 1
            if self.again:
                return
        assert task is not None
        task.cancel()


class Counted(Coroutine[Any, Any, Any]):
    """A coroutine that tells its plan of each suspension."""

    def __init__(self, inner: Coroutine[Any, Any, Any], plan: Plan) -> None:
        self._inner = inner
        self._plan = plan

    def send(self, value: Any) -> Any:
        return self._stepped(self._inner.send(value))

    def throw(self, *error: Any) -> Any:
        return self._stepped(self._inner.throw(*error))

    def _stepped(self, yielded: Any) -> Any:
        self._plan.suspended(self._inner)
        return yielded

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Any:
        return self._inner.__await__()

    def __repr__(self) -> str:
        return f"<Counted {self._inner!r}>"


class Stuck(BaseException):
    """Nothing has happened for many turns of the loop, and the main task is not over."""


def run_with(plan: Plan, main: Callable[[], Coroutine[Any, Any, Any]], kind: str) -> tuple[Any, list[Any]]:
    """Run ``main`` under ``plan``: what came of it, and what was reported to the loop.

    A main task that waits for what the cancellation took away is cancelled,
    as a user would do. Raises :class:`AssertionError` when a task or a
    handle is left.
    """
    reported: list[Any] = []
    loop = new_loop(kind)
    try:
        loop.set_exception_handler(lambda _loop, context: reported.append(context))
        loop.set_task_factory(
            lambda made_in, coroutine, **more: asyncio.Task(Counted(coroutine, plan), loop=made_in, **more)
        )
        task = loop.create_task(main())
        _watch(loop, plan, task)
        task.add_done_callback(lambda _task: loop.stop())
        loop.run_forever()
        outcome = "cancelled" if task.cancelled() else task.exception() or task.result()
        left = {one for one in asyncio.all_tasks(loop) if not one.done()}
        assert not left, left
        pending = [handle for handle in getattr(loop, "_scheduled", ()) if not handle.cancelled()]
        assert not pending, pending
    finally:
        loop.set_task_factory(None)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    gc.collect()
    return outcome, reported


def _watch(loop: asyncio.AbstractEventLoop, plan: Plan, task: asyncio.Task[Any]) -> None:
    """Cancel ``task`` when nothing happens any more."""
    seen, since, cancelled = 0, monotonic(), False

    def look() -> None:
        nonlocal seen, since, cancelled
        if task.done():
            return
        now = monotonic()
        if plan.count != seen:
            seen, since = plan.count, now
        elif now - since > 1000 * PATIENCE:
            raise Stuck
        elif now - since > (PATIENCE if plan.victim is not None else 100 * PATIENCE) and not cancelled:
            cancelled = task.cancel()
        loop.call_soon(look)

    loop.call_soon(look)
