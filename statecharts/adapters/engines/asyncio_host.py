"""The asyncio host: a machine as an actor inside a running event loop.

Structured: everything the actor starts lives inside its ``async with``
block, and leaving the block (or being cancelled anywhere) ends it. An idle
actor runs an event's whole macrostep inside ``send``; a busy one queues it.
Long cascades let the loop breathe every few milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Generic, TypeVar

from ...errors import ExecutionError, UsageError
from ...events import to_event
from ...interpreter import envelope
from ...interpreter.actors import (
    OBSERVABLE_COMPLETED,
    observable_failure,
    observable_value,
    promise_failure,
    promise_result,
)
from ...interpreter.deliveries import (
    Begin,
    Completed,
    Delivery,
    Emitted,
    End,
    Failed,
    Perform,
    Published,
    Receive,
)
from ...interpreter.effects import ActorRef
from ...interpreter.inspection import Observer
from ...interpreter.persistence import persisted, restore
from ...interpreter.snapshot import Snapshot
from ...interpreter.system import System
from ...machine import Machine
from ...values import UNDEFINED, plain
from .asyncio_clock import Clock, WallClock
from .driver import Driver
from .unhandled import refuse_unhandled

C = TypeVar("C")
SLICE = 0.008
"""Seconds of uninterrupted work before the loop gets a turn."""

Job = Callable[[], None]


class MailboxFull(ExecutionError):
    """More events are waiting than the actor's mailbox holds."""


