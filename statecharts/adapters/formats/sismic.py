"""Sismic statecharts: YAML in, an XState document out, with what it does not keep.

A sismic file (``pip install 'statecharts[sismic]'``, read by sismic 1.6) is a
tree of states with Python in it. :func:`read_definition` writes the tree as
an XState v5 document. The Python is not touched unless the file is trusted:
each guard and action becomes a name to bind. Of a trusted file the same
names are bound to its own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from statecharts.definition import Definition, build_definition
from statecharts.errors import DefinitionError, Problem
from statecharts.implementations import Implementations

from .sismic_binding import bind
from .sismic_chart import Chart
from .sismic_checks import check_structure
from .sismic_codes import SismicCode
from .sismic_differences import Differences
from .sismic_names import CodePiece
from .sismic_python import PythonCode
from .sismic_reader import ChartReader
from .sismic_text import YamlText, read_yaml
from .sismic_writing import Writing, checked_problems, write_document

__all__ = ["CodePiece", "SismicCode", "SismicImport", "read_definition"]


@dataclass(frozen=True, slots=True)
class SismicImport:
    """What a sismic file became.

    ``document`` is an XState v5 document and ``definition`` the same, built.
    ``implementations`` holds the file's own code, if it is trusted.
    ``differences`` are the places where sismic would behave in another way;
    ``warnings`` are harmless. ``code`` lists the Python behind each name.
    ``chart``, ``text`` and ``python`` (trusted) are for
    :mod:`~statecharts.adapters.formats.sismic_contracts`.
    """

    document: Mapping[str, Any]
    definition: Definition
    implementations: Implementations
    differences: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    code: tuple[CodePiece, ...]
    chart: Chart
    text: YamlText
    python: PythonCode | None = None

    @property
    def trusted(self) -> bool:
        """Whether the file's own code runs."""
        return self.python is not None


def read_definition(
    text: str, *, file: str | None = None, trusted: bool = False, strict: bool = True
) -> SismicImport:
    """The sismic statechart in ``text``, which is YAML.

    ``trusted`` binds the file's own Python, which then runs in this process.
    ``strict`` refuses what the strict reading of XState documents refuses,
    and a trusted file whose code asks for the time (the core has no clock) or
    computes names of states; otherwise that code stays unbound.

    Raises :class:`DefinitionError` with every problem, each with its line,
    and :class:`UsageError` when sismic is not installed.
    """
    source = read_yaml(text, file)
    reader = ChartReader(source)
    chart = reader.read()
    problems = check_structure(chart, source)
    if problems:
        raise DefinitionError([*problems, *reader.problems], chart.name)
    _ask_sismic(text, source, chart)
    writing = write_document(chart)
    definition, found = _checked(writing, source, strict)
    implementations, python = bind(writing, source, trusted=trusted, strict=strict)
    differences = Differences(chart, source, writing.guards).find(trusted=trusted)
    return SismicImport(
        writing.document,
        definition,
        implementations,
        tuple(differences),
        (*reader.problems, *found),
        tuple(sorted(writing.names.pieces.values(), key=lambda piece: piece.line or 0)),
        chart,
        source,
        python,
    )


def _ask_sismic(text: str, source: YamlText, chart: Chart) -> None:
    """Sismic's own reader has the last word."""
    from sismic.exceptions import StatechartError
    from sismic.io import import_from_yaml

    try:
        import_from_yaml(text.removeprefix("\ufeff"))
    except StatechartError as error:
        reason = str(error.__cause__ or error)
        problem = source.problem(SismicCode.SISMIC_REFUSED, (), f"Sismic refuses the chart: {reason}")
        raise DefinitionError([problem], chart.name) from error


def _checked(writing: Writing, source: YamlText, strict: bool) -> tuple[Definition, list[Problem]]:
    found = checked_problems(writing, source) if strict else []
    errors = [problem for problem in found if problem.severity == "error"]
    if errors:
        raise DefinitionError([*errors, *(p for p in found if p.severity != "error")], writing.chart.name)
    return build_definition(writing.document), found
