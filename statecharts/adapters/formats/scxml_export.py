"""XState machines as SCXML text that other engines can run and that reads back as the same machine.

Plain SCXML says what it can. What it has no word for stands beside it in the
name space ``urn:statecharts``: ``x:config`` on an element is that part's own
JSON, in which ``true`` (a list), ``false`` (a single one) and numbers (the
``x:n`` of a transition) stand for what child elements say. ``x:helper``
marks elements that only make other engines behave. :mod:`.scxml_import` is
the way back, :mod:`.scxml_export_warnings` says what another engine would do
differently.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import Problem, UsageError
from ...validation.report import token
from .scxml_chart import Chart, children
from .scxml_checks import check_outline
from .scxml_export_states import StateWriter, is_data, output_markup
from .scxml_export_warnings import export_warnings
from .scxml_json import write_value
from .scxml_markup import Markup, helper, key_attribute
from .scxml_output import XmlOutput
from .scxml_reading import Reading
from .scxml_states import DocumentReader
from .scxml_vocabulary import NAMESPACE, OWN_NAMESPACE
from .scxml_xml import MAX_DEPTH, parse_xml

_ROOM = 12
"""Levels that elements inside a state may need."""
_MAX_VALUES = 500
"""Levels of JSON; a level of states takes two."""


@dataclass(frozen=True, slots=True)
class Export:
    """SCXML text and what another SCXML engine would do differently with it, as warnings about the machine."""

    text: str
    warnings: tuple[Problem, ...] = ()


def to_scxml(machine_document: Mapping[str, Any]) -> Export:
    """An XState v5 machine (plain JSON) as SCXML.

    Reading the text with ``read_document`` gives an equal document. Raises
    :class:`UsageError` with a JSON pointer for what is not JSON (functions
    are bound by name) and for a machine that XState itself would refuse.
    """
    _check_json(machine_document)
    chart = Chart.of(machine_document)
    if any(node.depth > MAX_DEPTH - _ROOM for node in chart.ids):
        raise UsageError(
            f"states nest more than {MAX_DEPTH - _ROOM} levels deep; SCXML text is read to {MAX_DEPTH}"
        )
    writer = StateWriter(chart)
    root = root_markup(chart, writer)
    out = XmlOutput()
    root.write(out)
    text = out.text()
    _check_text(text)
    ends_late = any("x:helper" in child.attributes for child in root.children)
    return Export(text, tuple(export_warnings(chart, writer.arrows, ends_late)))


def root_markup(chart: Chart, writer: StateWriter) -> Markup:
    """The ``scxml`` element of a machine."""
    root = chart.outline.root
    if root.kind == "history":
        raise UsageError("/type: a machine cannot be a history state")
    body = writer.state(root)
    name = chart.ids[root]
    attributes = {"xmlns": NAMESPACE, "xmlns:x": OWN_NAMESPACE, "version": "1.0", "name": name}
    attributes["datamodel"] = "ecmascript"
    is_wrapped = _needs_wrapper(chart, writer, body)
    initial = name if is_wrapped else body.attributes.get("initial")
    if initial is not None:
        attributes["initial"] = initial
    attributes["x:semantics"] = "xstate"
    attributes["x:config"] = body.attributes.pop("x:config")
    made = Markup("scxml", attributes, _datamodel(chart))
    if not is_wrapped:
        made.children += body.children
        return made
    kept = {key: value for key, value in body.attributes.items() if not key.startswith("x:")}
    body.attributes = kept | helper("machine")
    made.children += [body, *_end(chart, body)]
    return made


def _needs_wrapper(chart: Chart, writer: StateWriter, body: Markup) -> bool:
    """``scxml`` itself takes no transitions, entry, exit or history: a state around all others does."""
    root = chart.outline.root
    if body.name != "state" or not body.children or root.config.get("output") is not None:
        return True
    if any(child.name not in ("state", "parallel", "final") for child in body.children):
        return True
    return any(root in (arrow.plain.targets or ()) for arrow in writer.arrows)


def _end(chart: Chart, body: Markup) -> list[Markup]:
    """Only a child of ``scxml`` ends a session (SCXML 3.7): a helper is entered when the wrapper is done."""
    root = chart.outline.root
    can_end = root.kind == "parallel" or any(child.kind == "final" for child in children(root))
    if not can_end:
        return []
    end = chart.end_id(root)
    attributes = {"event": chart.done_event(root), "target": end, **helper("end")}
    place = next(
        (i for i, child in enumerate(body.children) if child.name not in _BLOCKS), len(body.children)
    )
    body.children.insert(place, Markup("transition", attributes))
    return [Markup("final", {"id": end, **helper("end")}, output_markup(root.config.get("output")))]


_BLOCKS = ("onentry", "onexit", "initial")


def _datamodel(chart: Chart) -> list[Markup]:
    context = chart.outline.root.config.get("context")
    if not is_data(context) or not context:
        return []
    made = Markup("datamodel")
    for key, value in context.items():
        name = chart.data_id(key)
        more = key_attribute(key) if name != key else {}
        made.children.append(Markup("data", {"id": name, "expr": write_value(value), **more}))
    return [made]


def _check_json(document: Any) -> None:
    """Refuse what JSON does not have, wherever it stands."""
    stack = [("", document, 0)]
    while stack:
        pointer, value, depth = stack.pop()
        if depth > _MAX_VALUES:
            raise UsageError(
                f"{pointer[:60]}…: values nest more than {_MAX_VALUES} levels deep, or hold themselves"
            )
        if isinstance(value, Mapping):
            for key, member in value.items():
                if not isinstance(key, str):
                    raise UsageError(f"{pointer or '(document)'}: the key {key!r} is not a string")
                stack.append((pointer + token(key), member, depth + 1))
        elif isinstance(value, (list, tuple)):
            stack += [(f"{pointer}/{index}", member, depth + 1) for index, member in enumerate(value)]
        elif callable(value):
            raise UsageError(
                f"{pointer}: a Python function cannot be exported; name it here and bind it by name"
            )
        elif isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{pointer}: {value} is not JSON")
        elif not (value is None or isinstance(value, (str, int, float))):
            raise UsageError(f"{pointer}: {type(value).__name__} is not JSON")
    if not isinstance(document, Mapping):
        raise UsageError("a machine is a JSON object")


def _check_text(text: str) -> None:
    """The text is SCXML by the letter; a machine that cannot be one (targets in one region, say) is refused."""
    xml = parse_xml(text)
    reading = Reading(xml, None, True, NAMESPACE)
    DocumentReader(reading, check_outline).read(xml.root, "")
    errors = [problem for problem in reading.problems if problem.severity == "error"]
    if errors:
        lines = "\n".join(f"  {problem.message}" for problem in errors)
        raise UsageError(f"the machine has no form in SCXML:\n{lines}")
