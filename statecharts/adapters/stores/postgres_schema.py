"""A PostgreSQL database made ready: settings, schema, and reasons to refuse it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from ...errors import StoreError, StoreVersionError
from .postgres_driver import Row, driver, fetch, meaning
from .sql_files import Migration, migrations, statements

if TYPE_CHECKING:
    import psycopg

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,39}")


@cache
def statements_in(schema: str) -> dict[str, bytes]:
    """The statements for the tables in ``schema``."""
    return {name: text.replace("{schema}", schema).encode() for name, text in statements("postgres").items()}


def checked_schema(schema: str) -> str:
    """``schema`` if it may stand in SQL as it is. Raises :class:`StoreError`."""
    if _NAME.fullmatch(schema) is None or schema.startswith("pg_"):
        raise StoreError(f"a schema's name is made of up to 40 of a-z, 0-9 and _, and does not begin with a digit or pg_; not {schema!r}")
    return schema


def check_settings(connection: psycopg.Connection[Row], schema: str) -> None:
    """Raise :class:`StoreError` for settings with which the store could not keep its word, saying what to change."""
    found = fetch(connection, statements_in(schema)["settings"], None, writes=False)[0]
    synchronous, fsync, encoding, isolation, read_only, version = found
    if synchronous == "off":
        raise StoreError(
            "synchronous_commit is off, so what was answered may be lost: "
            "set it to on for this role or database (ALTER ROLE … SET synchronous_commit = on)"
        )
    if fsync != "on":
        raise StoreError("fsync is off, so a crash of the machine may ruin the database: set fsync = on in postgresql.conf")
    if encoding != "UTF8":
        raise StoreError(f"the database is in {encoding}; the store needs one in UTF8 (CREATE DATABASE … ENCODING 'UTF8')")
    if isolation != "read committed":
        raise StoreError(
            f"transactions are {isolation!r} here; the store needs 'read committed' (ALTER ROLE … SET default_transaction_isolation)"
        )
    if read_only != "off":
        raise StoreError("this server takes no writes (default_transaction_read_only, or a standby); connect to the primary")
    if version < 120_000:
        raise StoreError(f"this is PostgreSQL {version // 10_000}; the store needs 12 or newer")


def schema_version(connection: psycopg.Connection[Row], schema: str) -> tuple[int, int]:
    """The schema a database has, and the oldest that a reader must know; zeros where there is none."""
    sql = statements_in(schema)
    if not fetch(connection, sql["meta_exists"], None, writes=False)[0][0]:
        return 0, 0
    found: dict[str, str] = dict(fetch(connection, sql["schema_version"], None, writes=False))
    return int(found["schema"]), int(found["min_reader"])


def check_schema(connection: psycopg.Connection[Row], schema: str) -> None:
    """Raise :class:`StoreVersionError` for a schema this release cannot work with."""
    newest = migrations("postgres")[-1].number
    found, reads = schema_version(connection, schema)
    where = f"PostgreSQL schema {schema!r}"
    if found < newest:
        raise StoreVersionError(f"{where} has schema {found}, this release needs {newest}; run `statecharts store migrate`")
    if reads > newest:
        raise StoreVersionError(f"{where} has schema {found}, which takes a release that knows {reads}; this one knows {newest}")


def migrate(connection: psycopg.Connection[Row], schema: str, known: tuple[Migration, ...] | None = None) -> list[int]:
    """Bring the schema up to date, each step a transaction of its own. The numbers of the steps that were taken.

    Several processes may do so at once: one goes first, the others find it done.
    """
    taken = []
    for step in migrations("postgres") if known is None else known:
        try:
            with connection.transaction():
                if _take(connection, schema, step):
                    taken.append(step.number)
        except driver().Error as error:
            raise meaning(error, connection, writes=False) from error
    return taken


def _take(connection: psycopg.Connection[Row], schema: str, step: Migration) -> bool:
    sql = statements_in(schema)
    connection.execute(sql["lock_schema"])
    if schema_version(connection, schema)[0] >= step.number:
        return False
    connection.execute(sql["make_schema"])
    connection.execute(step.text.replace("{schema}", schema).encode())
    for name, value in (("schema", step.number), ("min_reader", step.reads)):
        connection.execute(sql["set_meta"], {"name": name, "value": str(value)})
    connection.execute(sql["begin_epoch"])
    return True
