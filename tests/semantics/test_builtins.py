"""Every built-in in each of its forms: as data in two spellings, and made in Python, named or in place.

All forms of one row run in the same machine on the same event and must show the same outcome.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from statecharts import (
    assign,
    cancel,
    emit,
    enqueue,
    forward_to,
    load_machine,
    log,
    raise_,
    send_parent,
    send_to,
    simulate,
    spawn_child,
    state_in,
    stop_child,
)
from statecharts.adapters.engines.simulation import Simulation
from statecharts.values import UNDEFINED, plain


async def job() -> None:
    """Work that nobody settles."""


def note(context: Any, event: Any) -> dict[str, Any]:
    return {"got": [*context["got"], {key: event[key] for key in event}]}


def cel(source: str) -> dict[str, str]:
    return {"@expr": source, "@lang": "cel"}


KID: dict[str, Any] = {
    "id": "kid",
    "initial": "on",
    "context": {"got": []},
    "states": {"on": {"on": {"GO": {"actions": ["note", "act"]}, "*": {"actions": "note"}}}},
}
PARENT: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"got": [], "n": 1, "name": "kid"},
    "states": {
        "a": {
            "invoke": {"src": "kid", "id": "kid", "systemId": "the kid"},
            "on": {
                "GO": {"actions": "act"},
                "SET": {"actions": {"type": "@xstate.raise", "event": {"type": "RING"}, "id": "t", "delay": 10}},
                "*": {"actions": "note"},
            },
        }
    },
}
UPDATES = {"note": note}


def built(document: dict[str, Any], action: Any, in_place: bool, **bound: Any) -> Any:
    """``document`` with ``action`` under the name ``act``: written there, or bound to the name."""
    if in_place:
        document = {**document, "states": {k: {**s, "on": _placed(s["on"], action)} for k, s in document["states"].items()}}
        bound.setdefault("actions", {})
    else:
        bound["actions"] = {"act": action}
    return load_machine(document, {"updates": UPDATES, **bound})


def _placed(on: dict[str, Any], action: Any) -> dict[str, Any]:
    listed = {"GO": {"actions": [action if name == "act" else name for name in _list(on["GO"]["actions"])]}}
    return {**on, **listed}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def outcome(action: Any, in_place: bool, where: str) -> dict[str, Any]:
    """What can be seen of the action, run by the parent or by the child on GO."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `job` and `wait` are used by some rows only
        kid = built(KID, action if where == "kid" else assign(note), in_place)
        parent = built(
            PARENT,
            action if where == "parent" else assign(note),
            in_place,
            actors={"kid": kid, "job": job},
            delays={"wait": 5},
        )
    sim: Simulation[Any] = simulate(parent)
    sim.send("SET")
    if where == "parent":
        sim.send("GO", v=7)
    else:
        sim.send_to("kid", "GO", v=7)
    at_once = seen(sim)
    sim.advance(50)
    return {"at once": at_once, "later": seen(sim), "due": sim.clock.next_due()}


def seen(sim: Simulation[Any]) -> dict[str, Any]:
    kid = sim.snapshot.children.get("kid")
    return {
        "status": (sim.snapshot.status, str(sim.snapshot.error)),
        "context": plain(sim.snapshot.context),
        "children": {key: (ref.src, ref.system_id) for key, ref in sim.snapshot.children.items() if ref},
        "kid": plain(sim.child("kid").context) if kid else None,
        "emitted": plain(sim.emitted_events),
        "logged": [(None if label is UNDEFINED else label, plain(value)) for label, value in sim.logged],
        "inputs": [plain(start.input) for start in sim.starts if start.path != "kid"],
    }


