"""What a simulation's caller does in place of the outside: resolve, reject and feed actors, or really run them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from ...errors import UsageError
from ...events import to_event
from ...interpreter.actors import (
    OBSERVABLE_COMPLETED,
    observable_failure,
    observable_value,
    promise_failure,
    promise_result,
)
from ...interpreter.effects import ActorRef
from ...interpreter.snapshot import Snapshot
from ...interpreter.system import Cell, System
from ...native import mypyc_attr
from ...schemas import SchemaError
from ...values import UNDEFINED
from .driver import Driver

C = TypeVar("C")
Shown = Snapshot[C] | Any
"""A snapshot; of a machine that failed before it had states, a :class:`LogicSnapshot` (compiled code checks types)."""


class Started(NamedTuple):
    """One start of an outside actor: its path of ids, address, and what it was given."""

    path: str
    ref: ActorRef
    logic: Any
    input: Any


@mypyc_attr(allow_interpreted_subclasses=True)
class Rehearsal(Driver, Generic[C]):
    """A host whose outside actors are in the caller's hands. Lists are made when they are asked for."""

    __slots__ = ("_ended", "_starts")

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self._starts: list[Started] | None = None
        self._ended: list[ActorRef] | None = None

    @abstractmethod
    def _drive(self) -> Shown[C]:
        """Run to rest; the snapshot then."""

    @abstractmethod
    def _put(self, event: Any, target: ActorRef | None, source: ActorRef | None = None) -> None:
        """Put an event into a mailbox. Raises :class:`UsageError` in a thread that is not the simulation's."""

    @abstractmethod
    def _deliver(self, ref: ActorRef, event: Any) -> Shown[C]:
        """What an outside actor tells itself; the snapshot then."""

    @property
    def starts(self) -> list[Started]:
        """Every start of an outside actor, oldest first."""
        if self._starts is None:
            self._starts = []
        return self._starts

    @property
    def ended(self) -> list[ActorRef]:
        """Actors that ended or failed, oldest first."""
        if self._ended is None:
            self._ended = []
        return self._ended

    @property
    def waiting(self) -> tuple[Started, ...]:
        """Outside actors that are running now, oldest first."""
        return tuple(
            run
            for run in self.starts
            if (cell := self.system.cell(run.ref)) is not None
            and cell.begun
            and cell.snapshot.status == "active"
        )

    def child(self, path: str) -> Any:
        """The snapshot of a child actor by its path of ids. Raises :class:`UsageError`."""
        return self._cell(path).snapshot

    def _cell(self, path: str) -> Cell:
        cell = self.find(path)
        if cell is None:
            known = ", ".join(sorted(self.system.root.snapshot.children)) or "none"
            raise UsageError(f"no child {path!r}; children now: {known}")
        return cell

    def resolve(self, actor: str, output: Any = UNDEFINED, *, run: int | None = None) -> Shown[C]:
        """Resolve a promise actor by id or path. ``run`` picks the n-th start of that id (1-based).

        A result for a run that is over changes nothing, as in XState.
        """
        started = self._started(actor, run)
        try:
            return self._settle_promise(started, promise_result(self.checked_output(started.ref.src, output)))
        except SchemaError as error:
            return self._settle_promise(started, promise_failure(error))

    def reject(self, actor: str, error: Any = UNDEFINED, *, run: int | None = None) -> Shown[C]:
        """Reject a promise actor with an exception or a JSON value."""
        return self._settle_promise(self._started(actor, run), promise_failure(error))

    def _settle_promise(self, started: Started, event: Any) -> Shown[C]:
        self._require(started, "promise", "resolved or rejected")
        return self.deliver_to_self(started, event)

    def deliver_to_self(self, started: Started, event: Any) -> Shown[C]:
        """An outside actor reports to itself; nothing happens when it is over."""
        cell = self.system.cell(started.ref)
        if cell is not None and cell.snapshot.status == "active":
            return self._deliver(started.ref, event)
        return self._drive()

    def feed(self, actor: str, value: Any, *, run: int | None = None) -> Shown[C]:
        """Let an observable actor yield ``value``."""
        started = self._started(actor, run)
        self._require(started, "observable", "fed")
        cell = self.system.cell(started.ref)
        if started.logic.kind == "event-observable":
            if cell is not None and cell.parent is not None and cell.begun:
                self._put(to_event(value), cell.parent.ref, started.ref)
            return self._drive()
        return self.deliver_to_self(started, observable_value(value))

    def complete(self, actor: str, *, run: int | None = None) -> Shown[C]:
        """End an observable actor."""
        started = self._started(actor, run)
        self._require(started, "observable", "completed")
        return self.deliver_to_self(started, OBSERVABLE_COMPLETED)

    def break_off(self, actor: str, error: Any, *, run: int | None = None) -> Shown[C]:
        """End an observable actor with an error."""
        started = self._started(actor, run)
        self._require(started, "observable", "broken off")
        return self.deliver_to_self(started, observable_failure(error))

    def send_back(self, actor: str, event: str | Mapping[str, Any], **data: Any) -> Shown[C]:
        """Let a callback actor send ``event`` to its parent."""
        started = self._started(actor, None)
        self._require(started, "callback", "asked to send back")
        cell = self.system.cell(started.ref)
        if cell is not None and cell.parent is not None and cell.snapshot.status != "stopped":
            self._put(to_event(event, data), cell.parent.ref, started.ref)
        return self._drive()

    def run(self, actor: str) -> Shown[C]:
        """Really run a waiting promise actor's function, to its end, and deliver what came of it."""
        started = self._started(actor, None)
        self._require(started, "promise", "run")
        try:
            result = self.checked_output(started.ref.src, self._call_promise(started))
        except Exception as error:
            return self.deliver_to_self(started, promise_failure(error))
        return self.deliver_to_self(started, promise_result(result))

    def _call_promise(self, started: Started) -> Any:
        def emit(event: Any, **data: Any) -> None:
            self.post_emit(started.ref, to_event(event, data))

        value = started.logic.call(started.input, started.ref, self.system.view, emit)
        if hasattr(value, "__await__"):
            return run_to_its_end(value)
        return value

    def _started(self, actor: str, run: int | None) -> Started:
        by_path = [s for s in self.starts if s.path == actor]
        found = by_path or [s for s in self.starts if s.path.rpartition("/")[2] == actor]
        if run is not None:
            if not 1 <= run <= len(found):
                raise UsageError(f"actor {actor!r} was started {len(found)} times, not {run}")
            return found[run - 1]
        live = [
            s
            for s in found
            if (cell := self.system.cell(s.ref)) is not None and cell.snapshot.status == "active"
        ]
        if not found:
            waiting = ", ".join(s.path for s in self.waiting) or "none"
            raise UsageError(f"no actor {actor!r} was started; waiting now: {waiting}")
        return (live or found)[-1]

    def _require(self, started: Started, kind: str, verb: str) -> None:
        actual = started.logic.kind
        if actual != kind and not (kind == "observable" and actual == "event-observable"):
            article = {"a": "an", "e": "an", "o": "an"}
            raise UsageError(
                f"{started.path!r} is {article.get(actual[0], 'a')} {actual} actor; "
                f"only {article.get(kind[0], 'a')} {kind} can be {verb}"
            )


def run_to_its_end(awaitable: Any) -> Any:
    import asyncio  # needed by async actions and actors only

    async def finish() -> Any:
        return await awaitable

    return asyncio.run(finish())
