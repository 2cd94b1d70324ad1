"""How a day looks: one block per step, with the time on the left, and a table of outcomes at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..values import UNDEFINED
from .changes import Change
from .day import Day, Played
from .doings import ADVANCE, REJECT, RESOLVE, SEND
from .durations import clock_time, span
from .expectations import Mismatch
from .problem_lines import counted
from .readable import members, readable
from .step_report import StepReport, Waiting
from .terminal import is_unicode, one_line, show, styled
from .views import Views, timer_name

TIME_WIDTH = 11
LABEL_WIDTH = 9


class DayView:
    """Prints a day on a console."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.views = Views(console)
        self._before: dict[str, str] = {}

    def opening(self, day: Day) -> None:
        """What is going to be played."""
        self._rule(day.name, "=" if not is_unicode(self.console) else "━", "bold")
        words = Text(f"{day.description} ") if day.description else Text("")
        words.append(f"Machine: {one_line(day.machine.id)}", style="dim")
        if day.machine.version:
            words.append(f" {one_line(day.machine.version)}", style="dim")
        show(self.console, words)

    def ticket(self, name: str) -> None:
        """The heading of one ticket."""
        self.console.print()
        self._rule(name, "-" if not is_unicode(self.console) else "─", "bold")
        self._before = {}

    def _rule(self, title: str, line: str, style: str) -> None:
        from rich.rule import Rule

        show(self.console, Rule(styled(one_line(title), style), align="left", characters=line, style="cyan"))

    # ---------------------------------------------------------------- steps

    def step(self, say: str | None, report: StepReport, wrong: list[Mismatch]) -> None:
        """One step: the caption, what was done, and what came of it."""
        block = Table.grid(padding=(0, 1, 0, 0))
        block.add_column(width=TIME_WIDTH, no_wrap=True)
        block.add_column(width=LABEL_WIDTH, no_wrap=True)
        block.add_column(overflow="fold")
        time = Text(clock_time(report.time), style="cyan")
        above = ""
        for index, (label, value) in enumerate(self._rows(report, wrong)):
            block.add_row(time if index == 0 else "", "" if label.plain == above else label, value)
            above = label.plain
        self.console.print()
        if say:
            show(self.console, Text(" " * (TIME_WIDTH + 1)) + styled(say, "italic"))
        show(self.console, block)

    def _rows(self, report: StepReport, wrong: list[Mismatch]) -> Iterator[tuple[Text, Text]]:
        yield self._done(report)
        if report.refusal is not None:
            mark = self.views.glyph("✗")
            yield Text(f"{mark} refused", style="bold yellow"), styled(_why(report), "yellow")
        yield Text("states", style="dim"), self._states(report)
        yield from self._consequences(report)
        if report.snapshot.status != "active" and report.refusal is None:
            style = "bold green" if report.snapshot.status == "done" else "bold red"
            yield Text("ended", style="dim"), self._ending(report, style)
        for mismatch in wrong:
            shown = f"{mismatch.what}: expected {_json(mismatch.expected)}, not {_json(mismatch.actual)}"
            yield Text("WRONG", style="bold red"), styled(shown, "bold red")

    def _done(self, report: StepReport) -> tuple[Text, Text]:
        doing = report.doing
        assert doing is not None
        if doing.verb == SEND:
            event = Text(one_line(doing.value["type"]), style="bold")
            for key, value in doing.value.items():
                if key != "type":
                    event.append(f"  {one_line(key)} ", style="dim not bold")
                    event.append(self.views.short(readable(value)), style="not bold")
            return Text("event", style="bold"), event
        if doing.verb == ADVANCE:
            return Text("time", style="bold"), Text(f"{span(doing.value)} pass")
        words = {RESOLVE: "answers", REJECT: "fails"}.get(doing.verb, doing.verb)
        said = Text(f"{doing.actor} {words}", style="bold")
        if doing.value is not UNDEFINED:
            said.append(f"  {self.views.short(readable(doing.value))}", style="not bold")
        return Text("actor", style="bold"), said

    def _states(self, report: StepReport) -> Text:
        """Every region with its state, and where it came from."""
        arrow = self.views.glyph("→")
        now = _regions(report.states)
        text = Text()
        for region, state in now.items():
            text.append("    " if text.plain else "")
            if region:
                text.append(f"{one_line(region)} ", style="dim")
            before = self._before.get(region)
            if before not in (None, state):
                text.append(f"{one_line(str(before))} {arrow} ", style="dim")
            elif before is None and self._before and not region:
                text.append(f"{', '.join(self._before.values())} {arrow} ", style="dim")
            text.append(one_line(state), style="bold green" if before != state else "green")
        self._before = now
        return text

    def _consequences(self, report: StepReport) -> Iterator[tuple[Text, Text]]:
        arrow = self.views.glyph("→")
        for fired in report.fired:
            yield (
                _label("timer"),
                Text(f"{_timer(fired.timer)} went off at {clock_time(fired.time)}", style="magenta"),
            )
        for timer in report.disarmed:
            yield _label("timer"), Text(f"{_timer(timer)} is cancelled", style="magenta")
        ended = [one.id for one in report.ended]
        if ended:
            yield _label("stopped"), Text(", ".join(map(one_line, ended)))
        for waiting in report.started:
            yield _label("started"), self._started(waiting)
        for timer in report.armed:
            yield _label("timer"), Text(f"{_timer(timer)} is due in {span(timer.delay)}", style="magenta")
        for performed in report.performed:
            yield _label("action"), Text(one_line(performed.type))
        for change in report.changes:
            yield _label("context"), self._change(change, arrow)

    def _started(self, waiting: Waiting) -> Text:
        text = Text().append(one_line(waiting.id), style="bold blue")
        if isinstance(waiting.src, str):
            text.append(f" {one_line(waiting.src)}", style="blue")
        if waiting.input is not UNDEFINED:
            text.append(f"  {one_line(members(waiting.input))}", style="dim")
        return text

    def _change(self, change: Change, arrow: str) -> Text:
        text = Text(one_line(change.pointer.removeprefix("/")))
        text.append(f"  {_json(change.old)} {arrow} ", style="dim")
        return text.append(self.views.short(_json(change.new)))

    def _ending(self, report: StepReport, style: str) -> Text:
        text = Text(f"the machine is {report.snapshot.status}", style=style)
        if report.error:
            text.append(f": {one_line(report.error)}")
        return text

    # ------------------------------------------------------------- outcomes

    def outcomes(self, played: list[Played]) -> None:
        """The table at the end."""
        from rich import box

        self.console.print()
        self._rule("how it ended", "=" if not is_unicode(self.console) else "━", "bold")
        table = Table(box=box.SIMPLE_HEAD if is_unicode(self.console) else box.ASCII2, pad_edge=False)
        table.add_column("ticket", overflow="fold")
        table.add_column("outcome")
        table.add_column("reason")
        table.add_column("attempts", justify="right")
        table.add_column("steps", justify="right")
        table.add_column("refused", justify="right")
        table.add_column("took", justify="right")
        for one in played:
            table.add_row(*self._outcome(one))
        show(self.console, table)
        steps = sum(len(one.steps) for one in played)
        refused = sum(one.refusals for one in played)
        good = all(one.is_as_expected for one in played)
        verdict = "everything as expected" if good else "NOT as expected"
        style = "bold green" if good else "bold red"
        show(
            self.console,
            Text(
                f"{counted(len(played), 'ticket')}, {counted(steps, 'step')}, {refused} refused: {verdict}",
                style=style,
            ),
        )

    def _outcome(self, one: Played) -> list[Text]:
        simulation = one.session.simulation
        output = simulation.snapshot.output
        found: dict[str, Any] = dict(output) if isinstance(output, dict) else {}
        outcome = str(found.get("outcome", simulation.snapshot.status))
        style = "red" if not one.is_as_expected else "green" if outcome == "sent" else "yellow"
        context = simulation.snapshot.context
        attempts = context.get("attempt", "") if isinstance(context, dict) else ""
        return [
            styled((one.ticket.name or "").partition(":")[0]),
            styled(outcome if one.is_as_expected else f"{outcome} (not as expected)", style),
            styled(str(found.get("reason") or "")),
            Text(str(attempts)),
            Text(str(len(one.steps))),
            Text(str(one.refusals or "")),
            Text(span(simulation.now)),
        ]


def _label(text: str) -> Text:
    return Text(text, style="dim")


def _why(report: StepReport) -> str:
    assert report.refusal is not None
    if report.refusal.guards:
        return one_line(report.refusal.reason)
    if report.snapshot.status != "active":
        return f"the machine is {report.snapshot.status}"
    return "no transition for it in this state"


def _json(value: Any) -> str:
    return "(nothing)" if value is UNDEFINED else one_line(readable(value))


def _timer(timer: Any) -> str:
    return timer_name(timer).removeprefix("after ").partition(" in ")[0]


def _regions(states: list[str]) -> dict[str, str]:
    """Region → state: ``running.answer.drafting`` is ``drafting`` in region ``answer``; alone it is itself."""
    if len(states) == 1:
        return {"": states[0]}
    found = {}
    for path in states:
        parts = path.rsplit(".", 2)
        found[parts[-2] if len(parts) > 1 else path] = parts[-1]
    return found
