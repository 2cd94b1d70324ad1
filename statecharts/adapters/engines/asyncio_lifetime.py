"""How long an actor of the asyncio host lives, to whom it belongs, and how it ends.

It belongs to the thread and loop that entered it. It is *over* when its
machine is (nothing more will be published), and *closed* when its block is
left: then everything it started has ended.
"""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Any, NoReturn

from ...errors import ExecutionError, InvalidTransition, UsageError
from ...interpreter.deliveries import Completed, Emitted, Failed, Published
from ...interpreter.effects import ActorRef
from ...interpreter.system import System
from .asyncio_clock import Clock, ManualClock
from .asyncio_inbox import Arrival
from .asyncio_inside import is_inside
from .asyncio_turns import discard
from .asyncio_watch import Watchers
from .asyncio_work import NO_OUTSIDE, NO_TASKS, OutsideWork


class Lifetime(OutsideWork):
    """Ends of an actor: by its machine, by ``aclose``, by cancellation.

    ``_ending`` are those who wait for its end, if there are any.
    """

    __slots__ = ("_booted", "_ending", "_entered", "_error_seen", "_over")

    def __init__(self, system: System, clock: Clock, mailbox: int) -> None:
        super().__init__(system, clock, mailbox)
        self._over = False
        self._ending: asyncio.Event | None = None
        self._entered = False
        self._booted = False
        self._error_seen = False

    @property
    def _watchers(self) -> Watchers:
        """Those who look at the actor."""
        watched = self._watched
        if watched is None:
            watched = self._watched = Watchers(self._report)
        return watched

    # ----------------------------------------------------------- where it belongs

    def _require_own_thread(self) -> None:
        if self._entered and threading.get_ident() != self._thread:
            self._refuse_stranger()

    def _require_thread(self) -> None:
        if not self._entered or threading.get_ident() != self._thread:
            self._refuse_stranger()

    def _require_loop(self) -> None:
        try:
            belongs = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            belongs = False
        if not belongs:
            self._refuse_stranger()

    def _refuse_stranger(self) -> NoReturn:
        if not self._entered:
            raise UsageError("the actor is not running; use `async with start(machine) as actor`")
        raise UsageError(
            "an actor belongs to the thread and loop that started it; from elsewhere use "
            "`loop.call_soon_threadsafe(actor.post, event)`"
        )

    def _refuse_inside(self, what: str) -> None:
        if is_inside(self):
            raise UsageError(f"{what} inside the actor's own action would wait for the action itself")

    # ------------------------------------------------------------- the machine's end

    def emitted(self, delivery: Emitted) -> None:
        """An actor emitted; listeners hear the root's."""
        if self._watched is not None and delivery.actor.session == self.system.root.ref.session:
            self._watched.show_emitted(delivery.event)

    def published(self, delivery: Published) -> None:
        """The root has a new snapshot."""
        self._show(delivery.snapshot)

    def _show(self, snapshot: Any) -> None:
        if self._watched is not None:
            self._watched.show(snapshot)

    def completed(self, delivery: Completed) -> None:
        """An actor is over."""
        super().completed(delivery)
        if delivery.actor.session == self.system.root.ref.session:
            self._ended()

    def failed(self, delivery: Failed) -> None:
        """An actor died."""
        super().failed(delivery)
        if delivery.actor.session == self.system.root.ref.session:
            if self._watched is not None and self._watched.show_error(delivery.error):
                self._error_seen = True
            self._ended()

    def _ended(self) -> None:
        """The root is over: release everybody who waits for something of it."""
        self._be_over()
        snapshot = self.system.root.snapshot
        if self._watched is not None:
            self._watched.end(snapshot)
        if self._current is not None:
            self._current.settle(snapshot)
        for arrival in list(self._arrivals or ()):
            if arrival.counted and arrival.done is not None:
                self._inbox.withdraw(arrival)
                self._refuse_late(arrival)

    def _be_over(self) -> None:
        self._over = True
        if self._ending is not None:
            self._ending.set()

    async def _until_over(self) -> None:
        if not self._over:
            if self._ending is None:
                self._ending = asyncio.Event()
            await self._ending.wait()

    def _refuse_late(self, arrival: Arrival) -> None:
        """The machine ended while an event waited for it."""
        try:
            self._check(arrival.event)
        except InvalidTransition as error:
            arrival.settle(error=error)
        else:
            arrival.settle(self.system.root.snapshot)

    # --------------------------------------------------------------- closing

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None and error is getattr(self.system.root.snapshot, "error", None):
            self._error_seen = True
        await self.aclose()

    async def aclose(self) -> None:
        """Stop the actor, its children and everything they started, and wait for their end.

        Safe to call twice. When cancelled it still waits, and then lets the
        cancellation out. Raises :class:`UsageError` inside the actor's own
        work, which would wait for itself; use :meth:`stop` there.
        """
        if not self._entered:
            return
        if is_inside(self, actions_only=False):
            raise UsageError("an actor cannot be closed by its own work, which is waited for; use stop()")
        self._closing = True
        if self._timed is not None:
            self._timed.close()
        if isinstance(self.clock, ManualClock):
            self.clock.leave(self)
        if self._wakeup is not None:
            self._wakeup.cancel()
            self._wakeup = None
        interrupted = None
        if self._turn_task is not None:
            turn = {self._turn_task}
            interrupted = await _end_all(turn, turn if self._interrupting else set())
        try:
            self._stop_now()
        finally:
            if self._tasks:
                unwinding = {task for task, ends in self._tasks.items() if ends}
                interrupted = await _end_all(set(self._tasks), unwinding) or interrupted
            self._release()
        if interrupted is not None:
            raise interrupted

    def _stop_now(self) -> None:
        """Stop the machine without letting anybody's async code run."""
        system = self.system
        if not self._booted:
            return
        if not self._over:
            self._forget_step()
            system.stop()
            try:
                self._run_out()
            finally:
                self._ended()
        for session in list(self._callbacks or ()):  # those whose parent died without stopping them
            self._tidy(ActorRef(session, ""))

    def _run_out(self) -> None:
        """Go through what is left in the system; an async action that would begin now undoes its step."""
        while not self.system.at_rest:
            try:
                self._add(self.system.run())
                while batch := self._batch:
                    pause = self._attempt(batch.pop())
                    if pause is not None:
                        discard(pause.awaitable)
                        self._forget_step()
                self._flush_sends()
            except Exception as error:
                self._report("stopping the machine failed", error)

    def _release(self) -> None:
        """Nobody may wait for an actor that is closed; an error nobody has seen is told to the loop."""
        self._be_over()
        self._tasks, self._outside = NO_TASKS, NO_OUTSIDE
        snapshot = self.system.root.snapshot if self._booted else None
        left = [] if self._arrivals is None else self._arrivals.close()
        for arrival in left if self._current is None else [*left, self._current]:
            arrival.settle(snapshot)
        self._current = None
        if snapshot is not None and snapshot.status == "error" and not self._error_seen:
            self._error_seen = True
            error = snapshot.error
            shown = (
                error if isinstance(error, BaseException) else ExecutionError(f"machine failed: {error!r}")
            )
            self._report(f"machine {self.system.machine.id!r} failed and nobody asked for its result", shown)

    def _report(self, message: str, error: BaseException) -> None:
        self._loop.call_exception_handler(
            {"message": message, "exception": error, "actor": self.system.machine.id}
        )


async def _end_all(
    tasks: set[asyncio.Task[Any]], unwinding: set[asyncio.Task[Any]]
) -> asyncio.CancelledError | None:
    """Cancel tasks and wait for their end, whatever comes; returns a cancellation that came meanwhile.

    One that is unwinding already is not cancelled again: that would break into its clean-up.
    """
    interrupted: asyncio.CancelledError | None = None
    for task in tasks - unwinding:
        task.cancel()
    while left := {task for task in tasks if not task.done()}:
        try:
            await asyncio.wait(left)
        except asyncio.CancelledError as cancelled:
            interrupted = cancelled
    return interrupted
