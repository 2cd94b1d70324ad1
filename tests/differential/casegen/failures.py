"""Ingredients in which something goes wrong. Those that end the machine are scripted last."""

from __future__ import annotations

from typing import Any

from .children import child_machine, invoke
from .draft import Draft, Json, act, log, send, tell
from .structure import later_state


def _fatal_event(draft: Draft, actions: list[Any], **rest: Any) -> None:
    event = draft.trigger(actions, **rest)
    draft.endings.append([send(event), send("A"), {"advance": 20}])


def guard_throws(draft: Draft) -> None:
    draft.tag("error-in-guard")
    guard = draft.dice.pick(
        [
            "throw",
            act("throw", message="no guard"),
            "unknownGuard",
            act("not", guard="throw"),
            act("and", guards=["true", "nope"]),
        ]
    )
    event = draft.trigger([log("never")], guard=guard)
    draft.script({"query": {"can": [event]}})
    draft.tag("query")
    draft.endings.append([send(event), send("A")])


def always_throws(draft: Draft) -> None:
    draft.tag("error-in-always-guard")
    node = draft.place("atomic")
    guard = act(
        "and",
        guards=[act("ctxGt", key="n", value=draft.dice.below(3)), draft.dice.pick(["throw", "unknownGuard"])],
    )
    node.json["always"] = {"guard": guard, "target": draft.any_target()}
    draft.endings.append(
        [
            send(draft.trigger([act("inc", key="n"), act("inc", key="n"), log("raised n")], draft.root)),
            send("A"),
        ]
    )


def assign_throws(draft: Draft) -> None:
    draft.tag("error-in-assign")
    _fatal_event(
        draft, [log("before"), act("inc", key="n"), act("throwAssign", message="bad assign"), log("after")]
    )


def action_throws(draft: Draft) -> None:
    draft.tag("error-in-action")
    sends = [act("raise", event="A", delay=5), act("sendTo", to="self", event="B"), act("emit", event="em")]
    _fatal_event(
        draft,
        [log("before"), act("set", key="k", value=9), *sends, act("throw", message="kaput"), log("after")],
    )


def entry_throws(draft: Draft) -> None:
    draft.tag("error-in-entry")
    node = draft.place("atomic")
    guarded = act(
        "choose",
        branches=[{"guard": act("ctxGt", key="n", value=0), "actions": [act("throw", message="entry")]}],
    )
    node.add(draft.dice.pick(["entry", "exit"]), guarded)
    draft.endings.append(
        [
            send(
                draft.trigger([act("inc", key="n")], draft.root, target=draft.reference(node), reenter=True)
            ),
            send("A"),
        ]
    )


def append_to_number(draft: Draft) -> None:
    """What JavaScript itself refuses or quietly computes."""
    draft.tag("js-arithmetic")
    dice = draft.dice
    values: list[Any] = ["s", None, True, [1], [], {}, 0.1, 1e21, "5", 123456789012345680000, 1e-7]
    draft.context["odd"] = dice.pick(values)
    steps = [
        act("inc", key="odd", by=dice.pick([1, 0.2, "x"])),
        act("inc", key="absent"),
        log("odd", ctx="odd"),
    ]
    compare = dice.pick(["ctxGt", "ctxGte", "ctxLt", "ctxLte", "ctxEq", "ctxTruthy"])
    other = dice.pick([1, "5", None, [1], "a", 0, True])
    event = draft.trigger(
        steps, draft.root, guard=act(compare, key=dice.pick(["odd", "odd", "n", "absent"]), value=other)
    )
    draft.script(send(event), send(event))
    text = draft.trigger(
        [log("parts", ctx=dice.pick(["odd.length", "odd.0", "list.length", "list.1", "name.2"]))], draft.root
    )
    draft.context.update({"list": ["p", "q"], "name": "nämé\u2028\ud83d\ude00"})
    draft.script(send(text))
    if dice.chance(0.3):
        draft.endings.append(
            [send(draft.trigger([act("append", key=dice.pick(["odd", "n", "name"]), value=1)], draft.root))]
        )


def child_error_unhandled(draft: Draft) -> None:
    draft.tag("child-machine", "child-error-unhandled")
    dice = draft.dice
    if dice.chance(0.5):
        source = child_machine(draft, 1 + dice.below(2))
        name, _ = invoke(draft, source)
        inner = f"{name}/g" if dice.chance(0.5) else name
        draft.endings.append([tell(inner, "BOOM"), send("A"), {"advance": 20}])
    else:
        name, _ = invoke(draft, "manual")
        reason: Json = dice.pick([{"error": {"code": 1}}, {"errorMessage": "lost"}, {"error": "text"}])
        draft.endings.append([{"reject": name, **reason}, send("A")])


def child_error_handled(draft: Draft) -> None:
    draft.tag("child-machine", "child-error-handled")
    handler = draft.dice.pick(["error", "error.message", "actorId"])
    source = child_machine(draft, 1 + draft.dice.below(2))
    name, _ = invoke(draft, source, onError={"actions": [log("caught", evt=handler)]})
    draft.script(tell(name, "PING"), tell(name, "BOOM"), send("A"), tell(name, "PING"))


