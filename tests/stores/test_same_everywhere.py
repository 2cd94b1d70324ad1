"""The same history gives the same rows, byte for byte, in every store; and so does any history."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_backends import KINDS, Backend, SetClock
from store_desk import Counted, Desk
from test_work import settled, told

from statecharts.durability.rows import DEAD
from statecharts.durability.store import InstanceQuery
from statecharts.errors import StatechartError

_examples = itertools.count(1)


@pytest.fixture(scope="module")
def backends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Backend]]:
    """One store of each kind, with one clock."""
    clock = SetClock()
    made = [Backend(kind, tmp_path_factory.mktemp(kind), clock) for kind in KINDS]
    for backend in made:
        backend.store()
    yield made
    for backend in made:
        backend.close()


class Prefixed(Counted):
    """Numbers of an example: an incarnation is never used again."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def incarnation(self) -> str:
        return self._prefix + super().incarnation()


class Trio:
    """Three desks that do the same, each with a gate that only accepts; what they see has to be the same."""

    def __init__(self, backends: list[Backend]) -> None:
        self.clock = backends[0].clock
        name = f"example{next(_examples)}"
        stores = [backend._opened[0] for backend in backends]
        self.desks = [Desk(store, namespace=name, entropy=Prefixed(name)) for store in stores]
        self.gates = [Desk(store, (), namespace=name) for store in stores]
        self.others = [Desk(store, namespace=f"{name}/other", entropy=Prefixed(f"{name}/other")) for store in stores]

    def same(self, work: Callable[[int], Any]) -> Any:
        """What ``work`` gives for each desk; fails if it differs."""
        found = [_outcome(work, index) for index in range(len(self.desks))]
        assert found[1] == found[0], KINDS[1]
        assert found[2] == found[0], KINDS[2]
        return found[0]

    def check(self) -> None:
        """All that can be seen."""
        for desks in (self.desks, self.others):
            self.same(lambda index, desks=desks: _seen(desks[index]))


def _outcome(work: Callable[[int], Any], index: int) -> Any:
    try:
        return work(index)
    except StatechartError as error:
        return f"{type(error).__name__}: {error}"


def _seen(desk: Desk) -> Any:
    store, namespace = desk.store, desk.namespace
    instances = store.instances(InstanceQuery(namespace=namespace))
    return (
        instances,
        [desk.all_of(row.id) for row in instances],
        desk.effects(limit=1_000),
        store.running(namespace),
        store.due(namespace, desk.definitions, 10),
        store.next_due(namespace, desk.definitions),
        [store.instances(InstanceQuery(namespace=namespace, **query)) for query in QUERIES],
    )


QUERIES: list[dict[str, Any]] = [{"state": "waiting"}, {"with_effect": "PENDING"}, {"needs_attention": True}, {"status": "active"}]


def test_a_history_is_the_same_byte_for_byte(backends: list[Backend]) -> None:
    trio = Trio(backends)

    def history(index: int) -> list[Any]:
        desk, gate = trio.desks[index], trio.gates[index]
        trio.clock.ms = 5_000_000
        desk.start("a"), desk.start("b")
        for kind in ("ADD", "LATER", "TELL", "GO", "BAD", "NONSENSE"):
            desk.send("a", kind, text="ü\u2028\\")
        trio.clock.ms += 700
        (row, *_) = [one for one in desk.claim() if one.kind == "invoke"]
        desk.store.call(desk.namespace, row.id, row.fence, "w")
        desk.store.settle(settled(row, "DONE", result="null", outcome=told(row)))
        desk.advance("a")
        gate.send("a", "WAIT"), gate.send("a", "ADD")
        trio.clock.ms += 3_000
        desk.advance("a"), desk.advance("a")
        desk.ask(desk.operator.suspend(desk.namespace, "b", desk.order()))
        desk.ask(desk.operator.cancel(desk.namespace, "a", desk.order()))
        return [desk.all_of("a"), desk.all_of("b"), desk.store.definitions()]

    rows = trio.same(history)
    assert len(rows[0][2]) == 10
    trio.check()


