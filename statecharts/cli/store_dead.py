"""``statecharts store dead``: events that raised, and what is to become of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import click

from ..durability.rows import DEAD, InboxRow
from ..runtime import Runtime
from .store_json import letter_json, parsed, reason_of
from .store_options import Target, limit_option, store_options
from .store_session import in_store
from .store_times import local
from .store_views import say, show_receipt, show_table
from .terminal import clean, write_json
from .views import event_name

PAGE = 200


@click.command(
    short_help="Events that raised.",
    epilog="--retry and --drop need INSTANCE and EVENT_ID, --actor and --reason.",
)
@click.argument("instance", required=False)
@click.argument("event_id", required=False)
@click.option("--retry", is_flag=True, help="Try it again; it takes its old place in the order.")
@click.option("--drop", is_flag=True, help="Give it up.")
@click.option("--actor", metavar="WHO", help="Who does this; it is kept in the log.")
@click.option("--reason", metavar="TEXT", help="Why; it is kept in the log.")
@click.option("--traceback", is_flag=True, help="With the traceback of each.")
@limit_option(100)
@store_options
def dead(
    target: Target,
    instance: str | None,
    event_id: str | None,
    retry: bool,
    drop: bool,
    actor: str | None,
    reason: str | None,
    traceback: bool,
    limit: int,
) -> int:
    """List dead letters of INSTANCE or of all, or decide about one. With --json one object a line."""
    if retry or drop:
        _check_order(instance, event_id, retry and drop, actor, reason)
        assert instance is not None and event_id is not None
        return _decide(target, instance, event_id, retry, str(actor), str(reason))

    async def body(runtime: Runtime) -> int:
        if instance is not None:
            await runtime.get(instance)
        found = [letter async for letter in _letters(runtime, instance, event_id, limit + 1)]
        if target.as_json:
            for letter in found[:limit]:
                write_json(letter_json(letter))
            return 0
        _show(found[:limit], traceback)
        if len(found) > limit:
            say(f"there are more than {limit}: name the instance, or raise --limit")
        return 0

    return in_store(target, body)


def _check_order(instance: str | None, event_id: str | None, both: bool, actor: str | None, reason: str | None) -> None:
    if both:
        raise click.UsageError("--retry tries it again, --drop gives it up; choose one")
    if instance is None or event_id is None:
        raise click.UsageError("which one? INSTANCE and EVENT_ID, as `dead` lists them, come before --retry or --drop")
    if actor is None or reason is None:
        raise click.UsageError("--retry and --drop need --actor WHO and --reason TEXT; both are kept in the log")


def _decide(target: Target, instance: str, event_id: str, retry: bool, actor: str, reason: str) -> int:
    async def body(runtime: Runtime) -> int:
        order = runtime.revive if retry else runtime.drop
        receipt = await order(instance, event_id, actor=actor, reason=reason)
        return show_receipt(receipt, as_json=target.as_json)

    return in_store(target, body, uses_app=True)


async def _letters(runtime: Runtime, instance: str | None, event_id: str | None, limit: int) -> AsyncIterator[InboxRow]:
    """Up to ``limit`` dead letters, instance by instance."""
    left = limit
    async for name in _names(runtime, instance):
        for letter in await runtime.inbox(name, event_id=event_id, statuses=(DEAD,), limit=left):
            yield letter
            left -= 1
        if left <= 0:
            return


async def _names(runtime: Runtime, instance: str | None) -> AsyncIterator[str]:
    if instance is not None:
        yield instance
        return
    after = ""
    while rows := await runtime.instances(after=after, limit=PAGE):
        for row in rows:
            yield row.id
        after = rows[-1].id


def _show(letters: Sequence[InboxRow], traceback: bool) -> None:
    if not letters:
        say("no dead letters")
        return
    if not traceback:
        _table(letters)
        return
    for letter in letters:
        _table([letter])
        for line in (letter.error or "no traceback").splitlines():
            say(f"    {clean(line)}", "dim")


def _table(letters: Sequence[InboxRow]) -> None:
    cells = [
        [one.instance, one.event_id, _event(one), local(one.received_at), one.actor or "", reason_of(one)] for one in letters
    ]
    show_table(("instance", "event id", "event", "received", "who", "error"), cells)


def _event(letter: InboxRow) -> str:
    """What kind of event it is: its type, or of a result what it is a result of."""
    body = parsed(letter.body) or {}
    kind = body.get("type") or (body.get("event") or {}).get("type")
    return event_name(str(kind)) if kind else f"{letter.kind} {body.get('name', '')}".strip()
