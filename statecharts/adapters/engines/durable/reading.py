"""Questions to the store, which change nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ....durability.rows import DefinitionRow, EffectRow, InboxRow, Instance, LogRow, TimerRow
from ....durability.store import EffectQuery, InstanceQuery
from ....durability.verification import Report, Verifier, state_at
from ....errors import UnknownInstance, UsageError
from .opened import Opened


class Reading(Opened):
    """What can be found out."""

    async def get(self, instance: str) -> Instance:
        """The row of an instance. Raises :class:`UnknownInstance`."""
        found = await self._in_store(self.store.instance, self.namespace, instance)
        if found is None:
            raise UnknownInstance(f"there is no instance {instance!r} in namespace {self.namespace!r}")
        return found

    async def instances(self, **query: Any) -> list[Instance]:
        """Instances by the members of :class:`InstanceQuery`, in the order of their names."""
        return await self._in_store(self.store.instances, InstanceQuery(namespace=self.namespace, **query))

    async def now(self) -> int:
        """The store's clock, in ms."""
        return await self._in_store(self.store.now)

    async def definitions(self) -> list[DefinitionRow]:
        """The machines' documents that instances have been started with."""
        return await self._in_store(self.store.definitions)

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
        verifier = Verifier(row, self.registry.by_hash if replay else None, self.limits, head)
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
                try:
                    async with asyncio.timeout(poll):
                        await changed.wait()
                except TimeoutError:
                    continue
