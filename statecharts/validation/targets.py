"""Targets, resolved exactly as XState resolves them, and what to say when they name nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from statecharts.nodes import StateNode

from .codes import Code
from .nearest import nearest
from .outline import Node, Outline
from .report import Report, quoted


class UnknownTarget(Exception):
    """A path that leads nowhere: ``missing`` is the segment, ``where`` the node that lacks it (None: the id table)."""

    def __init__(self, missing: str, where: Node | None) -> None:
        super().__init__(missing)
        self.missing = missing
        self.where = where


def split_path(text: str) -> list[str]:
    """``text`` at its dots; a backslash takes the next character as it is."""
    if "\\" not in text:
        return text.split(".")
    parts = [""]
    position = 0
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 1
            # JavaScript reads past the end as the word "undefined"
            parts[-1] += text[position] if position < len(text) else "undefined"
        elif char == ".":
            parts.append("")
        else:
            parts[-1] += char
        position += 1
    return parts


def escaped(key: str) -> str:
    """``key`` as one path segment."""
    return key.replace("\\", "\\\\").replace(".", "\\.")


def walk(outline: Outline, node: Node, segments: Sequence[str]) -> Node:
    """The node that ``segments`` lead to from ``node``; an empty one ends the walk.

    Raises :class:`UnknownTarget`.
    """
    for segment in segments:
        if not segment:
            break
        if segment[0] == "#":
            node = by_id(outline, segment)
            continue
        child = node.children.get(segment)
        if child is None:
            raise UnknownTarget(segment, node)
        node = child
    return node


def by_id(outline: Outline, target: str) -> Node:
    """The node of ``#id`` or ``#id.path``. Raises :class:`UnknownTarget`."""
    first, *rest = split_path(target)
    name = first.removeprefix("#")
    node = outline.ids.get(name)
    if node is None:
        raise UnknownTarget(f"#{name}", None)
    return walk(outline, node, rest)


def resolve_target(outline: Outline, source: Node, target: str) -> Node:
    """The node that ``target``, written in a transition of ``source``, names.

    Raises :class:`UnknownTarget`; a root target without its dot is one too.
    """
    if target.startswith("#"):
        return by_id(outline, target)
    if source.parent is None:
        if not target.startswith("."):
            raise UnknownTarget(target, source)
        return _from(outline, source, target[1:])
    # the dot form goes through the parent with the unescaped key, as XState's does
    path = source.key + target if target.startswith(".") else target
    return _from(outline, source.parent, path)


def resolve_history_default(outline: Outline, history: Node, target: str) -> Node:
    """The node that a history state's ``target`` names. Raises :class:`UnknownTarget`."""
    assert history.parent is not None
    return _from(outline, history.parent, target)


def _from(outline: Outline, node: Node, path: str) -> Node:
    if path.startswith("#"):
        try:
            return by_id(outline, path)
        except UnknownTarget:
            pass
    return walk(outline, node, split_path(path))


