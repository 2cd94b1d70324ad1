"""A command's time with the store: open it, do what was asked, close it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from ..adapters.engines.durable.entropy import SystemEntropy
from ..durability.store import Clock
from ..errors import Busy, CommitUnknown, UsageError
from ..runtime import Runtime
from .loading import machines_from
from .store_options import Target
from .terminal import say_error

Body = Callable[[Runtime], Awaitable[int]]


def make_clock() -> Clock | None:
    """The clock of a command; ``None``: the store's own. Tests put theirs here."""
    return None


def make_entropy() -> SystemEntropy:
    """Where a command's ids come from. Tests put theirs here."""
    return SystemEntropy()


def in_store(target: Target, body: Body, *, uses_app: bool = False) -> int:
    """Do ``body`` with the store of ``target``, with its machines if it ``uses_app``. The exit status.

    The schema stays as it is: changing it is what ``migrate`` is for.
    """
    if urlsplit(target.url).scheme == "memory":
        raise UsageError("a memory: store would be gone with this command; name one that stays, such as sqlite:///file.db")
    machines = machines_from(target.app) if uses_app and target.app is not None else []
    runtime = Runtime.open(
        target.url, machines, clock=make_clock(), namespace=target.namespace, entropy=make_entropy(), migrating=False
    )
    try:
        return asyncio.run(_in(runtime, body))
    except (Busy, CommitUnknown) as error:
        say_error(str(error))
        return 1


async def _in(runtime: Runtime, body: Body) -> int:
    async with runtime:
        return await body(runtime)
