"""Short ways to write SCXML in tests."""

from __future__ import annotations

from statecharts import DefinitionError
from statecharts.adapters.formats.scxml import ScxmlText, read_document
from statecharts.errors import Problem

NAMESPACE = "http://www.w3.org/2005/07/scxml"


def document(inside: str, attributes: str = 'version="1.0"') -> str:
    """A document with ``inside`` as it is."""
    return f'<scxml xmlns="{NAMESPACE}" {attributes}>{inside}</scxml>'


def state(inside: str, attributes: str = 'id="s"') -> str:
    """A document with one state and a second one to go to."""
    return document(f'<state {attributes}>{inside}</state><state id="other"/>')


def entry(inside: str) -> str:
    """A document whose state has ``inside`` as executable content."""
    return state(f"<onentry>{inside}</onentry>")


def read(text: str, **options: object) -> ScxmlText:
    """Read a text that has no problem at all."""
    found = read_document(text, **options)  # type: ignore[arg-type]
    assert found.warnings == ()
    return found


def problems(text: str, **options: object) -> list[Problem]:
    """What is wrong with a text, warnings included."""
    try:
        return list(read_document(text, **options).warnings)  # type: ignore[arg-type]
    except DefinitionError as error:
        return list(error.problems)


def codes(text: str, **options: object) -> list[str]:
    """The codes of what is wrong with a text."""
    return [problem.code for problem in problems(text, **options)]
