"""A store in PostgreSQL, for many workers on many machines.

An event takes two round trips. One statement loads what the decision needs, in
one view of the data; then one call of a function writes all of it, if nobody
has written to the instance since (its ``revision`` is the guard), and is a
transaction by itself. Between the two nothing is held: who loses against
another writer loads and decides again.

No connection keeps a state between statements (no SET, no prepared
statements, no LISTEN, no session locks), so the store works through a pooler
that hands out connections a transaction at a time. Only :meth:`wait_for_work`
needs one of its own.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...durability.commits import Commit, Job, Loaded
from ...durability.rows import ACCEPTED, PENDING, EffectRow
from ...durability.store import Answer, Claim, Clock, Settlement
from ...errors import CommitUnknown, StoreError, UsageError
from .bound import driver_connection
from .postgres_commits import leaves_work, settlement_text, writes_text
from .postgres_driver import Conflict, Gone, Pool, Row, Unfit, connect, driver, fetch
from .postgres_notices import Listener, Notifier
from .postgres_schema import check_schema, check_settings, checked_schema, migrate, statements_in
from .sql_reads import SqlReads
from .sql_rows import EFFECTS, INBOX, INSTANCES

if TYPE_CHECKING:
    import psycopg

WAITING = 64
TRIES = 20
"""So often a decision is made before its job is given up."""
OTHERS = "others write to it all the time"


class PostgresStore(SqlReads):
    """A store in the database at ``url``, in tables of their own ``schema``.

    ``pool``: connections that work side by side; one more sends hints, and one
    listens for them, at ``listen_url`` where ``url`` leads to a pooler. Without
    ``clock`` the database's clock counts. Further to the protocol there is
    :meth:`wait_for_work`.
    """

    def __init__(
        self, url: str, *, clock: Clock | None = None, pool: int = 4, listen_url: str | None = None, schema: str = "statecharts"
    ) -> None:
        if pool < 1:
            raise StoreError(f"the pool has at least one connection, not {pool!r}")
        self.lanes = pool
        self.schema = checked_schema(schema)
        self._url = url
        self._listen_url = url if listen_url is None else listen_url
        self._clock = clock
        self._sql = statements_in(schema)
        self._pool: Pool | None = None
        self._hints: Pool | None = None
        self._notifier: Notifier | None = None
        self._listener: Listener | None = None

    # ---------------------------------------------------------- open and close

    def open(self, *, migrating: bool = True) -> None:
        """Connect and check. An empty database gets its tables; an older schema is an error unless ``migrating``."""
        self.close()
        pool, hints = Pool(self._made, self.lanes), Pool(self._made, 1)
        try:
            with pool.lease() as connection:
                if migrating:
                    migrate(connection, self.schema)
                check_schema(connection, self.schema)
        except BaseException:
            pool.close()
            raise
        self._pool, self._hints = pool, hints
        self._notifier = Notifier(lambda: self._send_hint(hints))
        self._listener = Listener(self._listen_url, self._sql["listen"])

    def _made(self) -> psycopg.Connection[Row]:
        """A connection; its settings are looked at each time, for they may be changed while the store is open."""
        made = connect(self._url)
        try:
            check_settings(made, self.schema)
        except BaseException:
            made.close()
            raise
        return made

    def close(self) -> None:
        """Let go of all connections. What is being written is waited for by whoever writes it."""
        if self._notifier is not None:
            self._notifier.close()
        if self._listener is not None:
            self._listener.close()
        for pool in (self._pool, self._hints):
            if pool is not None:
                pool.close()
        self._notifier = self._listener = self._pool = self._hints = None

    def reset(self) -> None:
        """Drop all connections, and see that there are new ones."""
        self._connections.clear()
        with self._connections.lease() as connection:
            check_schema(connection, self.schema)

    @property
    def _connections(self) -> Pool:
        if self._pool is None:
            raise StoreError("the store is closed")
        return self._pool

    def now(self) -> int:
        """The clock that was given, else the database's, in ms."""
        if self._clock is not None:
            return self._clock.now()
        found: int = self._rows("now")[0][0]
        return found

    def _given_now(self) -> int | None:
        return None if self._clock is None else self._clock.now()

    # --------------------------------------------------------------- decisions

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Each job a transaction of its own (:meth:`statecharts.durability.store.Store.commit`)."""
        answers: list[Answer] = []
        for job in jobs:
            try:
                answers.append(self._one(job))
            except CommitUnknown:
                raise
            except StoreError as error:
                if any(isinstance(answer, Commit) and answer.after is not None for answer in answers):
                    raise CommitUnknown(f"some of the jobs are written, others are not: {error}") from error
                raise
        return answers

    def _one(self, job: Job) -> Answer:
        why, is_gone = OTHERS, False
        for attempt in range(TRIES):
            if attempt > 1:
                time.sleep(random.random() * 0.002 * attempt)  # so that the losers do not meet again
            try:
                answer = self._attempt(job)
            except Gone:
                if is_gone:
                    raise
                is_gone = True
            except Conflict as error:
                why = str(error)
            else:
                if answer is not None:
                    return answer
                why = OTHERS
        return StoreError(f"instance {job.instance!r} could not be written to in {TRIES} attempts ({why}); send again later")

    def _attempt(self, job: Job) -> Answer | None:
        """The answer to a job; none, and nothing is written, when another writer was quicker. Raises what :func:`fetch` does."""
        with self._connections.lease() as connection:
            loaded = self._load(connection, job)
            try:
                commit = job.decide(loaded)
            except Exception as error:
                return error
            if commit.after is None:
                return commit
            try:
                said = self._apply(connection, commit)
            except (Unfit, ValueError) as error:
                return error
        if said == "ok":
            self._hint(leaves_work(commit))
            return commit
        if said == "conflict":
            return None
        return UsageError(f"effect {said.removeprefix('moved:')!r} has moved on meanwhile; look at it again")

    def _load(self, connection: psycopg.Connection[Row], job: Job) -> Loaded:
        given = {
            "namespace": job.namespace,
            "id": job.instance,
            "event_id": job.event_id,
            "seen": job.seen_revision,
            "limit": WAITING,
            "needs_effects": job.needs_effects,
            "now": self._given_now(),
        }
        now, state, instance, known, waiting, effects, forget_at = fetch(connection, self._sql["load"], given, writes=False)[0]
        if instance is None:
            return Loaded(now, None, None if known is None else INBOX.pick(json.loads(known)), (), forget_at=forget_at)
        return Loaded(
            now,
            INSTANCES.pick({**json.loads(instance), "state": state}),
            None if known is None else INBOX.pick(json.loads(known)),
            tuple(map(INBOX.pick, json.loads(waiting or "[]"))),
            tuple(map(EFFECTS.pick, json.loads(effects or "[]"))),
        )

    def _apply(self, connection: psycopg.Connection[Row], commit: Commit) -> str:
        assert commit.after is not None
        instance = INSTANCES.write(commit.after)
        given = {
            "expected": None if commit.before is None else commit.before.revision,
            "state": instance.pop("state"),
            "instance": json.dumps(instance, ensure_ascii=False),
            "writes": writes_text(commit),
            "now": self._given_now(),
        }
        said: str = fetch(connection, self._sql["apply"], given, writes=True)[0][0]
        return said

    def bind(self, connection: Any) -> PostgresBound:
        """Decisions inside the user's own transaction on ``connection`` (a psycopg or SQLAlchemy connection to this database)."""
        return PostgresBound(self, driver_connection(connection))

    # -------------------------------------------------------- single statements

    def _rows(self, name: str, /, **given: Any) -> list[Row]:
        try:
            with self._connections.lease() as connection:
                return fetch(connection, self._sql[name], given, writes=False)
        except Gone:  # reading twice does no harm
            self._connections.clear()
            with self._connections.lease() as connection:
                return fetch(connection, self._sql[name], given, writes=False)

    def _written(self, name: str, /, **given: Any) -> list[Row]:
        for _ in range(TRIES - 1):
            try:
                return self._write_once(name, given)
            except Conflict as error:
                if getattr(error.__cause__, "sqlstate", None) == "23505":
                    raise
                time.sleep(random.random() * 0.01)  # a deadlock, say: the losers should not meet again
        return self._write_once(name, given)

    def _write_once(self, name: str, given: dict[str, Any]) -> list[Row]:
        with self._connections.lease() as connection:
            return fetch(connection, self._sql[name], given, writes=True)

    def _list(self, values: Sequence[str]) -> list[str]:
        return list(values)

    # -------------------------------------------------------------------- work

    def due(self, namespace: str, definitions: tuple[str, ...], limit: int) -> list[str]:
        """Instances with something to do."""
        rows = self._rows("due", namespace=namespace, definitions=list(definitions), now=self._given_now(), limit=limit)
        return [row[0] for row in rows]

    def claim(self, claim: Claim) -> list[EffectRow]:
        """Take effects."""
        if claim.limit < 1:
            return []
        rows = self._written(
            "claim",
            namespace=claim.namespace,
            owner=claim.owner,
            definitions=list(claim.definitions),
            limit=claim.limit,
            now=self._given_now(),
        )
        return sorted((EFFECTS.read(row) for row in rows), key=lambda row: (row.next_at, row.version, row.number))

    def call(self, namespace: str, id: str, fence: int, owner: str) -> bool:
        """Write down that a call begins."""
        return bool(self._written("call", namespace=namespace, id=id, fence=fence, owner=owner, now=self._given_now()))

    def beat(self, namespace: str, owner: str, ids: Sequence[str]) -> dict[str, bool]:
        """Signs of life."""
        return dict(self._written("beat", namespace=namespace, owner=owner, ids=list(ids)))

    def settle(self, settlement: Settlement) -> bool:
        """Move an effect on, and tell its instance."""
        row = settlement.outcome
        outcome = None if row is None else json.dumps(INBOX.write(row), ensure_ascii=False)
        given = {"settlement": settlement_text(settlement), "outcome": outcome, "now": self._given_now()}
        is_settled: bool = self._written("settle", **given)[0][0]
        self._hint(is_settled and (settlement.status == PENDING or (row is not None and row.status == ACCEPTED)))
        return is_settled

    # ------------------------------------------------------------ housekeeping

    def epoch(self) -> int:
        """How often the data came from a backup, and one."""
        return int(self._rows("epoch")[0][0])

    def mark_restored(self) -> int:
        """Nothing of then is called by itself any more."""
        found: int = self._written("mark_restored")[0][0]
        return found

    def purge(self, namespace: str, before: int, forget_at: int, limit: int) -> int:
        """Delete instances that are over."""
        given = {"namespace": namespace, "before": before, "forget_at": forget_at, "limit": limit, "now": self._given_now()}
        found: int = self._written("purge", **given)[0][0]
        return found

    # ------------------------------------------------------------------- hints

    def _hint(self, wanted: bool) -> None:
        if wanted and self._notifier is not None:
            self._notifier.hint()

    def _send_hint(self, pool: Pool) -> None:
        with pool.lease() as connection:
            fetch(connection, self._sql["notify"], None, writes=False)

    def wait_for_work(self, timeout: float) -> bool:
        """Whether any store on this schema has said within ``timeout`` seconds that there is work.

        The first call begins to listen; what was said before is not heard. A
        hint is not a promise either way: look for work when it comes, and look
        now and then without one.
        """
        if self._listener is None:
            raise StoreError("the store is closed")
        return self._listener.wait(timeout)


