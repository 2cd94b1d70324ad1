"""The tree of states as XState would build it, before anything in it is judged.

Building is iterative and forgiving: a state that is not an object still
becomes a node, so that targets naming it do not add to the noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from statecharts.values import UNDEFINED, js_keys

from .codes import Code
from .nearest import nearest
from .report import Report, described, is_object, token

MAX_DEPTH = 400
"""States nested deeper than this are refused rather than risked."""

STATE_TYPES = ("atomic", "compound", "parallel", "final", "history")

_NOTHING: Mapping[Any, Any] = {}


@dataclass(slots=True, eq=False)
class Node:
    """One state: its configuration, where it stands, and what kind XState takes it for."""

    key: str
    config: Mapping[Any, Any]
    pointer: str
    parent: Node | None
    depth: int
    order: int
    path: str
    id: str
    kind: str
    children: dict[str, Node] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The kind, under the name that it has in a built definition."""
        return self.kind

    def get(self, key: str) -> Any:
        """The member ``key`` of the configuration, ``UNDEFINED`` when it is not there."""
        return self.config.get(key, UNDEFINED)

    def ancestors(self) -> Iterator[Node]:
        """Parents, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


@dataclass(slots=True)
class Outline:
    """All nodes in document order, and the table of ids in which the last of equals wins."""

    root: Node
    nodes: list[Node]
    ids: dict[str, Node]


def build_outline(document: Mapping[Any, Any], report: Report) -> Outline:
    """The states of ``document``; shape problems of ids, types and ``states`` go to ``report``."""
    given = document.get("id")
    machine_id = given if isinstance(given, str) and given else "(machine)"
    root = Node(machine_id, document, "", None, 0, 0, "", machine_id, _kind_of(document))
    outline = Outline(root, [], {})
    first_uses: dict[str, Node] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        node.order = len(outline.nodes)
        outline.nodes.append(node)
        _check_identity(node, first_uses, report)
        outline.ids[node.id] = node
        if node.depth >= MAX_DEPTH and node.get("states"):
            report.add(
                Code.TOO_DEEP,
                node.pointer,
                f"States nest more than {MAX_DEPTH} levels deep here.",
                "Split the machine: invoke the inner part as a machine of its own.",
            )
            continue
        if _contains_itself(node):
            report.add(
                Code.TOO_DEEP,
                node.pointer,
                "This state contains itself.",
                "Give each state an object of its own.",
            )
            continue
        stack.extend(reversed(_children(node, machine_id, report)))
    return outline


def _kind_of(config: Mapping[Any, Any]) -> str:
    declared = config.get("type")
    if isinstance(declared, str) and declared in STATE_TYPES:
        return declared
    if config.get("parallel") is True:  # version 4; reported as such, and understood to avoid further noise
        return "parallel"
    states = config.get("states")
    if is_object(states) and states:
        return "compound"
    history = config.get("history")
    return "history" if history is not UNDEFINED and history else "atomic"


def _children(node: Node, machine_id: str, report: Report) -> list[Node]:
    states = node.get("states")
    if states is UNDEFINED:
        return []
    pointer = f"{node.pointer}/states"
    if states is None:
        report.null_ignored(pointer, "states")
        return []
    if not is_object(states):
        report.wrong_type(pointer, "states", states, "an object whose keys are the names of the states")
        return []
    made = []
    for key in _string_keys(states, pointer, report):
        config = states[key]
        place = pointer + token(key)
        if not is_object(config):
            if config is None:
                report.null_value(place, key, "Write `{}` for a state that does nothing.")
            elif config is not UNDEFINED:
                report.wrong_type(place, key, config, "an object describing a state")
            config = _NOTHING
        if not key:
            report.add(
                Code.EMPTY_NAME, place, "A state has the empty string as its name.", "Give the state a name."
            )
        path = f"{node.path}.{key}" if node.parent is not None else key
        explicit = config.get("id")
        node_id = explicit if isinstance(explicit, str) and explicit else f"{machine_id}.{path}"
        child = Node(key, config, place, node, node.depth + 1, 0, path, node_id, _kind_of(config))
        node.children[key] = child
        made.append(child)
    return made


def _string_keys(mapping: Mapping[Any, Any], pointer: str, report: Report) -> list[str]:
    keys = []
    for key in mapping:
        if isinstance(key, str):
            keys.append(key)
        else:
            report.bad_key(pointer, key)
    return js_keys(keys)


def _check_identity(node: Node, first_uses: dict[str, Node], report: Report) -> None:
    _check_id(node, report)
    _check_type(node, report)
    earlier = first_uses.get(node.id)
    if earlier is None:
        first_uses[node.id] = node
        return
    pointer = f"{node.pointer}/id" if node.get("id") == node.id else node.pointer
    report.add(
        Code.DUPLICATE_ID,
        pointer,
        f'The id "{node.id}" is already that of the state at {earlier.pointer or "the root"}; '
        f"`#{node.id}` would mean this one only.",
        "Give one of the two an `id` of its own.",
    )


def _check_id(node: Node, report: Report) -> None:
    given = node.get("id")
    pointer = f"{node.pointer}/id"
    if given is UNDEFINED or (isinstance(given, str) and given):
        return
    if given is None:
        report.null_ignored(pointer, "id")
    elif given == "":
        report.add(
            Code.EMPTY_NAME, pointer, "The id is empty, which counts as no id.", "Name it or leave it out."
        )
    else:
        report.wrong_type(pointer, "id", given, "a string")


def _check_type(node: Node, report: Report) -> None:
    given = node.get("type")
    pointer = f"{node.pointer}/type"
    if given is UNDEFINED or (isinstance(given, str) and given in STATE_TYPES):
        return
    if given is None:
        report.null_ignored(pointer, "type")
        return
    allowed = ", ".join(f'"{name}"' for name in STATE_TYPES)
    if not isinstance(given, str):
        report.wrong_type(pointer, "type", given, f"one of {allowed}")
        return
    guess = nearest(given, (*STATE_TYPES, "normal"))
    hint = f"The types are {allowed}; leave it out and it follows from the children."
    if guess is not None and guess != "normal":
        hint = f'Did you mean "{guess}"? {hint}'
    report.add(Code.UNKNOWN_TYPE, pointer, f"There is no state type {given!r} ({described(given)}).", hint)


def _contains_itself(node: Node) -> bool:
    """Only Python documents can: JSON text has no cycles."""
    if not node.config:
        return False
    return any(ancestor.config is node.config for ancestor in node.ancestors())
