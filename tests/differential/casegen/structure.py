"""Ingredients that shape the state tree and its transitions."""

from __future__ import annotations

from typing import Any

from .draft import COMMON_EVENTS, Draft, Node, act, log, send


def attach(draft: Draft, parent: Node, key: str, kind: str = "atomic", **json: Any) -> Node:
    node = Node(key, kind, parent, dict(json))
    if kind in ("final", "history", "parallel"):
        node.json.setdefault("type", kind)
    parent.children.append(node)
    draft.nodes.append(node)
    if kind not in ("history",):
        node.add("entry", log(f"+{node.id}"))
        node.add("exit", log(f"-{node.id}"))
    return node


def _nested(draft: Draft) -> Node:
    """A compound state below the root, made if there is none."""
    inner = [
        node
        for node in draft.walk("compound")
        if node.parent is not None and any(child.kind != "final" for child in node.normal_children())
    ]
    if inner and draft.dice.chance(0.8):
        return draft.dice.pick(inner)
    node = attach(draft, draft.root, draft.fresh("n"), "compound", initial="i")
    attach(draft, node, "i")
    attach(draft, node, "j")
    for child, other in (("i", "j"), ("j", "i")):
        node.children["ij".index(child)].handle("A", other)
    return node


def later_state(draft: Draft) -> Node | None:
    """An atomic state that is not active at the start."""
    found = [node for node in draft.walk("atomic") if not node.is_active_at_start()]
    if found:
        return draft.dice.pick(found)
    home = next(draft.walk("compound"), None)
    return None if home is None else attach(draft, home, draft.fresh("late"))


def _visit(draft: Draft, node: Node, **rest: Any) -> str:
    """A trigger at the root that goes to the node."""
    return draft.trigger([log(f"to {node.id}")], draft.root, target=draft.reference(node), **rest)


def initial_actions(draft: Draft) -> None:
    draft.tag("initial-actions")
    first = _nested(draft)
    if first.is_active_at_start() and first.parent is not None:
        draft.tag("initial-actions-at-start")
    compounds = [node for node in draft.walk("compound") if isinstance(node.json["initial"], str)]
    for node in {id(node): node for node in [first, *draft.dice.some(compounds, 2)]}.values():
        if isinstance(node.json["initial"], str):
            actions = [log(f"init {node.id}", evt=True), act("inc", key="n")]
            node.json["initial"] = {"target": node.json["initial"], "actions": actions}
    draft.script(send(_visit(draft, first)), send("A"), send(_visit(draft, first, reenter=True)))


def _history_of(draft: Draft, node: Node, deep: bool) -> Node:
    found = [child for child in node.children if child.kind == "history"]
    history = found[0] if found else attach(draft, node, "hist", "history")
    if deep:
        history.json["history"] = "deep"
    return history


def _there_and_back(draft: Draft, node: Node, history: Node) -> None:
    """Enter, move inside, leave to a state outside, come back through the history."""
    outside = attach(draft, draft.root, draft.fresh("out"))
    leave = draft.trigger([log("leave")], draft.root, target=draft.reference(outside))
    back = _visit(draft, history)
    draft.script(
        send(_visit(draft, node)), send("A"), send(leave), send(back), send("B"), send(leave), send(back)
    )


def history_shallow(draft: Draft) -> None:
    draft.tag("history-shallow")
    node = _nested(draft)
    history = _history_of(draft, node, deep=False)
    history.json.pop("history", None)
    _there_and_back(draft, node, history)


def history_deep(draft: Draft) -> None:
    draft.tag("history-deep")
    node = _nested(draft)
    _there_and_back(draft, node, _history_of(draft, node, deep=True))


def history_default(draft: Draft) -> None:
    draft.tag("history-default")
    node = _nested(draft)
    history = _history_of(draft, node, deep=draft.dice.chance(0.4))
    chosen = draft.dice.pick(node.normal_children())
    history.json["target"] = draft.dice.pick([chosen.key, draft.reference(chosen), [chosen.key]])
    draft.script(send(_visit(draft, history)), send("A"), send(_visit(draft, history, reenter=True)))


def initial_is_history(draft: Draft) -> None:
    draft.tag("initial-to-history")
    node = _nested(draft)
    history = _history_of(draft, node, deep=draft.dice.chance(0.4))
    history.json["target"] = draft.dice.pick([c for c in node.normal_children() if c.kind != "final"]).key
    node.json["initial"] = draft.dice.pick(
        [history.key, {"target": history.key, "actions": [log("init hist")]}]
    )
    _there_and_back(draft, node, history)


