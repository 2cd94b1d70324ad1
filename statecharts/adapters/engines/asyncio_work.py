"""What an actor does outside: promises, observables and callbacks as tasks of the asyncio host.

A task is created when the step that invokes it has settled, and its first
line runs in a later turn of the loop. What it brings back arrives in the
inbox like everything else, so a result whose handling ends its own state
finds nobody left to cancel, and one that comes too late changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ...events import to_event
from ...interpreter.actors import (
    OBSERVABLE_COMPLETED,
    PromiseLogic,
    observable_failure,
    observable_value,
    promise_failure,
    promise_result,
)
from ...interpreter.deliveries import Begin, Completed, End, Failed
from ...interpreter.effects import ActorRef
from ...interpreter.system import System
from . import asyncio_inside
from .asyncio_clock import Clock
from .asyncio_inbox import Arrival
from .asyncio_inside import Inside
from .asyncio_turns import Turns
from .streams import values_of

NO_TASKS: dict[asyncio.Task[Any], bool] = {}
NO_OUTSIDE: dict[int, asyncio.Task[Any]] = {}
"""What an actor has that does nothing outside. Shared and never written to."""


class OutsideWork(Turns):
    """Starts and stops the outside part of actors.

    ``_outside`` are the tasks that work for an actor, by its session;
    ``_tasks`` are all that are not over, each with whether it is unwinding.
    """

    __slots__ = ("_outside", "_tasks", "_thread")

    def __init__(self, system: System, clock: Clock, mailbox: int) -> None:
        super().__init__(system, clock, mailbox)
        self._tasks: dict[asyncio.Task[Any], bool] = NO_TASKS
        self._outside: dict[int, asyncio.Task[Any]] = NO_OUTSIDE
        self._thread = 0

    # ------------------------------------------------------- start and stop

    def begin(self, delivery: Begin) -> None:
        """Start an actor: a callback at once, anything else as a task."""
        if delivery.logic.kind == "callback":
            self.begin_callback(delivery)
            return
        task = self._loop.create_task(self._supervise(delivery))
        if self._outside is NO_OUTSIDE:
            self._outside = {}
        self._outside[delivery.actor.session] = task
        if self._tasks is NO_TASKS:
            self._tasks = {}
        self._tasks[task] = False

    def end(self, delivery: End) -> None:
        """Stop an actor's outside part; a callback's clean-up may raise."""
        self._cancel_work(delivery.actor)
        self.end_callback(delivery.actor)

    def _cancel_work(self, ref: ActorRef) -> None:
        task = self._outside.pop(ref.session, None)
        if task is not None:
            if self._tasks.get(task) is False:
                self._tasks[task] = True
                task.add_done_callback(self._task_over)  # it may never begin, and so never say that it is over
            task.cancel()

    def completed(self, delivery: Completed) -> None:
        """An actor is over: what it still does outside is for nobody."""
        self._tidy(delivery.actor)

    def failed(self, delivery: Failed) -> None:
        """An actor died: what it still does outside is for nobody."""
        self._tidy(delivery.actor)

    def _tidy(self, ref: ActorRef) -> None:
        self._cancel_work(ref)
        if self._callbacks and ref.session in self._callbacks:
            try:
                self.end_callback(ref)
            except Exception as error:
                self._report("the clean-up of a callback actor failed", error)

    def _task_over(self, task: asyncio.Task[Any]) -> None:
        is_known = task in self._tasks
        self._forget_task(task)
        if task.cancelled():
            return
        error = task.exception()  # an interrupt has gone its way through the loop already
        if is_known and isinstance(error, Exception):
            self._report("a task of the actor failed", error)

    def _forget_task(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)
        if not self._tasks:
            self._tasks = NO_TASKS
        if not self._outside:
            self._outside = NO_OUTSIDE

    # ------------------------------------------------------------ the tasks

    async def _supervise(self, delivery: Begin) -> None:
        """Run an actor's work and deliver the event it ends with."""
        ref = delivery.actor
        if self._performing:  # pragma: no cover - an eager task factory (3.12): the step has to settle first
            await asyncio.sleep(0)
        inside = Inside(self, False, asyncio_inside.current())
        asyncio_inside.enter(inside)  # in this task's own context
        task = asyncio.current_task()
        assert task is not None
        is_over = False
        try:
            if delivery.logic.kind == "promise":
                last = await self._promise(delivery)
            else:
                last = await self._observable(delivery)
            inside.active = False
            self._outside.pop(ref.session, None)
            self._arrive(Arrival(last, ref, ref))
            is_over = True
        except asyncio.CancelledError as error:
            if not task.cancelling() and not self._closing:
                message = f"actor {ref.id!r} was cancelled from inside; the state that invoked it waits on"
                self._report(message, error)
            raise
        finally:
            inside.active = False
            if is_over:
                self._forget_task(task)
            else:
                task.add_done_callback(self._task_over)  # which looks how it ended

    async def _promise(self, delivery: Begin) -> Any:
        """Call a promise's function: an ``async def`` here, a plain ``def`` in a thread."""
        logic = delivery.logic
        arguments = self._arguments(delivery)
        try:
            if is_async(logic):
                result = await logic.call(*arguments)
            else:
                result = await asyncio.to_thread(logic.call, *arguments)
                if hasattr(result, "__await__"):
                    result = await result
            return promise_result(self.checked_output(delivery.actor.src, result))
        except Exception as error:
            return promise_failure(self.failure_data(error))

    async def _observable(self, delivery: Begin) -> Any:
        """Deliver each value, asking for the next one when the machine is done with it."""
        try:
            source = delivery.logic.call(*self._arguments(delivery))
            async with contextlib.aclosing(values_of(source)) as values:
                async for value in values:
                    arrival = self._value(delivery, value)
                    arrival.done = self._loop.create_future()
                    self._arrive(arrival)
                    await arrival.done
        except Exception as error:
            return observable_failure(self.failure_data(error))
        return OBSERVABLE_COMPLETED

    def _value(self, delivery: Begin, value: Any) -> Arrival:
        ref = delivery.actor
        if not delivery.logic.to_parent:
            return Arrival(observable_value(value), ref, ref, paced=True)
        cell = self.system.cell(ref)
        parent = None if cell is None or cell.parent is None else cell.parent.ref
        return Arrival(to_event(value), parent, ref, paced=True)

    def _arguments(self, delivery: Begin) -> tuple[Any, ...]:
        return delivery.input, delivery.actor, self.system.view, self._emitter(delivery.actor)

    def _emitter(self, ref: ActorRef) -> Callable[..., None]:
        def emit(event: str | Mapping[str, Any], **data: Any) -> None:
            self.post_emit(ref, to_event(event, data))

        return emit

    def failure_data(self, error: Exception) -> Any:
        """What an actor's exception is to the machine: ``event["error"]``, here the exception itself."""
        return error

    # ------------------------------------------------------- from any thread

    def post_send(self, source: ActorRef | None, target: ActorRef | None, event: Any) -> None:
        """A callback actor sends: in a step (then in its order there), later, or from another thread."""
        if self._performing and threading.get_ident() == self._thread:
            super().post_send(source, target, event)
        else:
            self._arrive_from_anywhere(Arrival(event, target, source))

    def post_emit(self, ref: ActorRef, event: Any) -> None:
        """An outside actor's code emits: in a step, later, or from another thread."""
        if self._performing and threading.get_ident() == self._thread:
            super().post_emit(ref, event)
        else:
            self._arrive_from_anywhere(Arrival(event, None, ref, emitted=True))

    def _arrive_from_anywhere(self, arrival: Arrival) -> None:
        if threading.get_ident() == self._thread:
            self._arrive(arrival)
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed, so the actor is over: nobody to tell
            self._loop.call_soon_threadsafe(self._arrive, arrival)


def is_async(logic: Any) -> bool:
    """Whether a promise's function is an ``async def``."""
    return logic.is_async if isinstance(logic, PromiseLogic) else inspect.iscoroutinefunction(logic.function)
