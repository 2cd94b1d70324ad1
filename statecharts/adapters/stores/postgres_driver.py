"""psycopg: imported when it is needed, connections as the store wants them, and what its errors mean."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Any

from ...errors import CommitUnknown, StoreError

if TYPE_CHECKING:
    import psycopg

Row = tuple[Any, ...]
Connect = Callable[[], "psycopg.Connection[Row]"]
CONNECT_TIMEOUT = 10
"""Seconds to wait for a connection, where the URL says nothing else."""
AGAIN = ("40001", "40P01", "55P03")
"""Serialization failure, deadlock, lock not available: nothing was written, and the next try may well succeed."""
EXISTS_ALREADY = "23505"


class Conflict(StoreError):
    """Another writer was quicker. Nothing was written; look again, and decide again."""


class Unfit(StoreError):
    """The database cannot keep these data. Nothing was written."""


class Gone(StoreError):
    """The connection was lost while nothing was being written."""


def driver() -> Any:
    """The module ``psycopg``. Raises :class:`StoreError` naming the extra when it is not installed."""
    try:
        return importlib.import_module("psycopg")
    except ImportError as error:
        raise StoreError(f"PostgreSQL needs psycopg 3: pip install 'statecharts[postgres]' ({error})") from error


def connect(url: str) -> psycopg.Connection[Row]:
    """A connection without a transaction around statements, and without prepared ones, which PgBouncer could not follow."""
    module = driver()
    try:
        given = {"connect_timeout": CONNECT_TIMEOUT, "client_encoding": "utf8", **module.conninfo.conninfo_to_dict(url)}
        made: psycopg.Connection[Row] = module.connect(**given, autocommit=True, prepare_threshold=None)
    except module.Error as error:
        raise StoreError(f"PostgreSQL cannot be reached: {said(error)}") from error
    return made


def fetch(connection: psycopg.Connection[Row], sql: bytes, given: Mapping[str, Any] | None, *, writes: bool) -> list[Row]:
    """One statement, one round trip. ``writes``: when the connection is lost, nobody knows.

    Raises :class:`Conflict`, :class:`Unfit`, :class:`Gone`, :class:`CommitUnknown`
    or a plain :class:`StoreError`.
    """
    try:
        return connection.execute(sql, given).fetchall()
    except driver().Error as error:
        raise meaning(error, connection, writes) from error


def meaning(error: psycopg.Error, connection: psycopg.Connection[Row], writes: bool) -> StoreError:
    """What ``error`` says about what was to be written.

    An error that the server reported on a connection which goes on undid the
    statement. Anything else (no report, the end of the connection) leaves it
    open.
    """
    code, text = error.sqlstate or "", said(error)
    severity = error.diag.severity_nonlocalized or error.diag.severity
    if not code and not connection.closed:  # the client refused it, before it was sent
        return Unfit(f"PostgreSQL cannot keep this: {text}")
    if not code or connection.closed or severity in ("FATAL", "PANIC"):
        with suppress(Exception):
            connection.close()
        if writes:
            return CommitUnknown(f"the connection to PostgreSQL was lost while writing: {text}")
        return Gone(f"the connection to PostgreSQL was lost: {text}")
    if code in AGAIN or code == EXISTS_ALREADY:
        return Conflict(f"PostgreSQL: {text}")
    if code[:2] in ("22", "23"):
        return Unfit(f"PostgreSQL cannot keep this: {text}")
    return StoreError(f"PostgreSQL: {text}")


def said(error: BaseException) -> str:
    """The message of an error on one line."""
    return " ".join(str(error).split()) or type(error).__name__


class Pool:
    """At most ``size`` connections, made when they are needed. A thread that finds none free waits."""

    __slots__ = ("_connect", "_free", "_generation", "_is_closed", "_lock", "_permits")

    def __init__(self, connect: Connect, size: int) -> None:
        self._connect = connect
        self._permits = BoundedSemaphore(size)
        self._lock = Lock()
        self._free: list[psycopg.Connection[Row]] = []
        self._generation = 0
        self._is_closed = False

    @contextmanager
    def lease(self) -> Iterator[psycopg.Connection[Row]]:
        """A connection, for as long as the block lasts. Raises :class:`StoreError` when none can be made."""
        with self._permits:
            generation = self._generation
            connection = self._taken()
            try:
                yield connection
            finally:
                self._give_back(connection, generation)

    def _taken(self) -> psycopg.Connection[Row]:
        while True:
            with self._lock:
                if self._is_closed:
                    raise StoreError("the store is closed")
                connection = self._free.pop() if self._free else None
            if connection is None:
                return self._connect()
            if _is_alive(connection):
                return connection
            _close(connection)

    def _give_back(self, connection: psycopg.Connection[Row], generation: int) -> None:
        status = connection.pgconn.transaction_status
        with self._lock:
            if not self._is_closed and generation == self._generation and not connection.closed and status == 0:  # idle
                self._free.append(connection)
                return
        _close(connection)

    def clear(self) -> None:
        """Drop all connections: the free ones now, the others when their work is done."""
        with self._lock:
            self._generation += 1
            free, self._free = self._free, []
        for connection in free:
            _close(connection)

    def close(self) -> None:
        """No more leases."""
        self._is_closed = True
        self.clear()


def _is_alive(connection: psycopg.Connection[Row]) -> bool:
    """Whether the server has not hung up meanwhile, as far as that has arrived. No round trip."""
    try:
        connection.pgconn.consume_input()  # the server's last words
        connection.pgconn.consume_input()  # the end
    except Exception:
        return False
    return not connection.closed


def _close(connection: psycopg.Connection[Row]) -> None:
    with suppress(Exception):
        connection.close()
