"""What operators do: each an entry in the log, with who and why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from ....durability.commits import Job
from ....durability.controls import Order
from ....durability.forks import Fork
from ....durability.migrations import Migration, Move
from ....durability.moves import MovePlan
from ....durability.names import checked_name
from ....durability.receipts import Receipt
from ....durability.rows import EffectRow
from ....errors import UsageError
from .reading import Reading


class Operating(Reading):
    """What can be done to instances beside sending them events. Each asks ``authorize`` first."""

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

    async def migrate(
        self,
        machine: str,
        plan: MovePlan | None = None,
        *,
        source: str,
        instances: Iterable[str] | None = None,
        dry_run: bool = False,
        actor: str,
        reason: str,
    ) -> list[Move]:
        """Move instances of the definition whose hash begins with ``source`` to the one of ``machine`` in this process.

        All of them, or those that are named. Each is moved for itself or left as it
        is, with its problems in the answer; ``dry_run`` moves none.
        """
        found = [row for row in await self._in_store(self.store.definitions) if row.machine == machine and row.hash.startswith(source)]
        if len(found) != 1:
            raise UsageError(f"{len(found)} stored definitions of machine {machine!r} begin with {source!r}; name one by its hash")
        migration = Migration(self._decider, found[0], self.registry.newest(machine), MovePlan() if plan is None else plan)
        moves = []
        async for name in self._of_definition(found[0].hash) if instances is None else _each(instances):
            order = Order(self._entropy.event_id(), actor, reason)
            self._may("migrate", name, actor)
            moves.append((await self._submit(migration.job(self.namespace, name, order, dry_run=dry_run))).answer)
        return moves

    async def _of_definition(self, definition: str) -> AsyncIterator[str]:
        after = ""
        while rows := await self.instances(definition=definition, after=after, limit=200):
            for row in rows:
                yield row.id
            after = rows[-1].id

    async def erase(self, instance: str, *, actor: str, reason: str) -> Receipt:
        """Delete what an instance that is over was told and has kept. Who did what when, and the chain of hashes, stay."""
        return await self._order("erase", instance, actor, reason, self._operator.erase)

    async def purge(self, *, older_than: int, keep_ids: int, limit: int = 1_000) -> int:
        """Delete up to ``limit`` instances that have been over for ``older_than`` ms; how many.

        Their event ids and receipts are kept for ``keep_ids`` ms more: an event
        that is sent again after that is a new one, so it must be longer than
        any sender tries.
        """
        now = await self._in_store(self.store.now)
        return await self._in_store(self.store.purge, self.namespace, now - older_than, now + keep_ids, limit)

    async def mark_restored(self) -> int:
        """Say that the store's data come from a backup: nothing that was open then is called again by itself.

        To be done before any worker starts. How many effects are UNKNOWN now that were not.
        """
        self._decider.cache.clear()
        return await self._in_store(self.store.mark_restored)

    async def _effect(self, effect: str) -> EffectRow:
        found = await self.effects(id=effect)
        if not found:
            raise UsageError(f"there is no effect {effect!r} in namespace {self.namespace!r}")
        return found[0]

    async def _order(
        self, action: str, instance: str, actor: str, reason: str, made: Callable[[str, str, Order], Job]
    ) -> Receipt:
        order = Order(self._entropy.event_id(), actor, reason)
        self._may(action, instance, actor)
        return await self._receipt(made(self.namespace, instance, order))

    def _may(self, action: str, instance: str, actor: str) -> None:
        if self._authorize is not None and not self._authorize(actor, action, instance):
            raise UsageError(f"{actor!r} may not {action} instance {instance!r}")


async def _each(names: Iterable[str]) -> AsyncIterator[str]:
    for name in names:
        yield name
