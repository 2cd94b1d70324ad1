"""What waits for its turn: one queue for events, timers that rang and results of actors, first come first served."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import ExecutionError
from ...interpreter.actors import PROMISE_REJECT
from ...interpreter.deliveries import Timer
from ...interpreter.effects import ActorRef
from ...values import plain
from .asyncio_inside import Inside

WAITING, CURRENT, OVER = "waiting", "current", "over"


class MailboxFull(ExecutionError):
    """More events are waiting than the actor's mailbox holds."""


class Arrival:
    """An event on its way to an actor of the system (``target`` none: the root), or a timer that rang.

    ``counted`` ones hold a place in the mailbox. ``paced`` ones are waited
    for, but only to know when the next may follow. ``before`` is the root's
    snapshot when its turn began; ``inside`` the work it was sent from.
    """

    __slots__ = (
        "before",
        "counted",
        "done",
        "emitted",
        "event",
        "inside",
        "paced",
        "phase",
        "source",
        "target",
        "timer",
    )

    def __init__(
        self,
        event: Any,
        target: ActorRef | None = None,
        source: ActorRef | None = None,
        *,
        timer: Timer | None = None,
        emitted: bool = False,
        counted: bool = False,
        paced: bool = False,
    ) -> None:
        self.event = event
        self.target = target
        self.source = source
        self.timer = timer
        self.emitted = emitted
        self.counted = counted
        self.paced = paced
        self.phase = WAITING
        self.before: Any = None
        self.inside: Inside | None = None
        self.done: asyncio.Future[Any] | None = None

    def settle(self, result: Any = None, error: BaseException | None = None) -> bool:
        """It is over; false when nobody waited to hear how it went."""
        self.phase = OVER
        done = self.done
        if done is None or done.done():
            return False
        if self.paced:
            done.set_result(None)
            return False
        if isinstance(error, Exception):
            done.set_exception(error)
        elif error is not None:
            done.cancel()
        else:
            done.set_result(result)
        return True


class Inbox(deque[Arrival]):
    """The queue, and the places in it that senders from outside share.

    ``limit`` bounds counted arrivals only: what the machine's own actors and
    timers bring cannot be refused. An actor has one only while it needs it:
    an idle deque is larger than the rest of the actor.
    """

    __slots__ = ("_closed", "_for_room", "_held", "limit")

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self._held = 0
        self._for_room: list[asyncio.Future[None]] | None = None
        self._closed = False

    @property
    def is_spare(self) -> bool:
        """Whether a new one would do as well."""
        return not (self or self._held or self._for_room or self._closed)

    def put(self, arrival: Arrival) -> None:
        """Queue something; a counted arrival must have reserved its place."""
        self.append(arrival)

    def take(self) -> Arrival | None:
        """The next one, whose turn begins."""
        if not self:
            return None
        arrival = self.popleft()
        arrival.phase = CURRENT
        if arrival.counted:
            self.free()
        return arrival

    def withdraw(self, arrival: Arrival) -> None:
        """Its sender gave up before its turn came."""
        self.remove(arrival)
        arrival.phase = OVER
        if arrival.counted:
            self.free()

    def try_reserve(self) -> bool:
        """Take a place; false when there is none, or others wait for one."""
        if self._held >= self.limit:
            return False
        self._held += 1
        return True

    async def reserve(self) -> None:
        """Take a place, waiting for one in the order of asking. Returns at once when closed."""
        if self._closed or self.try_reserve():
            return
        room = asyncio.get_running_loop().create_future()
        if self._for_room is None:
            self._for_room = []
        self._for_room.append(room)
        try:
            await room
        except asyncio.CancelledError:
            if room.cancelled():
                if self._for_room and room in self._for_room:
                    self._for_room.remove(room)
            else:  # the place was handed over at the very moment of the cancellation
                self.free()
            raise

    def free(self) -> None:
        """Hand a place to the longest waiting, or put it back."""
        waiting = self._for_room
        if waiting:
            for room in waiting:
                if not room.done():
                    waiting.remove(room)
                    room.set_result(None)
                    return
        self._held -= 1

    def close(self) -> list[Arrival]:
        """Let nobody wait any more; returns what will not have its turn."""
        self._closed = True
        left = list(self)
        self.clear()
        waiting, self._for_room = self._for_room, None
        for room in waiting or ():
            if not room.done():
                room.set_result(None)
        return left


def with_waiting(envelope: dict[str, Any], inbox: Iterable[Arrival]) -> dict[str, Any]:
    """``envelope`` with what waits in ``inbox`` put into its actors' mailboxes, in order.

    A timer that rang becomes an event in its place. A rejection stays out,
    for exceptions are no JSON: its promise runs again after a restore.
    """
    actors = {saved["session"]: saved for saved in envelope["actors"]}
    root = envelope["actors"][0]
    timers = {timer["handle"]: timer for timer in envelope["timers"]}
    for arrival in inbox:
        timer = arrival.timer
        if timer is not None and timers.pop(timer.handle, None) is None:
            continue  # cancelled since it rang
        target = arrival.target if timer is None else timer.target
        saved = root if target is None else actors.get(target.session)
        event = arrival.event if timer is None else timer.event
        if saved is not None and not arrival.emitted and _is_saved(event):
            saved["mailbox"].append(plain(event))
    envelope["timers"] = list(timers.values())
    return envelope


def _is_saved(event: Any) -> bool:
    return isinstance(event, Mapping) and not (
        event.get("type") == PROMISE_REJECT and isinstance(event.get("data"), BaseException)
    )
