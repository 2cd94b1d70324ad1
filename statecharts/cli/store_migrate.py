"""``statecharts store migrate``: the schema of a store, brought up to date."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import click

from ..adapters.stores.sql_files import Migration, migrations
from ..durability.store import Store
from ..errors import StoreError, UsageError
from ..runtime import store_at
from .problem_lines import counted
from .store_options import json_option, required_url, url_option
from .store_views import say
from .terminal import write_json

_DIALECTS = {"sqlite": "sqlite", "postgresql": "postgres", "postgres": "postgres"}


@click.command(
    short_help="Bring the schema of a store up to date.",
    epilog="The only command that changes a schema, or makes a store. --sql shows what it would do.",
)
@url_option
@click.option("--sql", is_flag=True, help="Print the statements of the steps that are left, and take none.")
@json_option
def migrate(url: str | None, sql: bool, as_json: bool) -> int:
    """Bring the schema of a store up to date, or make the store."""
    target = required_url(url)
    store = store_at(target)
    dialect = _DIALECTS.get(urlsplit(target).scheme)
    if dialect is None:
        raise UsageError("a memory: store has no schema; migrate is for sqlite:/// and postgresql:// stores")
    found = _schema(store, target)
    steps = [step for step in migrations(dialect) if step.number > found]
    if sql:
        _print([step._replace(text=_script(step, getattr(store, "schema", None))) for step in steps], as_json)
        return 0
    store.open(migrating=True)
    store.close()
    newest = migrations(dialect)[-1].number
    if as_json:
        taken = [{"number": step.number, "name": step.name} for step in steps]
        write_json({"from": found, "to": max(found, newest), "steps": taken})
    elif not steps:
        say(f"the schema is up to date ({found})")
    else:
        said = ", ".join(f"{step.number} {step.name}" for step in steps)
        say(f"the schema went from {found} to {newest} by {counted(len(steps), 'step')}: {said}")
    return 0


def _schema(store: Store, url: str) -> int:
    """The schema that is there; 0 for none. Looks only."""
    from ..adapters.stores.sqlite import SqliteStore

    return _in_file(store.path) if isinstance(store, SqliteStore) else _in_database(url, getattr(store, "schema", ""))


def _in_file(path: Path) -> int:
    import sqlite3

    from ..adapters.stores.sqlite_files import connect, schema_version

    if not path.is_file():
        return 0
    with closing(connect(str(path))) as connection:
        try:
            return schema_version(connection)[0]
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path} cannot be used: {error}") from error


def _in_database(url: str, schema: str) -> int:
    from ..adapters.stores.postgres_driver import connect
    from ..adapters.stores.postgres_schema import schema_version

    with closing(connect(url)) as connection:
        return schema_version(connection, schema)[0]


def _script(step: Migration, schema: str | None) -> str:
    """All statements of a step, for whoever runs them by hand: in ``schema`` of PostgreSQL, or in a SQLite file."""
    from ..adapters.stores.sqlite_files import APPLICATION

    meta = "meta" if schema is None else f"{schema}.meta"
    values = f"('schema', '{step.number}'), ('min_reader', '{step.reads}')"
    parts = [f"-- step {step.number}: {step.name}\nBEGIN;"]
    if schema is not None:
        parts.append(f"CREATE SCHEMA IF NOT EXISTS {schema};")
    parts.append(step.text.replace("{schema}", str(schema)).strip())
    parts.append(f"INSERT INTO {meta} (name, value) VALUES {values} ON CONFLICT (name) DO UPDATE SET value = excluded.value;")
    parts.append(f"INSERT INTO {meta} (name, value) VALUES ('epoch', '1') ON CONFLICT (name) DO NOTHING;")
    if schema is None:
        parts.append(f"PRAGMA application_id = {APPLICATION};")
    return "\n".join([*parts, "COMMIT;"]) + "\n"


def _print(steps: Sequence[Migration], as_json: bool) -> None:
    if as_json:
        write_json([{"number": step.number, "name": step.name, "reads": step.reads, "sql": step.text} for step in steps])
    elif not steps:
        say("-- the schema is up to date")
    for step in () if as_json else steps:
        say(step.text.rstrip())