# name → (who runs it, forms as data, forms in Python, what must be true of the outcome)
ACTIONS: dict[str, tuple[str, list[Any], list[Any], Any]] = {
    "raise": (
        "parent",
        [
            {"type": "@xstate.raise", "event": {"type": "RANG", "v": 7}},
            {"type": "xstate.raise", "params": {"event": {"type": "RANG", "v": 7}}},
            {"type": "xstate.raise", "params": {"event": {"type": "RANG", "v": cel("event.v")}}},
            {"type": "xstate.raise", "event": cel("{'type': 'RANG', 'v': event.v}")},
        ],
        [raise_({"type": "RANG", "v": 7}), raise_(lambda event: {"type": "RANG", "v": event["v"]})],
        lambda o: o["at once"]["context"]["got"] == [{"type": "RANG", "v": 7}],
    ),
    "raise by name": (
        "parent",
        [{"type": "@xstate.raise", "event": "RANG"}, {"type": "xstate.raise", "params": {"event": "RANG"}}],
        [raise_("RANG")],
        lambda o: o["at once"]["context"]["got"] == [{"type": "RANG"}],
    ),
    "raise later": (
        "parent",
        [
            {"type": "@xstate.raise", "event": "RANG", "id": "r", "delay": 5},
            {"type": "@xstate.raise", "event": "RANG", "id": "r", "delay": "wait"},
            {"type": "xstate.raise", "params": {"event": "RANG", "id": "r", "delay": cel("context.n + 4")}},
        ],
        [
            raise_("RANG", id="r", delay=5),
            raise_("RANG", id="r", delay="wait"),
            raise_("RANG", id=lambda: "r", delay=lambda context: context["n"] + 4),
        ],
        lambda o: (
            o["at once"]["context"]["got"] == []
            and o["later"]["context"]["got"] == [{"type": "RANG"}, {"type": "RING"}]
        ),
    ),
    "cancel": (
        "parent",
        [
            {"type": "@xstate.cancel", "id": "t"},
            {"type": "xstate.cancel", "params": {"sendId": "t"}},
            {"type": "xstate.cancel", "params": {"id": cel("'t'")}},
        ],
        [cancel("t"), cancel(lambda context, event: "t")],
        lambda o: o["later"]["context"]["got"] == [],
    ),
    "log": (
        "parent",
        [
            {"type": "@xstate.log", "args": [cel("'v=' + string(event.v)")], "label": "L"},
            {"type": "xstate.log", "params": {"message": cel("'v=' + string(event.v)"), "label": "L"}},
            {"type": "xstate.log", "params": {"value": "v=7", "label": "L"}},
        ],
        [log("v=7", "L"), log(lambda event: f"v={event['v']}", "L")],
        lambda o: o["at once"]["logged"] == [("L", "v=7")],
    ),
    "log several": (
        "parent",
        [{"type": "@xstate.log", "args": ["a", cel("event.v")]}],
        [log(["a", 7])],
        lambda o: o["at once"]["logged"] == [(None, ["a", 7])],
    ),
    "log without a value": (
        "parent",
        ["@xstate.log", "xstate.log", {"type": "@xstate.log"}, {"type": "xstate.log", "params": {}}],
        [log()],
        lambda o: o["at once"]["logged"][0][1]["event"] == {"type": "GO", "v": 7},
    ),
    "emit": (
        "parent",
        [
            {"type": "@xstate.emit", "event": {"type": "TOLD", "v": cel("event.v")}},
            {"type": "xstate.emit", "params": {"event": {"type": "TOLD", "v": 7}}},
        ],
        [emit({"type": "TOLD", "v": 7}), emit(lambda event: {"type": "TOLD", "v": event["v"]})],
        lambda o: o["at once"]["emitted"] == [{"type": "TOLD", "v": 7}],
    ),
    "assign": (
        "parent",
        [
            {"type": "@xstate.assign", "context": {"n": cel("context.n + event.v"), "more": [1]}},
            {"type": "xstate.assign", "params": {"assignments": {"n": 8, "more": [1]}}},
            {"type": "xstate.assign", "params": {"assignment": cel("{'n': context.n + event.v, 'more': [1]}")}},
            {"type": "xstate.assign", "params": {"n": cel("context.n + event.v"), "more": [1]}},
            {"type": "@xstate.assign", "n": 8, "more": [1], "description": "older drafts", "meta": {}},
        ],
        [
            assign({"n": 8, "more": [1]}),
            assign(n=lambda context, event: context["n"] + event["v"], more=[1]),
            assign(lambda context, event: {"n": context["n"] + event["v"], "more": [1]}),
            assign({"n": cel("context.n + event.v"), "more": lambda: [1]}),
        ],
        lambda o: o["at once"]["context"] == {"got": [], "n": 8, "name": "kid", "more": [1]},
    ),
    "send to": (
        "parent",
        [
            {"type": "xstate.sendTo", "params": {"to": "kid", "event": {"type": "HI", "v": 7}}},
            {"type": "xstate.sendTo", "params": {"actorRef": cel("context.name"), "event": cel("{'type': 'HI', 'v': event.v}")}},
            {"type": "@xstate.sendTo", "target": "kid", "event": {"type": "HI", "v": cel("event.v")}},
        ],
        [
            send_to("kid", {"type": "HI", "v": 7}),
            send_to(lambda context: context["name"], lambda event: {"type": "HI", "v": event["v"]}),
            send_to(lambda system: system.get("the kid"), {"type": "HI", "v": 7}),
            send_to(lambda system: system.get_all()["the kid"], {"type": "HI", "v": 7}),
        ],
        lambda o: o["at once"]["kid"]["got"] == [{"type": "HI", "v": 7}],
    ),
    "send later": (
        "parent",
        [
            {"type": "xstate.sendTo", "params": {"to": "kid", "event": "HI", "delay": 5, "id": "s"}},
            {"type": "@xstate.sendTo", "to": "kid", "event": "HI", "delay": "wait", "id": "s"},
        ],
        [send_to("kid", "HI", delay=5, id="s"), send_to("kid", "HI", delay=lambda: 5, id=lambda: "s")],
        lambda o: o["at once"]["kid"]["got"] == [] and o["later"]["kid"]["got"] == [{"type": "HI"}],
    ),
    "send to oneself": (
        "parent",
        [
            {"type": "xstate.sendTo", "params": {"to": "#_internal", "event": "HI"}},
            {"type": "@xstate.sendTo", "to": "#_internal", "event": "HI"},
        ],
        [send_to("#_internal", "HI"), send_to(lambda self: self, "HI"), send_to(None, "HI")],
        lambda o: o["at once"]["context"]["got"] == [{"type": "HI"}],
    ),
    "send to a child by its special name": (
        "parent",
        [{"type": "xstate.sendTo", "params": {"to": "#_kid", "event": "HI"}}],
        [send_to("#_kid", "HI")],
        lambda o: o["at once"]["kid"]["got"] == [{"type": "HI"}],
    ),
    "send to nobody": (
        "parent",
        [{"type": "xstate.sendTo", "params": {"to": "nobody", "event": "HI"}}],
        [send_to("nobody", "HI")],
        lambda o: (
            o["at once"]["status"] == ("error", "Unable to send event to actor 'nobody' from machine 'm'.")
        ),
    ),
    "send to the parent": (
        "kid",
        [
            {"type": "xstate.sendParent", "params": {"event": {"type": "UP", "v": cel("event.v")}}},
            {"type": "@xstate.sendParent", "event": {"type": "UP", "v": 7}},
            {"type": "xstate.sendTo", "params": {"to": "#_parent", "event": {"type": "UP", "v": 7}}},
        ],
        [
            send_parent({"type": "UP", "v": 7}),
            send_parent(lambda event: {"type": "UP", "v": event["v"]}),
            send_to("#_parent", {"type": "UP", "v": 7}),
        ],
        lambda o: o["at once"]["context"]["got"] == [{"type": "UP", "v": 7}],
    ),
    "send to the parent later": (
        "kid",
        [{"type": "xstate.sendParent", "params": {"event": "UP", "delay": 5, "id": "u"}}],
        [send_parent("UP", delay=5, id="u")],
        lambda o: o["later"]["context"]["got"] == [{"type": "UP"}, {"type": "RING"}],
    ),
    "forward": (
        "parent",
        [
            {"type": "xstate.forwardTo", "params": {"to": "kid"}},
            {"type": "@xstate.forwardTo", "actorRef": cel("context.name")},
        ],
        [forward_to("kid"), forward_to(lambda context: context["name"])],
        lambda o: o["at once"]["kid"]["got"] == [{"type": "GO", "v": 7}, {"type": "GO", "v": 7}],
    ),
    "spawn": (
        "parent",
        [
            {"type": "xstate.spawnChild", "params": {"src": "job", "id": "j", "systemId": "s", "input": {"v": cel("event.v")}}},
            {"type": "@xstate.spawnChild", "src": "job", "id": cel("'j'"), "systemId": "s", "input": {"v": 7}},
        ],
        [
            spawn_child("job", id="j", system_id="s", input={"v": 7}),
            spawn_child("job", id=lambda: "j", system_id="s", input=lambda event: {"v": event["v"]}),
            spawn_child(job, id="j", system_id="s", input={"v": 7}),
        ],
        lambda o: list(o["at once"]["children"]) == ["kid", "j"] and o["at once"]["inputs"] == [{"v": 7}],
    ),
    "stop": (
        "parent",
        [
            {"type": "xstate.stopChild", "params": {"id": "kid"}},
            {"type": "@xstate.stopChild", "actorRef": cel("context.name")},
        ],
        [stop_child("kid"), stop_child(lambda context: context["name"]), stop_child(lambda system: system.get("the kid"))],
        lambda o: o["at once"]["children"] == {} and o["at once"]["kid"] is None,
    ),
    "choose in Python": (
        "parent",
        [],
        [
            enqueue(lambda context, enqueue: enqueue(raise_("RANG")) if context["n"] else None),
            enqueue(lambda enqueue, check: enqueue({"type": "xstate.raise", "params": {"event": "RANG"}}) if check(lambda event: event["v"] == 7) else None),
            enqueue(lambda enqueue, check: check(state_in("a")) and not check(state_in("#m.b")) and enqueue(raise_("RANG"))),
            enqueue(lambda enqueue: enqueue(enqueue_again)),
        ],
        lambda o: o["at once"]["context"]["got"][-1] == {"type": "RANG"},
    ),
}  # fmt: skip
enqueue_again = enqueue(lambda enqueue: enqueue(raise_("RANG")))
PARENT["states"]["b"] = {"on": {"GO": {"actions": "act"}}}


