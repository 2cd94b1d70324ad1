"""``statecharts store erase``, ``purge`` and ``mark-restored``."""

from __future__ import annotations

from typing import Any

import click

from ..errors import UsageError
from ..runtime import Runtime
from .durations import parse_duration
from .problem_lines import counted
from .store_options import Target, limit_option, order_options, store_options
from .store_session import in_store
from .store_views import say, show_receipt
from .terminal import write_json


def _span(_context: Any, parameter: Any, value: str) -> int:
    try:
        return int(parse_duration(value))
    except (UsageError, ValueError) as error:
        raise click.UsageError(f"{parameter.opts[0]}: {error}") from None


@click.command(short_help="Delete the payloads of an instance that is over.")
@click.argument("instance")
@order_options
@store_options
def erase(target: Target, instance: str, actor: str, reason: str) -> int:
    """Delete what INSTANCE was told and has kept. Who did what when stays, and the chain of hashes holds."""

    async def body(runtime: Runtime) -> int:
        return show_receipt(await runtime.erase(instance, actor=actor, reason=reason), as_json=target.as_json)

    return in_store(target, body)


@click.command(short_help="Delete instances that have been over for long.")
@click.option("--older-than", metavar="SPAN", required=True, callback=_span, help="Over for longer than this, such as 90d.")
@click.option("--keep-ids", metavar="SPAN", required=True, callback=_span, help="For so long event ids are known again, such as 30d.")
@limit_option(1_000)
@store_options
def purge(target: Target, older_than: int, keep_ids: int, limit: int) -> int:
    """Delete instances that are done, failed or cancelled and have nothing open."""

    async def body(runtime: Runtime) -> int:
        count = await runtime.purge(older_than=older_than, keep_ids=keep_ids, limit=limit)
        write_json({"purged": count}) if target.as_json else say(f"{counted(count, 'instance')} purged")
        return 0

    return in_store(target, body)


@click.command("mark-restored", short_help="Say that the data come from a backup.")
@store_options
def mark_restored(target: Target) -> int:
    """Say that the store was restored from a backup, before any worker starts.

    What was open then may have been done since, so it is UNKNOWN now and nothing is called again by itself.
    """

    async def body(runtime: Runtime) -> int:
        count = await runtime.mark_restored()
        epoch = runtime.store.epoch()
        if target.as_json:
            write_json({"epoch": epoch, "unknown": count})
        else:
            say(f"epoch {epoch}: {counted(count, 'effect')} UNKNOWN now")
        return 0

    return in_store(target, body)
