"""The durable runtime, for services with an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from ....durability.commits import Commit, Job
from ....durability.controls import Operator, Order
from ....durability.decisions import Decider, Told
from ....durability.definitions import DEAD_LETTER, Hosted, Registry, hosted
from ....durability.forks import Fork
from ....durability.names import checked_name
from ....durability.payloads import Limits, checked_text
from ....durability.receipts import Receipt
from ....durability.rows import EffectRow, InboxRow, Instance, LogRow, TimerRow
from ....durability.store import Clock, EffectQuery, InstanceQuery, Store
from ....durability.verification import Report, Verifier, state_at
from ....errors import PayloadError, UnknownInstance, UsageError
from ....events import INIT, to_event
from ....machine import Machine
from ....values import UNDEFINED, freeze
from .batching import Batcher
from .committing import Committer
from .entropy import SystemEntropy
from .pump import Pump
from .reconciling import Reconciler
from .worker import Worker
from .working import Working

log = logging.getLogger("statecharts.durable")
T = TypeVar("T")
Listener = Callable[[str, str, Mapping[str, Any]], Any]
"""Is told of emitted events after their commit: instance, actor's id, event."""
Authorize = Callable[[str, str, str], bool]
"""May an actor do this to an instance? ``(actor, action, instance)``."""


