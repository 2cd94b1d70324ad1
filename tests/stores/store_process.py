"""A process of its own at a store, for tests with several: ``python store_process.py WHAT STORE SCHEMA NAME COUNT``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def opened(where: str, schema: str) -> Any:
    """The store at ``where``: a path or a URL."""
    if where.startswith("postgresql:"):
        from statecharts.adapters.stores.postgres import PostgresStore

        store: Any = PostgresStore(where, schema=schema, pool=1)
    else:
        from statecharts.adapters.stores.sqlite import SqliteStore

        store = SqliteStore(where)
    store.open()
    return store


def send(store: Any, name: str, count: int) -> None:
    """So many events, in turn to 20 instances."""
    from store_desk import Desk

    desk = Desk(store)
    for index in range(count):
        assert desk.send(f"i{index % 20}", "ADD", f"{name}-{index}").outcome == "applied"


def claim(store: Any, name: str, count: int) -> None:
    """Claim and settle until nothing is left; what was claimed is printed."""
    from store_desk import Desk
    from test_work import settled

    desk = Desk(store)
    while rows := desk.claim(count, name):
        for row in rows:
            assert store.call("main", row.id, row.fence, name)
            print(row.id)
            assert store.settle(settled(row, "DONE"))


def processes(what: str, where: str, schema: str, names: tuple[str, ...], count: int) -> list[str]:
    """Run one process for each name at once; what they print."""
    command = [sys.executable, str(HERE / "store_process.py"), what, where, schema]
    pipe = subprocess.PIPE
    running = [subprocess.Popen([*command, name, str(count)], stdout=pipe, stderr=pipe, text=True) for name in names]
    said = [process.communicate(timeout=120) for process in running]
    for process, (_, errors) in zip(running, said, strict=True):
        assert process.returncode == 0, errors
    return [out for out, _ in said]


if __name__ == "__main__":
    what, where, schema, name, count = sys.argv[1:]
    store = opened(where, schema)
    if what != "open":
        {"send": send, "claim": claim}[what](store, name, int(count))
    store.close()
