"""The asyncio host: a machine as an actor inside a running event loop.

Structured: everything the actor starts lives inside its ``async with``
block, and leaving the block (or being cancelled anywhere) ends it. An idle
actor runs an event's whole macrostep inside ``send``; a busy one queues it.
Long cascades let the loop breathe every few milliseconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from threading import get_ident
from time import monotonic
from typing import Any, Generic, TypeVar

from ...errors import ExecutionError, UsageError
from ...events import INTERNED, to_event
from ...interpreter import envelope, envelope_text
from ...interpreter.effects import ActorRef
from ...interpreter.inspection import Observer
from ...interpreter.persistence import persisted_plainly, persisted_text, restore
from ...interpreter.snapshot import Snapshot
from ...interpreter.system import System
from ...json_text import dumps, loads
from ...machine import Machine
from ...values import UNDEFINED
from .asyncio_clock import Clock, ManualClock, WallClock
from .asyncio_inbox import CURRENT, Arrival, MailboxFull, with_waiting
from .asyncio_inside import current as current_work
from .asyncio_inside import is_inside
from .asyncio_lifetime import Lifetime
from .asyncio_pump import Pause
from .unhandled import refuse_unhandled

C = TypeVar("C")
WALL_CLOCK = WallClock()


class Actor(Lifetime, Generic[C]):
    """A running machine. Use it as ``async with start(machine) as actor``.

    ``snapshot`` restores: an envelope (:meth:`save`), XState's persisted form
    (both also as JSON text), or a :class:`Snapshot` without children.
    ``clock`` may be injected.
    ``mailbox`` bounds the events that may wait: ``send`` then waits for room,
    ``post`` raises :class:`MailboxFull`. ``on_unhandled="raise"`` makes an
    event that nobody handles an :class:`InvalidTransition`.
    """

    __slots__ = ("_begin_with", "_has_schemas", "_logger", "_observer", "_raise_unhandled")

    def __init__(
        self,
        machine: Machine[C, Any],
        input: Any = None,
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
        if mailbox < 1:
            raise UsageError(f"a mailbox holds at least one event, not {mailbox}")
        if machine.semantics != "xstate-exact":
            machine.require_complete()
        super().__init__(
            System(machine, observed=inspect is not None), WALL_CLOCK if clock is None else clock, mailbox
        )
        first = self.checked_input(UNDEFINED if input is None else input)
        self._begin_with: tuple[Any, Any, str | None] | None = (first, snapshot, system_id)
        self._has_schemas = bool(self.schemas)
        self._raise_unhandled = on_unhandled == "raise"
        self._observer = inspect
        self._logger = logger

    @property
    def machine(self) -> Machine[C, Any]:
        """The machine that runs."""
        return self.system.machine

    # -------------------------------------------------------- entering, leaving

    async def __aenter__(self) -> Actor[C]:
        if self._entered:
            raise UsageError("an actor is started once; make a new one with start(machine)")
        self._entered = True
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        if isinstance(self.clock, ManualClock):
            self.clock.attend(self, self._is_busy)  # one moved by hand wants to know when its actors are busy
        try:
            self._boot()
            self._run()
            if self._running:
                begun = self._current = self._current or Arrival(None)
                begun.phase = CURRENT
                await self._wait(begun)
        except BaseException:
            await self.aclose()
            raise
        return self

    def _boot(self) -> None:
        system = self.system
        assert self._begin_with is not None
        input, given, system_id = self._begin_with
        self._begin_with = None
        if isinstance(given, str):
            given = loads(given)
        system.now = self.clock.now()
        if given is None:
            system.boot(input, system_id=system_id)
        else:
            self._restore(given, system_id)
        self._booted = True
        self.check_start()
        system.start(quietly=self._watched is None)

    def _restore(self, given: Any, system_id: str | None) -> None:
        system = self.system
        if envelope.is_envelope(given):
            self._alarms.go_on_from(envelope.saved_time(given))
            system.now = self._now()
            envelope.open_envelope(system, given)
            for timer in system.timers.pending.values():
                self._alarms.set(timer)
        else:
            document = given.to_xstate() if isinstance(given, Snapshot) else given
            restore(system, document, strict=self.machine.semantics != "xstate-exact", system_id=system_id)

    # --------------------------------------------------------------- reading

    @property
    def snapshot(self) -> Snapshot[C]:
        """The machine's last published snapshot; in the middle of a step, the one before it.

        Raises :class:`UsageError` before the actor is entered.
        """
        if not self._booted:
            self._refuse_stranger()
        return self.system.root.snapshot  # type: ignore[no-any-return]

    def to_xstate(self) -> dict[str, Any]:
        """XState's persisted snapshot: no timers, no queued events.

        Raises :class:`UsageError` in the middle of a step.
        """
        self._require_rest("to_xstate()")
        return persisted_plainly(self.system)

    def save(self) -> dict[str, Any]:
        """The envelope: everything needed to go on, queued events and timers that rang included.

        Plain JSON, made at once: later changes are not in it. Raises
        :class:`UsageError` in the middle of a step.
        """
        self._require_rest("save()")
        self.system.now = self._now()
        return with_waiting(envelope.seal(self.system), self._arrivals or ())

    def to_xstate_text(self) -> str:
        """:meth:`to_xstate` as JSON text, byte for byte what ``JSON.stringify`` makes of it."""
        self._require_rest("to_xstate_text()")
        return persisted_text(self.system)

    def save_text(self) -> str:
        """:meth:`save` as JSON text; quicker than the two by themselves."""
        if self._arrivals:
            return dumps(self.save())
        self._require_rest("save_text()")
        self.system.now = self._now()
        return envelope_text.system_text(self.system)

    def _require_rest(self, what: str) -> None:
        self._require_thread()
        if self._running or not self.system.idle:
            raise UsageError(f"{what} in the middle of a step would save half of it; await the send first")

    # --------------------------------------------------------------- sending

    async def send(self, event: str | Mapping[str, Any], **data: Any) -> Snapshot[C]:
        """Send an event; returns the snapshot once it and its consequences have been processed.

        An idle actor does that inside the call. A busy one queues the event;
        with a full mailbox this waits for room. From inside the actor's own
        actions it only queues, for waiting for oneself would last for ever
        (then raises :class:`MailboxFull` when there is no room). An actor
        that is over ignores events. Cancelling withdraws an event whose turn
        has not come, and interrupts an async action of its own step, which
        is then undone. Raises :class:`SchemaError` when the document's schema
        refuses the event, :class:`InvalidTransition` under ``on_unhandled="raise"``.
        """
        if asyncio.get_running_loop() is not self._loop:
            self._refuse_stranger()
        if type(event) is str and event in INTERNED and not data:
            made = INTERNED[event]
        else:
            made = to_event(event, data)
        if self._has_schemas:
            self.schemas.check_event(made)
        if self._slice_end and not self._running and monotonic() > self._slice_end and self._out_of_time():
            await asyncio.sleep(0)  # a loop of sends must not keep the event loop from turning
        if self._running or self._arrivals or self._closing:
            return await self._send_in_turn(made)
        if self._raise_unhandled:
            self._check(made)
        root = self.system.root
        before = root.snapshot
        self._running = True
        if not self._slice_end:
            self._begin_slice()
        try:
            quick = self._quick(made)
            pause = None if quick is True else quick or self._pump()
        except BaseException:
            self._running = False
            self._wake()
            raise
        if pause is None:
            self._running = False
            return root.snapshot  # type: ignore[no-any-return]
        return await self._send_on(made, before, pause)

    async def _send_on(self, made: Any, before: Any, pause: Pause) -> Snapshot[C]:
        """An inline send has come to where something must be awaited: the actor's task takes over."""
        if self._current is not None:  # that is an event which the actions of this one posted
            self._start_turn(pause)
            return self.snapshot
        arrival = self._current = Arrival(made)
        arrival.phase, arrival.before, arrival.inside = CURRENT, before, current_work()
        arrival.done = self._loop.create_future()  # now, for an eager task may be over when it returns
        self._start_turn(pause)
        return await self._wait(arrival)  # type: ignore[no-any-return]

    async def _send_in_turn(self, made: Any) -> Snapshot[C]:
        if self._closing or self._over:
            self._check(made)
            return self.snapshot
        if is_inside(self):
            self._put(made)
            return self.snapshot
        return await self._send_when_there_is_room(made)

    async def _send_when_there_is_room(self, made: Any) -> Snapshot[C]:
        inbox = self._inbox
        await inbox.reserve()
        if self._over:
            inbox.free()
            self._check(made)
            return self.snapshot
        arrival = Arrival(made, counted=True)
        return await self._process(arrival)  # type: ignore[no-any-return]

    def post(self, event: str | Mapping[str, Any], **data: Any) -> None:
        """Queue an event without waiting; it is processed in a coming turn of the loop.

        Raises :class:`MailboxFull` and :class:`SchemaError`. Under ``on_unhandled="raise"`` an event
        that nobody handles is reported to the loop's exception handler.
        """
        self._require_loop()
        self._put(self.checked_event(event, data))

    def _put(self, made: Any) -> None:
        if self._closing:
            return
        if not self._inbox.try_reserve():
            raise MailboxFull(
                f"{self._mailbox} events are waiting for {self.machine.id!r}; `await actor.send(...)` waits for room"
            )
        arrival = Arrival(made, counted=True)
        arrival.inside = current_work()
        self._arrive(arrival)

    async def stop(self) -> Snapshot[C]:
        """Stop the machine and its children; queued events are dropped, exit actions do not run, as in XState.

        A step that is on is finished first. From inside the actor's own
        actions it returns at once, and the stop follows the action's step.
        """
        self._require_loop()
        if self._over or self._closing:
            return self.snapshot
        self.system.stop()
        if not self._running:
            self._run()
        if not is_inside(self):
            await self._until_over()
        return self.snapshot

    # -------------------------------------------------------------- waiting

    async def wait_for(
        self, predicate: Callable[[Snapshot[C]], bool], timeout: float | None = None
    ) -> Snapshot[C]:
        """The first snapshot, from now on, for which ``predicate`` holds.

        ``timeout`` is in seconds of the event loop, whatever the actor's
        clock. Raises ``TimeoutError``, what ``predicate`` raises, or
        :class:`ExecutionError` when the machine ends without such a snapshot.
        """
        self._require_loop()
        snapshot = self.snapshot
        if predicate(snapshot):
            return snapshot
        if self._over:
            raise self._ended_too_soon()
        self._refuse_inside("wait_for()")
        watchers = self._watchers
        found = watchers.expect(predicate, self._loop)
        try:
            async with asyncio.timeout(timeout):
                got = await found
        except TimeoutError:
            if found.done() and not found.cancelled():
                raise
            states = ", ".join(getattr(self.snapshot, "atomic_states", ()))
            raise TimeoutError(
                f"after {timeout} s the machine is in {states} [{self.snapshot.status}]"
            ) from None
        finally:
            watchers.forget(found)
            if watchers.is_spare and self._watched is watchers:
                self._watched = None
        if got is None:
            raise self._ended_too_soon()
        if got.status == "error":
            self._error_seen = True
        return got  # type: ignore[no-any-return]

    def _ended_too_soon(self) -> ExecutionError:
        self._error_seen = True
        snapshot = self.snapshot
        made = ExecutionError(f"the machine ended ({snapshot.status}) without reaching what was waited for")
        if isinstance(snapshot.error, BaseException):
            made.__cause__ = snapshot.error
        return made

    async def result(self) -> Any:
        """The machine's output, once it is done. Raises what it died of, or that it was stopped."""
        self._require_loop()
        if not self._over:
            self._refuse_inside("result()")
            await self._until_over()
        snapshot = self.snapshot
        if snapshot.status == "done":
            return None if snapshot.output is UNDEFINED else snapshot.output
        if snapshot.status == "error":
            self._error_seen = True
            if isinstance(snapshot.error, BaseException):
                raise snapshot.error
            raise ExecutionError(f"machine {self.machine.id!r} failed: {snapshot.error!r}")
        raise ExecutionError(f"machine {self.machine.id!r} was stopped before it was done")

    def subscribe(
        self, listener: Callable[[Snapshot[C]], Any], *, on_error: Callable[[Any], Any] | None = None
    ) -> Callable[[], None]:
        """Call ``listener`` with each published snapshot, ``on_error`` with what the machine dies of.

        Both are plain functions. May be called before the actor is entered, to
        hear of its start. Returns the unsubscribe function.
        """
        self._require_own_thread()
        return self._watchers.on_snapshot(listener, on_error)

    def on(self, event_type: str, listener: Callable[[Any], Any]) -> Callable[[], None]:
        """Call ``listener`` with emitted events of this type (``"*"``: all); returns the unsubscribe function.

        May be called before the actor is entered.
        """
        self._require_own_thread()
        return self._watchers.on_emitted(event_type, listener)

    # ------------------------------------------------- what the driver asks

    def _check(self, event: Any) -> None:
        if self._raise_unhandled:
            refuse_unhandled(self.machine, self.snapshot, event)

    def arm(self, timer: Any) -> None:
        """A timer was set."""
        if not self._closing:
            self._alarms.set(timer)

    def disarm(self, timer: Any) -> None:
        """A timer was cancelled."""
        if self._timed is not None:
            self._timed.drop(timer)

    def log(self, ref: ActorRef, value: Any, label: Any) -> None:
        """A ``log`` action ran."""
        if self._logger is not None:
            self._logger(*([label] if label is not UNDEFINED else []), value)

    def inspected(self, event: Any) -> None:
        """An inspection event."""
        if self._observer is not None:
            self._watchers.tell(self._observer, event)


__all__ = ["Actor", "MailboxFull"]
