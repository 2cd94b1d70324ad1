"""Event loops for tests, and what must not be left behind in them."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
from collections.abc import Callable, Coroutine
from typing import Any

Main = Callable[[], Coroutine[Any, Any, Any]]


def why_no_uvloop() -> str:
    """The reason for which uvloop cannot be tested here; empty if it can."""
    return "" if importlib.util.find_spec("uvloop") else "uvloop is not installed"


KINDS = ["asyncio", "uvloop", *(["eager"] if hasattr(asyncio, "eager_task_factory") else [])]
"""Loops to test under; ``eager`` begins tasks at once (Python 3.12)."""


def new_loop(kind: str) -> asyncio.AbstractEventLoop:
    if kind == "uvloop":
        import uvloop

        return uvloop.new_event_loop()
    loop = asyncio.SelectorEventLoop()
    if kind == "eager":
        loop.set_task_factory(asyncio.eager_task_factory)  # type: ignore[attr-defined,unused-ignore]
    return loop


class Play:
    """Calls a coroutine function in a new loop, with everything that is reported to the loop collected.

    After it no task may be left, no timer handle may be pending, and nothing
    may have been reported except what the test asks for with ``reports``.
    """

    def __init__(self, kind: str = "asyncio") -> None:
        self.kind = kind
        self.reported: list[dict[str, Any]] = []

    def __call__(self, main: Main, *, reports: int = 0, seconds: float = 20) -> Any:
        self.reported = []
        with asyncio.Runner(loop_factory=lambda: new_loop(self.kind)) as runner:
            loop = runner.get_loop()
            loop.set_exception_handler(lambda _loop, context: self.reported.append(context))
            result = runner.run(self._watched(main, seconds))
            self.no_handles(loop)
        gc.collect()  # "was never retrieved" is said when an object is let go
        assert len(self.reported) == reports, self.reported
        return result

    async def _watched(self, main: Main, seconds: float) -> Any:
        async with asyncio.timeout(seconds):
            result = await main()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        return result

    def no_handles(self, loop: asyncio.AbstractEventLoop) -> None:
        """Only the standard loop lets one look."""
        pending = [handle for handle in getattr(loop, "_scheduled", ()) if not handle.cancelled()]
        assert not pending, pending

    @property
    def messages(self) -> list[str]:
        return [str(context.get("message")) for context in self.reported]
