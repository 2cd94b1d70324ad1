"""Ingredients in which actors are spawned, stopped and written to."""

from __future__ import annotations

from typing import Any

from .children import child_machine, invoke
from .draft import Draft, Json, Step, act, log, send, tell


# ------------------------------------------------------------------ spawning
def _spawnable(draft: Draft) -> str:
    source: str = draft.dice.pick(["callback", "manual", "counter", "observable", "echo", ""])
    return source or child_machine(draft, 1 + draft.dice.below(2), "spawned")


def _spawn_somewhere(draft: Draft, action: Json) -> None:
    """In an entry, in a transition, or among the actions of an `initial`."""
    dice = draft.dice
    where = dice.pick(["entry", "transition", "initial"])
    compound = next((n for n in draft.walk("compound") if isinstance(n.json.get("initial"), str)), None)
    if where == "initial" and compound is not None:
        compound.json["initial"] = {"target": compound.json["initial"], "actions": [action, log("spawned")]}
    elif where == "transition":
        draft.script(send(draft.trigger([action, log("spawned")], draft.root if dice.chance(0.4) else None)))
    else:
        where = "entry"
        draft.place().add("entry", action, log("spawned"))
    draft.tag(f"spawn-in-{where}")


def _drive(draft: Draft, source: str, name: str) -> list[Step]:
    """Something that the spawned actor will notice."""
    if source == "manual":
        return [{"resolve": name, "output": 1}]
    if source == "callback":
        return [{"sendBack": name, "event": "A"}, tell(name, "HI")]
    if source == "observable":
        return [{"next": name, "value": {"v": 1}}, {"complete": name}]
    return [tell(name, draft.dice.pick(["PING", "INC"])), tell(name, "FIN")]


def spawn_with_id(draft: Draft) -> None:
    draft.tag("spawn-id")
    source, name = _spawnable(draft), draft.fresh("s")
    _spawn_somewhere(draft, act("spawn", src=source, id=name, input={"v": {"$ctx": "n"}}))
    draft.script(send("A"), *_drive(draft, source, name))


def spawn_without_id(draft: Draft) -> None:
    draft.tag("spawn-no-id")
    source = _spawnable(draft)
    _spawn_somewhere(draft, act("spawn", src=source))
    draft.script(tell("undefined", "PING"), send("A"), tell("undefined", "FIN"))


def spawn_into_context(draft: Draft) -> None:
    draft.tag("spawn-ctxKey", "send-by-ref")
    dice = draft.dice
    source, name = _spawnable(draft), draft.fresh("s")
    _spawn_somewhere(
        draft, act("spawn", src=source, ctxKey="ref", **({"id": name} if dice.chance(0.7) else {}))
    )
    event = dice.pick(["PING", "INC", "HI"])
    draft.script(
        send(
            draft.trigger(
                [act("sendTo", to={"$ctx": "ref"}, event=event), log("told", ctx="ref")], draft.root
            )
        )
    )
    if dice.chance(0.7):
        draft.tag("stop-by-ref")
        draft.script(
            send(draft.trigger([act("stopChild", id={"$ctx": "ref"}), log("stopped", ctx="ref")], draft.root))
        )
    if dice.chance(0.7):
        draft.tag("ref-copied")
        draft.script(send(draft.trigger([act("set", key="copy", value={"it": {"$ctx": "ref"}})], draft.root)))


def spawn_in_system(draft: Draft) -> None:
    draft.tag("spawn-systemId", "send-by-system")
    source, name, system = _spawnable(draft), draft.fresh("s"), draft.fresh("sys")
    _spawn_somewhere(draft, act("spawn", src=source, id=name, systemId=system))
    event = act("sendTo", to={"system": system}, event={"type": "PING", "n": {"$ctx": "n"}})
    draft.script(
        send(draft.trigger([event], draft.root)), *_drive(draft, source, name), {"query": {"context": ["n"]}}
    )
    draft.tag("query")


def spawn_synced(draft: Draft) -> None:
    draft.tag("spawn-syncSnapshot")
    source, name = draft.dice.pick(["counter", child_machine(draft, 1, "synced")]), draft.fresh("s")
    rest = {"ctxKey": "ref"} if draft.dice.chance(0.4) else {}
    _spawn_somewhere(draft, act("spawn", src=source, id=name, syncSnapshot=True, **rest))
    handler = {
        "actions": [
            log("synced", evt=draft.dice.pick(["snapshot.context", "snapshot.value", "snapshot.status"]))
        ]
    }
    draft.root.handle(f"xstate.snapshot.{name}", handler)
    draft.script(*_drive(draft, source, name))


