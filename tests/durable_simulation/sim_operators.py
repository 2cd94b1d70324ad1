"""Operators: they suspend and resume, look after what nobody knows, and after dead letters."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sim_receivers import Outside
from sim_tracking import Tracker

from statecharts.durability.commits import Job
from statecharts.durability.controls import Operator, Order
from statecharts.durability.rows import ACTION, ACTIVE, DEAD, FAILED, UNKNOWN, EffectRow, Instance
from statecharts.durability.store import Store


@dataclass(frozen=True, slots=True)
class Deed:
    """What a person decides to do."""

    what: str
    instance: str
    order: Order
    job: Job
    event_id: str = ""


class Operators:
    """Chooses, by the seed, something that may be done now."""

    def __init__(self, database: Store, namespace: str, random: Random, outside: Outside, tracker: Tracker) -> None:
        self._database = database
        self._namespace = namespace
        self._random = random
        self._outside = outside
        self._tracker = tracker
        self._count = 0

    def _order(self) -> Order:
        self._count += 1
        return Order(f"order{self._count}", "operator", "a reason")

    def next(self, operator: Operator) -> Deed | None:
        """Something to do, or nothing."""
        random, order, space = self._random, self._order(), self._namespace
        doubtful = [row for row in self._tracker.rows() if row.status == UNKNOWN or (row.status == FAILED and row.kind == ACTION)]
        if doubtful and random.random() < 0.7:
            failed = [row for row in doubtful if row.status == FAILED]
            return self.decide(operator, random.choice(failed if failed and random.random() < 0.6 else doubtful), order)
        one = random.choice(self._tracker.instances())
        letter = self.letter(operator, one) if random.random() < 0.6 else None
        if letter is not None:
            return letter
        if one.is_suspended:
            return Deed("resume", one.id, order, operator.resume(space, one.id, order))
        if one.status == ACTIVE and random.random() < 0.1:
            return Deed("cancel", one.id, order, operator.cancel(space, one.id, order))
        if one.status == ACTIVE and random.random() < 0.35:
            return Deed("suspend", one.id, order, operator.suspend(space, one.id, order))
        return None

    def letter(self, operator: Operator, one: Instance) -> Deed | None:
        """A dead letter is tried again, or given up."""
        letters = self._database.inbox(self._namespace, one.id, statuses=(DEAD,))
        if not letters:
            return None
        order, letter = self._order(), self._random.choice(letters)
        if self._random.random() < 0.5:
            return Deed("revive", one.id, order, operator.revive(self._namespace, one.id, letter.event_id, order), letter.event_id)
        return Deed("drop", one.id, order, operator.drop(self._namespace, one.id, letter.event_id, order))

    def decide(self, operator: Operator, row: EffectRow, order: Order | None = None) -> Deed:
        """An effect of which nobody knows: a person asks the receiver. What is still on its way may be done again by that."""
        order = self._order() if order is None else order
        if row.status == FAILED:
            self._allow(row)
            return Deed("retry", row.instance, order, operator.retry(row, order))
        if row.key in self._outside.done and self._random.random() < 0.7:
            done = self._outside.done[row.key]
            return Deed("settle", row.instance, order, operator.settle_done(row, done, order))
        self._allow(row)
        if row.is_cancelled or self._random.random() < 0.5:
            return Deed("give up", row.instance, order, operator.settle_failed(row, "not done", order))
        return Deed("retry", row.instance, order, operator.retry(row, order))

    def _allow(self, row: EffectRow) -> None:
        """A person takes it upon himself that it may be done once more."""
        self._outside.allowed[row.key] += 1
        self._tracker.excuses[f"retried:{row.id}"] += 1

    def resumed(self, operator: Operator, instance: str) -> Deed:
        """Let a suspended instance go on."""
        order = self._order()
        return Deed("resume", instance, order, operator.resume(self._namespace, instance, order))
