"""``statecharts store work``: a worker, until it is told to stop."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from ..durability.rows import DELIVER, PENDING, RUNNING, UNKNOWN
from ..errors import UsageError
from ..runtime import Runtime
from .problem_lines import counted
from .store_options import Target, store_options
from .store_session import in_store
from .store_views import say
from .terminal import write_json

_LIMIT = 1_000


@click.command(
    short_help="Run a worker.",
    epilog="SIGTERM and SIGINT stop the claiming; calls that run have 10 seconds, the rest is left to its leases. "
    "With --once the exit status is 1 when something is left that could be done now, by whoever has its machine.",
)
@click.option("--once", is_flag=True, help="End as soon as there is nothing to do now.")
@click.option("--concurrency", type=click.IntRange(min=1), default=16, show_default=True, help="So many calls at a time.")
@click.option(
    "--poll", metavar="S", type=click.FloatRange(min=0, min_open=True), default=0.5, show_default=True, help="Seconds until it sees what others did."
)
@store_options
def work(target: Target, once: bool, concurrency: int, poll: float) -> int:
    """Apply what waits, fire timers and perform effects, for the machines in --app."""
    if target.app is None:
        raise UsageError("work needs the machines' Python: --app module:object; without it there is nothing that it could do")

    async def body(runtime: Runtime) -> int:
        machines = sorted(runtime.registry.by_id)
        _say(target, f"working for {', '.join(machines)} in namespace {target.namespace}", event="started", machines=machines)
        await runtime.run_worker(concurrency=concurrency, poll=poll, until_idle=once, handle_signals=True)
        if not once:
            _say(target, "stopped", event="stopped")
            return 0
        left = await _left(runtime)
        is_idle = not (left["instances"] or left["effects"])
        _say(target, _said(left, is_idle), event="stopped", idle=is_idle, left=left)
        return 0 if is_idle else 1

    return in_store(target, body, uses_app=True)


def _say(target: Target, text: str, **members: Any) -> None:
    if target.as_json:
        write_json({"namespace": target.namespace, **members})
    else:
        say(text)


async def _left(runtime: Runtime) -> dict[str, int]:
    """What there is still: instances and effects of which something could be done now, and effects that wait for a person."""
    now = await runtime.now()
    every = tuple(row.hash for row in await runtime.definitions())
    due = await asyncio.to_thread(runtime.store.due, runtime.namespace, every, _LIMIT)
    running = await runtime.effects(statuses=(RUNNING,), limit=_LIMIT)
    pending = await runtime.effects(statuses=(PENDING,), limit=_LIMIT)
    able = [row for row in pending if row.kind != DELIVER and row.next_at <= now and row.definition not in runtime.registry.by_hash]
    unknown = await runtime.effects(statuses=(UNKNOWN,), limit=_LIMIT)
    return {"instances": len(due), "effects": len(running) + len(able), "unknown": len(unknown)}


def _said(left: dict[str, int], is_idle: bool) -> str:
    said = "idle"
    if not is_idle:
        what = f"{counted(left['instances'], 'instance')} and {counted(left['effects'], 'effect')}"
        said = f"not idle: {what} left, which wait for another worker or for a machine that --app does not have"
    if left["unknown"]:
        said += f"; {counted(left['unknown'], 'effect')} UNKNOWN, for a person to settle"
    return said