def spawn_same_id(draft: Draft) -> None:
    draft.tag("spawn-same-id")
    source, name = (
        draft.dice.pick(["callback", "counter", child_machine(draft, 1, "double")]),
        draft.fresh("s"),
    )
    spawn = act("spawn", src=source, id=name)
    again = draft.trigger([spawn], draft.root)
    _spawn_somewhere(draft, spawn)
    drive = _drive(draft, source, name)
    draft.script(send(again), *drive[:1], send(again), *drive)


# ------------------------------------------------------------------ stopping
def stop_by_id(draft: Draft) -> None:
    draft.tag("stop-by-id")
    dice = draft.dice
    source = dice.pick(["callback", "manual", child_machine(draft, 2)])
    name, _ = invoke(draft, source)
    stop = [log("stopping"), act("stopChild", id=name), log("stop asked")]
    if dice.chance(0.3):
        stop.append(act("spawn", src=source, id=name))
    draft.script(send(draft.trigger(stop, draft.root)), tell(name, "PING"), send("A"))


def stop_missing(draft: Draft) -> None:
    draft.tag("stop-missing")
    draft.script(send(draft.trigger([act("stopChild", id="nobody"), log("nobody stopped")])))


def stop_before_start(draft: Draft) -> None:
    draft.tag("stop-before-start")
    name = draft.fresh("s")
    source = _spawnable(draft)
    draft.somewhere(act("spawn", src=source, id=name), act("stopChild", id=name), log("gone"))


# ------------------------------------------------------------------- sending
def send_chain(draft: Draft) -> None:
    """Down to the grandchild and back up by sendParent."""
    draft.tag("child-machine", "send-chain", "nested-children-2")
    name, node = invoke(draft, child_machine(draft, 2))
    down = act("sendTo", to=name, event={"type": "DOWN", "n": {"$ctx": "n"}})
    event = draft.trigger([down, log("sent"), act("sendTo", to=name, event="PING")], node)
    draft.script(send(event), send("A"), send(event))


def send_on_entry(draft: Draft) -> None:
    """To an actor that is invoked by the very state being entered."""
    draft.tag("send-to-invoked-on-entry")
    source = draft.dice.pick(["callback", child_machine(draft, 1)])
    name, node = invoke(draft, source)
    early = act("sendTo", to=name, event=draft.dice.pick(["PING", {"type": "PING", "v": 1}]))
    thrice = {"guard": act("ctxLt", key="n", value=3), "actions": [act("inc", key="n"), early]}
    node.add(
        "entry",
        draft.dice.pick(
            [act("choose", branches=[thrice]), {**early, "params": {**early["params"], "event": "HI"}}]
        ),
        log("sent early"),
    )
    node.add("exit", act("sendTo", to=name, event="BYE"))
    draft.script(send(draft.trigger([log("again")], draft.root, target=draft.reference(node), reenter=True)))


def send_to_self(draft: Draft) -> None:
    draft.tag("send-self")
    to = draft.dice.pick(["self", "#_internal"])
    name = draft.fresh("H")
    draft.root.handle(name, {"actions": [log("heard", evt="n")]})
    draft.somewhere(
        act("sendTo", to=to, event={"type": name, "n": {"$ctx": "n"}}),
        act("raise", event="A"),
        act("inc", key="n"),
    )


def send_to_missing(draft: Draft) -> None:
    draft.tag("send-missing")
    to: Any = draft.dice.pick(["nobody", {"$ctx": "noref"}, {"system": "nosystem"}, "#_parent"])
    draft.endings.append(
        [send(draft.trigger([log("before"), act("sendTo", to=to, event="PING"), log("after")]))]
    )


def send_later(draft: Draft) -> None:
    draft.tag("send-delayed", "cancel")
    dice = draft.dice
    source = dice.pick(["callback", "counter", child_machine(draft, 1)])
    name, node = invoke(draft, source)
    later = act(
        "sendTo", to=name, event=dice.pick(["PING", "INC"]), delay=dice.pick([5, 10, "soonish"]), id="post"
    )
    draft.machine.setdefault("delays", {})["soonish"] = 8
    event = draft.trigger([later, act("sendTo", to="self", event="A", delay=3)], node)
    cancel = draft.trigger([act("cancel", id="post")], draft.root)
    draft.script(send(event), {"advance": 4}, *([send(cancel)] if dice.chance(0.4) else []), {"advance": 10})