def history_of_parallel(draft: Draft) -> None:
    draft.tag("history-of-parallel")
    node = attach(draft, draft.root, draft.fresh("par"), "parallel")
    for region in ("r", "s"):
        made = attach(draft, node, region, "compound", initial="u")
        attach(draft, made, "u").handle(draft.dice.pick(["A", "B"]), "v")
        attach(draft, made, "v").handle("C", "u")
    _there_and_back(draft, node, _history_of(draft, node, deep=draft.dice.chance(0.5)))


def integer_keys(draft: Draft) -> None:
    """Keys that JavaScript sorts before all others, in states, `on`, `after` and the context."""
    dice = draft.dice
    parent = dice.pick(list(draft.walk("compound", "parallel")))
    for key in dice.some(["10", "2", "1", "01", "-1", "1.5"], 3):
        draft.tag("integer-keys-states")
        attach(draft, parent, key).handle("A", {"actions": [log(f"A in {key}")]})
    node = draft.place()
    draft.tag("integer-keys-on", "integer-keys-after", "integer-keys-context")
    for event in dice.some(["7", "30", "4294967295", "4294967294"], 3):
        node.handle(event, {"actions": [log(f"on {event}")]})
        draft.events.append(event)
    for delay in ("20", "3", "11"):
        node.handle(delay, {"actions": [log(f"after {delay}")]}, table="after")
    draft.context.update({"b": 1, "9": {"z": 0, "3": 1, "1": 2}, "8": [{"2": 0, "1": 0}]})
    draft.script(send("30"), send("7"), {"advance": 25})


def forbidden_forms(draft: Draft) -> None:
    draft.tag("forbidden-forms")
    node = draft.place("atomic")
    asked = draft.fresh("F")
    draft.events.append(asked)
    node.json.setdefault("on", {})[asked] = draft.dice.pick(
        [{}, "", [], {"target": []}, {"actions": []}, {"target": ""}, [{}]]
    )
    for above in _ancestors(node):
        above.handle(asked, {"actions": [log(f"{above.id} asked")]})
    draft.script(send(asked), {"query": {"can": [asked], "nextTransitions": True}})
    draft.tag("query")


def _ancestors(node: Node) -> list[Node]:
    above: list[Node] = []
    while node.parent is not None:
        node = node.parent
        above.append(node)
    return above


def wildcards(draft: Draft) -> None:
    draft.tag("wildcards")
    dice = draft.dice
    for node in (draft.place(), draft.place("compound", "parallel")):
        for descriptor in dice.some(
            ["*", "x.*", "x.y.*", "x*", "*.y", "A.*", "xstate.*", "xstate.done.*"], 3
        ):
            guard = {"guard": draft.guard()} if dice.chance(0.4) else {}
            node.handle(descriptor, {**guard, "actions": [log(f"{node.id} {descriptor}", evt=True)]})
    draft.events.extend(["x", "x.y.w"])
    draft.script(*(send(event) for event in dice.some(["x", "x.y", "x.y.w", "A", "A.b", "q"], 3)))


def multiple_targets(draft: Draft) -> None:
    draft.tag("multiple-targets")
    node = next((n for n in draft.walk("parallel") if n.parent is not None), None)
    if node is None:
        node = attach(draft, draft.root, draft.fresh("mt"), "parallel")
        for region in ("r", "s"):
            made = attach(draft, node, region, "compound", initial="u")
            attach(draft, made, "u")
            attach(draft, made, "v")
    below = [one for one in draft.nodes if node in _ancestors(one) and one.kind != "final"]
    targets = [draft.reference(one) for one in draft.dice.some(below, 2)]
    rest: dict[str, Any] = {"reenter": True} if draft.dice.chance(0.3) else {}
    for home in (draft.root, draft.place()):
        draft.script(send(draft.trigger([log("many")], home, target=targets, **rest)), send("A"))


def routes(draft: Draft) -> None:
    draft.tag("route")
    dice = draft.dice
    for node in dice.some([n for n in draft.nodes if n.parent is not None and n.kind != "history"], 2):
        name = draft.fresh("route-")
        if dice.chance(0.9):
            node.json["id"] = name
        node.json["route"] = dice.pick(
            [{}, {"guard": draft.guard()}, {"actions": [log(f"via {name}", evt=True)]}]
        )
        draft.script(send("xstate.route", to=f"#{name}"), send("A"))


def reenter_root(draft: Draft) -> None:
    draft.tag("reenter-root")
    target = draft.dice.pick(draft.root.normal_children()).key
    written = draft.dice.pick([f".{target}", "#m", f"#m.{target}"])
    draft.script(send(draft.trigger([log("again")], draft.root, target=written, reenter=True)), send("A"))


