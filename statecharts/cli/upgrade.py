"""``statecharts upgrade``: a version 4 document as version 5, and the list of what was changed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import click

from ..adapters.formats.positions import JsonText, read_json
from ..adapters.formats.upgrade import Upgrade, upgrade_document
from ..errors import DefinitionError, Problem
from .files import STDIN, read_text, shown_name, write_text
from .layout import Layout
from .problem_lines import counted, problem_json, problem_lines
from .terminal import clean, say_error, write_json
from .validate import problems_of


@dataclass(frozen=True)
class _Result:
    """An upgrade with its text. ``carried_over`` is false when something of the old machine is lost."""

    name: str
    old: JsonText
    upgrade: Upgrade
    text: str
    lost: list[Problem]
    wrong: list[Problem]

    @property
    def is_complete(self) -> bool:
        return not any(problem.severity == "error" for problem in (*self.lost, *self.wrong))

    @property
    def is_changed(self) -> bool:
        return bool(self.upgrade.changes)


@click.command(
    short_help="Rewrite an XState 4 machine as version 5.",
    epilog="The changes are listed on standard error, the document goes to standard output or OUT.",
)
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", metavar="OUT", help="Write the document to this file.")
@click.option("--in-place", is_flag=True, help="Replace FILE, if everything could be carried over.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if FILE would change.")
@click.option(
    "--json", "as_report", is_flag=True, help="Print a JSON report: changes, problems, the document."
)
@click.option("--v4", is_flag=True, help="FILE is version 4, even if nothing in it says so.")
def upgrade(file: str, output: str | None, in_place: bool, check: bool, as_report: bool, v4: bool) -> int:
    """Rewrite an XState 4 machine as version 5, with version 4's behaviour."""
    if sum((output is not None, in_place, check)) > 1:
        raise click.UsageError("choose one of --output, --in-place and --check")
    if in_place and file == STDIN:
        raise click.UsageError("--in-place needs a file; standard input has no place")
    result = _upgraded(file, 4 if v4 else None)
    if as_report:
        write_json(_report(result, with_document=output is None and not in_place and not check), indent=2)
    else:
        for line in _lines(result):
            say_error(line, prefix=False)
    _write(result, output, in_place, check or as_report)
    if not result.is_complete:
        return 1
    return 1 if check and result.is_changed else 0


def _upgraded(name: str, version: Any) -> _Result:
    text = read_text(name)
    shown = shown_name(name)
    old = read_json(text, shown)
    if old.problems:
        raise DefinitionError(old.problems)
    try:
        document = json.loads(text.removeprefix("\ufeff"))  # with every number as it was written
        if not isinstance(document, dict):
            problem = Problem("not-an-object", "", "a machine is a JSON object", file=shown, line=1)
            raise DefinitionError([problem])
        upgraded = upgrade_document(document, version=version)
        written = Layout.of(text).write(upgraded.document) if upgraded.changes else text
    except RecursionError:
        problem = Problem("too-deep", "", "States or values nest too deeply to be rewritten.", file=shown)
        raise DefinitionError([problem]) from None
    lost = [dataclasses.replace(p, file=shown, line=old.line_of(p.pointer)) for p in upgraded.problems]
    if version is None and not upgraded.changes:  # the only question left is which version this is
        lost = [dataclasses.replace(p, hint=f"{p.hint or ''} (--v4)".lstrip()) for p in lost]
    wrong = problems_of(written, "result" if upgraded.changes else shown)
    return _Result(name, old, upgraded, written, lost, wrong)


def _write(result: _Result, output: str | None, in_place: bool, silent: bool) -> None:
    if output is not None:
        write_text(output, result.text)
    elif in_place and result.is_changed:
        if result.is_complete:
            write_text(result.name, result.text)
        else:
            say_error(f"{result.name} was left as it is; use --output to get what could be done")
    elif not in_place and not silent:
        click.echo(result.text.encode("utf-8"), nl=False)  # UTF-8 whatever the terminal speaks


def _lines(result: _Result) -> Iterator[str]:
    shown = shown_name(result.name)
    for change in result.upgrade.changes:
        line = result.old.line_of(change.pointer)
        where = shown if line is None else f"{shown}:{line}"
        old, new = change.pointer or "(document)", change.new_pointer or "(document)"
        yield f"{where} {old} -> {new}: {change.what}" if old != new else f"{where} {old}: {change.what}"
        yield f"    {change.why}"
    yield from problem_lines(result.lost)
    yield from problem_lines(result.wrong)
    yield f"{shown}: {_summary(result)}"


def _summary(result: _Result) -> str:
    changes = counted(len(result.upgrade.changes), "change") if result.is_changed else "nothing to change"
    parts = [changes]
    errors = _count(result.lost, "error")
    if errors:
        parts.append(f"{errors} not carried over")
    reviews = _count(result.lost, "warning")
    if reviews:
        parts.append(f"{reviews} to look at")
    wrong = _count(result.wrong, "error")
    if wrong:
        parts.append(f"{counted(wrong, 'problem')} left in the document")
    return ", ".join(parts)


def _count(problems: Iterable[Problem], severity: str) -> int:
    return sum(problem.severity == severity for problem in problems)


def _report(result: _Result, *, with_document: bool) -> dict[str, Any]:
    report: dict[str, Any] = {
        "file": shown_name(result.name),
        "changed": result.is_changed,
        "complete": result.is_complete,
        "changes": [
            {
                "line": result.old.line_of(change.pointer),
                "pointer": change.pointer,
                "newPointer": change.new_pointer,
                "what": clean(change.what),
                "why": clean(change.why),
            }
            for change in result.upgrade.changes
        ],
        "problems": [problem_json(problem) for problem in result.lost],
        "result": [problem_json(problem) for problem in result.wrong],
    }
    if with_document:
        report["document"] = result.upgrade.document
    return report
