"""Transitions that shadow others, and eventless ones that provably never come to rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .codes import Code
from .dialects import ACTIONS, builtin_of
from .outline import Node, Outline
from .report import Report
from .transitions import Transition

_CHANGING = ("assign", "spawnChild", "stopChild")


def check_unreachable(report: Report, transitions: Iterable[Transition]) -> None:
    """Report the first transition in each list that follows one without a guard."""
    open_end: dict[str, Transition] = {}
    reported: set[str] = set()
    for item in transitions:
        earlier = open_end.get(item.list_pointer)
        if earlier is None:
            if not item.guarded:
                open_end[item.list_pointer] = item
        elif item.list_pointer not in reported:
            reported.add(item.list_pointer)
            report.add(
                Code.UNREACHABLE_TRANSITION,
                item.pointer,
                f"This transition is never reached: number {earlier.index + 1} of the list has no guard and is always taken.",
                "Put the one without a guard last.",
            )


def check_endless(report: Report, outline: Outline, transitions: Iterable[Transition]) -> None:
    """Report eventless transitions whose every outcome leads on to another one, without end.

    Only what can be proved is reported: states outside parallel states, no
    histories, and a list that cannot come out empty-handed. From the set of
    leaves that must move on, those that may come to rest are taken away
    until nothing changes; what remains never rests.
    """
    always: dict[Node, list[Transition]] = {}
    for item in transitions:
        if item.group == "always":
            always.setdefault(item.node, []).append(item)
    if not always:
        return
    outcomes: dict[Node, list[tuple[Transition, Node]]] = {}
    sequential = _sequential(outline)
    for leaf in outline.nodes:
        if leaf.kind in ("atomic", "final") and leaf in sequential:
            found = _outcomes(leaf, always, sequential)
            if found:
                outcomes[leaf] = found
    _drop_those_that_rest(outcomes)
    for ring in _rings(outcomes):
        first = min(ring, key=lambda leaf: leaf.order)
        turned = ring[ring.index(first) :] + ring[: ring.index(first)]
        names = [f'"{leaf.id}"' for leaf in turned[:5]]
        if len(turned) > 5:
            names.append("…")
        report.add(
            Code.ENDLESS_ALWAYS,
            outcomes[first][-1][0].list_pointer,
            f"Eventless transitions go round for ever here: {' → '.join([*names, names[0]])}.",
            "Give one of them a guard that can fail, or an event.",
        )


def _rings(outcomes: Mapping[Node, list[tuple[Transition, Node]]]) -> Iterable[list[Node]]:
    """The rings that the unguarded outcomes close, each once."""
    walked: set[Node] = set()
    for leaf in outcomes:
        path: dict[Node, int] = {}
        step = leaf
        while step not in walked:
            walked.add(step)
            path[step] = len(path)
            step = outcomes[step][-1][1]
        if step in path:
            yield list(path)[path[step] :]


def _sequential(outline: Outline) -> set[Node]:
    """Nodes with no parallel state above or at them."""
    found: set[Node] = set()
    for node in outline.nodes:  # parents come first
        if node.kind not in ("parallel", "history") and (node.parent is None or node.parent in found):
            found.add(node)
    return found


def _outcomes(
    leaf: Node, always: Mapping[Node, list[Transition]], sequential: set[Node]
) -> list[tuple[Transition, Node]] | None:
    """Where an eventless step can lead from ``leaf``; None when it may rest, or cannot be told."""
    if leaf.kind == "final" and (leaf.parent is None or leaf.parent.parent is None):
        return None
    found: list[tuple[Transition, Node]] = []
    for node in (leaf, *leaf.ancestors()):
        for item in always.get(node, ()):
            result = _result(item, leaf, sequential)
            if result is None:
                return None
            found.append((item, result))
            if not item.guarded:
                return found
    return None


def _result(item: Transition, leaf: Node, sequential: set[Node]) -> Node | None:
    if item.broken or (item.targets is not None and len(item.targets) > 1):
        return None
    result: Node | None = leaf
    if item.targets:
        target = item.targets[0]
        if target is not leaf:
            result = _default_leaf(target, sequential)
    if result is leaf and not any(_changes(action) for action in item.actions):
        return None
    if (
        result is not None
        and result.kind == "final"
        and (result.parent is None or result.parent.parent is None)
    ):
        return None
    return result


def _default_leaf(node: Node, sequential: set[Node]) -> Node | None:
    while True:
        if node not in sequential:
            return None
        if node.kind != "compound":
            return node
        initial: Any = node.get("initial")
        name = initial.get("target") if isinstance(initial, Mapping) else initial
        child = node.children.get(name) if isinstance(name, str) else None
        if child is None:
            return None
        node = child


def _changes(action: object) -> bool:
    """Whether XState makes a new snapshot for ``action``; of a mere name nothing is known."""
    name = action.get("type") if isinstance(action, Mapping) else action
    if not isinstance(name, str):
        return False
    builtin = builtin_of(name, ACTIONS)
    return builtin is not None and builtin.name in _CHANGING


def _drop_those_that_rest(outcomes: dict[Node, list[tuple[Transition, Node]]]) -> None:
    sources: dict[Node, list[Node]] = {}
    for leaf, found in outcomes.items():
        for _, result in found:
            sources.setdefault(result, []).append(leaf)
    resting = [result for result in sources if result not in outcomes]
    while resting:
        for leaf in sources.get(resting.pop(), ()):
            if outcomes.pop(leaf, None) is not None:
                resting.append(leaf)
