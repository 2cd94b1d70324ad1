"""``statecharts store log`` and ``verify``: what has happened, and whether that is true."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.text import Text

from ..durability.rows import LogRow
from ..durability.verification import ERASED, Report
from ..runtime import Runtime
from .problem_lines import counted
from .store_json import log_json, parsed
from .store_options import Target, limit_option, store_options
from .store_session import in_store
from .store_times import local
from .store_views import say, short_states, show_table
from .terminal import clean, make_console, write_json
from .views import Views, event_name


@click.command(short_help="What has happened to an instance.")
@click.argument("instance")
@click.option("--after", metavar="N", type=click.IntRange(min=0), default=0, help="Versions above this one.")
@limit_option(100)
@click.option("--payloads", is_flag=True, help="With what came, what was emitted, and the patch to the state.")
@store_options
def log(target: Target, instance: str, after: int, limit: int, payloads: bool) -> int:
    """List the versions of INSTANCE: what came, from whom, why, and where it led. With --json one object a line."""

    async def body(runtime: Runtime) -> int:
        row = await runtime.get(instance)
        found = await runtime.log(instance, after=after, limit=limit)
        if target.as_json:
            for one in found:
                write_json({**log_json(one), **({"payload": parsed(one.payload)} if payloads else {})})
            return 0
        _show(found, row.machine, payloads=payloads)
        if found and found[-1].version < row.version:
            say(f"more: --after {found[-1].version}")
        return 0

    return in_store(target, body)


def _show(rows: Sequence[LogRow], machine: str, *, payloads: bool) -> None:
    if not rows:
        say("no versions")
    elif payloads:
        for row in rows:
            _table([row], machine)
            say(f"    {clean(row.payload)}" if row.payload is not None else "    (erased)", "dim")
    else:
        _table(rows, machine)


def _table(rows: Sequence[LogRow], machine: str) -> None:
    views = Views(make_console())
    cells: list[list[Text | str]] = []
    for row in rows:
        before, after = short_states(row.before, machine), short_states(row.after, machine)
        way = after if before == after else f"{'' if row.version == 1 else before} {views.glyph('→')} {after}".strip()
        event = "" if row.event_type in (None, row.kind) else event_name(row.event_type or "")
        number = Text(str(row.version), style="bold")
        cells.append([number, local(row.at), row.kind, event, _who(row, views), row.reason or "", way])
    show_table(("version", "at", "kind", "event", "who", "why", "states"), cells)


def _who(row: LogRow, views: Views) -> str:
    """Whose doing it was; an effect without the incarnation in its id, which is the same in all of them."""
    who = row.actor or ""
    if not who.startswith("effect:"):
        return who
    return f"effect {views.glyph('…')}:{':'.join(who.split(':')[-2:])}"


@click.command(
    short_help="Whether the log of an instance is what happened.",
    epilog="Exit status 1 when something was found that should not be there; a payload that was erased is no fault.",
)
@click.argument("instance")
@click.option("--replay", is_flag=True, help="Apply every delivery again; needs the machine in --app.")
@click.option("--head", metavar="HASH", help="A hash that was kept elsewhere, which must be in the log.")
@store_options
def verify(target: Target, instance: str, replay: bool, head: str | None) -> int:
    """Check the log of INSTANCE: the chain of hashes, the patches, with --replay also that the machine leads there.

    The hash it ends with, kept elsewhere, proves later that nothing was cut off.
    """
    if replay and target.app is None:
        raise click.UsageError("--replay needs the machine's Python: --app module:object")

    async def body(runtime: Runtime) -> int:
        report = await runtime.verify(instance, replay=replay, head=head)
        if target.as_json:
            write_json(_report_json(report))
        else:
            _show_report(report, replay)
        return 0 if report.is_clean else 1

    return in_store(target, body, uses_app=replay)


def _report_json(report: Report) -> dict[str, object]:
    found = [{"version": one.version, "kind": one.kind, "message": one.message} for one in report.findings]
    return {
        "instance": report.instance,
        "clean": report.is_clean,
        "versions": report.versions,
        "replayed": report.replayed,
        "head": report.head,
        "findings": found,
    }


def _show_report(report: Report, replay: bool) -> None:
    for one in report.findings:
        where = f"version {one.version}" if one.version else "the instance"
        say(f"{where}: {one.kind}: {one.message}", "yellow" if one.kind == ERASED else "red")
    said = f"{counted(report.versions, 'version')} chained"
    if replay:
        said += f", {report.replayed} replayed"
    say(f"{said}: {'clean' if report.is_clean else 'NOT CLEAN'}", "bold green" if report.is_clean else "bold red")
    say(f"head {report.head}")
