"""What a worker does with effects, but for the calls themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from ....durability.applying import Told
from ....durability.definitions import Registry
from ....durability.effects import CallRules, named, owner_of, read_rules
from ....durability.outcomes import (
    failed,
    gave_up,
    handed_back,
    rejected_output,
    succeeded,
    undeliverable,
    useless,
    withdrawn,
)
from ....durability.payloads import Limits
from ....durability.rows import ACTION, INVOKE, SETTLED, EffectRow
from ....durability.store import Claim, EffectQuery, Settlement, Store
from ....effect_policies import NO_POLICY, EffectPolicy
from ....errors import UnknownInstance
from ....interpreter.actors import as_logic
from ....json_text import dumps, loads
from ....schemas import SchemaError
from ....values import UNDEFINED, freeze
from .committing import Committer


class Dice(Protocol):
    """Where jitter comes from."""

    def jitter(self) -> float: ...


class Listener(Protocol):
    """Who is told what becomes of effects."""

    def claimed(self, rows: Sequence[EffectRow], now: int) -> None: ...
    def settled(self, row: EffectRow, status: str, is_ours: bool) -> None: ...


class Attempt:
    """One attempt at an effect: :meth:`begin`, then the call, then :meth:`succeed` or :meth:`fail`.

    When the store fails in one of them, the worker beats for it no longer, so that its lease finds it.

    ``row`` is as it was claimed. ``is_lost``: somebody else has it now.
    ``is_cancelled``: the state that wanted it was left.
    """

    __slots__ = ("_called", "_worker", "is_cancelled", "is_lost", "row", "rules")

    def __init__(self, worker: Worker, row: EffectRow) -> None:
        self._worker = worker
        self.row = row
        self.rules: CallRules = read_rules(row.policy)
        self.is_lost = False
        self.is_cancelled = row.is_cancelled
        self._called = False

    @property
    def name(self) -> str:
        """What is called, as people write it."""
        return named(self.row.name)

    def begin(self) -> bool:
        """Commit that the call is about to be made. False: do not make it, the effect is somebody else's by now."""
        row = self.row
        try:
            self._called = self._worker.store.call(row.namespace, row.id, row.fence, self._worker.owner)
        finally:
            if not self._called:
                self.is_lost = True
                self._worker.forget(self)
        return self._called

    def replayed(self) -> bool:
        """Whether another effect with this key has been done: then its result is this one's too, and nothing is called."""
        row = self.row
        if row.key == row.id:
            return False
        query = EffectQuery(namespace=row.namespace, key=row.key, statuses=(SETTLED,), limit=1)
        try:
            done = self._worker.store.effects(query)
        except BaseException:
            self._worker.forget(self)
            raise
        if not done:
            return False
        if done[0].result is None:
            self._settle(useless(row, done[0].error or "its result was not kept", self._worker.store.now()))
        else:
            self.succeed(loads(done[0].result))
        return True

    def succeed(self, value: Any, external_id: str | None = None) -> bool:
        """The call returned. False: the result came too late, and counts for nothing."""
        now = self._worker.store.now()
        try:
            self._worker.check_output(self.row, value)
        except SchemaError as error:
            return self._settle(rejected_output(self.row, error, value, now, self._worker.limits), external_id)
        return self._settle(succeeded(self.row, value, now, self._worker.limits), external_id)

    def fail(self, error: BaseException, external_id: str | None = None) -> bool:
        """The call raised, was cancelled, or could not be made."""
        now = self._worker.store.now()
        jitter = self._worker.dice.jitter()
        return self._settle(failed(self.row, self.rules, error, now, jitter, called=self._called), external_id)

    def give_up(self, error: BaseException) -> bool:
        """The call can never be made: what it needs is not there."""
        return self._settle(gave_up(self.row, error, self._worker.store.now()))

    def _settle(self, settlement: Settlement, external_id: str | None = None) -> bool:
        try:
            settled = self._worker.store.settle(replace(settlement, external_id=external_id))
        finally:
            self._worker.forget(self)
        if self._worker.listener is not None:
            self._worker.listener.settled(self.row, settlement.status, settled)
        return settled

    def relay(self) -> bool:
        """Give the event of a row of kind ``send`` to its instance; it is known again there by this row's key."""
        row, worker = self.row, self._worker
        given = loads(row.given or "{}")
        told = Told(f"send:{row.key}", dumps(given["event"]), f"instance:{row.instance}", trace=row.trace)
        try:
            worker.committer.one(worker.committer.decider.relay(row.namespace, given["instance"], told))
        except UnknownInstance as error:
            return self._settle(undeliverable(row, str(error), worker.store.now()))
        except BaseException:  # its lease runs out, and another tries it again
            worker.forget(self)
            raise
        return self._settle(succeeded(row, None, worker.store.now(), worker.limits))

    def hand_back(self) -> bool:
        """Let another worker have it, at once: nothing was called that could not be called again."""
        return self._settle(handed_back(self.row, self._worker.store.now()))

    def withdraw(self) -> bool:
        """It has ended because nobody wants it any more."""
        return self._settle(withdrawn(self.row))

    def close(self) -> bool:
        """It has ended by itself, and has said so."""
        return self._settle(succeeded(self.row, None, self._worker.store.now(), self._worker.limits))