def child_fails_at_start(draft: Draft) -> None:
    draft.tag("child-machine", "error-in-child-init")
    dice = draft.dice
    source = child_machine(draft, 1, "bad")
    state = draft.machine["actors"][source]["states"]["x"]
    kind = dice.pick(["assign", "action", "always", "initial"])
    if kind == "assign":
        state["entry"].append(act("throwAssign", message="bad start"))
    elif kind == "action":
        state["entry"].append(act("throw", message="bad start"))
    elif kind == "always":
        state["always"] = {"guard": "throw", "target": "y"}
    else:
        draft.machine["actors"][source]["initial"] = "nowhere"
    handler = (
        {"onError": {"actions": [log("caught", evt=dice.pick(["error.message", "error", "type"]))]}}
        if dice.chance(0.7)
        else {}
    )
    later = later_state(draft)
    if later is None or dice.chance(0.3):
        invoke(draft, source, **handler)
        draft.dies_at_start = True
    else:
        invoke(draft, source, later, **handler)
        draft.endings.append(
            [send(draft.trigger([], draft.root, target=draft.reference(later), reenter=True)), send("A")]
        )


def unknown_source(draft: Draft) -> None:
    dice = draft.dice
    later = later_state(draft)
    kind = dice.pick(["start", "later", "later", "spawn", "assign"])
    if kind == "start" or later is None:
        draft.tag("unknown-src", "unknown-src-at-start")
        invoke(draft, "nosuch", draft.root)
        draft.dies_at_start = True
    elif kind == "later":
        draft.tag("unknown-src", "unknown-src-later")
        name, _ = invoke(draft, "nosuch", later, onDone={"actions": [log("never")]})
        to_it = draft.trigger([], draft.root, target=draft.reference(later), reenter=True)
        draft.endings.append([send(to_it), tell(name, "HI"), {"persist": True}, send("A")])
    else:
        draft.tag("unknown-src", "unknown-src-spawned")
        rest = {"ctxKey": "ref"} if kind == "assign" else {}
        draft.endings.append(
            [
                send(
                    draft.trigger([log("before"), act("spawn", src="nosuch", id="nn", **rest), log("after")])
                ),
                send("A"),
                {"persist": True},
            ]
        )


def same_system_id(draft: Draft) -> None:
    draft.tag("duplicate-systemId")
    dice = draft.dice
    invoke(draft, "callback", draft.root, systemId="one")
    if dice.chance(0.25):
        invoke(draft, dice.pick(["callback", "manual"]), systemId="one")
        draft.dies_at_start = True
    else:
        rest = {"ctxKey": "ref"} if dice.chance(0.4) else {}
        _fatal_event(
            draft, [log("before"), act("spawn", src="counter", id="cc", systemId="one", **rest), log("after")]
        )


def start_fails(draft: Draft) -> None:
    draft.tag("error-at-start")
    dice = draft.dice
    draft.dies_at_start = True
    kind = dice.pick(["assign", "action", "always", "initial", "send", "delay"])
    node = draft.place("atomic")
    if kind == "assign":
        node.add("entry", act("throwAssign"), log("never"))
    elif kind == "action":
        node.add("entry", act("inc", key="n"), act("throw"), log("never"))
    elif kind == "always":
        node.json["always"] = [{"guard": act("throw", message="early"), "target": draft.any_target()}]
    elif kind == "send":
        node.add("entry", act("sendTo", to="nobody", event="A"))
    elif kind == "initial":
        home = next(draft.walk("compound"), None)
        if home is not None:
            home.json["initial"] = "nowhere"
    else:
        node.add("entry", act("raise", event="A", delay={"$ctx": "n"}))


def nulls(draft: Draft) -> None:
    """JSON's null where JavaScript's undefined was meant."""
    draft.tag("null-somewhere")
    node = draft.place()
    null = None
    kind = draft.dice.below(12)
    event = draft.fresh("N")
    tables: list[Any] = [
        {"target": null},
        {"actions": null},
        {"guard": null, "actions": [log("no guard")]},
        {"actions": [null]},
        {"reenter": null, "actions": [log("x")]},
    ]
    if kind < 5:
        node.handle(event, tables[kind])
        draft.endings.append([{"query": {"can": [event]}}, send(event), send("A")])
        draft.tag("query")
    elif kind < 9:
        key = ["entry", "exit", "tags", "output"][kind - 5]
        node.json[key] = null
        draft.endings.append(
            [send(draft.trigger([], draft.root, target=draft.reference(node), reenter=True)), send("A")]
        )
    elif kind == 9:
        node.json["always"] = {"guard": null, "actions": [act("inc", key="n")]}
    elif kind == 10:
        node.json[draft.dice.pick(["meta", "description", "onDone", "always", "after", "on", "invoke"])] = (
            null
        )
    else:
        node.handle(event, null)


INGREDIENTS = [
    guard_throws,
    always_throws,
    assign_throws,
    action_throws,
    entry_throws,
    append_to_number,
    child_error_unhandled,
    child_error_handled,
    child_fails_at_start,
    unknown_source,
    same_system_id,
    start_fails,
    nulls,
]
