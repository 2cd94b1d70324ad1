"""Transitions of version 4: which states they leave and re-enter, said as version 5 needs it.

Version 4 leaves and re-enters the source of a transition with a target unless
the target starts with the delimiter; version 5 does so only when told. And
where a version 4 transition stays inside its source, states that are active
before and after are left alone, while version 5 re-enters them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from statecharts.validation.outline import Node
from statecharts.validation.targets import common_ancestor, reference

from .upgrade_actions import both, state_in, upgrade_actions, upgrade_guard
from .upgrade_detect import listed
from .upgrade_tree import (
    Draft,
    default_chain,
    entry_actions,
    exit_actions,
    is_below,
    is_noticed,
    runs_something,
)


def upgrade_transitions(draft: Draft, source: Node, value: Any, pointer: str, new_pointer: str) -> Any:
    """The transitions under one event; one stays one where it can."""
    if not isinstance(value, (list, tuple)):
        made = upgrade_transition(draft, source, value, pointer, new_pointer)
        return made[0] if len(made) == 1 else made
    out: list[Any] = []
    for index, item in enumerate(value):
        out.extend(upgrade_transition(draft, source, item, f"{pointer}/{index}", f"{new_pointer}/{len(out)}"))
    return out


def upgrade_transition(draft: Draft, source: Node, item: Any, pointer: str, new_pointer: str) -> list[Any]:
    """One version 4 transition as one or two of version 5."""
    if item is None:
        draft.change(
            pointer,
            new_pointer,
            "null became `{}`",
            "version 4 read it as a forbidden event, version 5 fails on it",
        )
        return [{}]
    if not isinstance(item, (str, Mapping)):
        return [copy.deepcopy(item)]
    spec: Mapping[str, Any] = {"target": item} if isinstance(item, str) else item
    made = _Transition(draft, source, spec, pointer, new_pointer)
    out = made.build()
    if isinstance(item, str) and len(out) == 1 and set(out[0]) <= {"target"}:
        target = out[0].get("target", "")
        return [target] if isinstance(target, str) else out
    return out


class _Transition:
    """One transition being rewritten."""

    def __init__(
        self, draft: Draft, source: Node, spec: Mapping[str, Any], pointer: str, new_pointer: str
    ) -> None:
        self.draft = draft
        self.source = source
        self.spec = spec
        self.pointer = pointer
        self.new_pointer = new_pointer
        self.out: dict[str, Any] = {}

    def build(self) -> list[dict[str, Any]]:
        self._members()
        nodes = self._targets()
        if not nodes or "reenter" in self.spec:
            return [self.out]
        for node in nodes:
            self._check_regions(node, nodes)
            if node.kind == "history":
                self._check_history(node)
        if self._is_internal():
            return self._stay_inside(nodes)
        self._leave_and_return(nodes)
        return [self.out]

    def _members(self) -> None:
        guard = upgrade_guard(self.draft, self.source, self.spec, self.pointer, self.new_pointer)
        for key, value in self.spec.items():
            if key in ("cond", "in", "guard"):
                if guard is not None:
                    self.out["guard"] = guard
            elif key in ("internal", "external"):
                what = "said by `reenter` where it matters"
                self.draft.change(f"{self.pointer}/{key}", self.new_pointer, f"`{key}` removed", what)
            elif key == "actions":
                at, new_at = f"{self.pointer}/actions", f"{self.new_pointer}/actions"
                self.out[key] = upgrade_actions(self.draft, value, at, new_at)
            elif key != "event":
                self.out[key] = copy.deepcopy(value)

    def _is_internal(self) -> bool:
        if "internal" in self.spec:
            return bool(self.spec["internal"])
        if "external" in self.spec:
            return not self.spec["external"]
        targets = listed(self.spec.get("target"))
        return any(isinstance(text, str) and self.draft.is_internal(self.source, text) for text in targets)

    def _targets(self) -> list[Node]:
        """The targets, spelt for version 5; none when one of them names nothing."""
        given = self.spec.get("target")
        texts = listed(given)
        nodes: list[Node] = []
        spelt: list[Any] = []
        for text in texts:
            node = self.draft.resolve(self.source, text) if isinstance(text, str) and text else None
            if node is not None:
                nodes.append(node)
            spelt.append(self.draft.spell(self.source, text, node) if node is not None else text)
        if spelt != texts:
            self.out["target"] = spelt if isinstance(given, (list, tuple)) else spelt[0]
            self._changed(
                "target", "the target is spelt as version 5 reads it", "the same state, found by other rules"
            )
        return nodes if len(nodes) == len(texts) else []

    def _changed(self, key: str, what: str, why: str) -> None:
        old = f"{self.pointer}/{key}" if key in self.spec and self.spec.get(key) is not None else self.pointer
        if not isinstance(self.spec, dict) or len(self.spec) == 1:
            old = self.pointer  # a bare target has no members to point at
        self.draft.change(old, f"{self.new_pointer}/{key}", what, why)

    # -- leaving the source

    def _leave_and_return(self, nodes: list[Node]) -> None:
        source = self.source
        above = [node for node in nodes if is_below(source, node)]
        if not above and not any(node is source or is_below(node, source) for node in nodes):
            return
        top = above[0] if above else source
        if top.parent is None or top.parent.kind != "parallel":
            if top is source or top.parent is None:
                self._reenter(f'version 4 leaves and re-enters "{top.id}" here')
            return
        if runs_something(top):
            self.draft.review(
                self.pointer,
                f'This leaves and re-enters the region "{top.id}" alone; version 5 restarts its sibling regions with it.',
                "Put the states of the region into one state below it, and let that one be re-entered.",
            )
            self._reenter(f'version 4 leaves and re-enters "{top.id}" here')
            return
        self._within_region(top, above)

    def _reenter(self, why: str) -> None:
        self.out["reenter"] = True
        self._changed("reenter", "`reenter: true` added", why)

    def _within_region(self, top: Node, above: list[Node]) -> None:
        """Leave and re-enter a region by hand: a version 5 re-entry would take its siblings along."""
        before = listed(
            upgrade_actions(self.draft, exit_actions(top), f"{top.pointer}/exit", self.new_pointer)
        )
        after = listed(
            upgrade_actions(self.draft, entry_actions(top), f"{top.pointer}/entry", self.new_pointer)
        )
        if before or after:
            assert top.parent is not None
            if any(_moves(other) for other in top.parent.children.values() if other is not top):
                self.draft.review(
                    self.pointer,
                    f'The exit and entry actions of the region "{top.id}" are written out here; when a sibling region moves '
                    "on the same event, its actions no longer come in between.",
                    "Check the order if it matters.",
                )
            self.out["actions"] = [*before, *listed(self.out.get("actions")), *after]
            self._changed(
                "actions",
                f'exit and entry actions of "{top.id}" written out',
                "re-entering it would restart its sibling regions",
            )
        if above and top.kind == "compound":
            initial = top.config.get("initial")
            child = top.children.get(initial) if isinstance(initial, str) else None
            if child is not None:
                self._retarget([child])
        elif above and top.kind == "parallel":
            self._retarget([child for child in top.children.values() if child.kind != "history"])
        elif top is self.source and not top.children:
            self.out.pop("target", None)
            self._changed("target", "target removed", "the region is left and re-entered by its actions")

    def _retarget(self, nodes: list[Node]) -> None:
        names = [reference(self.draft.outline, node) for node in nodes]
        self.out["target"] = names[0] if len(names) == 1 else names
        self._changed(
            "target",
            "target set to what is entered by default",
            "re-entering the region would restart its siblings",
        )

    # -- staying inside the source

    def _stay_inside(self, nodes: list[Node]) -> list[dict[str, Any]]:
        source = self.source
        if len(nodes) > 1 or not (nodes[0] is source or is_below(nodes[0], source)):
            if any(is_below(source, node) for node in nodes) or len(nodes) > 1:
                self._kept_states_differ()
            return [self.out]
        target = nodes[0]
        between = [node for node in reversed(list(target.ancestors())) if is_below(node, source)]
        chain = default_chain(target)
        entered = [*between, *(node for node in (chain or [target]) if node is not source)]
        if chain is None and target.kind != "history":
            if any(map(is_noticed, [*entered, *_all_below(target)])):
                self._kept_states_differ()
            return [self.out]
        if not any(map(is_noticed, entered)):
            return [self.out]
        if any(map(is_noticed, entered[:-1])):
            self._kept_states_differ()
        return [self._stay_put(entered[-1]), self.out] if target.kind != "history" else [self.out]

    def _stay_put(self, leaf: Node) -> dict[str, Any]:
        """What happens when the state to enter is active already: in version 4, only the actions."""
        staying = copy.deepcopy(self.out)
        staying.pop("target", None)
        here = state_in(reference(self.draft.outline, leaf))
        staying = {
            "guard": both([here, staying["guard"]]) if "guard" in staying else here,
            **{k: v for k, v in staying.items() if k != "guard"},
        }
        self._changed(
            "guard",
            "a transition for the case that the target is active already",
            f'version 4 does not leave "{leaf.id}" then',
        )
        return staying

    # -- what cannot be said

    def _kept_states_differ(self) -> None:
        self.draft.review(
            self.pointer,
            "Version 4 leaves states alone that are active before and after this; version 5 re-enters them.",
            "Check the entry and exit actions, timers and actors of the states on the way to the target.",
        )

    def _check_regions(self, node: Node, nodes: list[Node]) -> None:
        region = node
        for parent in node.ancestors():
            if parent.kind == "parallel" and self._regions_differ(parent, region, nodes):
                self.draft.review(
                    self.pointer,
                    f'While "{parent.id}" is active this changes one region in version 4; version 5 enters its regions anew.',
                    "Put the transition into the region, or name a target for each region.",
                )
                return
            region = parent

    def _regions_differ(self, parallel: Node, region: Node, nodes: list[Node]) -> bool:
        source = self.source
        if is_below(source, parallel):
            return source is not region and not is_below(source, region)
        if source is not parallel and not is_below(parallel, source):
            meeting = common_ancestor(source, parallel)
            return meeting.kind == "parallel"
        named = [
            child
            for child in parallel.children.values()
            if any(n is child or is_below(n, child) for n in nodes)
        ]
        others = [c for c in parallel.children.values() if c.kind != "history" and c not in named]
        return any(other.children or is_noticed(other) for other in others)

    def _check_history(self, history: Node) -> None:
        parent = history.parent
        if parent is not None and (
            self.source is parent or is_below(self.source, parent) or self._is_internal()
        ):
            self.draft.review(
                self.pointer,
                f'"{history.id}" is entered from inside "{parent.id}"; version 5 re-enters what was active, version 4 may not.',
                "Check what is left and entered here.",
            )


def _moves(region: Node) -> bool:
    return any(node.config.get(key) for node in (region, *_all_below(region)) for key in ("on", "always"))


def _all_below(node: Node) -> list[Node]:
    found: list[Node] = []
    stack = list(node.children.values())
    while stack:
        child = stack.pop()
        found.append(child)
        stack.extend(child.children.values())
    return found
