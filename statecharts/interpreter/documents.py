"""Child documents of an SCXML machine: written in place, named, or computed (§6.4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..definition import Definition
from ..json_text import dumps
from ..machine import Machine
from .messages import ContentError

PLACE = "scxml.invoke:"


class Documents:
    """Machines by the source that a child is known by, each read once."""

    def __init__(self, machine: Machine[Any, Any]) -> None:
        self._machine = machine
        self._known: dict[str, Any] = {}
        self._written = {self.place(at): found for at, found in _written_in(machine.definition)}

    def place(self, pointer: str) -> str:
        """The source of a child written in place."""
        return PLACE + pointer

    def text_of(self, value: Any) -> str:
        """What computed content says, as the text of a document. Raises :class:`ContentError`."""
        source = getattr(value, "source", value)
        if isinstance(source, str):
            return source
        if isinstance(source, Mapping):
            return dumps(source)
        raise ContentError(f"a {type(value).__name__} is no document that could be invoked")

    def logic(self, source: str) -> Any:
        """The machine behind ``source``; ``None`` when there is none. Raises what reading it raises."""
        if source not in self._known:
            self._known[source] = self._find(source)
        return self._known[source]

    def _find(self, source: str) -> Any:
        machine, environment = self._machine, self._machine.environment
        definition = self._written.get(source)
        if definition is not None:
            return Machine(definition, machine.implementations, environment=environment)
        if _is_text(source):
            return None if environment.read is None else self._bound(environment.read(source, ""))
        if environment.resolve is None:
            return None
        found = environment.resolve(source)
        if isinstance(found, Machine) or environment.read is None:
            return found
        return self._bound(environment.read(found, source))

    def _bound(self, found: Machine[Any, Any]) -> Machine[Any, Any]:
        return Machine(found.definition, self._machine.implementations, environment=found.environment)


def _is_text(source: str) -> bool:
    return source.lstrip().startswith(("<", "{")) or "\n" in source


def _written_in(definition: Definition) -> Iterator[tuple[str, Definition]]:
    for node in definition.nodes:
        for invocation in node.invocations:
            if invocation.document is not None:
                yield invocation.pointer, invocation.document
