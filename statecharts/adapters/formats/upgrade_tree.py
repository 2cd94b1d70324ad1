"""What an upgrade works on: the tree, version 4's names for its states, and the lists it fills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from statecharts.errors import Problem
from statecharts.validation.codes import Code
from statecharts.validation.outline import Node, Outline, build_outline
from statecharts.validation.report import Report
from statecharts.validation.targets import UnknownTarget, reference, resolve_target

from .upgrade_detect import listed


@dataclass(frozen=True, slots=True)
class Change:
    """One rewrite: ``pointer`` in the old document, ``new_pointer`` in the new one."""

    pointer: str
    new_pointer: str
    what: str
    why: str


@dataclass(slots=True)
class Draft:
    """The old document with everything found out about it, and the record of what was done."""

    document: Mapping[str, Any]
    changes: list[Change] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    outline: Outline = field(init=False)
    _ids: dict[str, Node] = field(init=False)
    _old_ids: dict[Node, str] = field(init=False)
    _delimiters: dict[Node, str] = field(init=False)

    def __post_init__(self) -> None:
        named = dict(self.document)
        if not named.get("id") and isinstance(named.get("key"), str):
            named["id"] = named["key"]
        self.outline = build_outline(named, Report(named))
        self._delimiters = {}
        self._ids = {}
        self._old_ids = {}
        machine_key = self.document.get("key") or self.document.get("id") or "(machine)"
        paths: dict[Node, tuple[str, ...]] = {}
        for node in self.outline.nodes:
            inherited = self._delimiters[node.parent] if node.parent is not None else "."
            own = node.config.get("delimiter")
            delimiter = own if isinstance(own, str) and own else inherited
            self._delimiters[node] = delimiter
            paths[node] = (*paths[node.parent], node.key) if node.parent is not None else ()
            explicit = node.config.get("id")
            made = (
                explicit
                if isinstance(explicit, str) and explicit
                else delimiter.join((str(machine_key), *paths[node]))
            )
            self._ids[made] = node
            self._old_ids[node] = made

    def change(self, pointer: str, new_pointer: str, what: str, why: str) -> None:
        """Record one rewrite."""
        self.changes.append(Change(pointer, new_pointer, what, why))

    def unsupported(self, pointer: str, message: str, hint: str) -> None:
        """Record something that has no version 5 form."""
        self._problem(Code.UPGRADE_UNSUPPORTED, pointer, message, hint)

    def review(self, pointer: str, message: str, hint: str) -> None:
        """Record something that version 5 does differently, whatever is written."""
        self._problem(Code.UPGRADE_REVIEW, pointer, message, hint)

    def _problem(self, code: Code, pointer: str, message: str, hint: str) -> None:
        self.problems.append(Problem(code.slug, pointer, message, hint, code.severity))

    def is_internal(self, source: Node, target: str) -> bool:
        """Whether version 4 takes ``target`` for an internal one."""
        return target.startswith(self._delimiters[source][0])

    def resolve(self, source: Node, target: str) -> Node | None:
        """The node that version 4 finds for ``target``, or None."""
        if self.is_internal(source, target):
            if source.parent is None:
                return self._by_path(source, source, target[1:])
            return self._by_path(source.parent, source, source.key + target)
        return self._by_path(source.parent or source, source, target)

    def by_id(self, name: str) -> Node | None:
        """The node with version 4 id ``name``."""
        return self._ids.get(name)

    def old_id(self, node: Node) -> str:
        """The id that version 4 gives ``node``."""
        return self._old_ids[node]

    def below(self, node: Node, source: Node, path: str) -> Node | None:
        """The node that ``path`` leads to from ``node``, split as ``source`` splits it."""
        return self._by_path(node, source, path)

    def _by_path(self, node: Node, source: Node, text: str) -> Node | None:
        if text.startswith("#") and text[1:] in self._ids:
            return self._ids[text[1:]]
        for segment in text.split(self._delimiters[source]):
            if not segment:
                break
            found = self._ids.get(segment[1:]) if segment[0] == "#" else node.children.get(segment)
            if found is None:
                return None
            node = found
        return node

    def spell(self, source: Node, target: str, node: Node) -> str:
        """``target`` as it is when version 5 reads the same from it, else another name for ``node``."""
        try:
            if resolve_target(self.outline, source, target) is node:
                return target
        except UnknownTarget:
            pass
        if source.parent is None and node is not source and self._under(node, source):
            dotted = f".{target}"
            try:
                if resolve_target(self.outline, source, dotted) is node:
                    return dotted
            except UnknownTarget:
                pass
        return reference(self.outline, node)

    @staticmethod
    def _under(node: Node, ancestor: Node) -> bool:
        return any(other is ancestor for other in node.ancestors())


def is_below(node: Node, ancestor: Node) -> bool:
    """Whether ``node`` is a proper descendant of ``ancestor``."""
    return any(other is ancestor for other in node.ancestors())


def entry_actions(node: Node) -> list[Any]:
    """The entry actions as version 4 finds them."""
    return listed(node.config.get("entry") or node.config.get("onEntry"))


def exit_actions(node: Node) -> list[Any]:
    """The exit actions as version 4 finds them."""
    return listed(node.config.get("exit") or node.config.get("onExit"))


def runs_something(node: Node) -> bool:
    """Whether actors or timers live as long as ``node`` is active."""
    return any(node.config.get(key) for key in ("invoke", "activities", "after"))


def is_noticed(node: Node) -> bool:
    """Whether leaving and re-entering ``node`` can be noticed; a final state announces itself each time."""
    return node.kind == "final" or bool(entry_actions(node) or exit_actions(node)) or runs_something(node)


def default_chain(node: Node) -> list[Node] | None:
    """``node`` and what is entered by default below it, down to a leaf; None when that is not one line."""
    chain = [node]
    while node.kind == "compound":
        initial = node.config.get("initial")
        child = node.children.get(initial) if isinstance(initial, str) else None
        if child is None:
            return None
        node = child
        chain.append(node)
    return chain if node.kind in ("atomic", "final") else None
