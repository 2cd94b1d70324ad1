"""How a target string finds its state node, exactly as XState resolves it."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import DefinitionError, Problem
from .nodes import StateNode


def split_path(path: str) -> list[str]:
    """``path`` split at dots; a backslash makes the next character ordinary.

    A backslash at the very end becomes the text ``undefined``, as in XState.
    """
    if "\\" not in path:
        return path.split(".")
    segments: list[str] = []
    segment = ""
    index = 0
    while index < len(path):
        char = path[index]
        if char == "\\":
            index += 1
            segment += path[index] if index < len(path) else "undefined"
        elif char == ".":
            segments.append(segment)
            segment = ""
        else:
            segment += char
        index += 1
    return [*segments, segment]


def _error(message: str) -> DefinitionError:
    return DefinitionError([Problem("target-unknown", "", message)])


def resolve_state_id(by_id: Mapping[str, StateNode], machine_id: str, address: str) -> StateNode:
    """The node at ``#id`` or ``#id.child.path``."""
    first, *rest = split_path(address)
    node_id = first[1:] if first.startswith("#") else first
    node = by_id.get(node_id)
    if node is None:
        raise _error(f"Child state node '#{node_id}' does not exist on machine '{machine_id}'")
    return _walk(by_id, machine_id, node, rest)


def resolve_path(by_id: Mapping[str, StateNode], machine_id: str, start: StateNode, path: str) -> StateNode:
    """The node at ``path`` below ``start``; an ``#id`` is tried as an id first."""
    if path.startswith("#"):
        try:
            return resolve_state_id(by_id, machine_id, path)
        except DefinitionError:
            pass
    return _walk(by_id, machine_id, start, split_path(path))


def _walk(by_id: Mapping[str, StateNode], machine_id: str, start: StateNode, segments: list[str]) -> StateNode:
    node = start
    for key in segments:
        if key == "":
            break
        if key.startswith("#"):
            node = resolve_state_id(by_id, machine_id, key)
            continue
        child = node.children.get(key)
        if child is None:
            raise _error(f"Child state '{key}' does not exist on '{node.id}'")
        node = child
    return node


def resolve_target(
    by_id: Mapping[str, StateNode], machine_id: str, source: StateNode, target: str
) -> StateNode:
    """The node a transition of ``source`` names. Raises :class:`DefinitionError`, which does not say where."""
    if target.startswith("#"):
        return resolve_state_id(by_id, machine_id, target)
    relative = target.startswith(".")
    if source.parent is None:
        if relative:
            return resolve_path(by_id, machine_id, source, target[1:])
        raise _error(
            f'Invalid target: "{target}" is not a valid target from the root node. Did you mean ".{target}"?'
        )
    try:
        return resolve_path(by_id, machine_id, source.parent, source.key + target if relative else target)
    except DefinitionError as error:
        message = error.problems[0].message
        raise _error(f"Invalid transition definition for state node '{source.id}':\n{message}") from None
