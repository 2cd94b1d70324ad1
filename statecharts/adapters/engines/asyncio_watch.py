"""Those who look at an actor from outside: listeners, and tasks that wait for a snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

from ...errors import UsageError

Predicate = Callable[[Any], bool]
Report = Callable[[str, BaseException], None]


class Watchers:
    """Listeners for snapshots, emitted events and the machine's error, and the futures of ``wait_for``.

    A listener's exception is its own: it is reported, and the actor goes on.
    An actor has one only while somebody looks.
    """

    __slots__ = ("_emitted", "_errors", "_expected", "_keys", "_report", "_snapshots")

    def __init__(self, report: Report) -> None:
        self._report = report
        self._keys = count()
        self._snapshots: dict[int, Callable[[Any], Any]] = {}
        self._errors: dict[int, Callable[[Any], Any]] = {}
        self._emitted: dict[int, tuple[str, Callable[[Any], Any]]] = {}
        self._expected: dict[asyncio.Future[Any], Predicate] = {}

    @property
    def is_spare(self) -> bool:
        """Whether nobody looks."""
        return not (self._snapshots or self._emitted or self._expected)

    def on_snapshot(
        self, listener: Callable[[Any], Any], on_error: Callable[[Any], Any] | None
    ) -> Callable[[], None]:
        """Add a listener; returns what removes it."""
        key = next(self._keys)
        self._snapshots[key] = listener
        if on_error is not None:
            self._errors[key] = on_error

        def remove() -> None:
            self._snapshots.pop(key, None)
            self._errors.pop(key, None)

        return remove

    def on_emitted(self, event_type: str, listener: Callable[[Any], Any]) -> Callable[[], None]:
        """Add a listener for events of this type (``"*"``: all); returns what removes it."""
        key = next(self._keys)
        self._emitted[key] = (event_type, listener)

        def remove() -> None:
            self._emitted.pop(key, None)

        return remove

    def expect(self, predicate: Predicate, loop: asyncio.AbstractEventLoop) -> asyncio.Future[Any]:
        """A future of the first snapshot for which ``predicate`` holds; ``None`` when the machine ends before."""
        found = loop.create_future()
        self._expected[found] = predicate
        return found

    def forget(self, found: asyncio.Future[Any]) -> None:
        """Nobody waits for ``found`` any more."""
        self._expected.pop(found, None)
        if found.done() and not found.cancelled():
            found.exception()  # whoever waited may have been cancelled in the same moment

    def show(self, snapshot: Any) -> None:
        """A snapshot was published."""
        if self._snapshots:
            for listener in list(self._snapshots.values()):
                self.tell(listener, snapshot)
        if self._expected:
            self._look(snapshot)

    def show_emitted(self, event: Any) -> None:
        """An event was emitted: listeners for its type come before those for all."""
        kind = event["type"]
        entries = list(self._emitted.values())
        exact = [listener for wanted, listener in entries if wanted == kind]
        for listener in exact + [listener for wanted, listener in entries if wanted == "*" != kind]:
            self.tell(listener, event)

    def show_error(self, error: Any) -> bool:
        """The machine died; whether anybody was told."""
        listeners = list(self._errors.values())
        for listener in listeners:
            self.tell(listener, error)
        return bool(listeners)

    def end(self, snapshot: Any) -> None:
        """The machine has ended: the last chance for those who wait."""
        self._look(snapshot)
        for found in self._expected:
            if not found.done():
                found.set_result(None)

    def _look(self, snapshot: Any) -> None:
        for found, predicate in list(self._expected.items()):
            if found.done():
                continue
            try:
                holds = predicate(snapshot)
            except Exception as error:
                found.set_exception(error)
            else:
                if holds:
                    found.set_result(snapshot)

    def tell(self, listener: Callable[[Any], Any], value: Any) -> None:
        """Call a listener."""
        try:
            result = listener(value)
            if result is not None and hasattr(result, "__await__"):
                if hasattr(result, "close"):
                    result.close()
                raise UsageError(
                    "a listener is a plain function; start a task in it for what has to be awaited"
                )
        except Exception as error:
            self._report("a listener of the actor failed", error)
