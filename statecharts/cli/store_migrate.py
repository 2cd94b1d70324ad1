"""``statecharts store migrate``: the schema of a store, brought up to date."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from urllib.parse import urlsplit

import click

from ..adapters.stores.sql_files import Migration, migrations
from ..durability.store import Store
from ..errors import UsageError
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
    found = _schema(store)
    steps = [step for step in migrations(dialect) if step.number > found]
    if sql:
        _print(steps, as_json)
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


def _schema(store: Store) -> int:
    """The schema that is there; 0 for none. Looks only."""
    from ..adapters.stores.sqlite import SqliteStore
    from ..adapters.stores.sqlite_files import connect, schema_version

    if not isinstance(store, SqliteStore) or not store.path.is_file():
        return 0
    import sqlite3

    with closing(connect(str(store.path))) as connection:
        try:
            return schema_version(connection)[0]
        except sqlite3.DatabaseError as error:
            raise UsageError(f"{store.path} cannot be used: {error}") from error


def _print(steps: Sequence[Migration], as_json: bool) -> None:
    if as_json:
        write_json([{"number": step.number, "name": step.name, "reads": step.reads, "sql": step.text} for step in steps])
        return
    if not steps:
        say("-- the schema is up to date")
    for step in steps:
        say(f"-- step {step.number}: {step.name}\n{step.text.rstrip()}")
        say(f"-- and in table meta: schema = {step.number}, min_reader = {step.reads}")
