"""What the parts of a definition share while it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .errors import DefinitionError, Problem
from .nodes import StateNode, Transition
from .values import UNDEFINED


@dataclass(slots=True)
class Builder:
    """A definition in the making. ``dialects``: read built-ins and expressions written as data."""

    machine_id: str
    dialects: bool
    lang: str
    nodes: list[StateNode] = field(default_factory=list)
    by_id: dict[str, StateNode] = field(default_factory=dict)
    configs: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)


def fail(code: str, pointer: str, message: str, hint: str | None = None) -> NoReturn:
    """Refuse the document, for one reason at one place."""
    raise DefinitionError([Problem(code, pointer, message, hint)])


def listed(value: Any, pointer: str) -> list[tuple[Any, str]]:
    """Absent, one or many, each with its pointer."""
    if value is UNDEFINED:
        return []
    if isinstance(value, (list, tuple)):
        return [(item, f"{pointer}/{i}") for i, item in enumerate(value)]
    return [(value, pointer)]
