"""SCXML documents: XML text to SCXML-JSON and back. The JSON form is ``docs/reference/scxml-json.md``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...errors import DefinitionError, Problem
from .scxml_checks import check_outline
from .scxml_codes import ScxmlCode
from .scxml_export import Export, to_scxml
from .scxml_import import is_exported, read_machine
from .scxml_reading import Reading
from .scxml_states import DocumentReader
from .scxml_vocabulary import DATAMODELS, NAMESPACE
from .scxml_write import write_document
from .scxml_xml import MAX_BYTES, MAX_DEPTH, Element, parse_xml

__all__ = ["Export", "ScxmlText", "read_document", "to_scxml", "write_document"]


@dataclass(frozen=True, slots=True)
class ScxmlText:
    """A document that has been read, the warnings about it, and where its parts stand."""

    document: dict[str, Any]
    warnings: tuple[Problem, ...] = ()
    lines: dict[str, int] = field(default_factory=dict, repr=False)

    def line_of(self, pointer: str) -> int | None:
        """The 1-based line of the element that gave the value at ``pointer``, or what holds it."""
        while pointer not in self.lines and pointer:
            pointer = pointer.rpartition("/")[0]
        return self.lines.get(pointer)


def read_document(
    text: str,
    file: str | None = None,
    *,
    strict: bool = True,
    plain: bool = False,
    max_bytes: int = MAX_BYTES,
    max_depth: int = MAX_DEPTH,
    datamodels: Iterable[str] = DATAMODELS,
) -> ScxmlText:
    """The SCXML-JSON document in ``text``; the XState document when :func:`to_scxml` wrote it.

    ``strict`` refuses what the W3C Recommendation forbids; loose reading
    passes over what it can (see :class:`ScxmlCode`) and warns. ``plain``
    reads an exported machine as any other engine would; ``datamodels`` are
    the names that are known. Raises
    :class:`DefinitionError` with every problem found.
    """
    xml = parse_xml(text, file, max_bytes=max_bytes, max_depth=max_depth)
    root = xml.root
    reading = Reading(xml, file, strict, NAMESPACE, tuple(datamodels))
    _check_root(reading, root)
    if is_exported(root) and not plain:
        document = read_machine(reading, root)
    else:
        document = DocumentReader(reading, check_outline).read(root, "")
    found = sorted(reading.problems, key=lambda problem: problem.line or 0)
    errors = [problem for problem in found if problem.severity == "error"]
    warnings = [problem for problem in found if problem.severity == "warning"]
    if errors:
        raise DefinitionError([*errors, *warnings], root.attributes.get("name"))
    return ScxmlText(document, tuple(warnings), reading.lines)


def _check_root(reading: Reading, root: Element) -> None:
    """The root is ``scxml`` in its name space, or in none; a loose reading takes it from any."""
    if root.name != "scxml":
        message = f"The root element is <{root.name}>, not <scxml>."
        reading.report(ScxmlCode.NOT_SCXML, root, "", message)
        raise DefinitionError(reading.problems)
    if root.namespace == NAMESPACE:
        return
    where = f"in the name space {root.namespace!r}" if root.namespace else "in no name space"
    hint = f'Write `<scxml xmlns="{NAMESPACE}" version="1.0">`.'
    code = ScxmlCode.WRONG_NAMESPACE if root.namespace else ScxmlCode.NO_NAMESPACE
    reading.report(code, root, "", f"<scxml> is {where}.", hint)
    reading.namespace = root.namespace
