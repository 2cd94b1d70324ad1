"""Runtimes for tests: over memory, a SQLite file and PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "stores"))

import store_postgres
from sample_agents import Open

from statecharts import Machine, Runtime
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.adapters.stores.memory import MemoryStore
from statecharts.adapters.stores.postgres import PostgresStore
from statecharts.adapters.stores.sqlite import SqliteStore


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Makes runtimes over one store: ``opened(machine, ...)``; a second one sees what the first has written."""
    kind = request.param
    schema = store_postgres.fresh_schema() if kind == "postgres" else ""
    url = store_postgres.server_url() if kind == "postgres" else ""
    memory: list[MemoryStore] = []

    def store(clock: Any) -> Any:
        if kind == "sqlite":
            return SqliteStore(tmp_path / "store.db", clock=clock)
        if kind == "postgres":
            return PostgresStore(url, schema=schema, clock=clock)
        if not memory:
            memory.append(MemoryStore(clock=clock))
        return memory[0]

    def make(*machines: Machine[Any, Any], **options: Any) -> Runtime:
        clock = options.pop("clock", None)
        return Runtime(store(clock), machines, clock=SystemClock() if clock is None else clock, **options)

    yield make
    if schema:
        store_postgres.drop(schema)
