"""Questions about a snapshot that do not change anything."""

from __future__ import annotations

from typing import Any

from ..nodes import StateNode, Transition
from .snapshot import Snapshot


def next_transitions(snapshot: Snapshot[Any]) -> list[Transition]:
    """Every transition some active state declares, leaf first, each state once; guards are not asked.

    Per state in table order, then ``always`` (XState ``getNextTransitions``).
    """
    found: list[Transition] = []
    seen: set[str] = set()
    for leaf in snapshot.nodes:
        if not leaf.is_leaf:
            continue
        node: StateNode | None = leaf
        while node is not None:
            if node.id not in seen:
                seen.add(node.id)
                for transitions in node.transitions.values():
                    found.extend(transitions)
                found.extend(node.always or ())
            node = node.parent
    return found
