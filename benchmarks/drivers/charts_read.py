"""A chart's XState JSON as a small tree, from which drivers build their peer's own form.

Only what the benchmark's charts use is read; anything else is an error, so that
no driver drops a part of a chart unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

KNOWN = {"id", "initial", "type", "states", "on", "onDone", "context"}


@dataclass(eq=False)
class Node:
    """A state: ``kind`` is ``atomic``, ``compound``, ``parallel``, ``final`` or ``history``."""

    key: str
    path: str
    kind: str
    parent: Node | None
    written: dict[str, Any] = field(repr=False)
    children: list[Node] = field(default_factory=list, repr=False)
    initial: Node | None = None

    def walk(self) -> Iterator[Node]:
        """This state and all below, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def child(self, key: str) -> Node:
        """The child of that key."""
        return next(child for child in self.children if child.key == key)

    @property
    def root(self) -> Node:
        """The topmost state."""
        return self if self.parent is None else self.parent.root


@dataclass(frozen=True)
class Edge:
    """A transition. ``event`` is ``None`` for ``onDone``; ``guard`` and ``action`` are names."""

    source: Node
    target: Node
    event: str | None
    guard: str | None = None
    action: str | None = None


def read_tree(config: dict[str, Any]) -> Node:
    """The root; its path is the chart's id, the paths of all others begin below it."""
    return _read(config["id"], config, None)


def _read(key: str, written: dict[str, Any], parent: Node | None) -> Node:
    unknown = set(written) - KNOWN
    if unknown:
        raise ValueError(f"the drivers do not read {sorted(unknown)}")
    states = written.get("states", {})
    kind = written.get("type") or ("compound" if states else "atomic")
    path = key if parent is None or parent.parent is None else f"{parent.path}.{key}"
    node = Node(key, path, kind, parent, written)
    node.children = [_read(name, inner, node) for name, inner in states.items()]
    if "initial" in written:
        node.initial = node.child(written["initial"])
    return node


def transitions_of(node: Node) -> list[Edge]:
    """The transitions that begin in ``node``."""
    made = [_edge(node, event, written) for event, written in node.written.get("on", {}).items()]
    if "onDone" in node.written:
        made.append(_edge(node, None, node.written["onDone"]))
    return made


def _edge(source: Node, event: str | None, written: Any) -> Edge:
    told = {"target": written} if isinstance(written, str) else dict(written)
    target = _target(source, told.pop("target"))
    inside = target is source or source in _ancestors(target)
    if inside and not told.pop("reenter", False):
        raise ValueError("the drivers know transitions that leave their source only")
    return Edge(source, target, event, told.pop("guard", None), told.pop("actions", None))


def _target(source: Node, text: str) -> Node:
    """``sibling``, ``sibling.child`` or ``#id.path``."""
    keys = text.split(".")
    at = source.root if text.startswith("#") else source.parent
    assert at is not None
    for key in keys[1:] if text.startswith("#") else keys:
        at = at.child(key)
    return at


def _ancestors(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def history_of(node: Node) -> Node:
    """Where a shallow history leads when nothing is remembered yet: its parent's initial state."""
    assert node.parent is not None and node.parent.initial is not None
    return node.parent.initial
