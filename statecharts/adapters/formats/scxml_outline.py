"""The states of an SCXML document while it is checked: what they are called and what they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .scxml_reading import Reading
from .scxml_vocabulary import STATES
from .scxml_xml import Element


@dataclass(slots=True, eq=False)
class StateElement:
    """A state while its document is checked: where it stands and what is around it."""

    id: str
    kind: str
    pointer: str
    element: Element
    parent: StateElement | None
    order: int = 0
    children: list[StateElement] = field(default_factory=list)

    def ancestors(self) -> Iterator[StateElement]:
        """Parents, nearest first, the document's root last."""
        state = self.parent
        while state is not None:
            yield state
            state = state.parent


@dataclass(frozen=True, slots=True)
class Reference:
    """Ids written in one place. ``role``: target, initial or history."""

    role: str
    ids: list[str]
    source: StateElement
    element: Element
    pointer: str


@dataclass(slots=True)
class Outline:
    """The states of one document in document order, and every id it mentions."""

    root: StateElement
    states: list[StateElement] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)


def read_ids(
    outline: Outline, role: str, source: StateElement, element: Element, pointer: str, attribute: str
) -> list[str]:
    """The ids in an attribute, kept for the checks."""
    ids = element.attributes.get(attribute, "").split()
    if attribute in element.attributes:
        outline.references.append(Reference(role, ids, source, element, pointer))
    return ids


def state_names(reading: Reading, root: Element) -> dict[Element, str]:
    """The id of every state element of the document, in document order; made up where there is none."""
    found: list[Element] = []
    stack = [root]
    while stack:
        element = stack.pop()
        if element is not root:
            found.append(element)
        stack.extend(c for c in reversed(element.elements) if c.name in STATES and reading.is_scxml(c))
    taken = {element.attributes.get("id") for element in found}
    names: dict[Element, str] = {}
    number = 0
    for element in found:
        name = element.attributes.get("id")
        if name is None:
            number += 1
            while f"state:{number}" in taken:
                number += 1
            name = f"state:{number}"
        names[element] = name
    return names
