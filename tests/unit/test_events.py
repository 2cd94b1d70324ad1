"""Events as values, and the descriptors that match them."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from statecharts import events
from statecharts.errors import UsageError
from statecharts.events import descriptor_matches, matching_descriptors, to_event
from statecharts.values import UNDEFINED, FrozenDict, freeze


class Kind(enum.StrEnum):
    GO = "GO"


class Old(str, enum.Enum):
    GO = "GO"


@pytest.mark.parametrize("name", ["GO", Kind.GO, Old.GO])
def test_a_name_or_an_object_is_an_event(name: Any) -> None:
    assert to_event(name) == {"type": "GO"}
    assert type(to_event(name)["type"]) is str
    assert to_event(name, {"n": 1}) == {"type": "GO", "n": 1}
    assert to_event({"type": "GO"}, {"n": [1]}) == {"type": "GO", "n": [1]}
    assert type(to_event({"type": "GO"}, {"n": [1]})) is FrozenDict


def test_a_frozen_event_stays_itself() -> None:
    event = freeze({"type": "GO", "n": 1})
    assert to_event(event) is event
    assert to_event(event, {"n": 2}) == {"type": "GO", "n": 2}
    assert to_event("GO") is to_event("GO")


@pytest.mark.parametrize(
    ("given", "data", "message"),
    [
        ("GO", {"type": "X"}, "`type=` among the data would replace it"),
        (7, None, "not int"),
        ({"n": 1}, None, "an event needs a string 'type': {'n': 1}"),
        ({"type": 7}, None, "an event needs a string 'type'"),
        (freeze({"n": 1}), None, "an event needs a string 'type'"),
    ],
)
def test_what_is_no_event_is_refused(given: Any, data: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        to_event(given, data)


def test_only_so_many_names_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_INTERNED_TYPES", 0)
    assert to_event("never kept before") is not to_event("never kept before")


def test_names_of_events_that_xstate_makes() -> None:
    assert events.init_event(UNDEFINED) == {"type": "xstate.init", "input": UNDEFINED}
    assert events.after_event_type(1.5, "m.a") == "xstate.after.1.5.m.a"
    assert events.after_event_type(1e21, "m.a") == "xstate.after.1e+21.m.a"
    assert events.after_event_type("soon", "m.a") == "xstate.after.soon.m.a"
    assert events.done_state_event("m.a", 1) == {"type": "xstate.done.state.m.a", "output": 1}
    assert events.done_actor_event("k", 1) == {"type": "xstate.done.actor.k", "output": 1, "actorId": "k"}
    assert events.error_actor_event("k", 1) == {"type": "xstate.error.actor.k", "error": 1, "actorId": "k"}
    assert events.snapshot_event("k", 1) == {"type": "xstate.snapshot.k", "snapshot": 1}


@pytest.mark.parametrize(
    ("event", "descriptor", "matches"),
    [
        ("a", "a", True),
        ("a", "*", True),
        ("a.b", "a", False),
        ("a", "a.*", True),
        ("a.b.c", "a.*", True),
        ("ab", "a.*", False),
        ("a.b.c", "a.*.*", False),
        ("a.b", "*.b", False),
        ("a*", "a*", True),
        ("x", ".*", False),
        (".x", ".*", True),
    ],
)
def test_which_descriptor_matches_which_event(event: str, descriptor: str, matches: bool) -> None:
    assert descriptor_matches(event, descriptor) is matches


def test_the_exact_name_comes_first_then_the_longest() -> None:
    listed = ["*", "a.*", "b", "a.b.*", "a.b"]
    assert matching_descriptors("a.b", listed) == ["a.b", "a.b.*", "a.*", "*"]
    assert matching_descriptors("a.c", listed) == ["a.*", "*"]
    assert matching_descriptors("zzz", ["b"]) == []
