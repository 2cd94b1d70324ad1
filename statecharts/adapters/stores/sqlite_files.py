"""A SQLite file made ready: settings, schema, and reasons to refuse it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from ...errors import StoreError, StoreVersionError
from .sql_files import Migration, migrations

APPLICATION = 0x53544348
"""``PRAGMA application_id`` of our files ("STCH")."""
SHARED = {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "9p", "fuse.sshfs", "glusterfs", "ceph", "lustre", "ncpfs"}
"""File systems on which SQLite's locks, or the shared memory of WAL, do not work between computers."""
LEVELS = {"FULL": 2, "NORMAL": 1, "EXTRA": 3}
Connect = Callable[[str], sqlite3.Connection]


def connect(path: str) -> sqlite3.Connection:
    """A connection that leaves transactions to us and may change threads."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30, cached_statements=256)


def file_system(path: Path, mounts: str = "/proc/self/mounts") -> str | None:
    """The kind of file system that ``path`` is on, where the system tells."""
    try:
        lines = Path(mounts).read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    target = os.path.realpath(path.parent)
    best, kind = "", None
    for line in lines:
        fields = line.split()
        if len(fields) < 3:
            continue
        mount = fields[1].replace("\\040", " ")
        inside = target == mount or target.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, fields[2]
    return kind


def refuse_shares(path: Path, mounts: str = "/proc/self/mounts") -> None:
    """Raise :class:`StoreError` for a file on a network share."""
    kind = file_system(path, mounts)
    if kind in SHARED:
        raise StoreError(
            f"{path} is on a network share ({kind}), where SQLite loses data; keep it on a local disk, or use PostgreSQL"
        )


def prepare(connection: sqlite3.Connection, path: str, level: str) -> None:
    """Settings of a connection, each read back. Raises :class:`StoreError` for a file that does not take them."""
    connection.execute("PRAGMA busy_timeout = 30000")
    connection.execute("PRAGMA foreign_keys = ON")
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != APPLICATION and tables:
        raise StoreError(f"{path} is a SQLite file of another application; give the store a file of its own")
    if path != ":memory:":
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(f"{path} cannot be put into WAL mode (it is in {mode!r}): is the directory writable, is it a local disk?")
    connection.execute(f"PRAGMA synchronous = {level}")
    found = connection.execute("PRAGMA synchronous").fetchone()[0]
    if found != LEVELS[level]:
        raise StoreError(f"{path} does not take synchronous = {level}: it says {found}")
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # one process does that, see :mod:`.sqlite`
    connection.execute("PRAGMA mmap_size = 0")


def schema_version(connection: sqlite3.Connection) -> tuple[int, int]:
    """The schema a file has, and the oldest that a reader must know; zeros for an empty file."""
    if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").fetchone()[0]:
        return 0, 0
    found = dict(connection.execute("SELECT name, value FROM meta WHERE name IN ('schema', 'min_reader')"))
    return int(found["schema"]), int(found["min_reader"])


def check_schema(connection: sqlite3.Connection, path: str) -> None:
    """Raise :class:`StoreVersionError` for a schema this release cannot work with."""
    newest = migrations("sqlite")[-1].number
    found, reads = schema_version(connection)
    if found < newest:
        raise StoreVersionError(f"{path} has schema {found}, this release needs {newest}; run `statecharts store migrate`")
    if reads > newest:
        raise StoreVersionError(f"{path} has schema {found}, which takes a release that knows {reads}; this one knows {newest}")


def migrate(connection: sqlite3.Connection, known: tuple[Migration, ...] | None = None) -> list[int]:
    """Bring the schema up to date, each step a transaction of its own. The numbers of the steps that were taken."""
    taken = []
    for step in migrations("sqlite") if known is None else known:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if schema_version(connection)[0] < step.number:
                for statement in step.text.split(";\n"):
                    if statement.strip():
                        connection.execute(statement)
                connection.executemany(
                    "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    [("schema", str(step.number)), ("min_reader", str(step.reads))],
                )
                if step.number == 1:
                    connection.execute(f"PRAGMA application_id = {APPLICATION}")
                    connection.execute("INSERT INTO meta (name, value) VALUES ('epoch', '1') ON CONFLICT (name) DO NOTHING")
                taken.append(step.number)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return taken
