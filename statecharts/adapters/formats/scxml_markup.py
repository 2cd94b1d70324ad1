"""Elements of an exported document before they become text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .scxml_json import read_value, write_value
from .scxml_output import XmlOutput
from .scxml_vocabulary import OWN_NAMESPACE
from .scxml_xml import FORBIDDEN, Element, escaped

PREFIX = "x:"
"""What stands before the names of this library's own elements and attributes."""


@dataclass(slots=True)
class Markup:
    """One element: its name and attributes as written (``x:`` for this library's own), then children or text."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Markup] = field(default_factory=list)
    text: str | None = None

    def write(self, out: XmlOutput) -> None:
        """Add the element to ``out``."""
        if self.text is not None:
            out.holding(self.name, self.attributes, escaped(self.text))
        elif not self.children:
            out.empty(self.name, self.attributes)
        else:
            with out.element(self.name, self.attributes):
                for child in self.children:
                    child.write(out)

    @property
    def plain_attributes(self) -> dict[str, str]:
        """The attributes that any SCXML engine reads."""
        return {
            name: value for name, value in self.attributes.items() if not name.startswith((PREFIX, "xmlns"))
        }

    @property
    def is_plain(self) -> bool:
        """Whether the element is SCXML's own."""
        return not self.name.startswith(PREFIX)


def config(value: Any) -> dict[str, str]:
    """The attribute that carries ``value`` as JSON."""
    return {"x:config": write_value(value)}


def helper(role: str) -> dict[str, str]:
    """The attribute of an element that only helps other engines and is skipped when read again."""
    return {"x:helper": role}


def own(element: Element, name: str) -> str | None:
    """The attribute ``name`` of this library's name space."""
    return element.foreign.get((OWN_NAMESPACE, name))


def key_attribute(key: str) -> dict[str, str]:
    """The attribute that carries the key of a state or of the context."""
    return {"x:key": key} if writable(key) else {"x:json-key": write_value(key)}


def key_of(element: Element) -> str | None:
    """The key that :func:`key_attribute` wrote; None when there is none that can be read."""
    written = own(element, "json-key")
    if written is None:
        return own(element, "key")
    try:
        key = read_value(written)
    except ValueError:
        return None
    return key if isinstance(key, str) else None


def param(name: str, value: Any) -> Markup:
    """A ``param`` with a constant value."""
    return Markup("param", {"name": name, "expr": write_value(value)})


def params(members: Mapping[str, Any]) -> list[Markup]:
    """One ``param`` for each member. All names must be :func:`writable`."""
    return [param(name, value) for name, value in members.items()]


def writable(*texts: str) -> bool:
    """Whether XML can hold all of ``texts``."""
    return not any(FORBIDDEN.search(text) for text in texts)


def equal_plain(markup: Markup, element: Element) -> bool:
    """Whether an engine that knows only SCXML sees no difference between the two."""
    if markup.is_plain == (element.namespace == OWN_NAMESPACE) or local(markup) != element.name:
        return False
    if markup.plain_attributes != element.attributes:
        return False
    children = [child for child in element.elements if own(child, "helper") is None]
    if not markup.children and not children:
        return (markup.text or "").strip() == element.text.strip()
    return len(markup.children) == len(children) and all(map(equal_plain, markup.children, children))


def local(markup: Markup) -> str:
    """The element's name without prefix."""
    return markup.name.removeprefix(PREFIX)
