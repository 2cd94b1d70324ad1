"""The machines that are simulated, small, and each with something that can go wrong.

Calls are not made by their functions: a simulated process asks the outside
world (:mod:`sim_receivers`) itself, step by step. So the functions only have names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecharts import Implementations, Machine, ProbeAnswer, load_machine
from statecharts.durability.definitions import AS_XSTATE, DEAD_LETTER, Hosted, hosted


class NotSent(Exception):
    """Raised by a receiver that has certainly done nothing."""


def _raised(event: str, delay: int) -> dict[str, Any]:
    return {"type": "@xstate.raise", "event": {"type": event}, "delay": delay}


COUNTER: dict[str, Any] = {
    "id": "counter",
    "initial": "on",
    "context": {"n": 0, "seen": {}},
    "states": {
        "on": {
            "on": {
                "ADD": {"actions": "add"},
                "BIG": {"guard": "isOdd", "actions": "add"},
                "POISON": {"actions": ["tell", "burst"]},
                "TELL": {"actions": ["add", "tell", "ping", "tell"]},
                "LATER": {"actions": [_raised("ADD", 900), _raised("ADD", 950), {"type": "@xstate.emit", "event": {"type": "later"}}]},
                "GROW": {"actions": ["grow", "tell"]},
                "BOMB": {"actions": _raised("POISON", 500)},
                "OFF": "off",
                "END": "ended",
            },
        },
        "off": {"on": {"ON": {"target": "on", "actions": "tell"}}, "after": {"1500": "on"}},
        "ended": {"type": "final"},
    },
}
ORDER: dict[str, Any] = {
    "id": "order",
    "initial": "open",
    "context": {"order": 1, "paid": None, "tries": 0},
    "states": {
        "open": {"on": {"PAY": {"target": "paying", "actions": "try"}, "NEXT": {"actions": "next"}}},
        "paying": {
            "invoke": {
                "id": "pay",
                "src": "pay",
                "onDone": {"target": "paid", "actions": "keep"},
                "onError": {"target": "waiting"},
            },
            "after": {"6000": "late"},
            "on": {"LEAVE": "open", "NEXT": {"actions": "next"}, "PAY": {"target": "paying", "reenter": True, "actions": "try"}},
        },
        "waiting": {"after": {"2000": [{"guard": "mayTry", "target": "paying", "actions": "try"}, {"target": "open"}]}},
        "late": {"on": {"PAY": {"target": "paying", "actions": "try"}}, "entry": "alarm"},
        "paid": {"entry": ["receipt", "alarm"], "on": {"NEXT": {"target": "open", "actions": "next"}}},
    },
}

PAIR: dict[str, Any] = {
    "id": "pair",
    "initial": "idle",
    "context": {"a": None, "b": None},
    "states": {
        "idle": {"on": {"GO": "both"}},
        "both": {
            "type": "parallel",
            "states": {
                "a": {
                    "initial": "work",
                    "states": {
                        "work": {
                            "invoke": {"id": "fetch", "src": "fetch", "onDone": {"target": "ok", "actions": "keepA"}, "onError": "bad"},
                            "after": {"3000": "bad"},
                        },
                        "bad": {"on": {"AGAIN": "work"}},
                        "ok": {"type": "final"},
                    },
                },
                "b": {
                    "initial": "work",
                    "states": {
                        "work": {
                            "invoke": {"id": "book", "src": "book", "onDone": {"target": "ok", "actions": "keepB"}, "onError": "bad"},
                        },
                        "bad": {"on": {"AGAIN": "work"}},
                        "ok": {"type": "final"},
                    },
                },
            },
            "on": {"LEAVE": {"target": "idle", "actions": "note"}, "GO": {"target": "both", "reenter": True}},
            "onDone": "done",
        },
        "done": {"on": {"GO": "both"}},
    },
}

KID: dict[str, Any] = {
    "id": "kid",
    "initial": "asks",
    "context": {"answer": None},
    "states": {
        "asks": {
            "invoke": {"id": "ask", "src": "ask", "onDone": {"target": "thinks", "actions": "keep"}, "onError": "thinks"},
            "after": {"4000": "over"},
            "on": {"HURRY": "over"},
        },
        "thinks": {"after": {"700": "over"}, "on": {"HURRY": "over"}, "entry": "log"},
        "over": {"type": "final"},
    },
}

PARENT: dict[str, Any] = {
    "id": "parent",
    "initial": "idle",
    "context": {"rounds": 0},
    "states": {
        "idle": {"on": {"GO": "busy", "BREAK": {"actions": "burst"}}},
        "busy": {
            "invoke": {"id": "kid", "src": "kid", "onDone": {"target": "idle", "actions": "count"}, "onError": "idle"},
            "on": {"STOP": "idle", "GO": {"target": "busy", "reenter": True}},
            "after": {"8000": "idle"},
        },
    },
}

PLAYER: dict[str, Any] = {
    "id": "player",
    "initial": "on",
    "context": {"plays": {"z": 0, "a": 0}},
    "states": {
        "on": {
            "initial": "slow",
            "states": {
                "slow": {"on": {"FAST": "fast"}, "after": {"2500": "fast"}},
                "fast": {"on": {"SLOW": "slow"}, "entry": {"type": "@xstate.raise", "event": {"type": "CUT"}, "id": "cut", "delay": 1200}},
                "past": {"type": "history"},
            },
            "on": {"PAUSE": "paused", "MARK": {"actions": "mark"}},
        },
        "paused": {
            "on": {
                "PLAY": {"target": "on.past", "actions": "mark"},
                "CUT": {"actions": ["mark", "play"]},
                "KEEP": {"actions": {"type": "@xstate.cancel", "sendId": "cut"}},
            },
            "invoke": {"id": "tune", "src": "tune", "onDone": {"actions": "mark"}, "onError": {"actions": "burst"}},
        },
    },
}

EVENTS: dict[str, tuple[str, ...]] = {
    "counter": ("ADD", "ADD", "TELL", "TELL", "LATER", "LATER", "BIG", "OFF", "ON", "POISON", "BOMB", "GROW", "NEVER", "END"),
    "order": ("PAY", "PAY", "PAY", "LEAVE", "NEXT", "NEVER"),
    "pair": ("GO", "GO", "GO", "LEAVE", "AGAIN", "NEVER"),
    "parent": ("GO", "GO", "GO", "STOP", "HURRY>kid", "HURRY>kid", "NEVER", "BREAK"),
    "player": ("FAST", "SLOW", "PAUSE", "PAUSE", "PLAY", "MARK", "KEEP", "NEVER"),
}
"""What is sent to each; ``>`` names the actor it is for."""

ALIKE = {"attempts": 3, "backoff": 200, "max_backoff": 1_000}


def _burst() -> dict[str, Any]:
    raise RuntimeError("poison")


def _marked(context: Mapping[str, Any]) -> dict[str, Any]:
    plays = {name: plays + 1 for name, plays in reversed(context["plays"].items())}  # the order of keys changes each time
    return {"plays": plays}


def _grown(context: Mapping[str, Any]) -> dict[str, Any]:
    return {"big": context.get("big", "") + "x" * 1_500}


def _counted(context: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    name = f"k{event.get('value', 0) % 3}"
    seen = {key: value for key, value in context["seen"].items() if key != name}
    return {"n": context["n"] + 1, "seen": {name: context["n"], **seen}}


def _implementations(updates: Mapping[str, Any], guards: Mapping[str, Any], actions: str, actors: str) -> Implementations:
    made = Implementations({"updates": dict(updates), "guards": dict(guards)})
    made.version = "1"
    for name in actions.split():
        made.action(name)(lambda context: None)
    for name in actors.split():
        made.actor(name)(_called)
    return made


async def _called(input: Any) -> Any:
    raise AssertionError("the simulation makes the calls itself")


def machines(probe: Any) -> list[Hosted]:
    """All of them. ``probe``: ``(key) -> ProbeAnswer``, the world's."""

    def ask(key: str) -> ProbeAnswer:
        answer: ProbeAnswer = probe(key)
        return answer

    counter = _implementations(
        {"add": _counted, "burst": _burst, "grow": _grown}, {"isOdd": lambda event: event.get("value", 0) % 2 == 1}, "tell ping", ""
    )
    counter.effect("tell", not_done=(NotSent,))
    counter.effect("ping", idempotent=True, **ALIKE)
    order = _implementations(
        {
            "try": lambda context: {"tries": context["tries"] + 1},
            "keep": lambda event: {"paid": event["output"]},
            "next": lambda context: {"order": context["order"] + 1, "tries": 0},
        },
        {"mayTry": lambda context: context["tries"] < 4},
        "alarm receipt",
        "pay",
    )
    order.invoke_input("pay")(lambda context: {"order": context["order"]})
    order.effect("pay", key=lambda input: f"pay:{input['order']}", probe=ask)
    order.effect("receipt", key=lambda context: f"receipt:{context['order']}", not_done=(NotSent,), **ALIKE)
    order.effect("alarm", ordered=False, probe=ask)
    pair = _implementations(
        {"keepA": lambda event: {"a": event["output"]}, "keepB": lambda event: {"b": event["output"]}}, {}, "note", "fetch book"
    )
    pair.effect("fetch", idempotent=True, **ALIKE)
    pair.effect("book", not_done=(NotSent,), probe=ask, **ALIKE)
    pair.effect("note", probe=ask)
    kid = _implementations({"keep": lambda event: {"answer": event["output"]}}, {}, "log", "ask")
    kid.effect("log", probe=ask)
    kid.effect("ask", idempotent=True, deadline=3_000, **ALIKE)
    parent = _implementations({"count": lambda context: {"rounds": context["rounds"] + 1}, "burst": _burst}, {}, "", "")
    parent.actor("kid")(load_machine(KID, kid))
    player = _implementations({"mark": _marked, "burst": _burst}, {}, "play", "tune")
    player.effect("tune", not_done=(NotSent,), **ALIKE)
    bound = ((COUNTER, counter), (ORDER, order), (PAIR, pair), (PARENT, parent), (PLAYER, player))
    return [
        hosted(_loaded(document, implementations), AS_XSTATE if document is PARENT else DEAD_LETTER)
        for document, implementations in bound
    ]


def _loaded(document: dict[str, Any], implementations: Implementations) -> Machine[Any, Any]:
    return load_machine(document, implementations)
