"""``statecharts validate``: every problem of every file, with its place."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import click

from ..errors import DefinitionError, Problem, UsageError
from ..sources import format_of, scxml_environment, scxml_machine, sismic_machine, xstate_machine
from .files import STDIN, machine_files, read_text, shown_name
from .loading import resolver_for
from .problem_lines import counted, in_order, problem_json, problem_line
from .terminal import make_console, say_error, styled, write_json

_MACHINE_KEYS = ("states", "initial", "entry", "on", "always", "invoke")


@dataclass
class _Outcome:
    """What was found in all files."""

    problems: list[Problem] = field(default_factory=list)
    checked: int = 0
    skipped: int = 0
    unreadable: int = 0

    def count(self, severity: str) -> int:
        return sum(problem.severity == severity for problem in self.problems)


@click.command(
    short_help="List everything that is wrong with machine files.",
    epilog="A folder stands for every machine below it (.json, .scxml, .yaml). `-` is standard input.",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the problems as one JSON array.")
@click.option("--loose", is_flag=True, help="Report only what XState itself would not accept.")
@click.option("--warnings-as-errors", is_flag=True, help="Exit with 1 when there are only warnings.")
def validate(files: tuple[str, ...], as_json: bool, loose: bool, warnings_as_errors: bool) -> int:
    """Check machine files (XState JSON, SCXML, sismic YAML) and list everything that is wrong with them."""
    outcome = _Outcome()
    for name in files:
        _check_argument(name, outcome, strict=not loose)
    if as_json:
        write_json([problem_json(problem) for problem in outcome.problems], indent=2)
    else:
        _print(outcome)
    if outcome.unreadable:
        return 2
    bad = outcome.count("error") + (outcome.count("warning") if warnings_as_errors else 0)
    return 1 if bad else 0


def _check_argument(name: str, outcome: _Outcome, *, strict: bool) -> None:
    is_folder = name != STDIN and os.path.isdir(name)
    found = False
    for file in machine_files(name) if is_folder else iter((name,)):
        try:
            text = read_text(file)
        except UsageError as error:
            outcome.unreadable += 1
            say_error(str(error))
            continue
        if is_folder and not _may_be_machine(file, text):
            outcome.skipped += 1
            continue
        found = True
        outcome.checked += 1
        outcome.problems.extend(problems_of(text, shown_name(file), strict=strict))
    if is_folder and not found:
        outcome.unreadable += 1
        say_error(f"{name}: no machine in this folder")


def _may_be_machine(file: str, text: str) -> bool:
    """False for JSON or YAML that is clearly something else, such as a package.json or a scenario."""
    if file.lower().endswith(".scxml"):
        return True
    if not file.lower().endswith(".json"):
        return any(line.startswith("statechart:") for line in text.splitlines())
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return isinstance(document, dict) and any(key in document for key in _MACHINE_KEYS)


def problems_of(text: str, file: str, *, strict: bool = True) -> list[Problem]:
    """Every problem of one document, from top to bottom."""
    try:
        warnings = _read(text, file, strict)
    except DefinitionError as error:
        return in_order(error.problems)
    except RecursionError:
        return [Problem("too-deep", "", "States or values nest too deeply.", file=file)]
    return in_order(warnings)


def _read(text: str, file: str, strict: bool) -> tuple[Problem, ...]:
    kind = format_of(text, None if file == shown_name(STDIN) else file)
    if kind == "scxml":
        environment = scxml_environment(resolver_for(file), None, None, strict)
        return scxml_machine(text, file, None, environment, strict=strict)[1]
    if kind == "sismic":
        return sismic_machine(text, file, None, strict=strict, trusted=False)[1]
    return xstate_machine(text, file, None, strict=strict, semantics=None)[1]


def _print(outcome: _Outcome) -> None:
    console = make_console()
    for problem in outcome.problems:
        style = "red" if problem.severity == "error" else "yellow"
        console.print(styled(problem_line(problem), style), soft_wrap=True)
        if problem.hint:
            console.print(styled(f"    {problem.hint}", "dim"), soft_wrap=True)
    console.print(", ".join(_summary(outcome)), style="bold", soft_wrap=True)


def _summary(outcome: _Outcome) -> Iterator[str]:
    errors, warnings = outcome.count("error"), outcome.count("warning")
    found = [counted(errors, "error")] * bool(errors) + [counted(warnings, "warning")] * bool(warnings)
    yield f"{counted(outcome.checked, 'file')} checked: {' and '.join(found) or 'no problems'}"
    if outcome.skipped:
        yield f"{counted(outcome.skipped, 'other file')} skipped"
    if outcome.unreadable:
        yield f"{outcome.unreadable} could not be read"
