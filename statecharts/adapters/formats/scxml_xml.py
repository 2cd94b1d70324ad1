"""XML text as a small element tree that knows its lines, name spaces and source.

Documents may come from anywhere: a DOCTYPE is refused (so there are no
entities to expand or fetch), size and depth are limited, nothing is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from xml.parsers import expat

from ...errors import DefinitionError, Problem
from .scxml_codes import ScxmlCode

MAX_BYTES: Final = 5_000_000
"""Longest text that is read, in bytes of UTF-8, unless the caller says otherwise."""
MAX_DEPTH: Final = 200
"""Deepest nesting of elements that is read."""

_SEPARATOR: Final = "\n"  # stands in no URI: attribute values have their line ends replaced
_XML: Final = "http://www.w3.org/XML/1998/namespace"
_QUOTE: Final = '"'
_START_TAG: Final = re.compile(rb"""<([^\s/>]+)(?:[^>"']|"[^"]*"|'[^']*')*>""")


@dataclass(slots=True, eq=False)
class Element:
    """One element. ``attributes`` are those without a name space, ``foreign`` the others by (URI, name).

    ``items`` are its child elements and character data in order; ``start``
    and ``end`` are byte offsets of its source; ``line`` is 1-based.
    """

    name: str
    namespace: str
    prefix: str | None
    attributes: dict[str, str]
    foreign: dict[tuple[str, str], str]
    declared: dict[str | None, str]
    parent: Element | None
    line: int
    start: int
    end: int = 0
    items: list[Element | str] = field(default_factory=list)

    @property
    def elements(self) -> list[Element]:
        """The child elements."""
        return [item for item in self.items if isinstance(item, Element)]

    @property
    def text(self) -> str:
        """The character data directly in the element."""
        return "".join(item for item in self.items if isinstance(item, str))

    def namespace_of(self, prefix: str | None) -> str:
        """The URI bound to ``prefix`` here (``None``: the default name space); ``""`` for none."""
        element: Element | None = self
        while element is not None:
            if prefix in element.declared:
                return element.declared[prefix]
            element = element.parent
        return ""

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in document order."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.elements))


@dataclass(frozen=True, slots=True)
class XmlText:
    """A parsed text: its root element and its bytes."""

    root: Element
    source: bytes = field(repr=False)

    def inner_xml(self, element: Element) -> str:
        """The source of what is in ``element``, each top element with the name spaces it takes from outside.

        The text parses on its own. Blank text and comments around the top
        elements are dropped.
        """
        items = element.items
        if all(isinstance(item, Element) or not item.strip() for item in items):
            return "".join(self._standing_alone(child) for child in element.elements)
        return "".join(
            escaped(item) if isinstance(item, str) else self._standing_alone(item) for item in items
        )

    def _standing_alone(self, element: Element) -> str:
        source = self.source[element.start : element.end]
        match = _START_TAG.match(source)
        assert match is not None
        head, rest = source[: match.end(1)], source[match.end(1) :]
        added = ""
        for prefix, uri in _taken_from_outside(element, source.decode()):
            name = f"xmlns:{prefix}" if prefix else "xmlns"
            added += f' {name}="{escaped(uri, quote=_QUOTE)}"'
        return _plain_line_ends(head.decode() + added + rest.decode())


def _plain_line_ends(source: str) -> str:
    """Line ends as every XML parser reads them (XML 1.0 §2.11)."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _taken_from_outside(element: Element, source: str) -> Iterator[tuple[str | None, str]]:
    """The bindings that ``element`` uses and does not make itself, the default one first.

    A prefix counts as used when it is written anywhere, in a value too:
    values may be qualified names.
    """
    if None not in element.declared and _uses_default(element):
        yield None, element.namespace_of(None)
    seen = set(element.declared)
    above = element.parent
    while above is not None:
        for prefix, uri in above.declared.items():
            if prefix is not None and prefix not in seen:
                seen.add(prefix)
                if re.search(rf"(?<![\w.-]){re.escape(prefix)}:", source):
                    yield prefix, uri
        above = above.parent


def _uses_default(top: Element) -> bool:
    """Whether an element without prefix takes the default name space from outside ``top``."""
    stack = [top]
    while stack:
        element = stack.pop()
        if None in element.declared:
            continue
        if element.prefix is None:
            return True
        stack.extend(element.elements)
    return False


FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML 1.0 has no form for (XML 1.0 §2.2)."""


def escaped(text: str, *, quote: str = "") -> str:
    """``text`` as character data, or as an attribute value between ``quote`` characters."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    if quote:
        text = text.replace("\n", "&#10;").replace("\t", "&#9;")
        text = text.replace(quote, "&quot;" if quote == '"' else "&apos;")
    return text


def parse_xml(
    text: str, file: str | None = None, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH
) -> XmlText:
    """``text`` as a tree. A byte order mark is skipped; the encoding in the XML declaration is ignored.

    Raises :class:`DefinitionError` with one problem when the text is broken,
    too large, too deep, or has a DOCTYPE.
    """
    body = text.removeprefix("\ufeff")
    source = body.encode("utf-8", "surrogatepass")
    if len(source) > max_bytes:
        message = f"The text has {len(source):,} bytes; at most {max_bytes:,} are read."
        raise _refusal(ScxmlCode.TOO_LARGE, message, "Pass a larger `max_bytes` if you trust it.", None, file)
    builder = _TreeBuilder(source, file, max_depth)
    return XmlText(builder.run(body), source)


def _refusal(
    code: ScxmlCode, message: str, hint: str | None, line: int | None, file: str | None
) -> DefinitionError:
    return DefinitionError([Problem(code.slug, "", message, hint, line=line, file=file)])


class _TreeBuilder:
    """Builds the tree from expat's events."""

    def __init__(self, source: bytes, file: str | None, max_depth: int) -> None:
        self.source = source
        self.file = file
        self.max_depth = max_depth
        self.open: list[Element] = []
        self.root: Element | None = None
        self.pending: dict[str | None, str] = {}
        parser = expat.ParserCreate("utf-8", _SEPARATOR)
        parser.namespace_prefixes = True
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartNamespaceDeclHandler = self._declare
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        self.parser = parser

    def run(self, body: str) -> Element:
        try:
            self.parser.Parse(self.source, True)
        except expat.ExpatError as error:
            raise self._syntax(body, error) from None
        assert self.root is not None
        return self.root

    def _syntax(self, body: str, error: expat.ExpatError) -> DefinitionError:
        words = expat.errors.messages.get(error.code, "not well-formed")
        message = f"This is not XML: {words} at line {error.lineno}, column {error.offset + 1}."
        hint = _syntax_hint(body, words, self.open)
        return _refusal(ScxmlCode.XML_SYNTAX, message, hint, error.lineno, self.file)

    def _doctype(self, *_details: Any) -> None:
        line = self.parser.CurrentLineNumber
        message = "The document has a DOCTYPE, which could define entities or name other files."
        raise _refusal(ScxmlCode.DOCTYPE, message, "Remove it; SCXML needs none.", line, self.file)

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self.pending[prefix] = uri or ""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if len(self.open) >= self.max_depth:
            message = f"Elements nest more than {self.max_depth} levels deep here."
            hint = "Split the machine: invoke the inner part as a machine of its own."
            raise _refusal(ScxmlCode.TOO_DEEP, message, hint, line, self.file)
        parent = self.open[-1] if self.open else None
        namespace, local, prefix = _split(name)
        element = Element(
            local, namespace, prefix, {}, {}, self.pending, parent, line, self.parser.CurrentByteIndex
        )
        self.pending = {}
        for key, value in attributes.items():
            uri, attribute, _ = _split(key)
            if uri:
                element.foreign[uri, attribute] = value
            else:
                element.attributes[attribute] = value
        if parent is None:
            self.root = element
        else:
            parent.items.append(element)
        self.open.append(element)

    def _end(self, _name: str) -> None:
        element = self.open.pop()
        at = self.parser.CurrentByteIndex
        if not element.items:
            match = _START_TAG.match(self.source, element.start)
            assert match is not None
            if match[0].endswith(b"/>"):
                element.end = match.end()
                return
        element.end = self.source.index(b">", at) + 1

    def _text(self, text: str) -> None:
        self.open[-1].items.append(text)


def _split(name: str) -> tuple[str, str, str | None]:
    """Expat's ``uri SEP local [SEP prefix]`` as (URI, local name, prefix)."""
    parts = name.split(_SEPARATOR)
    if len(parts) == 1:
        return "", parts[0], None
    if len(parts) == 2:
        return parts[0], parts[1], "xml" if parts[0] == _XML else None
    return parts[0], parts[1], parts[2]


def _syntax_hint(body: str, words: str, unfinished: list[Element]) -> str:
    """What a person most often did to get here."""
    if not body.strip():
        return "The text is empty."
    if body.lstrip()[:1] in "{[":
        return "This looks like JSON; SCXML is XML and starts with `<scxml`."
    if "mismatched" in words and unfinished:
        last = unfinished[-1]
        return f"<{last.name}>, opened on line {last.line}, is the element to close here."
    if "unclosed token" in words or "no element found" in words:
        if unfinished:
            last = unfinished[-1]
            return f"The text ends too early: <{last.name}>, opened on line {last.line}, is not closed."
        return "The text ends too early."
    if "undefined entity" in words:
        return "XML has only &lt; &gt; &amp; &quot; &apos;; write any other character itself."
    if "declaration not at start" in words:
        return "Nothing may stand before `<?xml …?>`, not even a space or an empty line."
    if "unbound prefix" in words:
        return 'Declare the prefix on the root element: `xmlns:prefix="…"`.'
    if "duplicate attribute" in words:
        return "Remove one of the two."
    if "junk after" in words:
        return "A document has one root element."
    return "In attribute values and text, `<` is written `&lt;` and `&` is written `&amp;` (`&&` is `&amp;&amp;`)."
