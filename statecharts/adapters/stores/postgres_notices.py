"""NOTIFY and LISTEN: hints that there is work, so that a worker need not wait for its next look.

A hint may be lost, come twice or too early; whoever works has to look now and
then all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from ...errors import StoreError
from .postgres_driver import Row, connect

if TYPE_CHECKING:
    import psycopg

PAUSE = 0.01
"""Seconds between two hints: they are the same to whoever waits, and each takes a lock of the whole server."""
SLICE = 0.25
"""Seconds after which a listener looks whether it was closed."""


class Notifier:
    """Sends hints from a thread of its own, so that no event waits for them."""

    __slots__ = ("_is_closed", "_lock", "_send", "_thread", "_wanted")

    def __init__(self, send: Callable[[], None]) -> None:
        self._send = send
        self._lock = Lock()
        self._wanted = Event()
        self._is_closed = Event()
        self._thread: Thread | None = None

    def hint(self) -> None:
        """Say soon that there is work."""
        self._wanted.set()
        with self._lock:
            if self._thread is None and not self._is_closed.is_set():
                self._thread = Thread(target=self._run, name="statecharts-notify", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Send what is wanted still, and end the thread."""
        with self._lock:
            self._is_closed.set()
            self._wanted.set()
            thread = self._thread
        if thread is not None:
            thread.join(5)

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            with suppress(StoreError):  # it was but a hint
                self._send()
            if self._is_closed.wait(PAUSE):
                return


class Listener:
    """Waits for hints, on a connection of its own that no pooler may share between clients."""

    __slots__ = ("_connection", "_is_closed", "_listen", "_lock", "_url")

    def __init__(self, url: str, listen: bytes) -> None:
        self._url = url
        self._listen = listen
        self._lock = Lock()
        self._is_closed = False
        self._connection: psycopg.Connection[Row] | None = None

    def wait(self, timeout: float) -> bool:
        """Whether a hint has come within ``timeout`` seconds. Without a connection: false, after that time."""
        until = time.monotonic() + timeout
        with self._lock:
            while not self._is_closed:
                left = until - time.monotonic()
                try:
                    if self._heard(max(0.0, min(left, SLICE))):
                        return True
                except Exception:  # whatever it is: look for work now and then, as one does without hints
                    self._drop()
                    time.sleep(max(0.0, min(left, SLICE)))
                if left <= SLICE:
                    break
        return False

    def _heard(self, timeout: float) -> bool:
        if self._connection is None:
            self._connection = connect(self._url)
            self._connection.execute(self._listen)
        found = list(self._connection.notifies(timeout=timeout, stop_after=1))
        return bool(found)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._is_closed = True
        with self._lock:
            self._drop()
