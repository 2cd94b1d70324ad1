"""A store in a SQLite file: the embedded default.

One connection writes, under a lock, and one reads. A call of
:meth:`SqliteStore.commit` is one transaction for all its jobs, each in a
savepoint of its own, so that many events share one flush to disk and one that
fails takes no other with it. ``BEGIN IMMEDIATE`` takes the file's write lock
before anything is read, so what a decision saw is still true when it is
written, also with several processes.

Up to SQLite 3.51.2 the WAL may be damaged when one connection begins it anew
while another writes. So no connection does that on its own: one process at a
time holds the right to checkpoint (a lock on a file beside the database), and
does it with its writing connection, between transactions.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import IO, TYPE_CHECKING, Any

from ...durability.commits import Commit, Job, Loaded
from ...durability.rows import ACCEPTED, EffectRow, InboxRow
from ...durability.store import Answer, Claim, Clock, Settlement
from ...errors import CommitUnknown, StoreError, StoreVersionError, UsageError
from .bound import driver_connection
from .clocks import SystemClock
from .sql_files import migrations, statements
from .sql_reads import SqlReads
from .sql_rows import DEFINITIONS, EFFECTS, INBOX, INSTANCES, LOG, TIMERS
from .sqlite_files import LEVELS, Connect, check_schema, connect, migrate, prepare, refuse_shares

if TYPE_CHECKING:
    from types import ModuleType

SQL = statements("sqlite")
CHECKPOINT_JOBS = 200
"""Jobs after which the WAL is copied into the file. One writes some five pages, which makes 4 MB; commits are no measure, for
one of 64 jobs writes as much as 64 of one."""
WAITING = 64
Made = dict[tuple[str, str], Any]
UNFIT = (sqlite3.IntegrityError, sqlite3.DataError)
"""What is wrong with the rows of one job, and no reason to give up the others."""


class SqliteStore(SqlReads):
    """A store in the file at ``path``. ``synchronous``: ``FULL`` (nothing that was answered is lost, also with the power) or ``NORMAL``."""

    lanes = 1

    def __init__(
        self, path: str | os.PathLike[str], *, synchronous: str = "FULL", clock: Clock | None = None, connect: Connect = connect
    ) -> None:
        if synchronous not in LEVELS:
            raise StoreError(f"synchronous is FULL, NORMAL or EXTRA, not {synchronous!r}")
        self.path = Path(path)
        self._level = synchronous
        self._clock: Clock = SystemClock() if clock is None else clock
        self._connect = connect
        self._writing = RLock()
        self._reading = RLock()
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._checkpoint_lock: IO[bytes] | None = None
        self._jobs = 0

    # ---------------------------------------------------------- open and close

    def open(self, *, migrating: bool = True) -> None:
        """Connect and check. An empty file gets its tables; an older schema is an error unless ``migrating``."""
        refuse_shares(self.path)
        if not self.path.parent.is_dir():
            raise StoreError(f"there is no directory {str(self.path.parent)!r} for the store's file")
        if not migrating and not self.path.exists():  # SQLite would make an empty one
            newest = migrations("sqlite")[-1].number
            raise StoreVersionError(
                f"there is no file {self.path}: schema 0, this release needs {newest}; run `statecharts store migrate`, which makes it"
            )
        with self._writing, self._reading:
            try:
                self._writer = self._made()
                if migrating:
                    migrate(self._writer)
                check_schema(self._writer, str(self.path))
                self._reader = self._made()
            except sqlite3.DatabaseError as error:
                self.close()
                raise StoreError(f"{self.path} cannot be used: {error}") from error
            except BaseException:
                self.close()
                raise

    def _made(self) -> sqlite3.Connection:
        made = self._connect(str(self.path))
        prepare(made, str(self.path), self._level)
        return made

    def close(self) -> None:
        """Let go of the file. What is in the WAL stays there, and is read by whoever opens it next."""
        with self._writing, self._reading:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    with suppress(sqlite3.Error):
                        connection.close()
            self._writer = self._reader = None
            if self._checkpoint_lock is not None:
                self._checkpoint_lock.close()
                self._checkpoint_lock = None

    def reset(self) -> None:
        """Connect anew."""
        self.close()
        self.open(migrating=False)

    def now(self) -> int:
        """The clock, in ms."""
        return self._clock.now()

    # --------------------------------------------------------------- decisions

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """One transaction for all (:meth:`statecharts.durability.store.Store.commit`)."""
        answers: list[Answer] = []
        made: Made = {}
        with self._transaction() as connection:
            for job in jobs:
                answers.append(self._in_savepoint(connection, job, made))
        self._checkpoint_now_and_then(len(jobs))
        return answers

    def _in_savepoint(self, connection: sqlite3.Connection, job: Job, made: Made) -> Answer:
        """The answer to one job. ``made``: the actor systems that jobs before it in this transaction have left."""
        connection.execute("SAVEPOINT job")
        try:
            commit = job.decide(self._load(connection, job, made.get((job.namespace, job.instance))))
            if commit.after is not None:
                self._write(connection, commit)
        except Exception as error:
            if isinstance(error, sqlite3.Error) and not isinstance(error, UNFIT):
                raise  # not the job's fault: nobody's work is written
            connection.execute("ROLLBACK TO job")
            connection.execute("RELEASE job")
            return StoreError(f"{self.path} cannot keep this: {error}") if isinstance(error, UNFIT) else error
        connection.execute("RELEASE job")
        if commit.after is not None:
            made[commit.after.namespace, commit.after.id] = commit.held
        return commit

    def _load(self, connection: sqlite3.Connection, job: Job, held: Any) -> Loaded:
        given = {"namespace": job.namespace, "id": job.instance, "event_id": job.event_id, "seen": job.seen_revision}
        found = connection.execute(SQL["load"], given).fetchone()
        now = self.now()
        if found is None:
            return self._load_missing(connection, job, now)
        instance = INSTANCES.read(found)
        known = None if found[INSTANCES.width] is None else INBOX.read(found, INSTANCES.width)
        waiting: tuple[InboxRow, ...] = ()
        if instance.pending:
            given = {"namespace": job.namespace, "id": job.instance, "limit": WAITING}
            waiting = tuple(INBOX.read(row) for row in connection.execute(SQL["waiting"], given))
        effects: tuple[EffectRow, ...] = ()
        if job.needs_effects:
            given = {"namespace": job.namespace, "instance": job.instance}
            effects = tuple(EFFECTS.read(row) for row in connection.execute(SQL["open_effects"], given))
        return Loaded(now, instance, known, waiting, effects, held=held)

    def _load_missing(self, connection: sqlite3.Connection, job: Job, now: int) -> Loaded:
        """There is no instance of that name; what is left of one that was purged."""
        given = {"namespace": job.namespace, "id": job.instance, "event_id": job.event_id}
        buried = connection.execute(SQL["tombstone"], given).fetchone()
        if buried is None:
            return Loaded(now, None, None, ())
        known = connection.execute(SQL["known"], given).fetchone()
        return Loaded(now, None, None if known is None else INBOX.read(known), (), forget_at=buried[0])

    def _write(self, connection: sqlite3.Connection, commit: Commit) -> None:
        after = commit.after
        assert after is not None
        run, run_all = connection.execute, connection.executemany
        if commit.definition is not None:
            run(SQL["add_definition"], DEFINITIONS.write(commit.definition))
        if commit.before is None:
            run(SQL["add_instance"], INSTANCES.write(after))
        else:
            changed = run(SQL["change_instance"], {**INSTANCES.write(after), "expected": commit.before.revision})
            if changed.rowcount != 1:  # the write lock rules this out; it is the guard all the same
                raise StoreError(f"instance {after.id!r} was changed by another writer")
        place = {"namespace": after.namespace, "instance": after.id, "now": after.updated_at}
        if commit.arrived:
            run_all(SQL["add_inbox"], map(INBOX.write, commit.arrived))
        if commit.handled:
            run_all(SQL["change_inbox"], map(INBOX.write, commit.handled))
        if commit.log:
            run_all(SQL["add_log"], map(LOG.write, commit.log))
        for settlement in commit.settled:
            if not self._settle(connection, settlement):
                raise UsageError(f"effect {settlement.id!r} has moved on meanwhile; look at it again")
        for session in commit.withdrawn:
            run(SQL["withdraw"], {**place, "session": session})
        for handle in commit.timers_gone:
            run(SQL["drop_timer"], {**place, "handle": handle})
        for effect in commit.renamed:
            if run(SQL["rename_effect"], EFFECTS.write(effect)).rowcount != 1:
                raise UsageError(f"effect {effect.id!r} has moved on meanwhile; try again")
        if commit.effects:
            run_all(SQL["add_effect"], map(EFFECTS.write, commit.effects))
        if commit.timers_set:
            run_all(SQL["add_timer"], map(TIMERS.write, commit.timers_set))
        if commit.closes:
            run(SQL["withdraw"], {**place, "session": None})
            run(SQL["drop_timer"], {**place, "handle": None})
        if commit.erases:
            for name in ("erase_log", "erase_inbox", "erase_effects"):
                run(SQL[name], {**place, "version": after.version})

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """The writing connection, in a transaction that is committed at the end."""
        with self._writing:
            connection = self._writer
            if connection is None:
                raise StoreError("the store is closed")
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: {error}") from error
            try:
                yield connection
            except BaseException as error:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise StoreError(f"{self.path}: {error}") from error
                raise
            try:
                connection.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise CommitUnknown(f"{self.path}: {error}") from error
                raise

    def bind(self, connection: Any) -> SqliteBound:
        """Decisions inside the user's own transaction on ``connection`` (a ``sqlite3`` or SQLAlchemy connection to this file).

        Raises :class:`UsageError` when there is no transaction, or it is another file.
        """
        return SqliteBound(self, driver_connection(connection))

    # ----------------------------------------------------------------- reading

    def _rows(self, name: str, /, **given: Any) -> list[tuple[Any, ...]]:
        with self._reading:
            if self._reader is None:
                raise StoreError("the store is closed")
            try:
                return self._reader.execute(SQL[name], given).fetchall()
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: {error}") from error

    def _list(self, values: Sequence[str]) -> str:
        return json.dumps(list(values))

    # -------------------------------------------------------------------- work

    def due(self, namespace: str, definitions: tuple[str, ...], limit: int) -> list[str]:
        """Instances with something to do."""
        rows = self._rows("due", namespace=namespace, definitions=json.dumps(definitions), now=self.now(), limit=limit)
        return [row[0] for row in rows]

    def claim(self, claim: Claim) -> list[EffectRow]:
        """Take effects."""
        if claim.limit < 1:
            return []
        given = {
            "namespace": claim.namespace,
            "owner": claim.owner,
            "definitions": json.dumps(claim.definitions),
            "limit": claim.limit,
        }
        with self._transaction() as connection:
            rows = connection.execute(SQL["claim"], {**given, "now": self.now()}).fetchall()
        return sorted((EFFECTS.read(row) for row in rows), key=lambda row: (row.next_at, row.version, row.number))

    def call(self, namespace: str, id: str, fence: int, owner: str) -> bool:
        """Write down that a call begins."""
        given = {"namespace": namespace, "id": id, "fence": fence, "owner": owner}
        with self._transaction() as connection:
            return connection.execute(SQL["call"], {**given, "now": self.now()}).rowcount == 1

    def beat(self, namespace: str, owner: str, ids: Sequence[str]) -> dict[str, bool]:
        """Signs of life."""
        given = {"namespace": namespace, "owner": owner, "ids": json.dumps(list(ids))}
        with self._transaction() as connection:
            return {id_: bool(cancelled) for id_, cancelled in connection.execute(SQL["beat"], given).fetchall()}

    def settle(self, settlement: Settlement) -> bool:
        """Move an effect on, and tell its instance."""
        with self._transaction() as connection:
            if not self._settle(connection, settlement):
                return False
            row = settlement.outcome
            if row is not None:
                place = {"namespace": row.namespace, "instance": row.instance, "waits": int(row.status == ACCEPTED)}
                found = connection.execute(SQL["next_seq"], place).fetchall()
                if found:  # else the instance is gone
                    connection.execute(SQL["add_inbox"], {**INBOX.write(row), "seq": found[0][0]})
            return True

    def _settle(self, connection: sqlite3.Connection, settlement: Settlement) -> bool:
        members = {name: getattr(settlement, name) for name in Settlement.__dataclass_fields__ if name != "outcome"}
        given = {**members, "was": json.dumps(settlement.was), "now": self.now()}
        return connection.execute(SQL["settle"], given).rowcount == 1

    # ------------------------------------------------------------ housekeeping

    def epoch(self) -> int:
        """How often the data came from a backup, and one."""
        return int(self._rows("epoch")[0][0])

    def mark_restored(self) -> int:
        """Nothing of then is called by itself any more."""
        with self._transaction() as connection:
            connection.execute(SQL["raise_epoch"])
            connection.execute(SQL["free_effects"])
            return connection.execute(SQL["doubt_effects"]).rowcount

    def purge(self, namespace: str, before: int, forget_at: int, limit: int) -> int:
        """Delete instances that are over."""
        place = {"namespace": namespace, "now": self.now(), "forget_at": forget_at}
        with self._transaction() as connection:
            connection.execute(SQL["forget_inbox"], place)
            connection.execute(SQL["forget_tombstones"], place)
            names = connection.execute(SQL["over"], {**place, "before": before, "limit": limit}).fetchall()
            for (name,) in names:
                for statement in ("bury", "purge_log", "purge_effects", "erase_inbox", "purge_instance"):
                    connection.execute(SQL[statement], {**place, "instance": name})
            return len(names)

    # ------------------------------------------------------------- checkpoints

    def _checkpoint_now_and_then(self, jobs: int) -> None:
        self._jobs += jobs
        if self._jobs >= CHECKPOINT_JOBS:
            self._jobs = 0
            self.checkpoint()

    def checkpoint(self) -> bool:
        """Copy the WAL into the file, if this process has the right to; whether it has."""
        with self._writing:
            if self._writer is None or not self._may_checkpoint():
                return False
            with suppress(sqlite3.Error):
                self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            return True

    def _may_checkpoint(self) -> bool:
        if self._checkpoint_lock is not None:
            return True
        fcntl = _locks()
        if fcntl is None:
            return True  # without such locks there is one process only
        file = open(f"{self.path}-checkpoint", "wb")  # noqa: SIM115 -- held for as long as the store is open
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        self._checkpoint_lock = file
        return True


class SqliteBound:
    """A store in somebody else's transaction. Nothing is true before they commit, and nobody is told."""

    def __init__(self, store: SqliteStore, connection: Any) -> None:
        if not isinstance(connection, sqlite3.Connection):
            raise UsageError(f"a SQLite store joins a sqlite3 connection, not {type(connection).__name__}")
        if not connection.in_transaction:
            raise UsageError("begin a transaction first (BEGIN IMMEDIATE, so that nobody writes between reading and writing)")
        file = connection.execute("PRAGMA database_list").fetchone()[2]
        if os.path.realpath(file) != os.path.realpath(store.path):
            raise UsageError(f"the connection is to {file}, the store is {store.path}; one transaction is in one file")
        self._store = store
        self._connection = connection

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Each job in a savepoint of the transaction (:meth:`statecharts.durability.store.Store.commit`)."""
        kept, self._connection.row_factory = self._connection.row_factory, None
        try:
            made: Made = {}
            return [self._store._in_savepoint(self._connection, job, made) for job in jobs]
        except sqlite3.Error as error:
            raise StoreError(f"{self._store.path}: {error}") from error
        finally:
            self._connection.row_factory = kept


def _locks() -> ModuleType | None:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - only on Windows, where the suite does not run
        return None
    return fcntl
