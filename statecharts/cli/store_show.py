"""``statecharts store show``: one instance on one page."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.console import Group, RenderableType
from rich.text import Text

from ..durability.rows import InboxRow
from ..runtime import Runtime
from .readable import readable
from .store_json import parsed, reason_of
from .store_options import Target, store_options
from .store_page import Operation, Page, page_of
from .store_session import in_store
from .store_times import ago, ahead, local
from .store_views import effect_block, short_hash, short_states, show_rows, status_text
from .terminal import make_console, one_line, styled, write_json
from .views import Views, event_name, lines


@click.command("show", short_help="Everything about one instance.")
@click.argument("instance")
@store_options
def show_instance(target: Target, instance: str) -> int:
    """Show INSTANCE on one page: where it is, what is open, what may be done.

    With its machine in --app also the events it would take now.
    """

    async def body(runtime: Runtime) -> int:
        page = await page_of(runtime, instance)
        if target.as_json:
            write_json(page.to_json(), indent=2)
        else:
            console = make_console()
            show_rows(_rows(page, Views(console)), console)
        return 0

    return in_store(target, body, uses_app=True)


def _rows(page: Page, views: Views) -> Iterator[tuple[str, RenderableType]]:
    row, now = page.row, page.now
    version = page.definition.version if page.definition is not None else None
    yield "instance", styled(one_line(row.id), "bold") + Text(f" in namespace {one_line(row.namespace)}", style="dim")
    yield "machine", styled(one_line(" ".join(filter(None, (row.machine, version)))) + f", definition {short_hash(row.definition)}")
    yield "status", _status(page)
    yield "states", styled(short_states(row.configuration, row.machine), "bold")
    yield "entered", styled(ago(row.entered_at, now))
    yield "version", styled(f"{row.version}, log ends with {short_hash(row.head)}")
    if row.parent is not None:
        yield "parent", styled(one_line(row.parent))
    yield "last event", styled(f"{one_line(event_name(row.last_event or 'none'))}; changed {ago(row.updated_at, now)}")
    if row.last_error is not None:
        yield "last error", styled(one_line(row.last_error), "red")
    if row.output is not None:
        yield "output", styled(readable(parsed(row.output)))
    yield "inbox", Text(f"{row.pending} waiting" if row.pending else "empty")
    yield "effects", _below(effect_block(effect, now) for effect in page.effects)
    yield "timers", lines(f"{event_name(one.event_type)} at {ahead(one.due_at, now)}" for one in page.timers) if page.timers else _none()
    if page.letters:
        yield "dead letters", _below(map(_letter, page.letters))
    yield "events", styled(page.unknown, "dim") if page.options is None and page.unknown else views.events(page.options or ())
    operations = list(page.operations())
    yield "operator", lines(map(_said, operations)) if operations else _none()


def _status(page: Page) -> Text:
    text = status_text(page.row.status)
    if page.row.is_suspended:
        text.append(", ").append_text(styled("suspended", "bold yellow"))
    if page.row.needs_attention:
        text.append(", ").append_text(styled("needs attention", "bold red"))
    return text


def _letter(letter: InboxRow) -> Text:
    text = styled(one_line(letter.event_id), "bold") + styled(f"  {local(letter.received_at)}", "dim")
    return text.append("\n  ").append_text(styled(one_line(reason_of(letter)), "red"))


def _below(blocks: Iterator[Text]) -> RenderableType:
    found = list(blocks)
    return Group(*found) if found else _none()


def _none() -> Text:
    return Text("none", style="dim")


def _said(operation: Operation) -> str:
    """As it is typed, but for actor and reason."""
    if operation.event_id is not None:
        command, _, flag = operation.action.partition(" ")
        return f"{command} {operation.instance} {operation.event_id} {flag}"
    return f"{operation.action} {operation.effect or operation.instance}"