class DurableRuntime:
    """Running machines in a store.

    ``machines`` are those that this process can run; events for others are
    accepted, and applied by a process that has them. ``lease`` (ms) is how
    long a worker may give no sign of life before its effects are somebody
    else's; the timeout of every effect must be shorter. Use it as an async
    context manager.
    """

    def __init__(
        self,
        store: Store,
        machines: Iterable[Machine[Any, Any]] = (),
        *,
        clock: Clock,
        namespace: str = "default",
        limits: Limits | None = None,
        lease: int = 60_000,
        on_error: str = DEAD_LETTER,
        authorize: Authorize | None = None,
        entropy: SystemEntropy | None = None,
    ) -> None:
        self.store = store
        self.namespace = checked_name(namespace, "a namespace")
        self.limits = Limits() if limits is None else limits
        self.registry = Registry([hosted(machine, on_error) for machine in machines])
        for one in self.registry.by_hash.values():
            _check_timeouts(one, lease)
        self._lease = lease
        self._clock = clock
        self._entropy = SystemEntropy() if entropy is None else entropy
        self._authorize = authorize
        self._decider = Decider(self.registry, self.limits, self._entropy)
        self._operator = Operator(self._decider)
        self._committer = Committer(store, self._decider)
        self._commits = ThreadPoolExecutor(store.lanes, thread_name_prefix="statecharts commit")
        self._store_calls = ThreadPoolExecutor(4, thread_name_prefix="statecharts store")
        self._batcher = Batcher(self._committer, self._commits, store.lanes)
        self._listeners: list[Listener] = []
        self._workings: list[Working] = []
        self._changed: asyncio.Event = asyncio.Event()
        self._is_open = False

    async def __aenter__(self: R) -> R:
        await self._in_store(self.store.open)
        self._is_open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop working, wait for commits that are under way, let go of the store."""
        if not self._is_open:
            return
        self._is_open = False
        for working in self._workings:
            working.stop()
        await self._batcher.drain()
        await self._in_store(self.store.close)
        self._commits.shutdown(wait=False)
        self._store_calls.shutdown(wait=False)

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
        told = Told(f"start:{name}" if event_id is None else checked_name(event_id, "an event's id"), text, actor)
        given = UNDEFINED if input is UNDEFINED else freeze(input)
        return await self._receipt(self._decider.start(self.namespace, machine, name, told, given))

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
        name = checked_name(instance, "an instance's name")
        made = to_event(event)
        if made["type"] == INIT or made["type"].startswith("xstate."):
            raise PayloadError(f"events named {made['type']!r} are the machine's own; nobody else can send them")
        text = checked_text(made, "the event", self.limits.event, self.limits.depth)
        id_ = self._entropy.event_id() if event_id is None else checked_name(event_id, "an event's id")
        return await self._receipt(self._decider.send(self.namespace, name, Told(id_, text, actor, to)))

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

    async def _receipt(self, job: Job) -> Receipt:
        answer = await self._submit(job)
        receipt: Receipt = answer.answer
        return receipt

    async def _submit(self, job: Job) -> Commit:
        if not self._is_open:
            raise UsageError("the runtime is not open; use it in `async with`")
        commit = await self._batcher.submit(job)
        self._after(commit)
        return commit

    def _after(self, commit: Commit) -> None:
        """What may be said now that it is committed."""
        if commit.after is None:
            return
        for working in self._workings:
            working.wake()
        self._changed.set()
        self._changed = asyncio.Event()
        for shown in commit.shown:
            for actor, event in shown.get("emitted", ()):
                for listener in self._listeners:
                    try:
                        listener(commit.after.id, actor, event)
                    except Exception:
                        log.exception("a listener failed")
            for actor, line in shown.get("logged", ()):
                log.info("%s %s: %s", commit.after.id, actor, line)

    def on_emit(self, listener: Listener) -> Callable[[], None]:
        """Be told of events that instances emit, once they are committed by this process. Call the result to end it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # ------------------------------------------------------------------ reading

    async def _in_store(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._store_calls, function, *arguments)

    async def get(self, instance: str) -> Instance:
        """The row of an instance. Raises :class:`UnknownInstance`."""
        found = await self._in_store(self.store.instance, self.namespace, instance)
        if found is None:
            raise UnknownInstance(f"there is no instance {instance!r} in namespace {self.namespace!r}")
        return found

    async def instances(self, **query: Any) -> list[Instance]:
        """Instances by the members of :class:`InstanceQuery`, in the order of their names."""
        return await self._in_store(self.store.instances, InstanceQuery(namespace=self.namespace, **query))

    async def log(self, instance: str, *, after: int = 0, limit: int = 1_000) -> list[LogRow]:
        """What has happened to an instance, version by version."""
        return await self._in_store(lambda: self.store.log(self.namespace, instance, after=after, limit=limit))

    async def effects(self, **query: Any) -> list[EffectRow]:
        """Effects by the members of :class:`EffectQuery`, oldest first."""
        return await self._in_store(self.store.effects, EffectQuery(namespace=self.namespace, **query))

    async def timers(self, instance: str) -> list[TimerRow]:
        """Timers that run, first first."""
        return await self._in_store(self.store.timers, self.namespace, instance)

    async def inbox(self, instance: str, **query: Any) -> list[InboxRow]:
        """What has come for an instance, in its order (``event_id``, ``statuses``, ``limit``)."""
        return await self._in_store(lambda: self.store.inbox(self.namespace, instance, **query))

    async def verify(self, instance: str, *, replay: bool = False, head: str | None = None) -> Report:
        """Whether the log of an instance fits together, and with ``replay`` whether its machine leads there again.

        ``head``: a hash that was kept elsewhere, which must be in the log.
        """
        row = await self.get(instance)
        verifier = Verifier(row, self.registry.by_hash.get(row.definition) if replay else None, self.limits, head)
        return await self._in_store(self._verified, verifier, row)

    def _verified(self, verifier: Verifier, row: Instance) -> Report:
        done = 0
        while done < row.version:
            rows = self.store.log(self.namespace, row.id, after=done, limit=500)
            rows = [one for one in rows if one.version <= row.version]  # what comes meanwhile is not asked about
            if not rows:
                break
            verifier.read(rows)
            done = rows[-1].version
        return verifier.report()

    async def state_at(self, instance: str, version: int) -> str:
        """The state (an envelope, as text) that an instance had at ``version``."""
        row = await self.get(instance)
        if not 1 <= version <= row.version:
            raise UsageError(f"instance {instance!r} has versions 1 to {row.version}, not {version}")
        return state_at(await self.log(instance, limit=version))

    async def wait(self, instance: str, until: Callable[[Instance], bool], *, timeout: float, poll: float = 0.2) -> Instance:
        """The row of ``instance`` as soon as ``until`` says yes to it. Raises ``TimeoutError`` after ``timeout`` seconds."""
        async with asyncio.timeout(timeout):
            while True:
                changed = self._changed
                found = await self.get(instance)
                if until(found):
                    return found
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), poll)

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
        worker = Worker(self.store, self.registry, self.namespace, owner, self.limits, self._entropy)
        reconciler = Reconciler(worker, self._lease, self._clock)
        pump = Pump(self._committer, self.namespace)
        working = Working(
            worker, self._batcher, pump, reconciler, self._store_calls, lease=self._lease, concurrency=concurrency, poll=poll, threads=threads
        )
        self._workings.append(working)
        try:
            with _signals(working.stop) if handle_signals else contextlib.nullcontext():
                await working.run(grace, until_idle)
        finally:
            self._workings.remove(working)

    # ----------------------------------------------------------------- operators

    async def cancel(self, instance: str, *, actor: str, reason: str) -> Receipt:
        """End an instance, as XState's ``stop()`` does."""
        return await self._order("cancel", instance, actor, reason, self._operator.cancel)

    async def suspend(self, instance: str, *, actor: str, reason: str) -> Receipt:
        """Let an instance rest."""
        return await self._order("suspend", instance, actor, reason, self._operator.suspend)

    async def resume(self, instance: str, *, actor: str, reason: str) -> Receipt:
        """Go on with a suspended instance."""
        return await self._order("resume", instance, actor, reason, self._operator.resume)

    async def retry(self, effect: str, *, actor: str, reason: str) -> Receipt:
        """Call again for an UNKNOWN effect, or an action that failed."""
        row = await self._effect(effect)
        return await self._order("retry", row.instance, actor, reason, lambda _n, _i, order: self._operator.retry(row, order))

    async def settle(self, effect: str, *, result: Any = None, error: str | None = None, actor: str, reason: str) -> Receipt:
        """Say what became of an UNKNOWN effect: its ``result``, or the ``error`` if it was not done."""
        row = await self._effect(effect)

        def made(_namespace: str, _instance: str, order: Order) -> Job:
            if error is not None:
                return self._operator.settle_failed(row, error, order)
            return self._operator.settle_done(row, result, order)

        return await self._order("settle", row.instance, actor, reason, made)

    async def revive(self, instance: str, event_id: str, *, actor: str, reason: str) -> Receipt:
        """Try a dead letter again."""
        return await self._order("revive", instance, actor, reason, lambda n, i, order: self._operator.revive(n, i, event_id, order))

    async def drop(self, instance: str, event_id: str, *, actor: str, reason: str) -> Receipt:
        """Give a dead letter up."""
        return await self._order("drop", instance, actor, reason, lambda n, i, order: self._operator.drop(n, i, event_id, order))

    async def fork(
        self,
        instance: str,
        version: int,
        name: str,
        *,
        change: Callable[[Any], Any] | None = None,
        actor: str,
        reason: str,
    ) -> Receipt:
        """Start ``name`` from what ``instance`` was at ``version``. ``change`` may alter the context (plain JSON in, plain JSON out).

        Nothing is sent again: open promises become UNKNOWN effects of the new instance.
        """
        source = await self.get(instance)
        state = await self.state_at(instance, version)
        checked_name(name, "an instance's name")
        fork = Fork(self._decider, source, version, state, change)
        return await self._order("fork", instance, actor, reason, lambda _n, _i, order: fork.job(name, order))

    async def _effect(self, effect: str) -> EffectRow:
        found = await self.effects(id=effect)
        if not found:
            raise UsageError(f"there is no effect {effect!r} in namespace {self.namespace!r}")
        return found[0]

    async def _order(
        self, action: str, instance: str, actor: str, reason: str, made: Callable[[str, str, Order], Job]
    ) -> Receipt:
        order = Order(self._entropy.event_id(), actor, reason)
        if self._authorize is not None and not self._authorize(actor, action, instance):
            raise UsageError(f"{actor!r} may not {action} instance {instance!r}")
        return await self._receipt(made(self.namespace, instance, order))


R = TypeVar("R", bound=DurableRuntime)


def _check_timeouts(one: Hosted, lease: int) -> None:
    for name, policy in one.machine.implementations.policies.items():
        if policy.timeout >= lease:
            raise UsageError(
                f"effect {name!r} of machine {one.machine.id!r} has a timeout of {policy.timeout} ms, which is not shorter than the "
                f"lease of {lease} ms; make the lease longer or the timeout shorter"
            )


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


