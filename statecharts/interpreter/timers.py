"""Pending delayed events of a system: a table, not a clock.

XState keeps one entry per (sender, send id); scheduling an id twice leaves
two timers of which only the newest can be cancelled, and none once either
has fired. Where ``cancels_all`` says so of the sender (our correction) a
cancel ends every pending timer of the id, as SCXML §6.3 asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..values import UNDEFINED
from .deliveries import Timer
from .effects import ActorRef, record

Key = tuple[int, str]


class Timers:
    """Timers by handle, and by sender and id. Iteration is in the order in which they were set."""

    __slots__ = ("_by_key", "_cancels_all", "next_handle", "pending")

    def __init__(self, cancels_all: Callable[[ActorRef], bool]) -> None:
        self.pending: dict[int, Timer] = {}
        self._by_key: dict[Key, list[int]] = {}
        self._cancels_all = cancels_all
        self.next_handle = 0

    def add(
        self, source: ActorRef, target: ActorRef | None, event: Any, delay: float, send_id: Any, now: float
    ) -> Timer:
        """Set a timer due ``delay`` ms from ``now``."""
        handle = self.next_handle
        name = f"({handle})" if send_id is UNDEFINED or send_id is None else str(send_id)
        return self.put(record(Timer, (handle, source, target, event, name, delay, now + delay)))

    def put(self, timer: Timer) -> Timer:
        """Set a timer as it is (used when a saved system is restored)."""
        self.next_handle = max(self.next_handle, timer.handle + 1)
        self.pending[timer.handle] = timer
        key = (timer.source.session, timer.send_id)
        if self._cancels_all(timer.source):
            self._by_key.setdefault(key, []).append(timer.handle)
        else:
            self._by_key[key] = [timer.handle]
        return timer

    def take(self, timer: Timer) -> bool:
        """Remove a timer that fires; false when it is not pending any more."""
        if self.pending.pop(timer.handle, None) is None:
            return False
        key = (timer.source.session, timer.send_id)
        if self._cancels_all(timer.source):
            left = [handle for handle in self._by_key.get(key, ()) if handle != timer.handle]
            if left:
                self._by_key[key] = left
                return True
        self._by_key.pop(key, None)
        return True

    def cancel(self, source: ActorRef, send_id: Any) -> list[Timer]:
        """Remove what a ``cancel`` of this sender and id reaches."""
        handles = self._by_key.pop((source.session, str(send_id)), [])
        return [timer for handle in handles if (timer := self.pending.pop(handle, None)) is not None]

    def cancel_all(self, source: ActorRef) -> list[Timer]:
        """Remove the timers of an actor that is over."""
        keys = [key for key in self._by_key if key[0] == source.session]
        return [timer for key in keys for timer in self.cancel(source, key[1])]
