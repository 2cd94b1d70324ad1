"""SIGKILL before and after every statement, commit and call of a whole ticket; then everything must be as promised."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "stores"))

import store_postgres
from children import Ended, Say, Trigger, in_child
from oracles import violations
from ticket import IDEMPOTENT, World, play, recover, ticket

from statecharts.adapters.stores.sqlite import SqliteStore
from statecharts.adapters.stores.sqlite_files import connect
from statecharts.durability.definitions import hosted

ALL = bool(os.environ.get("FAULTS_ALL"))
SOME = 16
"""Points of each kind in an ordinary run; ``make fault`` takes them all."""


class Counted(sqlite3.Connection):
    """Every statement is a point at which the process may die."""

    trigger: Trigger

    def execute(self, *arguments: Any) -> Any:
        number = self.trigger.before()
        found = super().execute(*arguments)
        self.trigger.after(number)
        return found

    def executemany(self, *arguments: Any) -> Any:
        number = self.trigger.before()
        found = super().executemany(*arguments)
        self.trigger.after(number)
        return found


class Place:
    """A database and a world, and stores over it that count."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.schema = store_postgres.fresh_schema() if kind == "postgres" else ""
        self.url = store_postgres.server_url() if kind == "postgres" else ""

    def store(self, trigger: Trigger | None = None) -> Any:
        if self.kind == "postgres":
            from statecharts.adapters.stores.postgres import PostgresStore

            if trigger is not None:
                _count_in_psycopg(trigger)
            return PostgresStore(self.url, schema=self.schema)
        made: Callable[[str], sqlite3.Connection] = connect
        if trigger is not None:

            def made(path: str) -> sqlite3.Connection:
                connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30, factory=Counted)
                connection.trigger = trigger
                return connection

        return SqliteStore(self.folder / "t.db", connect=made)

    def prepare(self) -> None:
        """The tables, so that they are not part of every run."""
        store = self.store()
        store.open()
        store.close()

    def drop(self) -> None:
        if self.schema:
            store_postgres.drop(self.schema)


def _count_in_psycopg(trigger: Trigger) -> None:
    """In a child only: it ends with it."""
    import psycopg

    execute = psycopg.Connection.execute

    def counted(*arguments: Any, **options: Any) -> Any:
        number = trigger.before()
        found = execute(*arguments, **options)
        trigger.after(number)
        return found

    psycopg.Connection.execute = counted  # type: ignore[method-assign]


def run(place: Place, at: int | None, after: bool) -> Ended:
    """Play a ticket, killed at point ``at``."""

    def victim(say: Say) -> None:
        trigger = Trigger(at, after)
        asyncio.run(play(place.store(trigger), World(place.folder / "world", trigger), say))
        say(json.dumps(["points", str(trigger.count), ""]))

    return in_child(victim)


def recovered(place: Place) -> Ended:
    """Go on with what is left."""
    return in_child(lambda say: asyncio.run(recover(place.store(), World(place.folder / "world"), say)))


def told(*ends: Ended) -> tuple[dict[tuple[str, str], str], int]:
    """What senders were told, and how many effects nobody knew of."""
    acknowledged: dict[tuple[str, str], str] = {}
    unknown = 0
    for end in ends:
        for line in end.lines:
            name, event_id, outcome = json.loads(line)
            if name == "UNKNOWN":
                unknown += 1
            elif name != "points":
                acknowledged.setdefault((name, event_id), outcome)
    return acknowledged, unknown


def check(place: Place, *ends: Ended) -> int:
    acknowledged, unknown = told(*ends)
    world = World(place.folder / "world")
    machine = hosted(ticket(world))
    store = place.store()
    store.open()
    try:
        found = violations(
            store, "default", {machine.hash: machine}, acknowledged, world.calls(), idempotent=IDEMPOTENT, in_the_call=1
        )
    finally:
        store.close()
    assert found == []
    assert all(end.code == 0 for end in ends if not end.killed)
    return unknown


def points(kind: str, folder: Path) -> int:
    """How many points an undisturbed run has, about: it depends a little on time."""
    place = Place(kind, folder)
    place.prepare()
    end = run(place, None, False)
    assert end.code == 0
    check(place, end, recovered(place))  # the last action may still be under way
    place.drop()
    (line,) = [line for line in end.lines if "points" in line]
    return int(json.loads(line)[1])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_at_any_point_nothing_is_lost_or_doubled(kind: str, after: bool, tmp_path: Path) -> None:
    count = points(kind, tmp_path / "count")
    chosen = range(1, count + 1)
    if not ALL:
        chosen = sorted(random.Random(f"{kind}{after}").sample(chosen, min(SOME, count)))  # type: ignore[assignment]
    unknown = killed = 0
    for at in chosen:
        place = Place(kind, tmp_path / str(at))
        place.prepare()
        first = run(place, at, after)
        killed += first.killed
        unknown += check(place, first, recovered(place))
        place.drop()
    print(f"{kind}, {'after' if after else 'before'}: {killed} of {len(chosen)} runs killed at {count} points, {unknown} effects UNKNOWN")
    assert killed > len(chosen) * 0.7  # the last points of a run are not in every run
