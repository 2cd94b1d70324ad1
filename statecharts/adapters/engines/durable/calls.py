"""What a function that is called for an effect can find out about its call."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event


@dataclass(frozen=True, slots=True)
class Call:
    """The call that is being made.

    ``key`` is what the receiver should be told, so that it knows a repetition.
    ``attempt`` counts from 1. ``timeout`` is in seconds.
    """

    key: str
    instance: str
    effect: str
    attempt: int
    timeout: float
    _cancelled: Event = field(default_factory=Event, repr=False)
    _report: Callable[[str], None] = field(default=lambda _id: None, repr=False)

    @property
    def is_cancelled(self) -> bool:
        """Whether the state that wanted it was left, or the worker is told to stop. What it returns is still kept."""
        return self._cancelled.is_set()

    def wait_cancelled(self, timeout: float) -> bool:
        """Wait up to ``timeout`` seconds for that; for functions that run in a thread."""
        return self._cancelled.wait(timeout)

    def report(self, external_id: str) -> None:
        """Tell operators what the receiver calls it. Kept with the outcome."""
        self._report(external_id)


_CURRENT: ContextVar[Call | None] = ContextVar("statecharts_call", default=None)


def current_call() -> Call | None:
    """The call that is being made for an effect of the durable runtime; ``None`` anywhere else."""
    return _CURRENT.get()


def enter(call: Call) -> None:
    """Make ``call`` the current one, in this task's or thread's context."""
    _CURRENT.set(call)
