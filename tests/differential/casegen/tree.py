"""The random machine that every case starts from: small, logging, with some ordinary transitions."""

from __future__ import annotations

from typing import Any

from .draft import COMMON_EVENTS, Draft, Json, Node, act, log

KEYS = "abcdefgh"


def grow(draft: Draft) -> None:
    """Make the state tree of the draft."""
    root = _node(draft, "m", None, depth=0)
    for node in draft.walk("compound"):
        _choose_initial(draft, node)
    for node in draft.nodes:
        if node.kind in ("atomic", "compound", "parallel"):
            _furnish(draft, node)
        elif node.kind == "final":
            _furnish_final(draft, node)
    assert root is draft.root


def _node(draft: Draft, key: str, parent: Node | None, depth: int) -> Node:
    dice = draft.dice
    nested = parent is None or (depth < 3 and len(draft.nodes) < 9 and dice.chance(0.35))
    kind = "atomic" if not nested else "parallel" if dice.chance(0.3) else "compound"
    node = Node(key, kind, parent)
    draft.nodes.append(node)
    if kind == "parallel":
        node.json["type"] = "parallel"
    if nested:
        for index in range(2 + dice.below(2)):
            node.children.append(_node(draft, KEYS[index], node, depth + 1))
        if kind == "compound" and dice.chance(0.5):
            _leaf(draft, node, "fin", "final")
        if parent is not None and dice.chance(0.3):
            _leaf(draft, node, "hist", "history")
    return node


def _leaf(draft: Draft, parent: Node, key: str, kind: str) -> Node:
    node = Node(key, kind, parent, {"type": kind})
    draft.nodes.append(node)
    parent.children.append(node)
    if kind == "history" and draft.dice.chance(0.5):
        node.json["history"] = "deep"
    return node


def _choose_initial(draft: Draft, node: Node) -> None:
    normal = [child for child in node.normal_children() if child.kind != "final"]
    node.json["initial"] = normal[0].key if draft.dice.chance(0.7) else draft.dice.pick(normal).key


def _furnish(draft: Draft, node: Node) -> None:
    dice = draft.dice
    node.add("entry", log(f"+{node.id}"))
    node.add("exit", log(f"-{node.id}"))
    if dice.chance(0.2):
        node.add("tags", f"t{dice.below(3)}")
    for event in COMMON_EVENTS:
        if dice.chance(0.3 if node.kind == "atomic" else 0.12):
            node.handle(event, transition(draft, node, f"{node.id}:{event}"))
    if node.kind != "atomic" and node.parent is not None and dice.chance(0.4):
        node.json["onDone"] = transition(draft, node, f"{node.id}:done")
    if dice.chance(0.08):
        node.handle(dice.pick(["10", "20"]), transition(draft, node, f"{node.id}:after"), table="after")


def _furnish_final(draft: Draft, node: Node) -> None:
    node.add("entry", log(f"+{node.id}"))
    if draft.dice.chance(0.6):
        node.json["output"] = {"of": node.id, "n": {"$ctx": "n"}}


def transition(draft: Draft, node: Node, label: str) -> Json:
    dice = draft.dice
    made: Json = {}
    if dice.chance(0.7):
        siblings = node.parent.children if node.parent else []
        made["target"] = dice.pick(siblings).key if siblings and dice.chance(0.6) else draft.any_target()
        if dice.chance(0.2):
            made["reenter"] = True
    if dice.chance(0.25):
        made["guard"] = draft.guard()
    made["actions"] = [log(label, evt=True), *_plain_actions(draft)]
    return made


def _plain_actions(draft: Draft) -> list[Any]:
    dice = draft.dice
    choices = [
        act("inc", key="n"),
        act("set", key="k", value=dice.below(3)),
        act("emit", event={"type": "em", "n": {"$ctx": "n"}}),
        act("raise", event=dice.pick(COMMON_EVENTS)),
        "named",
        act("named", x=1),
    ]
    return [dice.pick(choices) for _ in range(dice.below(3))]
