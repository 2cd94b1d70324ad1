"""Ingredients with actors: invoked and spawned machines, promises, callbacks, observables, counters."""

from __future__ import annotations

from typing import Any

from .draft import Draft, Json, Node, Step, act, log, send, tell

PATHS_INTO_SNAPSHOT = ["snapshot.value", "snapshot.status", "snapshot.context"]


# ------------------------------------------------------------- child machines
def child_machine(draft: Draft, depth: int, prefix: str = "kid", **root: Any) -> str:
    """A small machine; with depth > 1 its first state invokes another one as `g`. Returns its name."""
    dice = draft.dice
    name = draft.fresh(prefix)
    machine: Json = {
        "id": name,
        "initial": "x",
        "context": dice.pick([{"c": 0}, {"c": {"$input": "v"}, "i": {"$input": ""}}]),
    }
    up = act("sendParent", event={"type": dice.pick(["A", "B", "UP"]), "c": {"$ctx": "c"}})
    first: Json = {
        "entry": [log("+x", evt=True)],
        "exit": [log("-x")],
        "on": {
            "PING": {"target": "y", "actions": [act("inc", key="c"), up]},
            "BOOM": {"actions": act("throw", message=f"{name} boom")},
            "FIN": "f",
            "UP": {"actions": [log("up", evt=True), up]},
        },
    }
    if dice.chance(0.3):
        first["after"] = {"10": "y"}
    if dice.chance(0.3):
        first["on"]["*"] = {"actions": [log("any", evt=True)]}
    if depth > 1:
        _nest(draft, first, child_machine(draft, depth - 1))
    machine["states"] = {
        "x": first,
        "y": {"entry": [log("+y")], "on": {"PING": "x", "FIN": {"target": "f"}, "TELL": {"actions": up}}},
        "f": {"type": "final", "output": {"c": {"$ctx": "c"}}, "entry": [log("+f")]},
    }
    machine["exit"] = [log(f"-{name}")]
    machine["output"] = dice.pick([{"$evt": "output"}, {"n": {"$ctx": "c"}}, "bye"])
    if dice.chance(0.2):
        del machine["output"]
    return draft.source(name, {**machine, **root})


def _nest(draft: Draft, state: Json, source: str) -> None:
    dice = draft.dice
    state["invoke"] = {"id": "g", "src": source, **_outcomes(draft, "g")}
    state["on"]["DOWN"] = {"actions": [act("sendTo", to="g", event=dice.pick(["PING", "UP", "TELL"]))]}
    state["on"]["DEEP"] = {"actions": [act("sendTo", to="g", event="DOWN")]}
    if dice.chance(0.4):
        state["invoke"]["input"] = {"v": {"$ctx": "c"}}


def _outcomes(draft: Draft, name: str, error: float = 0.7) -> Json:
    """Handlers for what an invoked actor may report."""
    dice = draft.dice
    handlers: Json = {}
    if dice.chance(0.7):
        handlers["onDone"] = {
            "actions": [
                log(f"{name} done", evt="output"),
                act("setFromEvent", key="out", **{"from": "output"}),
            ]
        }
    if dice.chance(error):
        handlers["onError"] = {
            "actions": [log(f"{name} failed", evt=dice.pick(["error", "error.message", "type"]))]
        }
    if dice.chance(0.3):
        handlers["onSnapshot"] = {"actions": [log(f"{name} snapshot", evt=dice.pick(PATHS_INTO_SNAPSHOT))]}
    return handlers


def invoke(draft: Draft, source: str, node: Node | None = None, /, **rest: Any) -> tuple[str, Node]:
    """Invoke it somewhere; returns its id and the state."""
    node = node or draft.place()
    given = draft.dice.chance(0.8)
    name = draft.fresh("i") if given else f"{len(node.json.get('invoke', []))}.{node.id}"
    written: Json = {"src": source, **({"id": name} if given else {}), **rest}
    node.add("invoke", written)
    draft.actors.append((name, source))
    return name, node


