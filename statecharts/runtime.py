"""The durable runtime with a store named by a URL."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .adapters.engines.durable.runtime import DurableRuntime
from .adapters.engines.durable.threads import Blocking
from .adapters.stores.clocks import SystemClock
from .adapters.stores.coded import Codec, CodedStore
from .durability.store import Clock, Store
from .errors import UsageError
from .machine import Machine


class Runtime(DurableRuntime):
    """Machines that outlive their process (:class:`DurableRuntime` has all that can be done with them)::

        async with Runtime.open("sqlite:///support.db", machines=[support_agent]) as runtime:
            await runtime.start("support_agent", "ticket-77")
            receipt = await runtime.send("ticket-77", {"type": "START", "ticketRef": "…"}, event_id="evt_1")
            await runtime.run_worker()
    """

    @classmethod
    def open(
        cls,
        url: str,
        machines: Iterable[Machine[Any, Any]] = (),
        *,
        clock: Clock | None = None,
        codec: Codec | None = None,
        **options: Any,
    ) -> Runtime:
        """A runtime over the store at ``url``.

        ``sqlite:///relative.db``, ``sqlite:////absolute.db`` (``?synchronous=NORMAL``
        gives up the last commits when the power fails), ``memory:`` or
        ``postgresql://…``. With a ``codec`` states, events, results and the log's
        payloads are encoded before they are written. Raises :class:`UsageError` for
        any other URL.
        """
        timing: Clock = SystemClock() if clock is None else clock
        store = store_at(url, clock)
        return cls(store if codec is None else CodedStore(store, codec), machines, clock=timing, **options)

    @classmethod
    def blocking(cls, url: str, machines: Iterable[Machine[Any, Any]] = (), **options: Any) -> Blocking[Runtime]:
        """The same without an event loop: a context manager whose methods block."""
        return Blocking(cls.open(url, machines, **options))


def store_at(url: str, clock: Clock | None = None) -> Store:
    """The store that ``url`` names; it is not opened yet."""
    parts = urlsplit(url)
    if parts.scheme == "memory":
        from .adapters.stores.memory import MemoryStore

        return MemoryStore(clock=clock)
    if parts.scheme == "sqlite":
        return _sqlite(url, clock)
    if parts.scheme in ("postgresql", "postgres"):
        from .adapters.stores.postgres import PostgresStore

        return PostgresStore(url, clock=clock)
    raise UsageError(f"a store is sqlite:///file.db, postgresql://host/name or memory:, not {url!r}")


def _sqlite(url: str, clock: Clock | None) -> Store:
    from .adapters.stores.sqlite import SqliteStore

    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc or len(path) < 2:
        raise UsageError(f"{url!r}: a SQLite store is sqlite:///relative.db or sqlite:////absolute/path.db")
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    level = options.pop("synchronous", "FULL").upper()
    if options:
        raise UsageError(f"{url!r}: a SQLite store has the option synchronous, not {', '.join(options)}")
    return SqliteStore(Path(path[1:]), synchronous=level, clock=clock)
