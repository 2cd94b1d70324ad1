"""``statecharts store effects``, ``settle`` and ``retry``: calls to the outside world, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
from rich.console import RenderableType
from rich.text import Text

from ..durability.effects import named, read_rules
from ..durability.rows import EffectRow
from ..errors import UsageError
from ..runtime import Runtime
from .readable import members, readable
from .store_json import effect_details, effect_json, parsed, policy_json
from .store_list import EFFECT_STATUSES
from .store_options import Given, Target, json_value, limit_option, order_options, store_options
from .store_session import in_store
from .store_times import ago
from .store_views import attempts, effect_block, say, show_receipt, show_rows, show_table, status_text
from .terminal import one_line, styled, write_json


@click.command(
    short_help="Calls to the outside world.",
    epilog="UNKNOWN is for a person: settle it (with the result, or as failed), or retry it though it may have happened.",
)
@click.argument("instance", required=False)
@click.option(
    "--status", "statuses", type=click.Choice(EFFECT_STATUSES, case_sensitive=False), multiple=True, help="Of this status; several may be given."
)
@click.option("--key", metavar="KEY", help="With this key, as the receiver knows it.")
@click.option("--id", "effect", metavar="EFFECT", help="All about this one.")
@limit_option(100)
@store_options
def effects(
    target: Target, instance: str | None, statuses: tuple[str, ...], key: str | None, effect: str | None, limit: int
) -> int:
    """List effects, oldest first: of INSTANCE or of all. With --json one object a line."""

    async def body(runtime: Runtime) -> int:
        if instance is not None:
            await runtime.get(instance)
        query = {"instance": instance, "statuses": statuses, "key": key, "id": effect}
        found = await runtime.effects(**query, limit=limit + 1)
        if effect is not None:
            return _one(found, effect, await runtime.now(), as_json=target.as_json)
        if target.as_json:
            for row in found[:limit]:
                write_json(effect_json(row))
            return 0
        _table(found[:limit])
        if len(found) > limit:
            say(f"there are more than {limit}: narrow it down, or raise --limit")
        return 0

    return in_store(target, body)


def _table(rows: Sequence[EffectRow]) -> None:
    if not rows:
        say("no effects")
        return
    cells: list[list[Text | str]] = [
        [
            status_text(row.status),
            row.instance,
            named(row.name),
            row.kind,
            attempts(row),
            row.id,
            row.error or "",
        ]
        for row in rows
    ]
    show_table(("status", "instance", "effect", "kind", "attempt", "id", "error"), cells)


def _one(found: Sequence[EffectRow], effect: str, now: int, *, as_json: bool) -> int:
    if not found:
        raise UsageError(f"there is no effect {effect!r} (that fits the rest)")
    if as_json:
        write_json(effect_details(found[0]), indent=2)
    else:
        show_rows(_details(found[0], now))
    return 0


def _details(row: EffectRow, now: int) -> Iterator[tuple[str, RenderableType]]:
    yield "effect", effect_block(row, now)
    yield "instance", styled(f"{one_line(row.instance)}, made by version {row.version}")
    yield "created", styled(ago(row.created_at, now))
    if row.settled_at is not None:
        yield "settled", styled(ago(row.settled_at, now))
    if row.owner is not None:
        yield "worker", styled(f"{row.owner}, claim {row.fence}")
    yield "given", styled(one_line(readable(parsed(row.given))))
    if row.result is not None:
        yield "result", styled(one_line(readable(parsed(row.result))))
    yield "policy", styled(one_line(members(policy_json(read_rules(row.policy)))))


@click.command(short_help="Say what became of an UNKNOWN effect.")
@click.argument("effect")
@click.option("--result", metavar="JSON", callback=json_value, help="It was done, and this came of it.")
@click.option("--failed", metavar="TEXT", help="It was not done, and is not to be: the machine hears of this error.")
@order_options
@store_options
def settle(target: Target, effect: str, result: Given | None, failed: str | None, actor: str, reason: str) -> int:
    """Say what became of EFFECT, which is UNKNOWN: nobody but a person can tell whether it happened."""
    if (result is None) == (failed is None):
        raise click.UsageError("say what became of it: --result JSON if it was done, or --failed TEXT if it was not")
    if failed is not None and not failed.strip():
        raise click.UsageError("--failed needs the words of the error")
    said: dict[str, Any] = {"error": failed} if result is None else {"result": result.value}

    async def body(runtime: Runtime) -> int:
        receipt = await runtime.settle(effect, **said, actor=actor, reason=reason)
        return show_receipt(receipt, as_json=target.as_json)

    return in_store(target, body, uses_app=True)


@click.command(short_help="Call again for an UNKNOWN effect.")
@click.argument("effect")
@order_options
@store_options
def retry(target: Target, effect: str, actor: str, reason: str) -> int:
    """Call again for EFFECT, under its key: one that is UNKNOWN, though it may have been done, or an action that FAILED."""

    async def body(runtime: Runtime) -> int:
        receipt = await runtime.retry(effect, actor=actor, reason=reason)
        return show_receipt(receipt, as_json=target.as_json)

    return in_store(target, body, uses_app=True)