def _talk(draft: Draft, path: str, *extra: str) -> list[Step]:
    words = draft.dice.some(["PING", "TELL", "UP", "PING", *extra], 3)
    return [tell(path, word) for word in words]


def nested_two(draft: Draft) -> None:
    draft.tag("child-machine", "nested-children-2", "childEvent-path")
    name, _ = invoke(draft, child_machine(draft, 2), **_outcomes(draft, "two"))
    draft.script(
        *_talk(draft, name, "DOWN"), tell(f"{name}/g", "PING"), tell(name, "DOWN"), tell(f"{name}/g", "FIN")
    )
    draft.endings.append([tell(name, "FIN")])


def nested_three(draft: Draft) -> None:
    draft.tag("child-machine", "nested-children-3", "childEvent-path")
    name, _ = invoke(draft, child_machine(draft, 3), **_outcomes(draft, "three"))
    draft.script(
        tell(name, "DEEP"), tell(f"{name}/g/g", "PING"), tell(f"{name}/g", "DOWN"), tell(f"{name}/g/g", "FIN")
    )
    draft.endings.append([tell(f"{name}/g", draft.dice.pick(["FIN", "BOOM"]))])


def child_done_at_start(draft: Draft) -> None:
    draft.tag("child-machine", "child-done-at-start")
    source = child_machine(draft, 1, "brief", initial="f")
    if draft.dice.chance(0.3):
        draft.somewhere(act("spawn", src=source, id=draft.fresh("s")))
    invoke(draft, source, **_outcomes(draft, "brief"))
    draft.script(send("A"))


def child_with_context(draft: Draft) -> None:
    draft.tag("child-machine", "invoke-input")
    source = child_machine(draft, 1)
    name, _ = invoke(
        draft,
        source,
        input=draft.dice.pick([{"v": {"$ctx": "n"}}, {"v": {"$evt": "v"}}, 3, {"v": [1, None]}]),
    )
    draft.script(*_talk(draft, name))


def child_timers(draft: Draft) -> None:
    draft.tag("child-machine", "child-timers")
    source = child_machine(draft, 1, "timed")
    state = draft.machine["actors"][source]["states"]["x"]
    state["after"] = {"10": {"target": "y", "actions": [act("sendParent", event="A", delay=5, id="later")]}}
    name, _ = invoke(draft, source)
    draft.script({"advance": 5}, {"advance": 7}, tell(name, "PING"), {"advance": 20})


def snapshots_synced(draft: Draft) -> None:
    draft.tag("child-machine", "onSnapshot")
    source = child_machine(draft, 1)
    handler = {"actions": [log("seen", evt=draft.dice.pick(PATHS_INTO_SNAPSHOT)), act("inc", key="n")]}
    name, _ = invoke(draft, source, onSnapshot=handler)
    draft.script(*_talk(draft, name))


# ------------------------------------------------------------------- invoked
def _outcome_steps(draft: Draft, name: str) -> Step:
    dice = draft.dice
    if dice.chance(0.55):
        return {"resolve": name, "output": dice.pick([1, "ok", {"b": 1, "2": 2, "1": [None]}, None])}
    return dice.pick(
        [
            {"reject": name, "error": {"code": 7}},
            {"reject": name, "errorMessage": "refused"},
            {"reject": name},
        ]
    )


def promises(draft: Draft) -> None:
    draft.tag("promise")
    name, _ = invoke(draft, "manual", **_outcomes(draft, "p"), input={"n": {"$ctx": "n"}})
    draft.script(send("A"), _outcome_steps(draft, name), send("B"))


def promise_both(draft: Draft) -> None:
    """A promise settled twice, or for a state that may have been left and entered again."""
    draft.tag("promise", "late-result")
    name, node = invoke(draft, "manual", **_outcomes(draft, "q"))
    again = draft.trigger([log("again")], node, target=draft.reference(node), reenter=True)
    draft.script(send(again), _outcome_steps(draft, name), _outcome_steps(draft, name))


