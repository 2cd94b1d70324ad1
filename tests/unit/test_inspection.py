"""Inspection events: XState's shapes, and the observer that writes log records."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from statecharts import LogObserver, load_machine, simulate

MACHINE = load_machine(
    {
        "id": "m",
        "initial": "a",
        "states": {
            "a": {"on": {"GO": "b"}},
            "b": {"entry": {"type": "@xstate.log", "args": ["hello"]}, "invoke": {"src": "job", "id": "job"}},
        },
    },
    {"actors": {"job": load_machine({"id": "job", "initial": "x", "states": {"x": {}}})}},
)


def seen() -> list[Any]:
    events: list[Any] = []
    simulate(MACHINE, inspect=events.append).send("GO", secret="s3cret")
    return events


def test_shapes_are_xstates() -> None:
    shapes = [event.to_json() for event in seen()]
    assert {shape["rootId"] for shape in shapes} == {"x:0"}
    assert all(shape["actorRef"]["xstate$$type"] == 1 for shape in shapes)
    by_type = {shape["type"]: shape for shape in shapes}
    assert list(by_type["@xstate.actor"]) == ["type", "rootId", "actorRef"]
    assert list(by_type["@xstate.microstep"]) == ["type", "rootId", "actorRef", "event", "snapshot", "_transitions"]
    assert by_type["@xstate.action"]["action"]["type"] == "xstate.spawnChild"
    sent = next(shape for shape in shapes if shape["type"] == "@xstate.event" and shape["event"]["type"] == "GO")
    assert "sourceRef" not in sent
    assert by_type["@xstate.snapshot"]["snapshot"]["value"] == "b"


def test_log_observer_writes_records_without_payloads(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="statecharts"):
        simulate(MACHINE, inspect=LogObserver()).send("GO", secret="s3cret")
    messages = [record.getMessage() for record in caplog.records]
    assert "x:0 (x:0): GO from outside" in messages
    assert "x:0 (x:0): microstep on GO took GO" in messages
    assert "x:0 (x:0): action xstate.log" in messages
    assert "job (x:1): created from job" in messages
    assert "x:0 (x:0): active in m.b after GO" in messages
    assert "s3cret" not in caplog.text
    assert all(hasattr(record, "inspection") for record in caplog.records)


def test_log_observer_levels(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("mine")
    with caplog.at_level(logging.INFO, logger="mine"):
        simulate(MACHINE, inspect=LogObserver(logger)).send("GO")
    assert {record.levelno for record in caplog.records} == {logging.INFO}
    assert {type(record.inspection).__name__ for record in caplog.records} == {"ActorInspection", "SnapshotInspection"}  # type: ignore[attr-defined]
