"""What an event costs in statements, round trips and commits, through the whole runtime. What it costs a store: tests/stores."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import store_postgres
from sample_agents import Open
from store_desk import shuttle
from test_postgres import sent, trips

from statecharts import Implementations, Machine, Runtime, load_machine
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.adapters.stores.postgres import PostgresStore
from statecharts.adapters.stores.sqlite import SqliteStore

IN_FLIGHT, ROUNDS = 64, 20
TOGGLE = {
    "id": "toggle",
    "initial": "waiting",
    "context": {"n": 0},
    "states": {
        "waiting": {"after": {"3600000": "calling"}, "on": {"GO": {"target": "calling", "actions": "add"}}},
        "calling": {"invoke": {"id": "call", "src": "call"}, "on": {"BACK": {"target": "waiting", "actions": "add"}}},
    },
}


def toggle() -> Machine[Any, Any]:
    """The benchmark's machine: a timer in one state, a call in the other, an update that counts."""

    async def call(input: Any) -> None:
        raise AssertionError("no worker runs here")

    impl = Implementations({"updates": {"add": lambda context: {"n": context["n"] + 1}}})
    impl.actor("call")(call)
    return load_machine(TOGGLE, impl)


async def send(runtime: Runtime, name: str, number: int) -> None:
    receipt = await runtime.send(name, {"type": ("GO", "BACK")[number % 2]}, event_id=f"{name}:{number}")
    assert receipt.outcome == "applied", receipt


def counted(store: SqliteStore) -> list[str]:
    """The first words of what the writing connection is given from now on."""
    said: list[str] = []
    assert store._writer is not None
    store._writer.set_trace_callback(lambda sql: said.append(sql.split()[0]))
    return said


def test_an_event_takes_nine_statements_on_sqlite(tmp_path: Path) -> None:
    async def main() -> None:
        store = SqliteStore(tmp_path / "store.db")
        async with Runtime(store, [toggle(), shuttle()], clock=SystemClock()) as runtime:
            await runtime.start("toggle", "a")
            await runtime.start("shuttle", "b")
            said = counted(store)
            for number in range(2):
                said.clear()
                await send(runtime, "a", number)
                assert [said[0], said[-1]] == ["BEGIN", "COMMIT"] and len(said) - 2 <= 9, said
            said.clear()
            await send(runtime, "b", 0)  # a timer that goes, another one, and a call
            assert len(said) - 2 <= 9, said

    asyncio.run(main())


@pytest.mark.parametrize("instances", [64, 8])
def test_64_events_in_flight_share_commits(tmp_path: Path, instances: int) -> None:
    async def main() -> None:
        store = SqliteStore(tmp_path / "store.db")
        async with Runtime(store, [toggle()], clock=SystemClock()) as runtime:
            names = [f"i{number}" for number in range(instances)]
            await runtime.start_many("toggle", dict.fromkeys(names))
            said, numbers = counted(store), Counter[str]()

            async def stream(name: str) -> None:
                for _ in range(ROUNDS):
                    number = numbers[name]
                    numbers[name] += 1
                    await send(runtime, name, number)

            await asyncio.gather(*(stream(names[one % instances]) for one in range(IN_FLIGHT)))
            counts = Counter(said)
            assert counts["SAVEPOINT"] == IN_FLIGHT * ROUNDS
            assert counts["COMMIT"] <= IN_FLIGHT * ROUNDS / 16, counts
            assert all([(await runtime.get(name)).version == 1 + numbers[name] for name in names])

    asyncio.run(main())


def test_an_event_takes_two_round_trips_on_postgres(tmp_path: Path) -> None:
    schema = store_postgres.fresh_schema()
    store = PostgresStore(store_postgres.server_url(), schema=schema, pool=1)

    def messages(loop: asyncio.AbstractEventLoop, runtime: Runtime, number: int) -> list[str]:
        return sent(store, tmp_path / "trace", lambda: loop.run_until_complete(send(runtime, "a", number)))

    runtime = Runtime(store, [toggle()], clock=SystemClock())
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.run_until_complete(runtime.__aenter__())
        try:
            loop.run_until_complete(runtime.start("toggle", "a"))
            for number in range(4):
                said = messages(loop, runtime, number)
                assert trips(said) == 2, said
        finally:
            loop.run_until_complete(runtime.close())
            store_postgres.drop(schema)


def test_events_for_one_instance_in_one_commit_follow_each_other(opened: Open) -> None:
    """What the jobs before it have made in the same transaction, a job begins with; and so on when one of them is refused."""

    async def main() -> None:
        async with opened(toggle()) as runtime:
            await runtime.start("toggle", "a")
            kinds = ["GO", "BACK", "BACK", "GO", "GO", "BACK", "BACK"]
            sends = [("a", {"type": kind}, f"e{number}") for number, kind in enumerate(kinds)]
            receipts = await runtime.send_many(sends)
            outcomes = [getattr(one, "outcome", one) for one in receipts]
            assert outcomes == ["applied", "applied", "refused", "applied", "refused", "applied", "refused"]
            assert (await runtime.verify("a", replay=True)).is_clean

    asyncio.run(main())
