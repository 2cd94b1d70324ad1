"""Configurations: the set of active nodes, interned per program.

XState keeps active nodes in entry order. That order shows in few places
(eventless selection, tags, meta, history), so a configuration is interned by
its *set*, and the order travels beside it in the snapshot. Only when the
order changes the state value's own key order (after a machine is done, or in
a hand-made snapshot) is it part of the configuration's identity; such a
configuration is called irregular.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..nodes import StateNode
from ..values import js_ordered

if TYPE_CHECKING:
    from .planner import Plan
    from .selection import Selector

Order = tuple[StateNode, ...]


class Configuration:
    """One set of active nodes of one program. Compare by identity.

    ``is_chain``: each node is the child of the one before, so that only one
    order is possible and none has to be kept.
    """

    __slots__ = (
        "always", "atomic_states", "is_chain", "leaves", "mask", "nodes", "plans", "regular", "selectors", "value",
    )  # fmt: skip

    def __init__(self, nodes: Order, mask: int, regular: bool, root: StateNode) -> None:
        self.nodes = nodes
        self.mask = mask
        self.regular = regular
        self.value: Any = state_value(root, nodes)
        self.is_chain = all(node.parent is above for node, above in zip(nodes[1:], nodes, strict=False))
        self.leaves: Order = tuple(node for node in nodes if node.is_leaf)
        self.always = any(
            ancestor.always for leaf in self.leaves for ancestor in (leaf, *leaf.proper_ancestors())
        )
        self.atomic_states = tuple(leaf.id for leaf in sorted(self.leaves, key=lambda node: node.index))
        self.selectors: dict[str, Selector | None] = {}
        self.plans: dict[Any, Plan] = {}

    def __repr__(self) -> str:
        return f"<Configuration {', '.join(self.atomic_states)}>"


def mask_of(nodes: Iterable[StateNode]) -> int:
    """The set of ``nodes`` as a bit set over their document numbers."""
    mask = 0
    for node in nodes:
        mask |= 1 << node.index
    return mask


def is_regular(nodes: Sequence[StateNode]) -> bool:
    """Whether children stand in document order below each parent, one per compound."""
    last_child: dict[StateNode, int] = {}
    for node in nodes:
        parent = node.parent
        if parent is None:
            continue
        previous = last_child.get(parent)
        if previous is not None and (previous > node.index or parent.type != "parallel"):
            return False
        last_child[parent] = node.index
    return True


def in_document_order(nodes: Iterable[StateNode]) -> Order:
    """``nodes`` by document number."""
    return tuple(sorted(nodes, key=lambda node: node.index))


# ---------------------------------------------------------- state values


def initial_nodes(node: StateNode) -> list[StateNode]:
    """Default entry below ``node`` (itself included), without history; parents before children."""
    found = [node]
    if node.type == "compound":
        for target in initial_targets(node):
            found += [above for above in reversed(target.proper_ancestors(node)) if above not in found]
            found += initial_nodes(target)
    elif node.type == "parallel":
        for child in node.real_children():
            found += initial_nodes(child)
    return found


def initial_targets(node: StateNode) -> tuple[StateNode, ...]:
    """What ``node`` enters by default (XState: one child). Raises :class:`ExecutionError` for an unknown one."""
    from ..errors import ExecutionError

    initial = node.initial
    assert initial is not None
    if not initial.targets:
        if initial.error is not None:
            raise ExecutionError(initial.error)
        raise ExecutionError("Cannot read properties of undefined (reading 'type')", js_name="TypeError")
    return initial.targets


def complete(nodes: Iterable[StateNode]) -> list[StateNode]:
    """``nodes`` with missing defaults and ancestors added, in XState's order (``getAllStateNodes``)."""
    given = list(nodes)
    found: dict[StateNode, None] = dict.fromkeys(given)
    children = _adjacency(found)
    queue = list(found)
    for state in queue:
        added: list[StateNode] = []
        if state.type == "compound" and not children.get(state):
            added = initial_nodes(state)
        elif state.type == "parallel":
            for child in state.real_children():
                if child not in found:
                    added.extend(initial_nodes(child))
        for node in added:
            if node not in found:
                found[node] = None
                queue.append(node)
    for state in queue:
        for ancestor in state.proper_ancestors():
            if ancestor not in found:
                found[ancestor] = None
    return list(found)


def _adjacency(nodes: Iterable[StateNode]) -> dict[StateNode, list[StateNode]]:
    children: dict[StateNode, list[StateNode]] = {}
    for node in nodes:
        children.setdefault(node, [])
        if node.parent is not None:
            children.setdefault(node.parent, []).append(node)
    return children


def state_value(root: StateNode, nodes: Iterable[StateNode]) -> Any:
    """The nested state value of active ``nodes``, keys in their order."""
    return _value_below(root, _adjacency(complete(nodes)))


def _value_below(node: StateNode, children: dict[StateNode, list[StateNode]]) -> Any:
    active = children[node]
    if node.type == "compound" and active[0].is_leaf:
        return active[0].key
    value: dict[str, Any] = {}
    for child in active:  # a loop: a comprehension would take a second stack frame a level
        value[child.key] = _value_below(child, children)
    return js_ordered(value)
