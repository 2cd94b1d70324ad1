"""Ingredients about time: delays, timers with ids, clocks."""

from __future__ import annotations

from typing import Any

from .draft import Draft, Step, act, log, send


def _advances(draft: Draft, *amounts: float) -> list[Step]:
    return [{"advance": draft.dice.pick(amounts)} for _ in range(2)]


def named_delays(draft: Draft) -> None:
    draft.tag("named-delays")
    dice = draft.dice
    node = draft.place()
    kinds: list[Any] = [15, 0, {"$ctx": "n"}, {"$ctx": "wait"}, {"$evt": "ms"}, "12", None, 7.5]
    for name in ("soon", "later"):
        place = dice.pick([draft.machine, draft.case])
        place.setdefault("delays", {})[name] = dice.pick(kinds)
        node.handle(name, {"actions": [log(name, evt=True)]}, table="after")
    draft.context["wait"] = 5
    event = draft.trigger([act("raise", event={"type": "A", "by": "later"}, delay="later")])
    draft.script(send(event, ms=3), *_advances(draft, 5, 15, 20))


def missing_delay(draft: Draft) -> None:
    draft.tag("missing-delay-name")
    draft.place().handle("nosuch", {"actions": [log("nosuch", evt=True)]}, table="after")
    draft.somewhere(act("raise", event="A", delay="neither", id="nn"))
    draft.script({"advance": 5})


def same_id_twice(draft: Draft) -> None:
    draft.tag("same-timer-id")
    dice = draft.dice
    name = draft.fresh("t")
    first = act("raise", event={"type": "A", "first": 1}, delay=dice.pick([5, 10]), id=name)
    second = act("raise", event="B", delay=dice.pick([5, 10, 20]), id=name)
    event = draft.trigger([first, second])
    cancel = draft.trigger([act("cancel", id=name)], draft.root)
    draft.tag("cancel")
    draft.script(send(event), {"advance": dice.pick([5, 7, 10])}, send(cancel), {"advance": 30})


def cancelled(draft: Draft) -> None:
    draft.tag("cancel")
    dice = draft.dice
    name = draft.fresh("c")
    where = dice.pick(
        [act("raise", event="A", delay=10, id=name), act("sendTo", to="self", event="B", delay=10, id=name)]
    )
    event = draft.trigger([where, log("armed")])
    cancel = draft.trigger([act("cancel", id=dice.pick([name, name, "unknown"]))], draft.root)
    draft.script(send(event), {"advance": dice.pick([5, 15])}, send(cancel), {"advance": 20})


def after_kinds(draft: Draft) -> None:
    draft.tag("after")
    dice = draft.dice
    node = draft.place()
    keys = ["5", "5", "10", "1e1", "0x10", "", " 7 ", "0", "1.5", "-3", "Infinity", "12abc"]
    for key in dice.some(keys, 3):
        guarded = {"guard": draft.guard()} if dice.chance(0.4) else {}
        entry: Any = {**guarded, "actions": [log(f"after<{key}>", evt=True)]}
        if dice.chance(0.3):
            entry["target"] = draft.any_target()
        node.handle(key, entry, table="after")
    draft.script(*_advances(draft, 5, 10, 16), send("A"), {"advance": 10})


def after_chain(draft: Draft) -> None:
    """One timer leads into a state with the next: here the two clocks differ."""
    draft.tag("after-chain")
    home = next(draft.walk("compound"), None)
    if home is None:
        return
    siblings = [child for child in home.normal_children() if child.kind != "final"]
    for here, there in zip(siblings, siblings[1:] + siblings[:1], strict=True):
        here.handle(
            draft.dice.pick(["5", "10"]),
            {"target": there.key, "actions": [log("tick", evt=True)]},
            table="after",
        )
    draft.script({"advance": 10}, {"advance": draft.dice.pick([20, 40, 33])})


def zero_delay(draft: Draft) -> None:
    draft.tag("zero-delay")
    event = draft.trigger(
        [act("raise", event="C", delay=0), act("sendTo", to="self", event="x.y", delay=0), log("armed")]
    )
    once = {"guard": act("ctxLt", key="n", value=3), "actions": [act("inc", key="n"), log("after 0")]}
    draft.place().handle("0", once, table="after")
    draft.script({"advance": 0}, send(event), {"advance": 0}, {"advance": 1})


def fractions(draft: Draft) -> None:
    draft.tag("fractional-time")
    event = draft.trigger(
        [
            act("raise", event={"type": "A", "x": 0.1}, delay=0.1),
            act("raise", event="B", delay=0.30000000000000004),
        ]
    )
    draft.script(send(event), {"advance": 0.1}, {"advance": 0.2}, {"advance": 0.1})


INGREDIENTS = [
    named_delays,
    missing_delay,
    same_id_twice,
    cancelled,
    after_kinds,
    after_chain,
    zero_delay,
    fractions,
]
