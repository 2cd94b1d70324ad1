"""How rows of a store look on a terminal: tables, and lists of labelled lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ..durability.effects import named, read_rules
from ..durability.receipts import DEAD, REFUSED, Receipt
from ..durability.rows import ACTION, FAILED, INVOKE, PENDING, UNKNOWN, EffectRow
from ..json_text import loads
from .store_times import ago, ahead
from .terminal import make_console, one_line, show, styled, write_json
from .views import lines, rows_table

HASH_WIDTH = 12
PROSE = ("states", "why", "error")
"""Columns that may be broken into lines."""
GAP = 2
PROSE_LEAST, PROSE_MOST = 24, 40
"""So wide they are at least; and if they hold a longer word, as wide as that, up to so wide."""
STATUS_STYLES = {"UNKNOWN": "bold red", "FAILED": "red", "RUNNING": "cyan", "DONE": "green", "error": "bold red", "done": "green"}


def show_rows(rows: Iterable[tuple[str, RenderableType]], console: Console | None = None) -> None:
    """Labels on the left, values on the right."""
    table = rows_table()
    for label, value in rows:
        table.add_row(Text(label, style="dim"), value)
    show(make_console() if console is None else console, table)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Text | str]]) -> None:
    """A table with headings and no lines. Ids and times stay in one piece, also where that makes lines too long."""
    cells = [[value if isinstance(value, Text) else styled(one_line(value)) for value in row] for row in rows]
    console = make_console()
    widths = _widths([[Text(name), *(row[index] for row in cells)] for index, name in enumerate(columns)], console.width)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for name, width in zip(columns, widths, strict=True):
        table.add_column(name, overflow="fold", width=width)
    for row in cells:
        table.add_row(*row)
    console.width = max(console.width, sum(widths) + GAP * len(widths))
    show(console, table)


def _widths(columns: Sequence[Sequence[Text]], room: int) -> list[int]:
    """What each column gets: all that it needs, but prose, whose columns share what is left of ``room``, the last first."""
    needs = [max(text.cell_len for text in column) for column in columns]
    is_prose = [column[0].plain in PROSE for column in columns]
    words = [max((Text(word).cell_len for text in column for word in text.plain.split()), default=0) for column in columns]
    widths = [min(need, max(PROSE_LEAST, min(word, PROSE_MOST))) if prose else need for need, word, prose in zip(needs, words, is_prose, strict=True)]
    left = room - sum(widths) - GAP * len(widths)
    for index in reversed(range(len(columns))):
        more = min(max(left, 0), needs[index] - widths[index]) if is_prose[index] else 0
        widths[index] += more
        left -= more
    return widths


def say(text: str, style: str = "") -> None:
    """A sentence on standard output."""
    make_console().print(styled(text, style), soft_wrap=True)


def short_states(text: str, machine: str) -> str:
    """The active leaves without the machine's id, which stands beside them."""
    return "  ".join(leaf.removeprefix(f"{machine}.") for leaf in loads(text)) or "none"


def short_hash(text: str) -> str:
    """The beginning of a hash: enough to tell definitions apart, and to name them by."""
    return text[:HASH_WIDTH]


def status_text(status: str) -> Text:
    """A status in its colour."""
    return styled(status, STATUS_STYLES.get(status, ""))


def effect_block(row: EffectRow, now: int) -> Text:
    """An effect on a few lines: what it is, how far it is, its key, what went wrong last."""
    text = status_text(row.status) + Text("  ") + styled(one_line(named(row.name)), "bold") + styled(f"  {row.id}", "dim")
    lines_below = [_progress(row, now), f"key {row.key}" + (f", external id {row.external_id}" if row.external_id else "")]
    for line in lines_below:
        text.append("\n  ").append_text(styled(one_line(line)))
    if row.error:
        text.append("\n  ").append_text(styled(one_line(row.error), "red" if row.status in (UNKNOWN, FAILED) else ""))
    return text


def attempts(row: EffectRow) -> str:
    """How often it was tried, of how many times; what the runtime does itself it tries as often as it takes."""
    most = read_rules(row.policy).attempts
    return f"{row.attempts} of {most}" if row.kind in (INVOKE, ACTION) else str(row.attempts)


def _progress(row: EffectRow, now: int) -> str:
    said = f"{row.kind}, attempt {attempts(row)}"
    if row.called_at is not None:
        said += f", called {ago(row.called_at, now)}"
    if row.status == PENDING and row.next_at > now:
        said += f", not before {ahead(row.next_at, now)}"
    return said + (", its state was left" if row.is_cancelled else "")


def show_receipt(receipt: Receipt, *, as_json: bool) -> int:
    """What a sender is told. The exit status: 1 when nothing will come of it."""
    first = receipt if receipt.first is None else receipt.first
    if as_json:
        write_json(receipt.to_json())
    else:
        show_rows(_receipt_rows(receipt))
    return 1 if REFUSED in (receipt.outcome, first.outcome) or DEAD in (receipt.outcome, first.outcome) else 0


def _receipt_rows(receipt: Receipt) -> Iterable[tuple[str, RenderableType]]:
    said = receipt.outcome if receipt.first is None else f"{receipt.outcome} (the first was {receipt.first.outcome})"
    is_bad = receipt.outcome in (REFUSED, DEAD)
    yield "outcome", styled(said, "bold yellow" if is_bad else "bold green")
    yield "instance", styled(one_line(receipt.instance))
    yield "event id", styled(one_line(receipt.event_id))
    if receipt.version is not None:
        yield "version", Text(str(receipt.version))
    if receipt.states:
        yield "states", lines(["  ".join(receipt.states)])
    if receipt.reason is not None:
        yield "reason", styled(one_line(receipt.reason), "yellow")
    if receipt.allowed:
        yield "allowed", styled("  ".join(map(one_line, receipt.allowed)))