def forward(draft: Draft) -> None:
    draft.tag("forwardTo")
    source = draft.dice.pick(["callback", child_machine(draft, 1), child_machine(draft, 2)])
    name, node = invoke(draft, source)
    for event in ("PING", "DOWN"):
        node.handle(event, {"actions": [log("passing on"), act("forwardTo", to=name)]})
        draft.events.append(event)
    draft.script(send("PING", v=1), send("DOWN"), send("PING"))


def parent_of_root(draft: Draft) -> None:
    draft.tag("sendParent-from-root")
    draft.endings.append([send(draft.trigger([log("up"), act("sendParent", event="A")]))])


def emitted(draft: Draft) -> None:
    draft.tag("emit")
    source = child_machine(draft, 1)
    draft.machine["actors"][source]["states"]["x"]["on"]["SAY"] = {"actions": act("emit", event="fromChild")}
    name, _ = invoke(draft, source)
    event = draft.trigger(
        [
            act("emit", event={"type": "said", "ctx": {"$ctx": "n"}, "evt": {"$evt": "v"}}),
            act("emit", event="plain"),
        ]
    )
    draft.script(send(event, v={"1": 1, "0": [None]}), tell(name, "SAY"))


def event_fields(draft: Draft) -> None:
    """Events put together from context and event."""
    draft.tag("dynamic-params")
    name = draft.fresh("H")
    draft.root.handle(
        name, {"actions": [log("got", evt=""), act("setFromEvent", key="got", **{"from": "deep"})]}
    )
    draft.context["list"] = [{"v": 1}, {"v": "z"}]
    made = act(
        "raise",
        event={"type": name, "deep": {"n": {"$ctx": "n"}, "list": [{"$evt": "v"}, {"$ctx": "list.1.v"}]}},
        ctxKeys={"c": "list"},
        evtKeys={"t": "type", "none": "x.y"},
    )
    more: list[Any] = [
        act("append", key="list", value={"$evt": "v"}),
        act("append", key="fresh", **{"from": "v"}),
        act("toggle", key="flag"),
    ]
    draft.script(send(draft.trigger([*more, made]), v=2), send("A"))


def chosen(draft: Draft) -> None:
    draft.tag("choose")
    branches: list[Json] = [
        {"guard": draft.guard(), "actions": [log("first"), act("inc", key="n"), act("raise", event="A")]},
        {"guard": draft.guard(), "actions": log("second")},
        {"actions": [act("choose", branches=[{"guard": "true", "actions": ["named", log("nested")]}])]},
    ]
    draft.somewhere(
        act("inc", key="n"), act("choose", branches=branches[draft.dice.below(2) :]), log("behind", ctx="n")
    )
    draft.script(send("A"), send("B"))


def named_lists(draft: Draft) -> None:
    """Actions and guards that the case itself defines."""
    draft.tag("case-actions")
    draft.case.setdefault("actions", {})["both"] = [act("inc", key="n"), log("both", ctx="n"), "named"]
    draft.case.setdefault("guards", {}).update({"mine": act("ctxGt", key="n", value=1), "never": False})
    event = draft.trigger(
        ["both", act("both", ignored=1)], guard=draft.dice.pick(["mine", act("not", guard="mine"), "never"])
    )
    if draft.dice.chance(0.3):
        draft.case["strictActions"] = True
    draft.script(send(event), send("A"), send(event))


def stately_names(draft: Draft) -> None:
    draft.tag("stately-spellings")
    name, node = invoke(draft, "callback")
    actions = [
        act("xstate.assign", assignments={"n": {"$evt": "v"}, "k": 2}),
        act("xstate.log", message="said"),
        act("xstate.raise", event="A"),
        act("xstate.sendTo", actorRef=name, event="HI"),
        act("xstate.emit", event={"type": "out"}),
        act("xstate.cancel", sendId="none"),
    ]
    extra: list[Any] = [act("xstate.spawnChild", src="counter", id="cc"), act("xstate.stopChild", id="cc")]
    draft.script(
        send(draft.trigger([*draft.dice.some(actions, 4), *extra[: draft.dice.below(3)]], node), v=4)
    )


INGREDIENTS = [
    spawn_with_id,
    spawn_without_id,
    spawn_into_context,
    spawn_in_system,
    spawn_synced,
    spawn_same_id,
    stop_by_id,
    stop_missing,
    stop_before_start,
    send_chain,
    send_on_entry,
    send_to_self,
    send_to_missing,
    send_later,
    forward,
    parent_of_root,
    emitted,
    event_fields,
    chosen,
    named_lists,
    stately_names,
]
