"""What the parts of a definition share while it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .actions import Action, named_actions, parse_actions
from .errors import DefinitionError, Problem
from .guards import Guard, NamedGuard, parse_guard
from .nodes import StateNode, Transition
from .values import UNDEFINED, js_to_number


@dataclass(slots=True)
class Builder:
    """A definition in the making. ``dialects``: read built-ins and expressions written as data."""

    machine_id: str
    dialects: bool
    lang: str
    nodes: list[StateNode] = field(default_factory=list)
    by_id: dict[str, StateNode] = field(default_factory=dict)
    configs: list[Mapping[str, Any]] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    _places: dict[tuple[str, str], str] = field(default_factory=dict)
    _pointers: dict[int, str] = field(default_factory=dict)
    _actions: dict[Any, tuple[Action, ...]] = field(default_factory=dict)
    _guards: dict[str, Guard] = field(default_factory=dict)
    _targets: dict[StateNode, tuple[StateNode]] = field(default_factory=dict)
    _delays: dict[str, int | float | str] = field(default_factory=dict)
    addressed: dict[str, tuple[StateNode]] = field(default_factory=dict)

    def target(self, node: StateNode) -> tuple[StateNode]:
        """``node`` as the only target of a transition: one tuple for all that lead there."""
        found = self._targets.get(node)
        if found is None:
            found = self._targets[node] = (node,)
        return found

    def actions(self, value: Any, node: StateNode, where: str, key: str) -> tuple[Action, ...]:
        """The actions under ``key`` of what stands ``where`` below ``node``. Mere names are made once for all."""
        if type(value) is str:
            known: Any = (key, value)
        elif type(value) is list and set(map(type, value)) == {str}:
            known = (key, *value, None)
        else:
            pointer = f"{self.pointer(node)}{where}/{key}"
            return parse_actions(value, pointer, dialects=self.dialects, default_lang=self.lang)
        found = self._actions.get(known)
        if found is None:
            found = self._actions[known] = named_actions(value, f"/{key}", dialects=self.dialects)
        return found

    def guard(self, value: Any, node: StateNode, where: str) -> Guard:
        """The guard of what stands ``where`` below ``node``. A mere name is made once for all."""
        if type(value) is not str:
            pointer = f"{self.pointer(node)}{where}/guard"
            return parse_guard(value, pointer, dialects=self.dialects, default_lang=self.lang)
        found = self._guards.get(value)
        if found is None:
            found = self._guards[value] = NamedGuard(value, place="/guard")
        return found

    def place(self, above: str, key: str) -> str:
        """The pointer of ``key`` below the place ``above``. Kept, since states share events."""
        found = self._places.get((above, key))
        if found is None:
            found = self._places[(above, key)] = f"{above}/{escaped(key)}"
        return found

    def delay(self, key: str) -> int | float | str:
        """What a key of ``after`` says: milliseconds as JavaScript reads numbers, or the name of a delay."""
        found = self._delays.get(key)
        if found is None:
            number = js_to_number(key)
            found = self._delays[key] = key if number != number else number
        return found

    def pointer(self, node: StateNode) -> str:
        """The pointer of ``node``, made from its parent's."""
        found = self._pointers.get(node.index)
        if found is None:
            found = self._pointers[node.index] = self._below(node.parent, node.key)
        return found

    def _below(self, parent: StateNode | None, key: str) -> str:
        if parent is None:
            return ""
        above = self._pointers.get(parent.index)
        if above is None:
            above = self._pointers[parent.index] = parent.pointer
        return f"{above}/states/{escaped(key)}"


def escaped(key: str) -> str:
    """``key`` as a reference token of a JSON pointer (RFC 6901 §3)."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def is_object(value: Any) -> bool:
    """Whether ``value`` is a JSON object; quick for the usual kind."""
    return type(value) is dict or isinstance(value, Mapping)


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
