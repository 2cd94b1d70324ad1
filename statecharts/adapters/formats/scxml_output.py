"""Putting XML text together: elements, attributes, indentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...errors import UsageError
from .scxml_xml import FORBIDDEN, escaped

Attributes = Mapping[str, str | None]


class XmlOutput:
    """Lines of an XML text with two spaces a level. An attribute that is ``None`` is left out."""

    def __init__(self) -> None:
        self._lines = ['<?xml version="1.0" encoding="UTF-8"?>']
        self._depth = 0

    def text(self) -> str:
        """The whole text, with a line end at its end."""
        return "\n".join(self._lines) + "\n"

    def empty(self, name: str, attributes: Attributes) -> None:
        """An element without content."""
        self._line(f"<{name}{_written(attributes)}/>")

    def holding(self, name: str, attributes: Attributes, source: str) -> None:
        """An element around ``source``, which is XML text already and is not indented."""
        self._line(f"<{name}{_written(attributes)}>{source}</{name}>")

    @contextmanager
    def element(self, name: str, attributes: Attributes) -> Iterator[None]:
        """An element around what is written in the ``with`` block."""
        before = len(self._lines)
        self._line(f"<{name}{_written(attributes)}>")
        self._depth += 1
        yield
        self._depth -= 1
        if len(self._lines) == before + 1:
            self._lines[before] = self._lines[before][:-1] + "/>"
        else:
            self._line(f"</{name}>")

    def _line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)


def _written(attributes: Attributes) -> str:
    """Attributes as text; JSON in them is easier to read between single quotes."""
    parts = []
    for name, value in attributes.items():
        if value is not None:
            quote = "'" if '"' in value and "'" not in value else '"'
            parts.append(f" {name}={quote}{escaped(value, quote=quote)}{quote}")
    return "".join(parts)


def xml_text(value: Any, pointer: str) -> str:
    """``value``, which must be a string that XML can hold. Raises :class:`UsageError`."""
    if not isinstance(value, str):
        raise UsageError(f"{pointer or '(document)'}: a string belongs here, not {type(value).__name__}")
    match = FORBIDDEN.search(value)
    if match is not None:
        raise UsageError(f"{pointer or '(document)'}: XML cannot hold the character U+{ord(match[0]):04X}")
    return value
