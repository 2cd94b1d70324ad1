"""`statecharts store` over PostgreSQL: the same commands, and the statements of its schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "stores"))

import store_postgres

from statecharts.cli.application import application

APP = ("--app", "store_app:machines")


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(application, ["store", *words], prog_name="statecharts")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.output
    return result.stdout or result.stderr


@pytest.fixture
def database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """PostgreSQL without any tables of ours."""
    monkeypatch.setenv("STATECHARTS_URL", store_postgres.server_url())
    store_postgres.drop("statecharts")
    yield folder
    store_postgres.drop("statecharts")


def test_a_ticket_from_start_to_end(database: Path) -> None:
    assert "run `statecharts store migrate`" in run("list", code=2)
    assert run("migrate") == "the schema went from 0 to 1 by 1 step: 1 initial\n"
    assert run("migrate") == "the schema is up to date (1)\n"
    run("start", "support_agent", "t", *APP)
    run("send", "t", "START", "ticketRef=t", *APP)
    run("work", "--once", *APP)
    run("send", "t", "APPROVE")
    run("work", "--once", *APP)
    page: Any = json.loads(run("show", "t", "--json", *APP))
    assert (page["status"], page["output"]["outcome"]) == ("done", "sent")
    assert [row["status"] for row in map(json.loads, run("effects", "--json").splitlines())] == ["DONE"] * 4
    assert "replayed: clean" in run("verify", "t", "--replay", *APP)
    assert "done" in run("list", "--state", "done", "--dwell", "1s", "--version", "1.0.0")


def test_the_printed_statements_make_a_store(database: Path) -> None:
    with store_postgres.outside() as connection:
        connection.execute(run("migrate", "--sql"))
    assert run("migrate") == "the schema is up to date (1)\n"
    assert run("list") == "no instances\n"


def test_a_server_that_is_not_there(folder: Path) -> None:
    pytest.importorskip("psycopg")
    for command in ("list", "migrate"):
        assert run(command, "--url", "postgresql://127.0.0.1:1/x?connect_timeout=2", code=2).startswith("statecharts: ")
