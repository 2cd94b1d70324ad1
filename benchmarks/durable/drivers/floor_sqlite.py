"""The floor on SQLite: the statements of ``statements.sql``, group commit, a savepoint an event."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from floor_hop import Job
from floor_values import Place, Template, Writes, started, statements
from sampling import Task

CHECKPOINT_EVERY = 200
VERSION, REVISION, NEXT_SEQ, HEAD = 6, 7, 13, 21
"""Columns of ``load``."""


class SqliteFloor:
    """A file with ours' tables and ours' settings."""

    lanes = 1

    def __init__(self, task: Task, recorded: dict[str, Any]) -> None:
        self._sql = statements(f"{task['sql']}/sqlite/statements.sql")
        self._events = [Template(one) for one in recorded["events"]]
        self._done = 0
        self._db = sqlite3.connect(task["file"], isolation_level=None, check_same_thread=False, cached_statements=256)
        for setting in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 0"):
            self._db.execute(f"PRAGMA {setting}")
        with open(f"{task['sql']}/sqlite/0001_initial.sql", encoding="utf-8") as file:
            self._db.executescript(file.read())
        self._db.execute("BEGIN")
        self._db.execute(self._sql["add_definition"], recorded["start"]["definition"])
        for number in range(task["instances"]):
            rows = started(recorded, number)
            for name, row in zip(("add_instance", "add_inbox", "add_log"), rows, strict=True):
                self._db.execute(self._sql[name], row)
        self._db.execute("COMMIT")

    def commit(self, jobs: list[Job]) -> None:
        """One transaction for all."""
        run = self._db.execute
        run("BEGIN IMMEDIATE")
        for event, text in jobs:
            run("SAVEPOINT job")
            given = {"namespace": "default", "id": event.instance, "event_id": event.id, "seen": event.number + 1}
            row = run(self._sql["load"], given).fetchone()
            time.time()
            place = Place(row[VERSION], row[REVISION], row[NEXT_SEQ], row[HEAD])
            self._write(self._events[event.number % 2].rows(event, text, place))
            run("RELEASE job")
        run("COMMIT")
        self._done += len(jobs)
        if self._done >= CHECKPOINT_EVERY:
            self._done = 0
            run("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _write(self, writes: Writes) -> None:
        run, sql = self._db.execute, self._sql
        assert run(sql["change_instance"], writes.instance).rowcount == 1
        run(sql["add_inbox"], writes.inbox)
        run(sql["add_log"], writes.log)
        place = {"namespace": "default", "instance": writes.instance["id"], "now": writes.instance["updated_at"]}
        for session in writes.sessions:
            run(sql["withdraw"], {**place, "session": session})
        for handle in writes.handles:
            run(sql["drop_timer"], {**place, "handle": handle})
        for row in writes.effects:
            run(sql["add_effect"], row)
        for row in writes.timers:
            run(sql["add_timer"], row)

    def count(self) -> int:
        """Events in the log."""
        found: int = self._db.execute("SELECT count(*) FROM log WHERE version > 1").fetchone()[0]
        return found
