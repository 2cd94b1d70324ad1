"""Where a run is shown: as text for people, or as one JSON line per step for programs."""

from __future__ import annotations

from typing import Any, Protocol

from rich.console import Console, RenderableType
from rich.text import Text

from ..errors import MissingName
from ..machine import Machine
from ..values import UNDEFINED, plain
from .expectations import Mismatch
from .readable import readable
from .step_report import StepReport, option_json, timer_json
from .terminal import make_console, say_error, show, styled, write_json
from .views import Views, lines, rows_table


class Output(Protocol):
    """What the prompt and the script runner say."""

    def welcome(self, machine: Machine[Any, Any], missing: list[MissingName], hint: str | None) -> None: ...
    def echo(self, line: str) -> None: ...
    def caption(self, text: str) -> None: ...
    def step(self, report: StepReport) -> None: ...
    def query(self, what: str, report: StepReport) -> None: ...
    def failed(self, place: str, mismatches: list[Mismatch]) -> None: ...
    def say(self, text: str) -> None: ...
    def error(self, text: str) -> None: ...


class TextOutput:
    """For people."""

    def __init__(self, *, no_color: bool = False) -> None:
        self.console: Console = make_console(no_color=no_color)
        self.views = Views(self.console)

    def welcome(self, machine: Machine[Any, Any], missing: list[MissingName], hint: str | None) -> None:
        """Which machine this is and what stands in for names nobody bound."""
        version = f" {machine.version}" if machine.version else ""
        self._print(styled(f"{machine.id}{version}", "bold"))
        for line in stubbed_lines(missing):
            self._print(styled(line, "dim"))
        if hint is not None:
            self._print(styled(hint, "dim"))

    def echo(self, line: str) -> None:
        """A command that came from a pipe, so that a log can be read."""
        self._print(styled(f"> {line}", "bold"))

    def caption(self, text: str) -> None:
        """What a scenario or a step is called."""
        self._print(styled(text, "italic"))

    def step(self, report: StepReport) -> None:
        """What happened."""
        show(self.console, self.views.step(report))

    def query(self, what: str, report: StepReport) -> None:
        """One aspect of the present, at length."""
        show(self.console, self._aspect(what, report))

    def _aspect(self, what: str, report: StepReport) -> RenderableType:
        views, snapshot = self.views, report.snapshot
        if what == "state":
            if not report.states:
                return Text("no state")
            return views.tree(snapshot, whole=True)
        if what == "context":
            return styled(_pretty(snapshot.context))
        if what == "events":
            return views.events(report.options)
        if what == "timers":
            return views.timers(report.timers, report.time) if report.timers else Text("none")
        return children_view(views, report)

    def failed(self, place: str, mismatches: list[Mismatch]) -> None:
        """What a scenario expected and what was."""
        self._print(styled(f"{self.views.glyph('✗')} not as expected at {place}", "bold red"))
        table = rows_table()
        for mismatch in mismatches:
            table.add_row(Text(f"  {mismatch.what}"), Text("expected ", "dim") + _found(mismatch.expected))
            table.add_row(Text(""), Text("actual   ", "dim") + _found(mismatch.actual))
        show(self.console, table)

    def say(self, text: str) -> None:
        """A sentence."""
        self._print(styled(text))

    def error(self, text: str) -> None:
        """A sentence about something that did not work; on standard output, where the dialogue is."""
        self._print(styled(text, "red"))

    def _print(self, text: Text) -> None:
        self.console.print(text, soft_wrap=True)


class JsonOutput:
    """For programs: one object per line."""

    def welcome(self, machine: Machine[Any, Any], missing: list[MissingName], hint: str | None) -> None:
        """The machine and the names that are stubbed."""
        stubbed = [{"kind": one.kind, "name": one.name} for one in missing]
        write_json({"machine": machine.id, "version": machine.version, "stubbed": stubbed})

    def echo(self, line: str) -> None:
        """Nothing: the step says what was done."""

    def caption(self, text: str) -> None:
        """The name of a scenario, the caption of a step."""
        write_json({"say": text})

    def step(self, report: StepReport) -> None:
        """One step."""
        write_json(report.to_json())

    def query(self, what: str, report: StepReport) -> None:
        """One aspect of the present."""
        snapshot = report.snapshot
        aspects: dict[str, Any] = {
            "state": {
                "value": None if snapshot.value is UNDEFINED else plain(snapshot.value),
                "states": report.states,
            },
            "context": None if snapshot.context is UNDEFINED else plain(snapshot.context),
            "events": [option_json(option) for option in report.options],
            "timers": [timer_json(timer) for timer in report.timers],
            "children": [waiting.to_json() for waiting in report.waiting],
        }
        write_json({"step": report.number, what: aspects[what]})

    def failed(self, place: str, mismatches: list[Mismatch]) -> None:
        """What was expected and what was."""
        write_json({"place": place, "failed": [mismatch.to_json() for mismatch in mismatches]})

    def say(self, text: str) -> None:
        """Nothing: words are for people."""

    def error(self, text: str) -> None:
        """An error, also on standard error."""
        write_json({"error": text})
        say_error(text)


def stubbed_lines(missing: list[MissingName]) -> list[str]:
    """What stands in for unbound names, one line per kind."""
    said = {
        "guard": "guards asked for",
        "action": "actions recorded",
        "actor": "actors wait for you",
        "delay": "delays are 0 ms",
    }
    found = []
    for kind, words in said.items():
        names = [one.name for one in missing if one.kind == kind]
        if names:
            found.append(f"not bound, {words}: {', '.join(names)}")
    return found


def children_view(views: Views, report: StepReport) -> RenderableType:
    """Every child actor: what waits, and the states of child machines."""
    waiting = {one.id: one for one in report.waiting}
    found = [views.actor(one) for one in report.waiting]
    children = getattr(report.snapshot, "children", {})
    found += [f"{name} (running by itself)" for name in children if name not in waiting]
    return lines(found) if found else Text("none")


def _found(value: Any) -> Text:
    return Text("(nothing)", style="dim") if value is UNDEFINED else styled(readable(value))


def _pretty(value: Any) -> str:
    import json

    return "(none)" if value is UNDEFINED else json.dumps(plain(value), indent=2, ensure_ascii=False)