def echo_and_fail(draft: Draft) -> None:
    dice = draft.dice
    source = dice.pick(["echo", "fail", "fail"])
    draft.tag(f"{source}-promise")
    given = dice.pick([{"v": {"$ctx": "n"}}, "text", 5, {"e": {"$evt": "type"}}, [1, {"2": 0, "1": 0}]])
    invoke(draft, source, **_outcomes(draft, source, error=0.9), input=given)
    if dice.chance(0.5):
        draft.somewhere(act("spawn", src=source, id=draft.fresh("s"), input=given))
    draft.script(send("A"), send("B"))


def echo_promise(draft: Draft) -> None:
    draft.tag("echo-promise")
    target = {"target": draft.any_target()} if draft.dice.chance(0.5) else {}
    invoke(draft, "echo", input=1, onDone={**target, "actions": [log("echoed", evt="output")]})


def callbacks(draft: Draft) -> None:
    draft.tag("callback", "sendBack")
    name, node = invoke(draft, "callback", input={"at": {"$ctx": "n"}})
    event = draft.trigger([act("sendTo", to=name, event={"type": "HI", "n": {"$ctx": "n"}})], node)
    back: Step = {"sendBack": name, "event": {"type": draft.dice.pick(["A", "B", "x.z"]), "v": 1}}
    draft.script(send(event), back, back, tell(name, "direct"))


def observables(draft: Draft) -> None:
    draft.tag("observable")
    dice = draft.dice
    name, _ = invoke(draft, "observable", **_outcomes(draft, "o"))
    values: list[Any] = [1, {"b": 0, "1": 1}, None, "v"]
    draft.script(
        {"next": name, "value": dice.pick(values)},
        {"next": name, "value": 2},
        _last_word(draft, name),
        {"next": name, "value": 3},
    )


def event_observables(draft: Draft) -> None:
    draft.tag("event-observable")
    name, _ = invoke(draft, "eventObservable", **_outcomes(draft, "e"))
    events: list[Step] = [
        {"next": name, "value": {"type": draft.dice.pick(["A", "B", "x.y"]), "v": 1}} for _ in range(2)
    ]
    draft.script(*events, _last_word(draft, name), {"next": name, "value": {"type": "A"}})


def _last_word(draft: Draft, name: str) -> Step:
    if draft.dice.chance(0.55):
        draft.tag("observable-complete")
        return {"complete": name}
    draft.tag("observable-fail")
    return draft.dice.pick([{"fail": name, "error": {"why": 1}}, {"fail": name, "error": "text"}])


def counters(draft: Draft) -> None:
    draft.tag("transition-actor")
    name, _ = invoke(
        draft,
        "counter",
        **(
            {"onSnapshot": {"actions": [log("count", evt="snapshot.context")]}}
            if draft.dice.chance(0.6)
            else {}
        ),
    )
    event = draft.trigger([act("sendTo", to=name, event={"type": "INC", "by": {"$ctx": "n"}})], draft.root)
    draft.script(tell(name, "INC", by=2), send(event), tell(name, "INC"), tell(name, "other"))


def invoke_transient(draft: Draft) -> None:
    """The invoking state is left in the same macrostep: made, never started."""
    draft.tag("invoke-transient")
    node = draft.place("atomic")
    invoke(draft, draft.dice.pick(["callback", "manual", child_machine(draft, 1)]), node)
    node.json["always"] = {
        "guard": act("ctxLt", key="n", value=2),
        "target": draft.any_target(),
        "actions": [act("inc", key="n")],
    }
    draft.script(send(draft.trigger([log("into")], draft.root, target=draft.reference(node), reenter=True)))


INGREDIENTS = [
    nested_two,
    nested_three,
    child_done_at_start,
    child_with_context,
    child_timers,
    snapshots_synced,
    promises,
    promise_both,
    echo_and_fail,
    echo_promise,
    callbacks,
    observables,
    event_observables,
    counters,
    invoke_transient,
]
