"""``statecharts convert``: a machine in another format."""

from __future__ import annotations

import dataclasses
import json

import click

from ..conversion import to_scxml
from ..errors import Problem
from ..values import thaw
from .files import shown_name, write_text
from .loading import load
from .problem_lines import counted, problem_lines
from .terminal import say_error, write_json, write_markup


@click.command(
    short_help="Write a machine in another format.",
    epilog="The result goes to standard output or OUT, warnings to standard error.",
)
@click.argument("file", metavar="FILE")
@click.option(
    "--to",
    "target",
    type=click.Choice(["json", "scxml"]),
    help="JSON (XState's, or the JSON form of SCXML), or SCXML text. By default the other one than FILE is.",
)
@click.option("-o", "--output", metavar="OUT", help="Write the result to this file.")
def convert(file: str, target: str | None, output: str | None) -> int:
    """Write a machine in another format.

    SCXML and sismic YAML become JSON. An XState machine becomes SCXML that other engines can run and that
    reads back as the same machine; what another engine would run differently is listed.
    """
    machine = load(file, None, loose=False, warn=say_error)
    if target is None:
        target = "scxml" if file.lower().endswith(".json") else "json"
    if target == "json":
        document = thaw(machine.document)
        if output is None:
            write_json(document, indent=2)
        else:
            write_text(output, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return 0
    export = to_scxml(machine)
    _warn(export.warnings, shown_name(file))
    if output is None:
        write_markup(export.text)
    else:
        write_text(output, export.text)
    return 0


def _warn(warnings: tuple[Problem, ...], file: str) -> None:
    located = [dataclasses.replace(warning, file=file) for warning in warnings]
    for line in problem_lines(located):
        say_error(line, prefix=False)
    if located:
        what = counted(len(located), "place")
        say_error(f"{what} that another SCXML engine would run differently", prefix=False)
