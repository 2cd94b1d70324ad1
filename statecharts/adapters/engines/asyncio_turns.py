"""Turns that cannot end at once: what has to be awaited, and who waits for it.

Where the pump pauses, a task of the actor takes over: it awaits the async
action (or lets the loop breathe) and pumps on. A sender whose event is on its
way waits for that; when he is cancelled, so is the action that is part of his
own event's step.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from ...interpreter.system import System
from . import asyncio_inside
from .asyncio_clock import Clock
from .asyncio_inbox import WAITING, Arrival
from .asyncio_pump import Pause, Pump


class Turns(Pump):
    """The pump, and the task that sits out its pauses."""

    __slots__ = ("_interrupting", "_pause", "_turn_task")

    def __init__(self, system: System, clock: Clock, mailbox: int) -> None:
        super().__init__(system, clock, mailbox)
        self._pause: Pause | None = None
        self._interrupting = False
        self._turn_task: asyncio.Task[None] | None = None

    # ------------------------------------------------------ work with pauses

    def _start_turn(self, pause: Pause) -> None:
        """Go on in a task of the actor."""
        self._pause = pause
        task = self._loop.create_task(self._turn())
        if not task.done():  # pragma: no branch - it may be, with an eager task factory (3.12)
            self._turn_task = task
        task.add_done_callback(self._turn_over)

    async def _turn(self) -> None:
        self._turn_task = asyncio.current_task()
        while (pause := self._pause) is not None:
            if pause.delivery is None:
                await pause.awaitable
            else:
                await self._sit_out(pause)
            self._pause = None
            if self._closing:
                return
            if not self._slice_end:
                self._begin_slice()
            try:
                self._pause = self._pump()
            except asyncio.CancelledError as error:  # raised by the machine's own code; in a task nobody would hear of it
                self._report("an event was cancelled from inside; its step was undone", error)
        self._turn_task = None  # at once: who waited for this turn may look before the task is over
        self._running = False

    async def _sit_out(self, pause: Pause) -> None:
        """Await an async action. Its failure is the machine's; its interruption undoes its step."""
        assert pause.delivery is not None and pause.inside is not None
        task = asyncio.current_task()
        assert task is not None
        asyncio_inside.enter(pause.inside)  # in this task's own context: nobody to restore it for
        try:
            await pause.awaitable
        except Exception as error:
            self._void(pause.delivery, error)
        except asyncio.CancelledError as error:
            told = self._abandon(pause)
            if task.cancelling() and not self._interrupting:
                raise
            if not told and not self._interrupting:
                self._report("an action was cancelled from inside; its step was undone", error)
        except BaseException:
            self._abandon(pause)
            raise
        finally:
            pause.inside.active = False
            if self._interrupting:
                self._interrupting = False
                task.uncancel()

    def _abandon(self, pause: Pause) -> bool:
        """The step behind ``pause`` is undone; whether somebody waited for it (and is released)."""
        self._pause = None
        if pause.inside is not None:
            pause.inside.active = False
        own = self._is_own_step(pause)
        self._forget_step()
        if not own or self._current is None:
            return False
        return self._current.settle(error=asyncio.CancelledError())

    def _is_own_step(self, pause: Pause) -> bool:
        """Whether ``pause`` is part of the step that the current arrival itself asked for."""
        root, current = self.system.root, self._current
        return (
            current is not None
            and pause.delivery is not None
            and pause.delivery.actor.session == root.ref.session
            and current.before is root.snapshot
        )

    def _turn_over(self, task: asyncio.Task[None]) -> None:
        """The turn's task has ended, perhaps before it began."""
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            self._report("a turn of the actor failed", error)
        if self._turn_task is task:
            pause, self._pause = self._pause, None
            if pause is not None:
                discard(pause.awaitable)
                if pause.delivery is not None:
                    self._abandon(pause)
            self._interrupting = False
            self._turn_task = None
            self._running = False
        self._wake()

    # --------------------------------------------------------------- waiting

    async def _process(self, arrival: Arrival) -> Any:
        """Queue ``arrival``; returns the root's snapshot once it has been processed, with its consequences.

        A cancelled sender withdraws an event whose turn has not come, and
        interrupts a step of it that is being waited for; what has happened
        stays.
        """
        if self._closing:
            arrival.settle()
            return self.system.root.snapshot
        arrival.inside = asyncio_inside.current()
        self._inbox.put(arrival)
        if not self._running:
            done = arrival.done = self._loop.create_future()
            try:
                self._run()
            except BaseException:
                if done.done() and not done.cancelled():
                    done.exception()
                raise
            if done.done():
                return done.result()
        return await self._wait(arrival)

    async def _wait(self, arrival: Arrival) -> Any:
        done = arrival.done = arrival.done or self._loop.create_future()
        try:
            return await done
        except asyncio.CancelledError:
            if not done.cancelled():
                done.exception()  # it was over in the same moment; nobody else will look
            elif arrival.phase is WAITING:
                self._inbox.withdraw(arrival)
            elif arrival is self._current:
                await self._interrupt(arrival)
            raise

    async def _interrupt(self, arrival: Arrival) -> None:
        """Cancel the action that ``arrival``'s own step waits for, and see it end."""
        pause, turn = self._pause, self._turn_task
        if pause is None or turn is None or not self._is_own_step(pause):
            return
        unwound = arrival.done = self._loop.create_future()
        self._interrupting = True
        turn.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await unwound


def discard(awaitable: Any) -> None:
    """Nobody will await this any more."""
    for end in ("close", "cancel"):
        if hasattr(awaitable, end):
            getattr(awaitable, end)()
            return
