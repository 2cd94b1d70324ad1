"""The durable runtime, for services with an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ....durability.applying import Told
from ....durability.names import checked_event_id, checked_name
from ....durability.payloads import checked_text
from ....durability.receipts import Receipt
from ....errors import PayloadError, UsageError
from ....events import INIT, to_event
from ....values import UNDEFINED, freeze
from .operating import Operating
from .pump import Pump
from .reconciling import Reconciler
from .worker import Worker
from .working import Working


class DurableRuntime(Operating):
    """Running machines in a store.

    ``machines`` are those that this process can run; events for others are
    accepted, and applied by a process that has them. ``lease`` (ms) is how
    long a worker may give no sign of life before its effects are somebody
    else's; the timeout of every effect must be shorter. Use it as an async
    context manager.
    """

    # -------------------------------------------------------------- start, send

    async def start(
        self, machine: str, instance: str, input: Any = UNDEFINED, *, event_id: str | None = None, actor: str | None = None
    ) -> Receipt:
        """Start ``machine`` under the name ``instance``.

        A second start with the same ``event_id`` (by default made of the name)
        and input is a duplicate; any other start of a name that is taken is
        refused. Raises :class:`PayloadError`, :class:`SchemaError`, and what the
        machine's own code raises when it begins.
        """
        name = checked_name(instance, "an instance's name")
        text = checked_text(None if input is UNDEFINED else input, "the input", self.limits.event, self.limits.depth)
        told = Told(f"start:{name}" if event_id is None else checked_event_id(event_id), text, actor)
        given = UNDEFINED if input is UNDEFINED else freeze(input)
        receipt = await self._receipt(self._decider.start(self.namespace, machine, name, told, given))
        self._telemetry.count("events", outcome=receipt.outcome, machine=machine)
        return receipt

    async def send(
        self,
        instance: str,
        event: str | Mapping[str, Any],
        *,
        event_id: str | None = None,
        actor: str | None = None,
        to: str | None = None,
    ) -> Receipt:
        """Give ``event`` to ``instance``. The receipt says what became of it, and is given only once that is committed.

        The same ``event_id`` again changes nothing. ``to`` is the path of a
        machine below the root. Raises :class:`UnknownInstance`,
        :class:`PayloadError`, :class:`SchemaError`, :class:`Busy`, and
        :class:`CommitUnknown` when nobody knows: then send it again with its id.
        """
        name, made, text = self._checked(instance, event)
        id_ = self._entropy.event_id() if event_id is None else checked_event_id(event_id)
        with self._telemetry.event(name, made["type"]) as trace:
            receipt = await self._receipt(self._decider.send(self.namespace, name, Told(id_, text, actor, to, trace)))
        self._telemetry.count("events", outcome=receipt.outcome)
        return receipt

    def _checked(self, instance: str, event: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str]:
        """An instance's name, an event, and that as text, if they may be."""
        name = checked_name(instance, "an instance's name")
        made = to_event(event)
        if made["type"] == INIT or made["type"].startswith("xstate."):
            raise PayloadError(f"events named {made['type']!r} are the machine's own; nobody else can send them")
        return name, made, checked_text(made, "the event", self.limits.event, self.limits.depth)

    def send_within(
        self,
        connection: Any,
        instance: str,
        event: str | Mapping[str, Any],
        *,
        event_id: str,
        actor: str | None = None,
        to: str | None = None,
    ) -> Receipt:
        """Give ``event`` to ``instance`` as part of a transaction of yours, in a savepoint of its own; this call blocks.

        The receipt is true once you have committed: then call :meth:`wake`, or a
        worker finds what there is to do when it looks next. When you roll back,
        nothing has happened. Raises as :meth:`send` does, and :class:`UsageError`
        when the store cannot join that connection.
        """
        bind = getattr(self.store, "bind", None)
        if bind is None:
            raise UsageError(f"a {type(self.store).__name__} cannot join a transaction; SQLite and PostgreSQL can")
        name, _, text = self._checked(instance, event)
        told = Told(checked_event_id(event_id), text, actor, to)
        job = replace(self._decider.send(self.namespace, name, told), seen_revision=None)
        answer = bind(connection).commit([job])[0]
        if isinstance(answer, Exception):
            raise answer
        receipt: Receipt = answer.answer
        return receipt

    def wake(self) -> None:
        """There may be something to do: to be called from the loop, after a transaction of yours was committed."""
        for working in self._workings:
            working.wake()

    async def start_many(self, machine: str, instances: Mapping[str, Any]) -> dict[str, Receipt]:
        """Start several, by name with their inputs, in as few commits as can be."""
        receipts = await asyncio.gather(*(self.start(machine, name, given) for name, given in instances.items()))
        return dict(zip(instances, receipts, strict=True))

    async def send_many(self, sends: Iterable[tuple[str, Mapping[str, Any] | str, str]]) -> list[Receipt | Exception]:
        """Send several: (instance, event, event id). Each has its receipt, or what :meth:`send` would have raised."""
        found = await asyncio.gather(
            *(self.send(instance, event, event_id=id_) for instance, event, id_ in sends), return_exceptions=True
        )
        return [_not_an_interrupt(one) for one in found]

    # ------------------------------------------------------------------ working

    async def run_worker(
        self,
        *,
        concurrency: int = 16,
        threads: int = 8,
        poll: float = 0.5,
        grace: float = 10.0,
        until_idle: bool = False,
        handle_signals: bool = False,
    ) -> None:
        """Apply what waits, fire timers, perform effects, until cancelled.

        At most ``concurrency`` calls at a time, plain functions in ``threads``
        threads. With ``handle_signals`` SIGTERM and SIGINT stop the claiming; calls that run
        have ``grace`` seconds, and what is left then is found by its lease.
        ``until_idle``: return as soon as there is nothing to do now.
        """
        if not self._is_open:
            raise UsageError("the runtime is not open; use it in `async with`")
        owner = f"{self._entropy.incarnation()}"
        worker = Worker(self._committer, self.namespace, owner, self._entropy)
        worker.listener = self._telemetry
        reconciler = Reconciler(worker, self._lease, self._clock)
        pump = Pump(self._committer, self.namespace)
        working = Working(
            worker,
            self._batcher,
            pump,
            reconciler,
            self._store_calls,
            telemetry=self._telemetry,
            lease=self._lease,
            concurrency=concurrency,
            poll=poll,
            threads=threads,
        )
        self._workings.append(working)
        try:
            with _signals(working.stop) if handle_signals else contextlib.nullcontext():
                await working.run(grace, until_idle)
        finally:
            self._workings.remove(working)


def _not_an_interrupt(found: Receipt | BaseException) -> Receipt | Exception:
    if isinstance(found, BaseException) and not isinstance(found, Exception):
        raise found
    return found


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and SIGINT call ``stop``, as long as this lasts."""
    loop = asyncio.get_running_loop()
    caught = (signal.SIGTERM, signal.SIGINT)
    for one in caught:
        loop.add_signal_handler(one, stop)
    try:
        yield
    finally:
        for one in caught:
            loop.remove_signal_handler(one)


