"""The floor on PostgreSQL: ours' two functions, a round trip each."""

from __future__ import annotations

import json
from threading import local
from typing import Any

import psycopg
from floor_hop import Job
from floor_values import Place, Row, Template, Writes, started, statements
from sampling import Task


class PostgresFloor:
    """A schema with ours' tables and functions, and a connection a thread."""

    lanes = 4

    def __init__(self, task: Task, recorded: dict[str, Any]) -> None:
        self._url, self._schema = task["url"], task["schema"]
        found = statements(f"{task['sql']}/postgres/statements.sql")
        self._load, self._apply = (found[name].replace("{schema}", self._schema).encode() for name in ("load", "apply"))
        self._events = [Template(one) for one in recorded["events"]]
        self._own = local()
        with open(f"{task['sql']}/postgres/0001_initial.sql", encoding="utf-8") as file:
            tables = file.read().replace("{schema}", self._schema)
        db = self._connection()
        db.execute(f"CREATE SCHEMA {self._schema}".encode())
        db.execute(tables.encode())
        for number in range(task["instances"]):
            self._start(db, recorded, number)

    def _connection(self) -> Any:
        found = getattr(self._own, "connection", None)
        if found is None:
            found = self._own.connection = psycopg.connect(self._url, autocommit=True, prepare_threshold=None)
        return found

    def _start(self, db: Any, recorded: dict[str, Any], number: int) -> None:
        instance, inbox, log = started(recorded, number)
        writes = {"definition": recorded["start"]["definition"], "arrived": [inbox], "log": [log]}
        self._call(db, None, instance, writes)

    def _call(self, db: Any, expected: int | None, instance: Row, writes: dict[str, Any]) -> None:
        given = {
            "expected": expected,
            "state": instance.pop("state"),
            "instance": json.dumps(instance, ensure_ascii=False),
            "writes": json.dumps(writes, ensure_ascii=False),
            "now": None,
        }
        said = db.execute(self._apply, given).fetchall()[0][0]
        assert said == "ok", said

    def commit(self, jobs: list[Job]) -> None:
        """Each event a transaction of its own."""
        db = self._connection()
        for event, text in jobs:
            given = {
                "namespace": "default",
                "id": event.instance,
                "event_id": event.id,
                "seen": event.number + 1,
                "limit": 64,
                "needs_effects": False,
                "now": None,
            }
            row = json.loads(db.execute(self._load, given).fetchall()[0][2])
            place = Place(row["version"], row["revision"], row["next_seq"], row["head"])
            self._write(db, place, self._events[event.number % 2].rows(event, text, place))

    def _write(self, db: Any, place: Place, writes: Writes) -> None:
        instance = writes.instance
        del instance["expected"]
        lists = {
            "arrived": [writes.inbox],
            "log": [writes.log],
            "withdrawn": writes.sessions,
            "timers_gone": writes.handles,
            "effects": writes.effects,
            "timers_set": writes.timers,
        }
        self._call(db, place.revision, instance, {name: rows for name, rows in lists.items() if rows})

    def count(self) -> int:
        """Events in the log."""
        sql = f"SELECT count(*) FROM {self._schema}.log WHERE version > 1"
        found: int = self._connection().execute(sql.encode()).fetchone()[0]
        return found
