"""One reading of an SCXML text: the problems found, the lines of its parts, the shape of each element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...errors import Problem
from ...validation.nearest import nearest
from ...validation.report import quoted
from .scxml_codes import ScxmlCode
from .scxml_vocabulary import CHILDREN, DATAMODELS, OWN_NAMESPACE, SHAPES, Shape
from .scxml_xml import Element, XmlText


@dataclass(slots=True)
class Reading:
    """What is known while a text is read. ``namespace`` is that of the SCXML elements, ``datamodels`` are the known ones."""

    xml: XmlText
    file: str | None
    strict: bool
    namespace: str
    datamodels: tuple[str, ...] = DATAMODELS
    lines: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    _seen: set[Problem] = field(default_factory=set)
    _searches: int = 25

    def report(
        self, code: ScxmlCode, element: Element, pointer: str, message: str, hint: str | None = None
    ) -> None:
        """Record a problem of ``element``; loose reading makes a warning of what it can read past."""
        is_error = code.weight == "fatal" or (code.weight == "error" and self.strict)
        severity = "error" if is_error else "warning"
        problem = Problem(code.slug, pointer, message, hint, severity, line=element.line, file=self.file)
        if problem not in self._seen:
            self._seen.add(problem)
            self.problems.append(problem)

    def suggest(self, name: str, known: Iterable[str]) -> str | None:
        """The nearest of the names ``known``; only for the first few, so that no text makes this slow."""
        if self._searches == 0:
            return None
        self._searches -= 1
        return nearest(name, known)

    def own(self, element: Element) -> list[Element]:
        """The child elements of ``element`` that are SCXML's, or this library's named actions."""
        return [child for child in element.elements if self.is_scxml(child) or is_action(child)]

    def is_scxml(self, element: Element) -> bool:
        """Whether ``element`` is in SCXML's name space."""
        return element.namespace == self.namespace

    def named(self, element: Element, name: str) -> list[Element]:
        """The SCXML children of ``element`` called ``name``."""
        return [child for child in element.elements if child.name == name and self.is_scxml(child)]

    def open(self, element: Element, pointer: str) -> None:
        """Keep the line of ``element`` for ``pointer`` and check its shape."""
        self.lines.setdefault(pointer, element.line)
        shape = SHAPES[element.name]
        self._check_attributes(element, pointer, shape)
        self._check_exclusions(element, pointer, shape)
        if not shape.is_open:
            self._check_children(element, pointer, shape)

    def _check_attributes(self, element: Element, pointer: str, shape: Shape) -> None:
        for name in element.attributes:
            if name not in shape.attributes:
                self._unknown_attribute(element, pointer, name, shape)
        for name in shape.required:
            if name not in element.attributes:
                message = f"<{element.name}> needs the attribute `{name}`."
                self.report(ScxmlCode.MISSING_ATTRIBUTE, element, pointer, message)

    def _unknown_attribute(self, element: Element, pointer: str, name: str, shape: Shape) -> None:
        guess = self.suggest(name, shape.attributes)
        if guess is not None:
            hint = f"Did you mean `{guess}`?"
        elif shape.attributes:
            hint = f"It has {quoted(shape.attributes, 12)}. Attributes of your own need a name space of their own."
        else:
            hint = "It has none."
        self.report(
            ScxmlCode.UNKNOWN_ATTRIBUTE,
            element,
            pointer,
            f"<{element.name}> has no attribute `{name}`.",
            hint,
        )

    def _check_exclusions(self, element: Element, pointer: str, shape: Shape) -> None:
        present = self._present(element)
        for group in shape.exclusive:
            given = [_spelled(name) for name in group if name in present]
            if len(given) > 1:
                message = f"<{element.name}> has both {' and '.join(given)}; they exclude each other."
                self.report(ScxmlCode.EXCLUSIVE, element, pointer, message, f"Keep one; {given[0]} is read.")
        if shape.needs_one_of and not any(name in present for name in shape.needs_one_of):
            wanted = " or ".join(_spelled(name) for name in shape.needs_one_of)
            message = f"<{element.name}> needs {wanted}."
            self.report(ScxmlCode.MISSING_ATTRIBUTE, element, pointer, message)

    def _present(self, element: Element) -> set[str]:
        present = {*element.attributes, *(f"<{child.name}>" for child in self.own(element))}
        if has_content(element):
            present.add(CHILDREN)
        return present

    def _check_children(self, element: Element, pointer: str, shape: Shape) -> None:
        if element.text.strip():
            words = " ".join(element.text.split())
            shown = words if len(words) <= 40 else words[:40] + "…"
            message = f"<{element.name}> holds the text {shown!r}; only elements may stand here."
            self.report(ScxmlCode.STRAY_TEXT, element, pointer, message)
        seen: dict[str, Element] = {}
        for child in self.own(element):
            if child.namespace == OWN_NAMESPACE:
                if "raise" not in shape.children:
                    message = f"A named action cannot stand in <{element.name}>."
                    self.report(ScxmlCode.MISPLACED_ELEMENT, child, pointer, message)
            elif child.name not in shape.children:
                self._unexpected_child(element, child, pointer, shape)
            elif child.name in shape.once and child.name in seen:
                message = f"<{element.name}> has a second <{child.name}>; the first is on line {seen[child.name].line}."
                self.report(ScxmlCode.REPEATED_ELEMENT, child, pointer, message)
            seen.setdefault(child.name, child)
        for name in shape.needs:
            if name not in seen:
                message = f"<{element.name}> needs a <{name}>."
                self.report(ScxmlCode.MISSING_ELEMENT, element, pointer, message)

    def _unexpected_child(self, element: Element, child: Element, pointer: str, shape: Shape) -> None:
        if child.name == "transition" and element.name == "scxml":
            message = "<transition> cannot stand in <scxml>; it is not read."
            hint = "Put a <state> around all states and the transition into it."
            self.report(ScxmlCode.ROOT_TRANSITION, child, pointer, message, hint)
            return
        if child.name in SHAPES:
            places = [name for name, other in SHAPES.items() if child.name in other.children]
            hint = f"It may stand in {_tags(places)}." if places else "It is the root of a document."
            message = f"<{child.name}> cannot stand in <{element.name}>."
            self.report(ScxmlCode.MISPLACED_ELEMENT, child, pointer, message, hint)
            return
        guess = self.suggest(child.name, shape.children) or self.suggest(child.name, SHAPES)
        if guess is not None:
            hint = f"Did you mean <{guess}>?"
        elif shape.children:
            hint = f"<{element.name}> takes {_tags(shape.children)}. Elements of your own need a name space of their own."
        else:
            hint = f"<{element.name}> is empty."
        self.report(ScxmlCode.UNKNOWN_ELEMENT, child, pointer, f"SCXML has no element <{child.name}>.", hint)


def is_action(element: Element) -> bool:
    """Whether ``element`` is a named action of this library."""
    return element.namespace == OWN_NAMESPACE and element.name == "action"


def has_content(element: Element) -> bool:
    """Whether anything but blank text is in ``element``."""
    return any(isinstance(item, Element) or item.strip() for item in element.items)


def bad_value(reading: Reading, element: Element, pointer: str, name: str, allowed: tuple[str, ...]) -> None:
    """Report the attribute ``name``, which takes one of ``allowed``."""
    value = element.attributes[name]
    guess = reading.suggest(value, allowed)
    hint = f"Did you mean `{guess}`?" if guess is not None else f"It is one of {quoted(allowed)}."
    reading.report(ScxmlCode.BAD_VALUE, element, pointer, f"`{name}` of <{element.name}> is {value!r}.", hint)


def _spelled(name: str) -> str:
    if name == CHILDREN:
        return "content"
    return name if name.startswith("<") else f"`{name}`"


def _tags(names: Sequence[str]) -> str:
    return ", ".join(f"<{name}>" for name in names)
