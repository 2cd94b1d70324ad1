"""The floor: the same statements, JSON, hashes and thread hop as ours, and nothing that decides. It does not import ours."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from floor_hop import Flood, Hop
from sampling import Samples, Task, answer


async def timed(task: Task) -> dict[str, Any]:
    """Passes of events through the floor."""
    recorded = json.loads(Path(task["recorded"]).read_text("utf-8"))
    store: Any
    if task["store"] == "sqlite":
        from floor_sqlite import SqliteFloor

        store = SqliteFloor(task, recorded)
    else:
        from floor_postgres import PostgresFloor

        store = PostgresFloor(task, recorded)
    hop = Hop(store.commit, store.lanes)
    flood = Flood(hop, task["instances"])
    samples = Samples(task)
    for _ in samples:
        await flood.run(task["in_flight"], task["events"])
    hop.close()
    return samples.result(store.count())


def measure(task: Task) -> dict[str, Any]:
    """Events through the floor."""
    return asyncio.run(timed(task))


if __name__ == "__main__":
    answer(measure)
