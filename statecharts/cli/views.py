"""Steps as pictures of text: trees, diffs and tables for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ..interpreter.deliveries import Timer
from ..interpreter.snapshot import EventOption, Snapshot
from ..nodes import StateNode
from ..values import UNDEFINED
from .changes import Change
from .durations import clock_time, span
from .readable import readable
from .step_report import StepReport, Waiting
from .terminal import clean, is_unicode, one_line, styled

VALUE_WIDTH = 60
SHOWN_CHANGES = 12
STATUS_STYLE = {"active": "", "done": "bold green", "error": "bold red", "stopped": "yellow"}
_ASCII = {
    "●": "*",
    "○": "o",
    "→": "->",
    "∥": "||",
    "…": "...",
    "✗": "x",
    "✓": "+",
    "⏎": "\\n",
    "▸": ">",
    "·": "-",
}


class Views:
    """Renderables for one console, with plain characters where it cannot show others."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._is_unicode = is_unicode(console)

    def glyph(self, char: str) -> str:
        """``char``, or what stands for it in ASCII."""
        return char if self._is_unicode else _ASCII.get(char, char)

    # ------------------------------------------------------------ one step

    def step(self, report: StepReport) -> RenderableType:
        """A whole step: title, states, and one line for each thing there is to say."""
        parts: list[RenderableType] = [self.title(report)]
        if report.refusal is not None:
            parts.append(self.refusal(report))
        if report.note is not None:
            parts.append(styled(report.note, "yellow"))
        if isinstance(report.snapshot, Snapshot):
            parts.append(self.tree(report.snapshot))
        table = rows_table()
        for label, value in self.rows(report):
            table.add_row(Text(label, style="dim"), value)
        parts.append(table)
        return Group(*parts)

    def title(self, report: StepReport) -> Rule:
        """The rule above a step: number, what was done, when."""
        what = one_line(str(report.doing)) if report.doing is not None else report.label
        title = Text(f"{report.number}  ", style="dim") + Text(
            self.short(what, self.console.width - 24), style="bold"
        )
        title.append(f"  {clock_time(report.time)}", style="cyan")
        return Rule(title, align="left", characters="─" if self._is_unicode else "-", style="dim")

    def refusal(self, report: StepReport) -> Text:
        """Why the event changed nothing."""
        assert report.refusal is not None
        return styled(f"{self.glyph('✗')} refused: {one_line(report.refusal.reason)}", "bold yellow")

    def rows(self, report: StepReport) -> Iterator[tuple[str, RenderableType]]:
        """What there is to say besides the states, one labelled row each."""
        snapshot = report.snapshot
        yield "status", styled(snapshot.status, STATUS_STYLE.get(snapshot.status, ""))
        if report.error is not None:
            yield "error", styled(one_line(report.error), "red")
        if snapshot.output is not UNDEFINED:
            yield "output", self.value(snapshot.output)
        if report.changes:
            yield "context", self.changes(report.changes)
        if report.fired:
            yield "fired", lines(f"{timer_name(f.timer)} at {clock_time(f.time)}" for f in report.fired)
        if report.performed:
            yield "actions", lines(self._performed(report))
        if report.logged:
            yield "logged", lines(self._logged(report))
        if report.emitted:
            yield "emitted", lines(self.short(readable(event)) for event in report.emitted)
        if report.ended:
            yield "ended", lines(waiting.id for waiting in report.ended)
        yield from self.present(report)

    def present(self, report: StepReport) -> Iterator[tuple[str, RenderableType]]:
        """What can happen next: waiting actors, pending timers, events."""
        if report.waiting:
            yield "waiting", self.waiting(report.waiting)
        if report.timers:
            yield "timers", self.timers(report.timers, report.time)
        yield "events", self.events(report.options)

    def _performed(self, report: StepReport) -> Iterator[str]:
        for performed in report.performed:
            params = "" if performed.params is UNDEFINED else f" {self.short(readable(performed.params))}"
            yield f"{performed.type}{params}{' (stubbed)' if performed.stubbed else ''}"

    def _logged(self, report: StepReport) -> Iterator[str]:
        for label, value in report.logged:
            start = "" if label is UNDEFINED or label is None else f"{label}: "
            yield start + (value if isinstance(value, str) else self.short(readable(value)))

    # --------------------------------------------------------------- parts

    def tree(self, snapshot: Snapshot[Any], *, whole: bool = False) -> Tree:
        """The active states; with ``whole`` all states, the active ones marked."""
        active = set(snapshot.nodes)
        root = snapshot._program.definition.root
        top = Tree(self._node(root, active), guide_style="dim")
        self._grow(top, root, active, whole)
        return top

    def _grow(self, tree: Tree, node: StateNode, active: set[StateNode], whole: bool) -> None:
        for child in node.children.values():
            if child in active or whole:
                self._grow(tree.add(self._node(child, active)), child, active, whole)

    def _node(self, node: StateNode, active: set[StateNode]) -> Text:
        marks = {
            "parallel": f" {self.glyph('∥')}",
            "final": " (final)",
            "history": f" ({node.history} history)",
        }
        name = one_line(node.key if node.parent is not None else node.id)
        mark = marks.get(node.type, "")
        if node not in active:
            return Text(name + mark, style="dim")
        if node.is_leaf:
            return Text(f"{self.glyph('●')} {name}", style="bold green") + Text(mark, style="dim")
        return Text(name, style="green") + Text(mark, style="dim")

    def changes(self, changes: list[Change]) -> Text:
        """Old → new for each place of the context that differs."""
        shown = changes if len(changes) <= SHOWN_CHANGES else changes[: SHOWN_CHANGES - 1]
        text = Text("\n").join(self.change(change) for change in shown)
        if len(shown) < len(changes):
            text.append(
                f"\n{self.glyph('…')} and {len(changes) - len(shown)} more (:context shows all)", style="dim"
            )
        return text

    def change(self, change: Change) -> Text:
        """One place; a new or vanished member says so."""
        text = Text(one_line(change.pointer or "(all)"))
        if change.old is UNDEFINED:
            return text.append(" = ", style="dim") + self.value(change.new, "green")
        text = text.append("  ") + self.value(change.old, "red") + Text(f" {self.glyph('→')} ", style="dim")
        return text + (
            Text("(gone)", style="dim") if change.new is UNDEFINED else self.value(change.new, "green")
        )

    def waiting(self, waiting: list[Waiting]) -> Text:
        """Outside actors that run now: id, source, kind, input."""
        return lines(self.actor(one) for one in waiting)

    def actor(self, waiting: Waiting) -> str:
        """One actor on one line."""
        source = waiting.src if isinstance(waiting.src, str) and waiting.src != waiting.id else ""
        about = " ".join(part for part in (source, "" if waiting.kind == "promise" else waiting.kind) if part)
        given = (
            ""
            if waiting.input is UNDEFINED
            else f"  input {self.short(readable(waiting.input), 2 * VALUE_WIDTH)}"
        )
        return f"{waiting.id}{f' ({about})' if about else ''}{given}"

    def timers(self, timers: list[Timer], now: float) -> Text:
        """Pending timers by due time."""
        return lines(
            f"{timer_name(t)} at {clock_time(t.due)} (in {span(max(0, t.due - now))})" for t in timers
        )

    def events(self, options: tuple[EventOption, ...]) -> RenderableType:
        """Enabled events in a row; below them the others, each with the reason."""
        enabled = "  ".join(one_line(option.type) for option in options if option.enabled)
        text = Text(enabled, style="bold")
        for option in options:
            if option.enabled:
                continue
            text.append("\n" if text.plain else "")
            text.append(one_line(option.type), style="dim")
            text.append(f"  {self.reason(option)}", style="yellow" if option.enabled is None else "dim")
        return text if text.plain else Text("none", style="dim")

    def reason(self, option: EventOption) -> str:
        """Why an event is not enabled, on one line."""
        reason = (option.reason or "").splitlines()
        if option.enabled is None:
            return f"? {one_line(' '.join(reason))}"
        asked = " when it carries nothing" if option.refused_by else ""
        return f"{self.glyph('✗')} {one_line(' '.join(reason))}{asked}"

    def value(self, value: Any, style: str = "") -> Text:
        """A JSON value, cut to a readable length."""
        return Text(self.short(clean(readable(value))), style=style)

    def short(self, text: str, limit: int = VALUE_WIDTH) -> str:
        """``text`` cut to ``limit`` cells."""
        cut = Text(one_line(text))
        if cut.cell_len <= limit:
            return cut.plain
        mark = self.glyph("…")
        cut.truncate(max(1, limit - len(mark)))
        return cut.plain + mark


def rows_table() -> Table:
    """A table without lines: labels on the left, values on the right."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def lines(texts: Any) -> Text:
    """Texts below one another."""
    return Text("\n".join(one_line(text) for text in texts))


def timer_name(timer: Timer) -> str:
    """The delay of an ``after`` with its state, or the event that is sent."""
    return event_name(str(timer.event["type"]))


def event_name(kind: str) -> str:
    """The type of an event; of one that an ``after`` sends, the delay and the state."""
    if kind.startswith("xstate.after."):
        delay, _, state = kind.removeprefix("xstate.after.").partition(".")
        shown = f"{delay} ms" if delay.isdigit() else delay
        return f"after {shown} in {state}"
    return kind