@dataclass(slots=True)
class TargetChecker:
    """Reports targets. Suggestions are searched for the first few unknown ones only, to stay linear."""

    report: Report
    outline: Outline
    searches_left: int = 25
    _keys: dict[str, Node] | None = None

    def check(self, source: Node, target: str, pointer: str, history: bool = False) -> Node | None:
        """The node ``target`` names, or None after reporting that there is none."""
        try:
            node = (
                resolve_history_default(self.outline, source, target)
                if history
                else resolve_target(self.outline, source, target)
            )
        except UnknownTarget as problem:
            self._unknown(source, target, pointer, problem)
            return None
        self._ambiguous(source, target, pointer, node)
        return node

    def _unknown(self, source: Node, target: str, pointer: str, problem: UnknownTarget) -> None:
        if source.parent is None and not target.startswith((".", "#")):
            child = source.children.get(split_path(target)[0])
            hint = f'Did you mean ".{target}"?' if child else self._suggest(source, target, problem)
            self.report.add(
                Code.ROOT_TARGET,
                pointer,
                f'"{target}" cannot be a target of the machine itself, which has no siblings.',
                hint or "Start it with a dot.",
            )
            return
        where = f'"{problem.where.id}"' if problem.where is not None else "this machine"
        lacks = f'{where} has no state "{problem.missing}"'
        if problem.where is None:
            lacks = f'no state of this machine has the id "{problem.missing[1:]}"'
        self.report.add(
            Code.UNKNOWN_TARGET,
            pointer,
            f'"{target}" names no state: {lacks}.',
            self._suggest(source, target, problem),
        )

    def _suggest(self, source: Node, target: str, problem: UnknownTarget) -> str | None:
        where = problem.where
        if where is not None:
            literal = target.lstrip(".")
            if literal in where.children:
                return f'A state is called that, dots and all: write "{escaped(literal)}" with backslashes.'
            if source.children.get(split_path(target)[0]) and not target.startswith("."):
                return f'That is a child of "{source.id}": write ".{target}".'
        if self.searches_left <= 0:
            return None
        self.searches_left -= 1
        if where is not None:
            guess = nearest(problem.missing, where.children)
            if guess is not None:
                return f'Did you mean "{_replaced(target, problem.missing, escaped(guess))}"?'
        return self._elsewhere(problem, target) or _children_hint(where)

    def _elsewhere(self, problem: UnknownTarget, target: str) -> str | None:
        if self._keys is None:
            self._keys = {node.key: node for node in reversed(self.outline.nodes)}
        name = problem.missing.removeprefix("#")
        node = self._keys.get(name)
        if node is None:
            node_id = nearest(name, self.outline.ids)
            node = self.outline.ids[node_id] if node_id is not None else None
        if node is None:
            last = split_path(target)[-1]
            node = self._keys.get(last) or self._keys.get(nearest(last, self._keys) or "")
        return None if node is None else f'Did you mean "{reference(self.outline, node)}"?'

    def _ambiguous(self, source: Node, target: str, pointer: str, node: Node) -> None:
        text = target.removeprefix(".")
        if "." not in text:
            return
        segments = split_path(text)
        if "" in segments[:-1]:
            self.report.add(
                Code.UNKNOWN_TARGET,
                pointer,
                f'"{target}" has an empty segment; what follows it is ignored, and it names "{node.id}".',
                "Remove the surplus dot.",
            )
            return
        if "\\" in text:
            return
        if text.startswith("#"):
            other = self.outline.ids.get(text[1:])
        else:
            place = source if target.startswith(".") else source.parent
            other = place.children.get(text) if place is not None else None
        if other is not None and other is not node:
            self.report.add(
                Code.AMBIGUOUS_TARGET,
                pointer,
                f'"{target}" is read as a path and names "{node.id}", but there is also a state called exactly that.',
                f'Write "{reference(self.outline, other)}" if that one is meant.',
            )


def reference(outline: Outline, node: Node) -> str:
    """A target that names ``node`` from anywhere."""
    written = f"#{node.id}"
    try:
        if by_id(outline, written) is node:
            return written
    except UnknownTarget:
        pass
    return f"#{escaped(node.id)}"


def _replaced(target: str, missing: str, guess: str) -> str:
    head, _, tail = target.rpartition(missing)
    return f"{head}{guess}{tail}" if missing in target else guess


def _children_hint(where: Node | None) -> str:
    if where is None:
        return "A state without an `id` is called by the machine's id and its path: `#machine.a.b`."
    if not where.children:
        return f'"{where.id}" has no children.'
    return f'The children of "{where.id}" are {quoted(list(where.children))}.'


N = TypeVar("N", Node, StateNode)


def common_ancestor(left: N, right: N) -> N:
    """The deepest node that is, or contains, both."""
    while left is not right:
        if left.depth >= right.depth:
            assert left.parent is not None
            left = left.parent
        else:
            assert right.parent is not None
            right = right.parent
    return left


def clash(nodes: Iterable[N]) -> tuple[N, N] | None:
    """Two of ``nodes`` that cannot be targets together: one inside the other, or in one region."""
    listed = sorted(set(nodes), key=lambda node: node.order)
    for left, right in pairwise(listed):
        # in document order it is enough to look at neighbours: they meet wherever any two of them meet
        first, second = _standing(left), _standing(right)
        if first is second:
            return left, right
        meeting = common_ancestor(first, second)
        if meeting is first or meeting is second or meeting.type != "parallel":
            return left, right
    return None


def _standing(node: N) -> N:
    """The node that a target makes active: of a region's history, the parallel state itself."""
    above = node.parent
    return above if node.type == "history" and above is not None and above.type == "parallel" else node


def can_coincide(left: N, right: N) -> bool:
    """Whether both can be active at the same time."""
    meeting = common_ancestor(left, right)
    return meeting is left or meeting is right or meeting.type == "parallel"
