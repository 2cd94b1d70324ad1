"""The document of a chart, and the strict reading's problems with it in terms of the file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from statecharts.errors import Problem
from statecharts.validation import check_document

from .sismic_actions import ActionReader
from .sismic_chart import Chart
from .sismic_code import shadowed_names
from .sismic_document import NO_CHECKS, Checks, DocumentWriter, machine_id
from .sismic_guards import GuardReader
from .sismic_names import NameBook
from .sismic_text import Path, YamlText, pointer_of


@dataclass(frozen=True, slots=True)
class Writing:
    """A written document with everything that went into it (see :class:`DocumentWriter`)."""

    chart: Chart
    document: dict[str, Any]
    names: NameBook
    guards: GuardReader
    places: dict[str, Path]
    timers: frozenset[str]


def write_document(chart: Chart, checks: Checks = NO_CHECKS, *, as_code: bool = False) -> Writing:
    """The XState document of ``chart``, with ``checks`` around its code.

    ``as_code``: every action runs as Python, even where it could be data.
    """
    names = NameBook()
    shadowed = shadowed_names(chart)
    guards = GuardReader(chart, names, shadowed, machine_id(chart))
    writer = DocumentWriter(chart, names, guards, ActionReader(names, shadowed, as_code), checks)
    document = writer.write()
    return Writing(chart, document, names, guards, writer.places, frozenset(writer.timers))


def checked_problems(writing: Writing, source: YamlText) -> list[Problem]:
    """What the strict reading says about the document, at the places of the file that it came from."""
    found = []
    for problem in check_document(writing.document, implementations_known=True):
        place = problem.pointer
        while place and place not in writing.places:
            place = place.rpartition("/")[0]
        path = writing.places.get(place, ())
        found.append(
            dataclasses.replace(
                problem, pointer=pointer_of(path), line=source.line_of(path), file=source.file
            )
        )
    return found
