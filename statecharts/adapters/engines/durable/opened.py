"""A store that is open, and jobs for it: what every part of the runtime stands on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from ....durability.commits import Commit, Job
from ....durability.controls import Operator
from ....durability.decisions import Decider
from ....durability.definitions import DEAD_LETTER, Hosted, Registry, hosted
from ....durability.names import checked_name
from ....durability.payloads import Limits
from ....durability.receipts import Receipt
from ....durability.store import Clock, Store
from ....errors import UsageError
from ....machine import Machine
from .batching import Batcher
from .committing import Committer
from .entropy import SystemEntropy
from .telemetry import Telemetry
from .working import Working

log = logging.getLogger("statecharts.durable")
T = TypeVar("T")
Listener = Callable[[str, str, Mapping[str, Any]], Any]
"""Is told of emitted events after their commit: instance, actor's id, event."""
Authorize = Callable[[str, str, str], bool]
"""May an actor do this to an instance? ``(actor, action, instance)``."""


class Opened:
    """The store, the machines, and the way to a commit."""

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
        migrating: bool = True,
    ) -> None:
        self.store = store
        self._migrating = migrating
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
        self._telemetry = Telemetry(self.namespace)
        self._batcher = Batcher(self._committer, self._commits, store.lanes, self._committed)
        self._listeners: list[Listener] = []
        self._workings: list[Working] = []
        self._changed: asyncio.Event = asyncio.Event()
        self._is_open = False

    async def __aenter__(self: R) -> R:
        await self._in_store(self.store.open if self._migrating else partial(self.store.open, migrating=False))
        self._is_open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop working, wait for commits that are under way, let go of the store."""
        if not self._is_open:
            return
        self._is_open = False
        for working in list(self._workings):
            working.stop()
            await working.ended.wait()
        await self._batcher.drain()
        await self._in_store(self.store.close)
        self._commits.shutdown(wait=False)
        self._store_calls.shutdown(wait=False)

    async def _receipt(self, job: Job) -> Receipt:
        answer = await self._submit(job)
        receipt: Receipt = answer.answer
        return receipt

    async def _submit(self, job: Job) -> Commit:
        if not self._is_open:
            raise UsageError("the runtime is not open; use it in `async with`")
        return await self._batcher.submit(job)

    def _committed(self, commit: Commit, took: float) -> None:
        """What may be said now that it is committed. ``took``: seconds."""
        if commit.after is None:
            return
        self._telemetry.committed(commit)
        self._telemetry.measure("commit", took * 1000)
        for working in self._workings:
            working.committed(commit)
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

    async def _in_store(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._store_calls, function, *arguments)


R = TypeVar("R", bound=Opened)


def _check_timeouts(one: Hosted, lease: int) -> None:
    for name, policy in one.machine.implementations.policies.items():
        if policy.timeout >= lease:
            raise UsageError(
                f"effect {name!r} of machine {one.machine.id!r} has a timeout of {policy.timeout} ms, which is not shorter than the "
                f"lease of {lease} ms; make the lease longer or the timeout shorter"
            )