class _Tuples:
    """A connection of the user's, whose rows are tuples here, whatever they are there."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._rows = import_module("psycopg.rows").tuple_row

    @property
    def closed(self) -> bool:
        return bool(self._connection.closed)

    def close(self) -> None:
        """It is theirs."""

    def execute(self, sql: bytes, given: Any) -> Any:
        return self._connection.cursor(row_factory=self._rows).execute(sql, given)


class PostgresBound:
    """A store in somebody else's transaction. Nothing is true before they commit, and nobody is told."""

    def __init__(self, store: PostgresStore, connection: Any) -> None:
        psycopg = driver()
        if not isinstance(connection, psycopg.Connection):
            raise UsageError(f"a PostgreSQL store joins a psycopg connection, not {type(connection).__name__}")
        if connection.autocommit and connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            raise UsageError("begin a transaction first: with connection.transaction(): ...")
        self._store = store
        self._connection = connection

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Each job in a savepoint of the transaction (:meth:`statecharts.durability.store.Store.commit`)."""
        return [self._one(job) for job in jobs]

    def _one(self, job: Job) -> Answer:
        tuples: Any = _Tuples(self._connection)
        for _ in range(TRIES):
            loaded = self._store._load(tuples, job)
            try:
                commit = job.decide(loaded)
            except Exception as error:
                return error
            if commit.after is None:
                return commit
            with self._connection.transaction():
                said = self._store._apply(tuples, commit)
            if said == "ok":
                return commit
            if said != "conflict":
                return UsageError(f"effect {said.removeprefix('moved:')!r} has moved on meanwhile; look at it again")
        return StoreError(f"instance {job.instance!r} could not be written to in {TRIES} attempts ({OTHERS}); send again later")