def forms() -> list[Any]:
    return [
        pytest.param(name, action, in_place, id=f"{name}-{kind}{index}-{'in place' if in_place else 'bound'}")
        for name, (_, data, python, _) in ACTIONS.items()
        for kind, listed, places in (("data", data, (True,)), ("python", python, (True, False)))
        for index, action in enumerate(listed)
        for in_place in places
    ]


@pytest.mark.parametrize(("name", "action", "in_place"), forms())
def test_all_forms_of_an_action_have_one_outcome(name: str, action: Any, in_place: bool) -> None:
    where, data, python, holds = ACTIONS[name]
    found = outcome(action, in_place, where)
    assert holds(found), found
    if "spawn" not in name:  # a logic in place shows itself as the source of the child
        first = (data or python)[0]
        assert found == outcome(first, True, where)


# --------------------------------------------------------------------- params


def test_params_reach_the_functions_inside_a_creator() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "context": {"n": 1},
        "states": {"a": {"on": {"GO": {"actions": {"type": "act", "params": {"v": cel("event.v * 2")}}}}}},
    }

    def run(action: Any) -> Simulation[Any]:
        sim = simulate(load_machine(document, {"actions": {"act": action}, "actors": {"job": job}}, strict=False, semantics="xstate"))
        sim.send("GO", v=7)
        return sim

    assert run(assign(lambda params: {"n": params["v"]})).snapshot.context == {"n": 14}
    assert run(assign(n=lambda context, params: params["v"] + context["n"])).snapshot.context == {"n": 15}
    assert run(assign({"n": cel("params.v + context.n")})).snapshot.context == {"n": 15}
    assert run(emit(lambda params: {"type": "E", **params})).emitted_events == [{"type": "E", "v": 14}]
    assert run(log(lambda params: params["v"])).logged == [(UNDEFINED, 14)]
    assert run(spawn_child("job", input=lambda params: params)).starts[0].input == {"v": 14}
    assert run(enqueue(lambda params, enqueue: enqueue(assign(n=params["v"])))).snapshot.context == {"n": 14}
    assert run(raise_("E", delay=lambda params: params["v"])).clock.next_due() == 14
    seen: list[Any] = []
    run(lambda context, event, params: seen.append((context, event, params)))
    assert seen == [({"n": 1}, {"type": "GO", "v": 7}, {"v": 14})]


def test_a_name_bound_in_python_wins_over_the_built_in() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"actions": {"type": "xstate.raise", "params": {"event": "E"}}, "guard": {"type": "xstate.not", "params": {"guard": "g"}}}}}}}  # fmt: skip
    seen: list[Any] = []
    bound = {"actions": {"xstate.raise": lambda params: seen.append(params)}, "guards": {"xstate.not": True, "g": True}}
    simulate(load_machine(document, bound, strict=False, semantics="xstate")).send("GO")
    assert seen == [{"event": "E"}]


def test_creators_say_what_they_do_not_take() -> None:
    from statecharts import UsageError

    with pytest.raises(UsageError, match="one mapping or function, or keywords, not both"):
        assign({"n": 1}, n=2)
    for creator in (raise_, emit, send_parent):
        with pytest.raises(UsageError, match="an event is a type name, an object or a function, not int"):
            creator(7)
