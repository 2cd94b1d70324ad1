"""Inline XML read into the trees behind the read-only DOM. No document type, so no entities of its own."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final
from xml.parsers import expat

from ...interpreter.datamodel import DatamodelError

_SEVERAL_ROOTS: Final = "junk after document element"
_DECLARATION = re.compile(r"\s*<\?xml\s.*?\?>", re.DOTALL)
_DEEPEST: Final = 200


@lru_cache(maxsize=256)
def xml_trees(source: str) -> list[Any]:
    """The top-level elements, each as ``[name, {attribute: value}, [child, ...]]``; text is a string.

    Names stand as written, with their prefixes; name space declarations are
    attributes. Comments and processing instructions are left out. Raises
    :class:`DatamodelError` with line and column.
    """
    try:
        return _read(source.strip())
    except expat.ExpatError as error:
        fault = error
    if _SEVERAL_ROOTS in str(fault):
        try:
            return [tree for tree in _read(f"<r>{_DECLARATION.sub('', source, count=1)}</r>")[0][2] if type(tree) is list]
        except expat.ExpatError as error:
            fault = error
    raise DatamodelError(f"the content is not well-formed XML: {fault}")


def _read(text: str) -> list[Any]:
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.Parse(text.encode("utf-8", "replace"), True)
    return builder.roots


class _Builder:
    def __init__(self) -> None:
        self.roots: list[Any] = []
        self._open: list[list[Any]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        node = [name, attributes, []]
        (self._open[-1][2] if self._open else self.roots).append(node)
        self._open.append(node)
        if len(self._open) > _DEEPEST:
            raise DatamodelError(f"the XML content nests more than {_DEEPEST} elements deep")

    def end(self, _name: str) -> None:
        self._open.pop()

    def text(self, data: str) -> None:
        self._open[-1][2].append(data)


def _refuse_doctype(*_declaration: object) -> None:
    raise DatamodelError("the XML content has a document type declaration; take <!DOCTYPE ...> out, it is not read")
