"""Lists: each filter, and pages."""

from __future__ import annotations

from typing import Any

import pytest
from store_backends import Backend
from store_desk import Desk, clerk

from statecharts.durability.store import InstanceQuery


@pytest.fixture
def crowd(store: Any, backend: Backend) -> Desk:
    """Instances in all sorts of states."""
    desk = Desk(store, (clerk(), clerk("other")))
    desk.start("idle"), desk.start("Upper"), desk.start("über")
    desk.start("sending"), desk.send("sending", "GO")
    desk.start("claimed"), desk.send("claimed", "GO")
    desk.start("waiting"), desk.send("waiting", "WAIT")
    desk.start("deep"), desk.send("deep", "NEST")
    desk.start("done"), desk.send("done", "END")
    desk.start("o1", "other"), desk.start("asleep", "other")
    desk.ask(desk.operator.suspend("main", "asleep", desk.order()))
    backend.clock.ms += 100
    desk.start("young")
    return desk


def found(desk: Desk, **query: Any) -> list[str]:
    return [row.id for row in desk.store.instances(InstanceQuery(namespace="main", **query))]


ALL = ["Upper", "asleep", "claimed", "deep", "done", "idle", "o1", "sending", "waiting", "young", "über"]


def test_instances_come_by_id(crowd: Desk) -> None:
    assert found(crowd) == ALL
    assert crowd.store.instances(InstanceQuery(namespace="nobody")) == []
    assert crowd.store.instances(InstanceQuery(namespace="main", limit=1)) == [crowd.instance("Upper")]


def test_pages(crowd: Desk) -> None:
    pages, after = [], ""
    while page := found(crowd, after=after, limit=4):
        pages.append(page)
        after = page[-1]
    assert [len(page) for page in pages] == [4, 4, 3] and [id for page in pages for id in page] == ALL


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"machine": "other"}, ["asleep", "o1"]),
        ({"machine": "nothing"}, []),
        ({"status": "done"}, ["done"]),
        ({"state": "outer"}, ["deep"]),
        ({"state": "outer.inner"}, ["deep"]),
        ({"state": "outer.inner.leaf"}, ["deep"]),
        ({"state": "out"}, []),
        ({"state": "sending"}, ["claimed", "sending"]),
        ({"state": "%"}, []),
        ({"with_effect": "PENDING"}, ["claimed", "sending"]),
        ({"with_effect": "RUNNING"}, []),
        ({"is_suspended": True}, ["asleep"]),
        ({"is_suspended": False, "machine": "other"}, ["o1"]),
        ({"needs_attention": True}, []),
        ({"machine": "other", "status": "active", "is_suspended": True}, ["asleep"]),
    ],
)
def test_filters(crowd: Desk, query: dict[str, Any], ids: list[str]) -> None:
    assert found(crowd, **query) == ids


def test_filters_by_time_and_version(crowd: Desk, backend: Backend) -> None:
    now = backend.clock.ms
    assert found(crowd, before=now) == [id for id in ALL if id != "young"] and found(crowd, before=now + 1) == ALL
    assert found(crowd, with_timer=now + 900) == ["waiting"] and found(crowd, with_timer=now + 899) == []
    assert found(crowd, definition=crowd.definitions[1]) == ["asleep", "o1"]


def test_inbox_filters(desk: Desk, store: Any) -> None:
    desk.start("a", event_id="begin"), desk.send("a", "LEAVE", "no"), desk.send("a", "BAD", "bad"), desk.send("a", "ADD", "yes")

    def ids(**query: Any) -> list[str]:
        return [row.event_id for row in store.inbox("main", "a", **query)]

    assert ids() == ["begin", "no", "bad", "yes"] and ids(limit=2) == ["begin", "no"]
    assert ids(event_id="bad") == ["bad"] and ids(event_id="nothing") == []
    assert ids(statuses=("refused", "dead")) == ["no", "bad"] and ids(statuses=("dead",), event_id="no") == []
    assert store.inbox("main", "b") == [] and store.inbox("other", "a") == []


def test_log_pages(desk: Desk, store: Any) -> None:
    desk.start("a")
    for _ in range(5):
        desk.send("a", "ADD")
    assert [row.version for row in store.log("main", "a", after=2, limit=3)] == [3, 4, 5]
    assert store.log("main", "a", after=6) == [] and store.log("main", "b") == []


def test_effect_filters(desk: Desk) -> None:
    desk.start("a"), desk.start("b")
    desk.send("a", "KEYED"), desk.send("b", "TELL"), desk.send("b", "NOTE"), desk.send("b", "GO")
    rows = desk.effects()
    assert [row.instance for row in rows] == ["a", "b", "b", "b"] and desk.effects(limit=2) == rows[:2]
    assert desk.effects(instance="b") == rows[1:] and desk.effects(id=rows[2].id) == [rows[2]]
    assert desk.effects(key="the-key") == [rows[0]] and desk.effects(key="the-key", instance="b") == []
    desk.claim(1)
    assert desk.effects(statuses=("PENDING", "UNKNOWN")) == rows[1:]
    assert [row.status for row in desk.effects(statuses=("RUNNING",))] == ["RUNNING"]


def test_definitions_are_kept_once(store: Any, backend: Backend) -> None:
    old, new = Desk(store, (clerk(),)), Desk(store, (clerk("zz"), clerk("other")))
    old.start("a"), old.start("b")
    backend.clock.ms += 5
    old.start("c"), new.start("d", "zz"), new.start("e", "other")
    rows = store.definitions()
    assert [(row.machine, row.created_at) for row in rows] == [
        ("clerk", backend.clock.ms - 5),
        ("other", backend.clock.ms),
        ("zz", backend.clock.ms),
    ]
    assert [store.definition(row.hash) for row in rows] == rows and store.definition("none") is None