def parallel_done(draft: Draft) -> None:
    """The whole machine ends when all its regions have."""
    draft.tag("parallel-root-done")
    root = draft.root
    if root.kind != "parallel":
        root.kind = "parallel"
        root.json["type"] = "parallel"
    ends = []
    for region in root.normal_children():
        if region.kind == "atomic":
            region.kind = "compound"
            region.json["initial"] = "w"
            attach(draft, region, "w")
        if region.kind == "compound":
            if not any(child.kind == "final" for child in region.children):
                attach(draft, region, "fin", "final", output={"r": region.key})
            final = next(child for child in region.children if child.kind == "final")
            ends.append(send(draft.trigger([log(f"end {region.key}")], region, target=f".{final.key}")))
    draft.machine.setdefault("output", draft.dice.pick([{"all": {"$ctx": "n"}}, {"$evt": "output"}, "over"]))
    draft.endings.append(ends)


def finals(draft: Draft) -> None:
    """A final state of the root, with outputs taken from the event that led there."""
    draft.tag("dynamic-output")
    node = attach(
        draft, draft.root, draft.fresh("end"), "final", output={"got": {"$evt": "v"}, "n": {"$ctx": "n"}}
    )
    draft.machine["output"] = draft.dice.pick(
        [{"$evt": "output"}, {"type": {"$evt": "type"}, "o": {"$evt": "output.n"}}]
    )
    event = draft.trigger([act("raise", event="A")], draft.root, target=draft.reference(node))
    draft.endings.append([send(event, v=draft.dice.pick([1, "two", None, {"2": 0, "1": [1.5]}]))])


def done_at_start(draft: Draft) -> None:
    draft.tag("done-at-start")
    root = draft.root
    if root.kind == "compound":
        node = attach(draft, root, draft.fresh("over"), "final", output={"n": {"$ctx": "n"}})
        root.json["initial"] = draft.dice.pick(
            [node.key, {"target": node.key, "actions": [act("inc", key="n")]}]
        )
    else:
        root.json = {"type": "parallel", "entry": [log("+m")], "exit": [log("-m")]}
        root.children.clear()
        draft.nodes[:] = [root]
        for key in ("p", "q"):
            made = attach(draft, root, key, "compound", initial="f")
            attach(draft, made, "f", "final", output=key)
    draft.machine["output"] = {"$evt": "output"}
    draft.dies_at_start = True
    draft.script(send("A"), {"persist": True}, {"restore": True}, send("B"))
    draft.tag("persist-restore", "restore-done")


def transient(draft: Draft) -> None:
    draft.tag("always")
    dice = draft.dice
    for node in (draft.place(), draft.place("atomic")):
        loop = {
            "guard": act("ctxLt", key="n", value=1 + dice.below(3)),
            "actions": [act("inc", key="n"), log(f"{node.id} always", evt=True)],
        }
        move = {"guard": draft.guard(), "actions": [log(f"{node.id} moves", evt=True)]}
        if dice.chance(0.6):
            move["target"] = draft.any_target()
        node.json["always"] = dice.pick(
            [loop, [loop, {"guard": "true", "actions": [log("idle")]}], move, [move]]
        )
    draft.script(send("B"), send("nobody"))


def raise_chain(draft: Draft) -> None:
    draft.tag("raise-chain")
    node = draft.place()
    last = draft.trigger([log("third")], node)
    second = draft.trigger([act("raise", event=last), log("second")], node)
    draft.somewhere(
        act("raise", event=second), act("raise", event={"type": last, "n": {"$ctx": "n"}}), log("first")
    )
    draft.script(send(second))


def deep_paths(draft: Draft) -> None:
    """Ids with dots and spaces, escaped in targets; relative paths of each kind."""
    draft.tag("target-syntax")
    node = _nested(draft)
    inner = draft.dice.pick(node.normal_children())
    inner.json.setdefault("id", draft.dice.pick(["my id", "dotted.id", "hash#id"]) + str(draft.fresh("-")))
    written = inner.json["id"].replace(".", "\\.")
    for target, home in (
        (f"#{written}", draft.root),
        (f".{inner.key}", node),
        (f".{node.key}.{inner.key}", node.parent),
    ):
        if home is not None:
            draft.script(send(draft.trigger([log(f"by {target}")], home, target=target)))
    draft.script(
        send(draft.trigger([log("to itself")], node, target=".")), *(send(e) for e in COMMON_EVENTS[:2])
    )


INGREDIENTS = [
    initial_actions,
    history_shallow,
    history_deep,
    history_default,
    initial_is_history,
    history_of_parallel,
    integer_keys,
    forbidden_forms,
    wildcards,
    multiple_targets,
    routes,
    reenter_root,
    parallel_done,
    finals,
    done_at_start,
    transient,
    raise_chain,
    deep_paths,
]
