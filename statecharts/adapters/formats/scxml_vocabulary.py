"""What each SCXML element may carry: the tables of the W3C Recommendation, sections 3 to 6."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NAMESPACE: Final = "http://www.w3.org/2005/07/scxml"
OWN_NAMESPACE: Final = "urn:statecharts"
DATAMODELS: Final = ("ecmascript", "null")
"""The datamodels that come with this library."""
"""The name space of this library's own elements and attributes in SCXML documents."""

CHILDREN: Final = "children"
"""Stands in ``exclusive`` and ``needs_one_of`` for content of any kind."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One element: its attributes and children.

    In ``exclusive`` and ``needs_one_of`` a name is an attribute, ``<name>``
    a child element and :data:`CHILDREN` any content. ``is_open`` elements
    hold text and markup of any vocabulary.
    """

    attributes: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    needs_one_of: tuple[str, ...] = ()
    is_open: bool = False


EXECUTABLE: Final = ("raise", "if", "foreach", "log", "assign", "script", "send", "cancel")
STATES: Final = ("state", "parallel", "final", "history")
_BLOCK: Final = Shape(children=EXECUTABLE)
_BOTH: Final = ("onentry", "onexit", "transition", "invoke", "datamodel")

SHAPES: Final[dict[str, Shape]] = {
    "scxml": Shape(
        attributes=("initial", "name", "version", "datamodel", "binding"),
        children=("state", "parallel", "final", "datamodel", "script"),
        once=("datamodel", "script"),
    ),
    "state": Shape(
        attributes=("id", "initial"),
        children=(*_BOTH, "initial", *STATES),
        once=("initial", "datamodel"),
        exclusive=(("initial", "<initial>"),),
    ),
    "parallel": Shape(
        attributes=("id",),
        children=(*_BOTH, "state", "parallel", "history"),
        once=("datamodel",),
    ),
    "final": Shape(attributes=("id",), children=("onentry", "onexit", "donedata"), once=("donedata",)),
    "history": Shape(
        attributes=("id", "type"), children=("transition",), once=("transition",), needs=("transition",)
    ),
    "initial": Shape(children=("transition",), once=("transition",), needs=("transition",)),
    "transition": Shape(attributes=("event", "cond", "target", "type"), children=EXECUTABLE),
    "onentry": _BLOCK,
    "onexit": _BLOCK,
    "raise": Shape(attributes=("event",), required=("event",)),
    "if": Shape(
        attributes=("cond",), required=("cond",), children=(*EXECUTABLE, "elseif", "else"), once=("else",)
    ),
    "elseif": Shape(attributes=("cond",), required=("cond",)),
    "else": Shape(),
    "foreach": Shape(
        attributes=("array", "item", "index"), required=("array", "item"), children=EXECUTABLE
    ),
    "log": Shape(attributes=("label", "expr")),
    "datamodel": Shape(children=("data",)),
    "data": Shape(
        attributes=("id", "src", "expr"),
        required=("id",),
        exclusive=(("expr", "src", CHILDREN),),
        is_open=True,
    ),
    "assign": Shape(
        attributes=("location", "expr"),
        required=("location",),
        exclusive=(("expr", CHILDREN),),
        needs_one_of=("expr", CHILDREN),
        is_open=True,
    ),
    "donedata": Shape(
        children=("content", "param"), once=("content",), exclusive=(("<content>", "<param>"),)
    ),
    "content": Shape(attributes=("expr",), exclusive=(("expr", CHILDREN),), is_open=True),
    "param": Shape(
        attributes=("name", "expr", "location"),
        required=("name",),
        exclusive=(("expr", "location"),),
        needs_one_of=("expr", "location"),
    ),
    "script": Shape(attributes=("src",), exclusive=(("src", CHILDREN),), is_open=True),
    # §6.2 asks for exactly one of event, eventexpr and content, yet the W3C's test 179 has event and content
    "send": Shape(
        attributes=(
            "event", "eventexpr", "target", "targetexpr", "type", "typeexpr",
            "id", "idlocation", "delay", "delayexpr", "namelist",
        ),
        children=("content", "param"),
        once=("content",),
        exclusive=(
            ("event", "eventexpr"), ("target", "targetexpr"), ("type", "typeexpr"), ("id", "idlocation"),
            ("delay", "delayexpr"), ("<content>", "namelist"), ("<content>", "<param>"),
        ),
    ),
    "cancel": Shape(
        attributes=("sendid", "sendidexpr"),
        exclusive=(("sendid", "sendidexpr"),),
        needs_one_of=("sendid", "sendidexpr"),
    ),
    "invoke": Shape(
        attributes=(
            "type", "typeexpr", "src", "srcexpr", "id", "idlocation", "namelist", "autoforward",
        ),
        children=("content", "param", "finalize"),
        once=("content", "finalize"),
        exclusive=(
            ("type", "typeexpr"), ("src", "srcexpr", "<content>"), ("id", "idlocation"),
            ("namelist", "<param>"),
        ),
    ),
    "finalize": _BLOCK,
}  # fmt: skip

_START: Final = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_REST: Final = "-.0-9\xb7\u0300-\u036f\u203f\u2040"
NAME: Final = re.compile(f"[{_START}][{_START}{_REST}]*\\Z")
"""An XML name without colon (NCName): what may be an id."""
NOT_IN_NAMES: Final = re.compile(f"[^{_START}{_REST}]")
"""A character that stands in no such name."""
