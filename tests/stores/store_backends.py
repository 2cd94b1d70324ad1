"""The three stores as one thing to test: somewhere to keep data, and stores that look at it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import store_postgres as pg

from statecharts.adapters.stores.memory import MemoryStore
from statecharts.adapters.stores.postgres import PostgresStore
from statecharts.adapters.stores.sqlite import SqliteStore

KINDS = ("memory", "sqlite", "postgres")


class SetClock:
    """A clock that a test sets."""

    def __init__(self, ms: int = 1_000_000) -> None:
        self.ms = ms

    def now(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


class Backend:
    """Data of one kind. :meth:`store` opens a store over them; a second one sees what the first has written."""

    def __init__(self, kind: str, directory: Path, clock: Any = None) -> None:
        self.kind = kind
        self.clock = SetClock() if clock is None else clock
        self._path = directory / "store.db"
        self._schema = ""
        self._opened: list[Any] = []
        if kind == "postgres":
            self.url, self._schema = pg.server_url(), pg.fresh_schema()

    def made(self, **options: Any) -> Any:
        """A store that is not opened yet."""
        options.setdefault("clock", self.clock)
        if self.kind == "memory":
            return self._opened[0] if self._opened else MemoryStore(**options)
        if self.kind == "sqlite":
            return SqliteStore(self._path, **options)
        return PostgresStore(self.url, schema=self._schema, **options)

    def store(self, **options: Any) -> Any:
        """An open store."""
        store = self.made(**options)
        store.open()
        self._opened.append(store)
        return store

    def close(self) -> None:
        """End everything."""
        for store in self._opened:
            store.close()
        if self._schema:
            pg.drop(self._schema)
