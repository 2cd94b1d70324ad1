"""Machines, and a desk at which their instances are started, told things and looked at: a host without its machinery."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

from statecharts import Implementations, Machine, load_machine, send_to
from statecharts.durability.applying import Told
from statecharts.durability.cache import StateCache
from statecharts.durability.commits import Commit, Job
from statecharts.durability.controls import Operator, Order
from statecharts.durability.decisions import Decider
from statecharts.durability.definitions import Registry, hosted
from statecharts.durability.payloads import Limits
from statecharts.durability.receipts import Receipt
from statecharts.durability.store import Claim, EffectQuery
from statecharts.values import UNDEFINED

CLERK: dict[str, Any] = {
    "id": "clerk",
    "initial": "idle",
    "context": {"n": 0},
    "states": {
        "idle": {
            "on": {
                "ADD": {"actions": "add"},
                "GO": "sending",
                "KEYED": "calling",
                "WAIT": "waiting",
                "TELL": {"actions": "tell"},
                "NOTE": {"actions": "note"},
                "BAD": {"guard": "bad", "actions": "add"},
                "LATER": {"actions": {"type": "xstate.raise", "params": {"event": {"type": "ADD"}, "delay": 500}}},
                "SPOIL": {"actions": {"type": "xstate.raise", "params": {"event": {"type": "BAD"}, "delay": 10}}},
                "NEST": "outer",
                "HEAR": "listening",
                "END": "done",
            }
        },
        "sending": {
            "invoke": {"id": "send", "src": "send", "onDone": {"target": "idle", "actions": "add"}, "onError": "failed"},
            "on": {"LEAVE": "idle", "ADD": {"actions": "add"}},
        },
        "calling": {
            "invoke": {"id": "call", "src": "keyed", "onDone": "idle", "onError": "failed"},
            "on": {"LEAVE": "idle"},
        },
        "waiting": {"after": {"1000": {"target": "idle", "actions": "add"}}, "on": {"LEAVE": "idle", "ADD": {"actions": "add"}}},
        "outer": {"initial": "inner", "states": {"inner": {"initial": "leaf", "states": {"leaf": {}}}}, "on": {"LEAVE": "idle"}},
        "listening": {"invoke": {"id": "line", "src": "line"}, "on": {"SAY": {"actions": "say"}, "LEAVE": "idle"}},
        "failed": {"on": {"LEAVE": "idle"}},
        "done": {"type": "final"},
    },
}
"""A clerk that counts, calls, waits, listens, tells (in order) and notes (in no order)."""


def clerk(name: str = "clerk", description: str = "") -> Machine[Any, Any]:
    """The machine above; another ``description`` makes another definition."""
    impl = Implementations()

    async def call(input: Any) -> None:
        raise AssertionError("a store calls nobody")

    impl.actor("send")(call)
    impl.actor("keyed")(call)
    impl.action("tell")(lambda: None)

    @impl.actor("line")
    def line(send_back: Any, receive: Any, input: Any) -> None:
        raise AssertionError("a store calls nobody")

    impl.actions["say"] = send_to("line", lambda context, event: {"type": "SAID"})
    impl.action("note")(lambda: None)

    @impl.update("add")
    def add(context: Any) -> dict[str, Any]:
        return {"n": context["n"] + 1}

    @impl.guard("bad")
    def bad(event: Any) -> bool:
        raise ValueError(event.get("why", "poison"))

    impl.effect("note", ordered=False)
    impl.effect("keyed", key=lambda input: "the-key")
    return load_machine({**CLERK, "id": name, "description": description}, impl)


SHUTTLE: dict[str, Any] = {
    "id": "shuttle",
    "initial": "here",
    "context": {"n": 0},
    "states": {
        "here": {"after": {"1000": "there"}, "on": {"GO": {"target": "there", "actions": "add"}}},
        "there": {"after": {"2000": "here"}, "invoke": {"src": "send"}},
    },
}


def shuttle() -> Machine[Any, Any]:
    """A machine whose event leaves a state with a timer and enters one with a timer and a call."""

    async def call(input: Any) -> None:
        raise AssertionError("a store calls nobody")

    impl = Implementations({"updates": {"add": lambda context: {"n": context["n"] + 1}}})
    impl.actor("send")(call)
    return load_machine(SHUTTLE, impl)


class Counted:
    """Ids and salts that are numbers, so that two histories are the same byte for byte."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._salts = itertools.count(1)

    def incarnation(self) -> str:
        return f"i{next(self._ids)}"

    def salt(self) -> str:
        return f"s{next(self._salts)}"


