"""The parts of a runtime without a host: one call after the other, under a clock that is set by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from statecharts import Machine
from statecharts.adapters.engines.durable.committing import Committer
from statecharts.adapters.engines.durable.entropy import SystemEntropy
from statecharts.adapters.engines.durable.worker import Attempt, Worker
from statecharts.adapters.stores.memory import MemoryStore
from statecharts.adapters.stores.sqlite import SqliteStore
from statecharts.durability.applying import Told
from statecharts.durability.controls import Operator, Order
from statecharts.durability.decisions import Decider
from statecharts.durability.definitions import Registry, hosted
from statecharts.durability.payloads import Limits
from statecharts.durability.receipts import Receipt
from statecharts.durability.rows import EffectRow, Instance
from statecharts.durability.store import EffectQuery, Store
from statecharts.json_text import dumps
from statecharts.values import UNDEFINED


class SetClock:
    """Shows what it is set to."""

    def __init__(self) -> None:
        self.ms = 1_000_000

    def now(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


class Failing:
    """A store in which a call fails when it is told to: before or after it has taken effect."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.before: dict[str, Exception] = {}
        self.after: dict[str, Exception] = {}

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._store, name)
        if not callable(function):
            return function

        def call(*arguments: Any, **named: Any) -> Any:
            if name in self.before:
                raise self.before.pop(name)
            result = function(*arguments, **named)
            if name in self.after:
                raise self.after.pop(name)
            return result

        return call


class Parts:
    """One process over a store."""

    def __init__(self, kind: str, directory: Path, machine: Machine[Any, Any], **limits: int) -> None:
        self.clock = SetClock()
        made: Store = MemoryStore(clock=self.clock) if kind == "memory" else SqliteStore(directory / "parts.db", clock=self.clock)
        made.open()
        self.close: Callable[[], None] = made.close
        self.store: Any = Failing(made)
        self.limits = Limits(**limits)
        self.machine = machine
        registry = Registry([hosted(machine)])
        self.entropy = SystemEntropy()
        self.decider = Decider(registry, self.limits, self.entropy)
        self.committer = Committer(self.store, self.decider)
        self.worker = Worker(self.committer, "n", "w", self.entropy)
        self.operator = Operator(self.decider)
        self.sent: Counter[str] = Counter()

    def start(self, name: str = "m") -> Receipt:
        job = self.decider.start("n", self.machine.id, name, Told(f"start:{name}", "null"), UNDEFINED)
        receipt: Receipt = self.committer.one(job).answer
        return receipt

    def send(self, kind: str, name: str = "m", id: str | None = None) -> Receipt:
        self.sent[name] += 1
        job = self.decider.send("n", name, Told(id or f"e{self.sent[name]}", dumps({"type": kind})))
        receipt: Receipt = self.committer.one(job).answer
        return receipt

    def advance(self, name: str = "m") -> int:
        done: int = self.committer.one(self.decider.advance("n", name)).answer
        return done

    def order(self) -> Order:
        return Order(self.entropy.event_id(), "op:1", "a reason")

    def get(self, name: str = "m") -> Instance:
        found: Instance | None = self.store.instance("n", name)
        assert found is not None
        return found

    def effects(self) -> list[EffectRow]:
        found: list[EffectRow] = self.store.effects(EffectQuery(namespace="n"))
        return found

    def claim(self) -> Attempt:
        (attempt,) = self.worker.claim(1)
        return attempt
