"""Edits of an exported text that do not count: plain SCXML that the machine read from it would not give."""

from __future__ import annotations

from typing import Any

from ...errors import UsageError
from .scxml_chart import Chart
from .scxml_codes import ScxmlCode
from .scxml_export import root_markup
from .scxml_export_states import StateWriter
from .scxml_markup import Markup, local
from .scxml_reading import Reading, is_action
from .scxml_xml import Element

_LISTS = ("event", "target", "initial")
_DEFAULTS = (("transition", "type", "external"), ("history", "type", "shallow"))
_OPTIONAL = ("id", "initial", "name", "datamodel", "version")


def report_lost_edits(reading: Reading, root: Element, document: dict[str, Any]) -> None:
    """Warn about each part of ``root`` that ``document`` does not give when it is exported."""
    try:
        chart = Chart.of(document)
        expected = root_markup(chart, StateWriter(chart))
    except UsageError:
        return
    _compare(reading, root, expected)


def _compare(reading: Reading, element: Element, markup: Markup) -> None:
    given, wanted = (
        _attributes(element.name, element.attributes),
        _attributes(element.name, markup.plain_attributes),
    )
    for name in dict.fromkeys([*given, *wanted]):
        if given.get(name) == wanted.get(name) or (name in _OPTIONAL and name not in given):
            continue
        if name == "event" and wanted.get(name) in given.get(name, "").split():
            continue  # one of several, each of which is a transition of its own
        says = "leaves it out" if name not in wanted else f"says {wanted[name]!r}"
        was = "is missing" if name not in given else f"is {given[name]!r}"
        message = f"`{name}` of <{element.name}> {was}, but the machine {says}; this edit does not count."
        _report(reading, element, message)
    if (markup.text or "").strip() != element.text.strip() and not is_action(element):
        _report(reading, element, f"The text of <{element.name}> does not count.")
    left = list(markup.children)
    matches: dict[Element, Markup] = {}
    for closeness in (_is_equal, _has_its_id, _is_alike):
        for child in reading.own(element):
            if child not in matches:
                match = next(
                    (each for each in left if _is_alike(child, each) and closeness(child, each)), None
                )
                if match is not None:
                    matches[child] = match
                    left = [each for each in left if each is not match]
    for child in reading.own(element):
        if child in matches:
            _compare(reading, child, matches[child])
        elif len(child.attributes.get("event", "").split()) < 2:
            _report(reading, child, f"This <{child.name}> does not count.")
    for markup in left:
        if markup.is_plain and not (markup.name == "transition" and element.name in ("state", "parallel")):
            _report(
                reading,
                element,
                f"<{element.name}> lacks a <{markup.name}>; the machine has it all the same.",
            )


def _report(reading: Reading, element: Element, message: str) -> None:
    hint = "Edit the attribute `x:config` of the element instead."
    reading.report(ScxmlCode.EDIT_NOT_READ, element, "", message, hint)


def _is_alike(element: Element, markup: Markup) -> bool:
    return local(markup) == element.name and markup.is_plain != is_action(element)


def _has_its_id(element: Element, markup: Markup) -> bool:
    return "id" in element.attributes and markup.attributes.get("id") == element.attributes["id"]


def _is_equal(element: Element, markup: Markup) -> bool:
    return _attributes(element.name, markup.plain_attributes) == _attributes(element.name, element.attributes)


def _attributes(name: str, attributes: dict[str, str]) -> dict[str, str]:
    """``attributes`` without defaults, lists of names with single spaces."""
    return {
        key: " ".join(value.split()) if key in _LISTS else value
        for key, value in attributes.items()
        if (name, key, value) not in _DEFAULTS
    }