ENTROPY = Counted()


class Desk:
    """A store with somebody who decides. Without ``machines`` it accepts events for others to apply."""

    def __init__(
        self, store: Any, machines: tuple[Machine[Any, Any], ...] | None = None, *, namespace: str = "main", entropy: Any = ENTROPY, **limits: Any
    ) -> None:
        self.store = store
        self.namespace = namespace
        self.hosted = [hosted(machine) for machine in ((clerk(),) if machines is None else machines)]
        self.definitions = tuple(one.hash for one in self.hosted)
        self.decider = Decider(Registry(self.hosted), Limits(**limits), entropy, StateCache())
        self.operator = Operator(self.decider)
        self._numbers = itertools.count(1)
        self._prefix = "e" if self.hosted else "g"

    def run(self, *jobs: Job) -> list[Any]:
        """The answers to ``jobs`` of one call."""
        answers = self.store.commit(jobs)
        for answer in answers:
            if isinstance(answer, Commit):
                self.decider.remember(answer)
        return [answer.answer if isinstance(answer, Commit) else answer for answer in answers]

    def ask(self, job: Job) -> Any:
        """The answer to one job; raises what it was answered with."""
        answer = self.run(job)[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def starting(self, id: str, machine: str = "clerk", event_id: str | None = None) -> Job:
        return self.decider.start(self.namespace, machine, id, Told(event_id or f"start-{id}", "null"), UNDEFINED)

    def start(self, id: str, machine: str = "clerk", event_id: str | None = None) -> Receipt:
        receipt: Receipt = self.ask(self.starting(id, machine, event_id))
        return receipt

    def sending(self, id: str, kind: str, event_id: str | None = None, target: str | None = None, **data: Any) -> Job:
        told = Told(event_id or f"{self._prefix}{next(self._numbers)}", json.dumps({"type": kind, **data}), "someone", target)
        return self.decider.send(self.namespace, id, told)

    def send(self, id: str, kind: str, event_id: str | None = None, **data: Any) -> Receipt:
        receipt: Receipt = self.ask(self.sending(id, kind, event_id, **data))
        return receipt

    def advance(self, id: str) -> int:
        done: int = self.ask(self.decider.advance(self.namespace, id))
        return done

    def order(self, why: str = "a test") -> Order:
        return Order(f"order-{next(self._numbers)}", "op", why)

    def claim(self, limit: int = 10, owner: str = "w") -> list[Any]:
        claim = Claim(namespace=self.namespace, owner=owner, definitions=self.definitions, limit=limit)
        found: list[Any] = self.store.claim(claim)
        return found

    def effects(self, **query: Any) -> list[Any]:
        found: list[Any] = self.store.effects(EffectQuery(namespace=self.namespace, **query))
        return found

    def instance(self, id: str) -> Any:
        found = self.store.instance(self.namespace, id)
        assert found is not None
        return found

    def count(self, id: str) -> int:
        """The counter in an instance's context."""
        found: int = json.loads(self.instance(id).state)["snapshot"]["context"]["n"]
        return found

    def all_of(self, id: str) -> tuple[Any, ...]:
        """Every row there is of an instance."""
        place = (self.namespace, id)
        inbox, log = self.store.inbox(*place, limit=1_000), self.store.log(*place)
        return self.store.instance(*place), inbox, log, self.effects(instance=id, limit=1_000), self.store.timers(*place)


def without_revision(row: Any) -> Any:
    """An instance as it is, however often its row was written."""
    return replace(row, revision=0)
