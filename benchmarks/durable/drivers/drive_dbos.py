"""Drives DBOS: an event is a workflow under its id, with one datasource transaction that does our pure transition.

The file is put into WAL mode before DBOS opens it, which it does not do by
itself. The transaction reads the state, and writes the state and a log row. The
chart goes without its call, which would be a step more: so DBOS has less to do.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from typing import Any

import sqlalchemy as sa
from chart import CHART, event_type
from dbos import DBOS, SetWorkflowID, SQLAlchemyDatasource
from sampling import Samples, Task, answer

from statecharts import Implementations, initial_transition, load_machine, restore_snapshot, transition

logging.disable(logging.CRITICAL)
TABLES = (
    "CREATE TABLE machine (id TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL)",
    "CREATE TABLE history (id TEXT, version INTEGER, event TEXT, state TEXT, PRIMARY KEY (id, version)) WITHOUT ROWID",
)
READ = sa.text("SELECT version, state FROM machine WHERE id = :id")
CHANGE = sa.text("UPDATE machine SET version = :version + 1, state = :state WHERE id = :id AND version = :version")
NOTE = sa.text("INSERT INTO history VALUES (:id, :version, :event, :state)")


def own_machine() -> Any:
    """The chart with its Python, and without the call."""
    impl = Implementations({"updates": {"count": lambda context: {"n": context["n"] + 1}}})
    states = {**CHART["states"], "calling": {"on": CHART["states"]["calling"]["on"]}}
    return load_machine({**CHART, "states": states}, impl)


def measure(task: Task) -> dict[str, Any]:
    """One stream of workflows."""
    machine = own_machine()
    with sqlite3.connect(task["file"]) as made:
        made.execute("PRAGMA journal_mode = WAL")
    url = f"sqlite:///{task['file']}"
    DBOS(config={"name": "bench", "system_database_url": url, "run_admin_server": False, "log_level": "CRITICAL"})
    source = SQLAlchemyDatasource.create(url)
    with source.engine.begin() as connection:
        for table in TABLES:
            connection.execute(sa.text(table))
        first = initial_transition(machine)[0].to_xstate_text()
        connection.execute(sa.text("INSERT INTO machine VALUES ('order-0', 0, :state)"), {"state": first})

    @source.transaction
    def step(id: str, event: dict[str, Any]) -> list[str]:
        session = source.sql_session()
        version, text = session.execute(READ, {"id": id}).one()
        snapshot, effects = transition(machine, restore_snapshot(machine, text), event)
        state = snapshot.to_xstate_text()
        assert session.execute(CHANGE, {"id": id, "version": version, "state": state}).rowcount == 1
        session.execute(NOTE, {"id": id, "version": version, "event": json.dumps(event), "state": state})
        return [type(effect).__name__ for effect in effects]

    @DBOS.workflow()
    def handle(id: str, event: dict[str, Any]) -> list[str]:
        return step(id, event)

    DBOS.launch()
    samples, number = Samples(task), 0
    for _ in samples:
        for _ in range(task["events"]):
            with SetWorkflowID(f"e{number}"):
                handle("order-0", {"type": event_type(number), "amount": 12.5})
            number += 1
    with source.engine.connect() as connection:
        state = connection.execute(READ, {"id": "order-0"}).one()[1]
    DBOS.destroy()
    return samples.result(json.loads(state)["context"]["n"])


if __name__ == "__main__":
    answer(measure)
