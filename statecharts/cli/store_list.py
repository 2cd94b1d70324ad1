"""``statecharts store list``: which instances there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.text import Text

from ..durability.rows import (
    ACTIVE,
    CANCELLED,
    DONE,
    ERROR,
    FAILED,
    PENDING,
    RUNNING,
    SETTLED,
    UNKNOWN,
    WITHDRAWN,
    DefinitionRow,
    Instance,
)
from ..errors import UsageError
from ..runtime import Runtime
from .durations import parse_duration, span
from .store_json import instance_json
from .store_options import Target, limit_option, store_options
from .store_session import in_store
from .store_times import local
from .store_views import say, short_hash, short_states, show_table, status_text
from .terminal import styled, write_json

STATUSES = (ACTIVE, DONE, ERROR, CANCELLED)
EFFECT_STATUSES = (PENDING, RUNNING, SETTLED, FAILED, UNKNOWN, WITHDRAWN)


def _dwell(_context: Any, _parameter: Any, value: str | None) -> int | None:
    return None if value is None else int(parse_duration(value))


@click.command("list", short_help="Which instances there are.")
@click.option("--machine", metavar="ID", help="Of this machine.")
@click.option("--version", metavar="HASH", help="Of the definition whose hash begins so, or whose document has this version.")
@click.option("--state", metavar="PATH", help="In this state or one below it: a path below the machine.")
@click.option("--status", type=click.Choice(STATUSES), help="With this status.")
@click.option("--dwell", metavar="SPAN", callback=_dwell, help="In their states for longer than this: 90s, 2h, 1d.")
@click.option("--effect", type=click.Choice(EFFECT_STATUSES, case_sensitive=False), help="With an effect of this status.")
@click.option("--timer-due", is_flag=True, help="With a timer that is due.")
@click.option("--attention", is_flag=True, help="That need attention.")
@click.option("--suspended", is_flag=True, help="That are suspended.")
@limit_option(100)
@click.option("--after", metavar="ID", default="", help="Behind this one, in the order of their names.")
@store_options
def list_instances(
    target: Target,
    version: str | None,
    machine: str | None,
    state: str | None,
    dwell: int | None,
    effect: str | None,
    timer_due: bool,
    attention: bool,
    suspended: bool,
    limit: int,
    **given: Any,
) -> int:
    """List instances by name; an instance must fit all that is asked for. With --json one object a line."""

    async def body(runtime: Runtime) -> int:
        definitions = await runtime.definitions()
        of, path = (machine, state) if state is None else _state(state, machine, definitions)
        now = await runtime.now()
        found = await runtime.instances(
            machine=of,
            definition=None if version is None else _definition(version, of, definitions),
            state=path,
            before=None if dwell is None else now - dwell,
            with_effect=effect,
            with_timer=now if timer_due else None,
            needs_attention=attention or None,
            is_suspended=suspended or None,
            limit=limit + 1,
            **given,
        )
        _show(found[:limit], now, as_json=target.as_json, has_more=len(found) > limit)
        return 0

    return in_store(target, body)


def _show(rows: Sequence[Instance], now: int, *, as_json: bool, has_more: bool) -> None:
    if as_json:
        for row in rows:
            write_json(instance_json(row, now))
        return
    if not rows:
        say("no instances")
        return
    columns = ("instance", "machine", "definition", "status", "states", "since", "for")
    show_table(columns, [_cells(row, now) for row in rows])
    if has_more:
        say(f"more: --after {rows[-1].id}")


def _cells(row: Instance, now: int) -> list[Text | str]:
    status = status_text(row.status)
    if row.is_suspended:
        status.append_text(styled(" suspended", "yellow"))
    if row.needs_attention:
        status.append_text(styled(" attention", "bold red"))
    states = short_states(row.configuration, row.machine)
    return [row.id, row.machine, short_hash(row.definition), status, states, local(row.entered_at), span(now - row.entered_at)]


def _definition(asked: str, machine: str | None, known: Sequence[DefinitionRow]) -> str:
    """The one definition that ``asked`` means."""
    able = [row for row in known if machine in (None, row.machine)]
    found = [row for row in able if row.hash.startswith(asked) or row.version == asked]
    if len(found) == 1:
        return found[0].hash
    listed = ", ".join(f"{row.machine} {row.version or '-'} {short_hash(row.hash)}" for row in (found or able))
    if found:
        raise UsageError(f"--version {asked} fits {len(found)} definitions; write more of the hash, or name the --machine: {listed}")
    raise UsageError(f"--version {asked} fits no stored definition; there are: {listed or 'none'}")


def _state(path: str, machine: str | None, known: Sequence[DefinitionRow]) -> tuple[str | None, str]:
    """The machine and the path below it; the path may begin with the machine, as in a receipt."""
    path = path.removeprefix("#")
    for name in {row.machine for row in known} if machine is None else {machine}:
        if path.startswith(f"{name}."):
            return name, path[len(name) + 1 :]
    return machine, path