NAMES = st.sampled_from(["a", "b", "B"])
KINDS_OF_EVENTS = st.sampled_from(["ADD", "GO", "KEYED", "WAIT", "TELL", "NOTE", "BAD", "LATER", "SPOIL", "NEST", "HEAR", "SAY", "LEAVE", "LEAVE", "END"])
OPERATIONS = st.one_of(
    st.tuples(st.just("start"), NAMES),
    st.tuples(st.just("send"), NAMES, KINDS_OF_EVENTS),
    st.tuples(st.just("send"), NAMES, KINDS_OF_EVENTS),
    st.tuples(st.just("send"), NAMES, KINDS_OF_EVENTS),
    st.tuples(st.just("again"), NAMES, KINDS_OF_EVENTS, st.integers(1, 6)),
    st.tuples(st.just("elsewhere"), NAMES, KINDS_OF_EVENTS),
    st.tuples(st.just("accept"), NAMES, KINDS_OF_EVENTS),
    st.tuples(st.just("advance"), NAMES),
    st.tuples(st.just("claim"), st.integers(0, 3), st.sampled_from(["v", "w"])),
    st.tuples(st.just("settle"), st.integers(0, 5), st.sampled_from(["DONE", "FAILED", "UNKNOWN", "PENDING"]), st.booleans()),
    st.tuples(st.just("call"), st.integers(0, 5)),
    st.tuples(st.just("beat"), st.sampled_from(["v", "w"])),
    st.tuples(st.just("pass"), st.sampled_from([1, 499, 500, 1_000, 5_000])),
    st.tuples(st.just("operate"), NAMES, st.sampled_from(["suspend", "resume", "cancel"])),
    st.tuples(st.just("letter"), NAMES, st.sampled_from(["revive", "drop"])),
    st.tuples(st.just("person"), st.integers(0, 5), st.sampled_from(["done", "failed", "retry"])),
)


def act(trio: Trio, index: int, operation: tuple[Any, ...]) -> Any:
    """One operation at one of the desks."""
    desk, gate, other = trio.desks[index], trio.gates[index], trio.others[index]
    match operation:
        case ("start", name):
            other.start(name)
            return desk.start(name)
        case ("send", name, kind):
            return desk.send(name, kind)
        case ("again", name, kind, number):
            return desk.send(name, kind, f"e{number}")
        case ("elsewhere", name, kind):
            return other.send(name, kind)
        case ("accept", name, kind):
            return gate.send(name, kind)
        case ("advance", name):
            return desk.advance(name)
        case ("claim", limit, owner):
            return sorted(row.id for row in desk.claim(limit, owner))
        case ("beat", owner):
            return desk.store.beat(desk.namespace, owner, [row.id for row in desk.effects()])
        case ("operate", name, what):
            return desk.ask(getattr(desk.operator, what)(desk.namespace, name, desk.order()))
        case ("letter", name, what):
            dead = desk.store.inbox(desk.namespace, name, statuses=(DEAD,))
            return [desk.ask(getattr(desk.operator, what)(desk.namespace, name, row.event_id, desk.order())) for row in dead[:1]]
    rows = desk.effects(statuses=("RUNNING", "UNKNOWN", "FAILED"))
    return on_effect(desk, operation, rows[operation[1] % len(rows)]) if rows else None


def on_effect(desk: Desk, operation: tuple[Any, ...], row: Any) -> Any:
    match operation:
        case ("settle", _, status, tells):
            outcome = told(row) if tells and row.kind == "invoke" and status == "DONE" else None
            settlement = settled(row, status, was=("RUNNING", "UNKNOWN"), outcome=outcome, error="e", next_at=desk.store.now() + 7)
            return desk.store.settle(settlement)
        case ("call", _):
            return desk.store.call(desk.namespace, row.id, row.fence, row.owner or "w")
        case ("person", _, "done"):
            return desk.ask(desk.operator.settle_done(row, 1, desk.order()))
        case ("person", _, "failed"):
            return desk.ask(desk.operator.settle_failed(row, "no", desk.order()))
        case _:
            return desk.ask(desk.operator.retry(row, desk.order()))


@settings(max_examples=40)
@given(operations=st.lists(OPERATIONS, min_size=5, max_size=40))
def test_any_history_is_the_same(backends: list[Backend], operations: list[tuple[Any, ...]]) -> None:
    trio = Trio(backends)
    for name in ("a", "b"):
        trio.same(lambda index, name=name: act(trio, index, ("start", name)))
    for operation in operations:
        if operation[0] == "pass":
            trio.clock.ms += operation[1]
        else:
            trio.same(lambda index, operation=operation: act(trio, index, operation))
        trio.check()