class Worker:
    """Claims effects and knows which are running here. ``owner`` is its name in the store, never used again."""

    def __init__(self, committer: Committer, namespace: str, owner: str, dice: Dice) -> None:
        self.committer = committer
        self.store: Store = committer.store
        self.registry: Registry = committer.decider.registry
        self.namespace = namespace
        self.owner = owner
        self.limits: Limits = committer.decider.limits
        self.dice = dice
        self.running: dict[str, Attempt] = {}
        self.listener: Listener | None = None

    def claim(self, limit: int) -> list[Attempt]:
        """Up to ``limit`` effects to make calls for."""
        definitions = tuple(self.registry.by_hash)
        rows = self.store.claim(
            Claim(namespace=self.namespace, owner=self.owner, definitions=definitions, limit=limit)
        )
        made = [Attempt(self, row) for row in rows]
        if rows and self.listener is not None:
            self.listener.claimed(rows, self.store.now())
        for attempt in made:
            self.running[attempt.row.id] = attempt
        return made

    def forget(self, attempt: Attempt) -> None:
        """An attempt is over."""
        if self.running.get(attempt.row.id) is attempt:
            del self.running[attempt.row.id]

    def beat(self) -> list[Attempt]:
        """A sign of life for everything that runs here. The attempts that are to be told: cancelled now, or lost."""
        attempts = list(self.running.values())
        if not attempts:
            return []
        alive = self.store.beat(self.namespace, self.owner, [attempt.row.id for attempt in attempts])
        told: list[Attempt] = []
        for attempt in attempts:
            cancelled = alive.get(attempt.row.id)
            if cancelled is None:
                attempt.is_lost = True
                told.append(attempt)
            elif cancelled and not attempt.is_cancelled:
                attempt.is_cancelled = True
                told.append(attempt)
        return told

    # ------------------------------------------------------------ what is called

    def function(self, row: EffectRow) -> tuple[Any, tuple[Any, ...]]:
        """What a row calls, and with what. Raises :class:`LookupError` when it is not here."""
        owner, name = owner_of(self.registry.by_hash[row.definition].machine, row.name)
        given = freeze(loads(row.given or "{}"))
        if row.kind != ACTION:
            logic = as_logic(owner.implementations.actors[name], name)
            return logic, (given.get("input", UNDEFINED), None, None, _no_emit)
        action = owner.implementations.actions[name]
        return action, (given.get("context", UNDEFINED), given["event"], given.get("params", UNDEFINED), None, None)

    def policy(self, row: EffectRow) -> EffectPolicy:
        """The policy of today, for what cannot be in a row: the probe."""
        hosted = self.registry.by_hash.get(row.definition)
        if hosted is None:
            return NO_POLICY
        owner, name = owner_of(hosted.machine, row.name)
        return owner.implementations.policies.get(name) or hosted.policy(name)

    def check_output(self, row: EffectRow, value: Any) -> None:
        """Raise :class:`SchemaError` for a result that the document's schema does not allow."""
        if row.kind != INVOKE:
            return
        owner, name = owner_of(self.registry.by_hash[row.definition].machine, row.name)
        owner.schemas.check_actor_output(name, value)


def _no_emit(*_event: Any, **_data: Any) -> None:
    """What a promise says while it runs is heard by nobody here: only its result is kept."""
