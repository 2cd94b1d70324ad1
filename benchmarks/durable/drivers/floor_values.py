"""The values of the floor's rows: those that ours has written, with only ids and numbers of their own.

Everything that ours writes as JSON is written as JSON here, each time, and
everything it hashes is hashed; nothing is decided.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

write = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
Row = dict[str, Any]


@dataclass(slots=True)
class Event:
    """One event on its way: ``number`` counts the events of the instance from 0."""

    instance: str
    number: int
    given: dict[str, Any]
    id: str


@dataclass(slots=True)
class Place:
    """What an event needs to know of its instance, as it was loaded."""

    version: int
    revision: int
    next_seq: int
    head: str


@dataclass(slots=True)
class Writes:
    """What one event writes."""

    instance: Row
    inbox: Row
    log: Row
    effects: list[Row]
    timers: list[Row]
    sessions: list[int]
    handles: list[int]


class Template:
    """The rows of one kind of event."""

    def __init__(self, recorded: dict[str, Any]) -> None:
        self._instance: Row = recorded["instance"]
        self._inbox: Row = recorded["inbox"]
        self._log: Row = recorded["log"]
        self._effects: list[Row] = recorded["effects"]
        self._timers: list[Row] = recorded["timers"]
        self._handles = len(recorded["timers_gone"])
        self._sessions = len(recorded["withdrawn"])
        self._state = json.loads(self._instance["state"])
        self._configuration = json.loads(self._instance["configuration"])
        self._payload = json.loads(self._log["payload"])
        self._receipt = json.loads(self._inbox["receipt"])
        self._calls = [[json.loads(row[name]) for name in ("name", "given", "policy")] for row in self._effects]
        self._hashed = tuple(name for name in self._log if name not in ("payload", "salt", "hash"))

    def rows(self, event: Event, text: str, place: Place) -> Writes:
        """The rows for ``event``, whose JSON is ``text``."""
        json.loads(text)  # the machine is given the event as it was stored
        version = place.version + 1
        log = self._log_row(event, place, version, state := write(self._state))
        instance = {
            **self._instance,
            "id": event.instance,
            "state": state,
            "configuration": log["after"],
            "version": version,
            "revision": place.revision + 1,
            "next_seq": place.next_seq + 1,
            "head": log["hash"],
            "expected": place.revision,
        }
        inbox = {
            **self._inbox,
            "instance": event.instance,
            "seq": place.next_seq,
            "event_id": event.id,
            "body": text,
            "digest": sha256(text.encode()).hexdigest(),
            "version": version,
            "receipt": write(self._receipt),
        }
        own = {"instance": event.instance, "version": version, "id": f"{event.instance}:{version}:0"}
        effects = [
            {**row, **own, "key": own["id"], "name": write(name), "given": write(given), "policy": write(policy)}
            for row, (name, given, policy) in zip(self._effects, self._calls, strict=True)
        ]
        timers = [{**row, **own, "handle": version} for row in self._timers]
        return Writes(instance, inbox, log, effects, timers, [version] * self._sessions, [place.version] * self._handles)

    def _log_row(self, event: Event, place: Place, version: int, state: str) -> Row:
        payload, salt = write(self._payload), self._log["salt"]
        log = {
            **self._log,
            "instance": event.instance,
            "version": version,
            "event_id": event.id,
            "after": write(self._configuration),
            "payload": payload,
            "payload_hash": sha256(f"{salt}\n{payload}".encode()).hexdigest(),
            "state_hash": sha256(f"{salt}\n{state}".encode()).hexdigest(),
            "previous": place.head,
        }
        log["hash"] = sha256(write([log[name] for name in self._hashed]).encode()).hexdigest()
        return log


def statements(file: str) -> dict[str, str]:
    """The library's own statements, by name."""
    with open(file, encoding="utf-8") as opened:
        blocks = opened.read().split("-- name: ")[1:]
    return {name.strip(): text.strip() for name, _, text in (block.partition("\n") for block in blocks)}


def started(recorded: dict[str, Any], number: int) -> tuple[Row, Row, Row]:
    """The rows of the ``number``-th instance's start: instance, inbox, log. Its first timer has the handle that ours has."""
    start = recorded["start"]
    name = f"order-{number}"
    instance = {**start["instance"], "id": name, "incarnation": f"{number:032x}"}
    return instance, {**start["inbox"], "instance": name}, {**start["log"], "instance": name}