class Actor(Driver, Generic[C]):
    """A running machine. Use it as ``async with start(machine) as actor``.

    ``mailbox`` bounds the events that may wait (``send`` then waits for room,
    ``post`` raises :class:`MailboxFull`). ``clock`` may be injected.
    """

    def __init__(
        self,
        machine: Machine[C, Any],
        input: Any = None,  # noqa: A002
        snapshot: Any = None,
        *,
        clock: Clock | None = None,
        mailbox: int = 1000,
        on_unhandled: str = "ignore",
        inspect: Observer | None = None,
        logger: Callable[..., None] | None = None,
        system_id: str | None = None,
    ) -> None:
        if on_unhandled not in ("ignore", "raise"):
            raise UsageError(f"on_unhandled is 'ignore' or 'raise', not {on_unhandled!r}")
        if machine.semantics == "xstate":
            machine.require_complete()
        super().__init__(System(machine, observed=inspect is not None))
        self.machine = machine
        self.clock: Clock = clock if clock is not None else WallClock()
        self._input = UNDEFINED if input is None else input
        self._given = snapshot
        self._system_id = system_id
        self._raise_unhandled = on_unhandled == "raise"
        self._observer = inspect
        self._logger = logger
        self._mailbox = mailbox
        self._room = asyncio.Condition()
        self._waiting: deque[tuple[Any, asyncio.Future[None] | None]] = deque()
        self._jobs: deque[Job] = deque()
        self._batch: deque[Delivery] = deque()
        self._busy = False
        self._turn_task: asyncio.Task[Any] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._actor_tasks: dict[int, asyncio.Task[Any]] = {}
        self._alarms: dict[int, Any] = {}
        self._listeners: list[Callable[[Snapshot[C]], Any]] = []
        self._emit_listeners: list[tuple[str, Callable[[Any], Any]]] = []
        self._over = asyncio.Event()
        self._thread = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slice_end = 0.0
        self._error_seen = False

    # -------------------------------------------------------- entering, leaving

    async def __aenter__(self) -> Actor[C]:
        if self._loop is not None:
            raise UsageError("an actor is started once; make a new one with start(machine)")
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        try:
            self._boot()
            await self._settle_turn()
        except BaseException:
            await self.aclose()
            raise
        return self

    def _boot(self) -> None:
        system = self.system
        system.now = self.clock.now()
        given = self._given
        if envelope.is_envelope(given):
            envelope.open_envelope(system, given)
            for timer in system.timers.pending.values():
                self.arm(timer)
        elif given is not None:
            document = given.to_xstate() if isinstance(given, Snapshot) else given
            restore(system, document, strict=self.machine.semantics == "xstate", system_id=self._system_id)
        else:
            system.boot(self._input, system_id=self._system_id)
        system.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop the actor, its children and everything they started. Safe to call twice."""
        if self._loop is None:
            return
        interrupted: asyncio.CancelledError | None = None
        turn = self._turn_task
        if turn is not None and turn is not asyncio.current_task():
            turn.cancel()
        for alarm in self._alarms.values():
            alarm.cancel()
        self._alarms.clear()
        self._stop_now()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()
        while left := {task for task in self._tasks if not task.done() and task is not asyncio.current_task()}:
            try:
                await asyncio.wait(left)
            except asyncio.CancelledError as cancelled:
                interrupted = cancelled
                for task in left:
                    task.cancel()
        self._finish()
        if interrupted is not None:
            raise interrupted

    def _stop_now(self) -> None:
        """Stop the machine without letting anybody's async code run."""
        if self.system.root is None or self._over.is_set():
            return
        self._batch.clear()
        self._jobs.clear()
        self.system.roll_back()
        self.system.stop()
        while batch := self.system.run():
            for delivery in batch:
                with contextlib.suppress(Exception):
                    result = self._handlers[type(delivery)](delivery)
                    if hasattr(result, "close"):
                        result.close()
            self._sends.clear()

    def _finish(self) -> None:
        self._over.set()
        for _, waiter in self._waiting:
            if waiter is not None and not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    # --------------------------------------------------------------- reading

    @property
    def snapshot(self) -> Snapshot[C]:
        """The machine's last published snapshot."""
        return self.system.root.snapshot  # type: ignore[no-any-return]

    def to_xstate(self) -> dict[str, Any]:
        """XState's persisted snapshot. Raises :class:`UsageError` in the middle of a step."""
        self._require_rest("to_xstate()")
        return plain(persisted(self.system))  # type: ignore[no-any-return]

    def save(self) -> dict[str, Any]:
        """The envelope: everything needed to go on. Raises :class:`UsageError` in the middle of a step."""
        self._require_rest("save()")
        self.system.now = self.clock.now()
        return envelope.seal(self.system)

    def _require_rest(self, what: str) -> None:
        self._own_thread()
        if self._busy:
            raise UsageError(f"{what} in the middle of a step would save half of it; await the send first")

    # --------------------------------------------------------------- sending

    async def send(self, event: str | Mapping[str, Any], **data: Any) -> Snapshot[C]:
        """Send an event; returns the snapshot once it has been processed.

        From inside the actor's own actions it only queues (waiting for
        oneself would wait for ever). Raises :class:`InvalidTransition` under
        ``on_unhandled="raise"``.
        """
        self._own_thread()
        made = to_event(event, data)
        if self._busy and asyncio.current_task() is self._turn_task:
            self._queue(made, None)
            return self.snapshot
        if not self._busy:
            self._check_handled(made)
            self.system.send(made)
            await self._settle_turn()
            return self.snapshot
        while len(self._waiting) >= self._mailbox:
            async with self._room:
                await self._room.wait()
        done = asyncio.get_running_loop().create_future()
        self._queue(made, done)
        await done
        return self.snapshot

    def post(self, event: str | Mapping[str, Any], **data: Any) -> None:
        """Queue an event without waiting. Raises :class:`MailboxFull`."""
        self._own_thread()
        self._queue(to_event(event, data), None)
        self._wake()

    def _queue(self, event: Any, done: asyncio.Future[None] | None) -> None:
        if len(self._waiting) >= self._mailbox:
            raise MailboxFull(f"{self._mailbox} events are waiting for {self.machine.id!r}; await send() for backpressure")
        self._waiting.append((event, done))

    def _check_handled(self, event: Any) -> None:
        if self._raise_unhandled:
            refuse_unhandled(self.machine, self.snapshot, event)

    def _own_thread(self) -> None:
        if self._loop is None:
            raise UsageError("the actor is not running; use `async with start(machine) as actor`")
        if threading.get_ident() != self._thread:
            raise UsageError("an actor belongs to the thread and loop that started it; use loop.call_soon_threadsafe")

    # ---------------------------------------------------------------- turns

    async def _settle_turn(self) -> None:
        """Work until nothing is left; in this task while nothing has to be awaited."""
        self._busy = True
        try:
            rest = self._advance()
        except BaseException:
            self._busy = False
            raise
        if rest is None:
            self._busy = False
            return
        await asyncio.shield(self._spawn_turn(rest))

    def _spawn_turn(self, first: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._turn_task = self._spawn(self._turn(first))
        return task

    async def _turn(self, first: Coroutine[Any, Any, None] | None) -> None:
        """Work through what has to be awaited, and everything after it."""
        step = first
        try:
            while step is not None:
                await step
                step = self._advance()
        finally:
            self._busy = False
            self._turn_task = None

    def _wake(self) -> None:
        """Something is waiting: start a turn unless one is on."""
        if not self._busy and (self._jobs or self._waiting) and not self._over.is_set():
            self._busy = True
            self._spawn_turn(_nothing())

    def _advance(self) -> Coroutine[Any, Any, None] | None:
        """Go on without awaiting; what has to be awaited is returned."""
        loop = asyncio.get_running_loop()
        self._slice_end = loop.time() + SLICE
        while True:
            while self._batch:
                delivery = self._batch.popleft()
                result = self._attempt(delivery)
                if result is not None:
                    return self._await_action(delivery, result)
            self._flush_sends()
            if loop.time() > self._slice_end:
                return asyncio.sleep(0)
            self.system.now = self.clock.now()
            batch = self.system.run()
            if batch:
                self._batch.extend(batch)
            elif not self._next_job():
                return None

    def _next_job(self) -> bool:
        if self._jobs:
            self._jobs.popleft()()
            return True
        if not self._waiting:
            return False
        event, done = self._waiting.popleft()
        self._make_room()
        try:
            self._check_handled(event)
        except ExecutionError as error:
            if done is not None and not done.done():
                done.set_exception(error)
            return True
        if done is not None:
            self._jobs.append(lambda: None if done.done() else done.set_result(None))
        self.system.send(event)
        return True

    def _make_room(self) -> None:
        if self._room._waiters:  # type: ignore[attr-defined] # nobody waits in nearly all turns
            self._spawn(self._notify_room())

    async def _notify_room(self) -> None:
        async with self._room:
            self._room.notify_all()

    def _attempt(self, delivery: Delivery) -> Any:
        """Perform one delivery; a user's exception is told to the system, and voids the rest of the batch."""
        try:
            result = self._handlers[type(delivery)](delivery)
        except Exception as error:
            if not isinstance(delivery, (Perform, Begin, End, Receive)):
                raise
            self._void(delivery, error)
            return None
        except BaseException:
            if isinstance(delivery, Perform):
                self._batch.clear()
                self.system.roll_back()
            raise
        return result if isinstance(delivery, Perform) and hasattr(result, "__await__") else None

    def _void(self, delivery: Delivery, error: Exception) -> None:
        self._batch.clear()
        self._flush_sends()
        self.system.fail(delivery, error)

    async def _await_action(self, delivery: Delivery, result: Awaitable[Any]) -> None:
        try:
            await result
        except Exception as error:
            self._void(delivery, error)
        except BaseException:
            self._batch.clear()
            self.system.roll_back()
            raise

    def _later(self, job: Job) -> None:
        """Something outside has news: do it in the next turn."""
        if not self._over.is_set():
            self._jobs.append(job)
            self._wake()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)
        return task

    def _task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and task is not self._turn_task:
            self._report("a task of the actor failed", error)

    # -------------------------------------------------------------- waiting

    async def wait_for(self, predicate: Callable[[Snapshot[C]], bool], timeout: float | None = None) -> Snapshot[C]:
        """The first snapshot, from now on, for which ``predicate`` holds.

        ``timeout`` in seconds. Raises ``TimeoutError``, or
        :class:`ExecutionError` when the machine ends without such a snapshot.
        """
        self._own_thread()
        if predicate(self.snapshot):
            return self.snapshot
        found: asyncio.Future[Snapshot[C]] = asyncio.get_running_loop().create_future()

        def look(snapshot: Snapshot[C]) -> None:
            if not found.done() and predicate(snapshot):
                found.set_result(snapshot)

        unsubscribe = self.subscribe(look)
        over = asyncio.ensure_future(self._over.wait())
        try:
            async with asyncio.timeout(timeout):
                await asyncio.wait({found, over}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            states = ", ".join(self.snapshot.atomic_states)
            raise TimeoutError(f"after {timeout} s the machine is in {states} [{self.snapshot.status}]") from None
        finally:
            unsubscribe()
            over.cancel()
        if found.done():
            return found.result()
        raise ExecutionError(f"the machine ended ({self.snapshot.status}) without reaching what was waited for")

    async def result(self) -> Any:
        """The machine's output, once it is done. Raises what it died of, or that it was stopped."""
        self._own_thread()
        await self._over.wait()
        snapshot = self.snapshot
        if snapshot.status == "done":
            return None if snapshot.output is UNDEFINED else snapshot.output
        if snapshot.status == "error":
            self._error_seen = True
            if isinstance(snapshot.error, BaseException):
                raise snapshot.error
            raise ExecutionError(f"machine {self.machine.id!r} failed: {snapshot.error!r}")
        raise ExecutionError(f"machine {self.machine.id!r} was stopped before it was done")

    def subscribe(self, listener: Callable[[Snapshot[C]], Any]) -> Callable[[], None]:
        """Call ``listener`` with each published snapshot; returns the unsubscribe function."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def on(self, event_type: str, listener: Callable[[Any], Any]) -> Callable[[], None]:
        """Call ``listener`` with emitted events of this type (``"*"``: all); returns the unsubscribe function."""
        entry = (event_type, listener)
        self._emit_listeners.append(entry)
        return lambda: self._emit_listeners.remove(entry) if entry in self._emit_listeners else None

    async def stop(self) -> Snapshot[C]:
        """Stop the machine; exit actions do not run, as in XState."""
        self._own_thread()
        self.system.stop()
        if not self._busy:
            await self._settle_turn()
        return self.snapshot

    # ------------------------------------------------- what the driver asks

    def begin(self, delivery: Begin) -> None:
        kind = delivery.logic.kind
        if kind == "callback":
            self.begin_callback(delivery)
            return
        work = self._run_promise(delivery) if kind == "promise" else self._run_observable(delivery)
        self._actor_tasks[delivery.actor.session] = self._spawn(work)

    def end(self, delivery: End) -> None:
        task = self._actor_tasks.pop(delivery.actor.session, None)
        if task is not None:
            task.cancel()
        self.end_callback(delivery.actor)

    def _emitter(self, ref: ActorRef) -> Callable[..., None]:
        def emit(event: str | Mapping[str, Any], **data: Any) -> None:
            made = to_event(event, data)
            self._later(lambda: self.system.emit(ref, made))

        return emit

    async def _run_promise(self, delivery: Begin) -> None:
        ref, logic = delivery.actor, delivery.logic
        try:
            result = await self._call(logic, delivery)
        except Exception as error:
            failure = promise_failure(error)
            self._later(lambda: self.system.send(failure, ref, ref))
        else:
            success = promise_result(result)
            self._later(lambda: self.system.send(success, ref, ref))
        self._actor_tasks.pop(ref.session, None)

    async def _call(self, logic: Any, delivery: Begin) -> Any:
        arguments = (delivery.input, delivery.actor, self.system.view, self._emitter(delivery.actor))
        if asyncio.iscoroutinefunction(logic.function):
            return await logic.call(*arguments)
        result = await asyncio.to_thread(logic.call, *arguments)
        return await result if hasattr(result, "__await__") else result

    async def _run_observable(self, delivery: Begin) -> None:
        ref, logic = delivery.actor, delivery.logic
        arguments = (delivery.input, ref, self.system.view, self._emitter(ref))
        try:
            async with contextlib.aclosing(_stream(logic.call(*arguments))) as values:
                async for value in values:
                    self._yielded(ref, logic, value)
                    await asyncio.sleep(0)
            last = OBSERVABLE_COMPLETED
        except Exception as error:
            last = observable_failure(error)
        self._later(lambda: self.system.send(last, ref, ref))
        self._actor_tasks.pop(ref.session, None)

    def _yielded(self, ref: ActorRef, logic: Any, value: Any) -> None:
        cell = self.system.cell(ref)
        if not logic.to_parent:
            event = observable_value(value)
            self._later(lambda: self.system.send(event, ref, ref))
        elif cell is not None and cell.parent is not None:
            parent, made = cell.parent.ref, to_event(value)
            self._later(lambda: self.system.send(made, parent, ref))

    def post_from_outside(self, source: ActorRef | None, target: ActorRef | None, event: Any) -> None:
        """A callback actor sends back, now or later, from this thread or another."""
        job: Job = lambda: self.system.send(event, target, source)  # noqa: E731
        if threading.get_ident() == self._thread:
            self._later(job)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._later, job)

    post_send = post_from_outside

    def arm(self, timer: Any) -> None:
        def ring() -> None:
            self._alarms.pop(timer.handle, None)
            self._later(lambda: self.system.fire(timer))

        self._alarms[timer.handle] = self.clock.call_at(timer.due, ring)

    def disarm(self, timer: Any) -> None:
        alarm = self._alarms.pop(timer.handle, None)
        if alarm is not None:
            alarm.cancel()

    def log(self, ref: ActorRef, value: Any, label: Any) -> None:
        if self._logger is not None:
            self._logger(*([label] if label is not UNDEFINED else []), value)

    def emitted(self, delivery: Emitted) -> None:
        if delivery.actor.session == self.system.root.ref.session:
            kind = delivery.event["type"]
            exact = [listener for wanted, listener in self._emit_listeners if wanted == kind]
            others = [listener for wanted, listener in self._emit_listeners if wanted == "*" and wanted != kind]
            for listener in (*exact, *others):
                self._tell(listener, delivery.event)

    def published(self, delivery: Published) -> None:
        if delivery.actor.session == self.system.root.ref.session:
            for listener in list(self._listeners):
                self._tell(listener, delivery.snapshot)

    def completed(self, delivery: Completed) -> None:
        if delivery.actor.session == self.system.root.ref.session:
            self._over.set()

    def failed(self, delivery: Failed) -> None:
        task = self._actor_tasks.pop(delivery.actor.session, None)
        if task is not None:
            task.cancel()
        self.end_callback(delivery.actor)
        if delivery.actor.session == self.system.root.ref.session:
            self._over.set()

    def inspected(self, event: Any) -> None:
        if self._observer is not None:
            self._tell(self._observer, event)

    def _tell(self, listener: Callable[[Any], Any], value: Any) -> None:
        """A listener's exception is its own: reported to the loop, the actor goes on."""
        try:
            listener(value)
        except Exception as error:
            self._report("a listener of the actor failed", error)

    def _report(self, message: str, error: BaseException) -> None:
        if self._loop is not None:
            self._loop.call_exception_handler({"message": message, "exception": error, "actor": self.machine.id})


async def _nothing() -> None:
    """A first step for a turn that has nothing to await yet."""


async def _stream(source: Any) -> AsyncIterator[Any]:
    """An async iterator over an async generator, an async iterable or a plain iterable."""
    if hasattr(source, "__await__"):
        source = await source
    if hasattr(source, "__aiter__"):
        try:
            async for value in source:
                yield value
        finally:
            if hasattr(source, "aclose"):
                await source.aclose()
    else:
        for value in source:
            yield value
