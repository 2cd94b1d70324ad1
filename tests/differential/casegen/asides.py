"""Ingredients that look at a machine or lift it out of its run: pure steps, queries, restores, options."""

from __future__ import annotations

from typing import Any

from .draft import Draft, Step, send

PERSIST: Step = {"persist": True}
RESTORE: Step = {"restore": True}


def persist_restore(draft: Draft) -> None:
    draft.tag("persist-restore")
    draft.script(send("A"), PERSIST, RESTORE, send("B"))


def restore_earlier(draft: Draft) -> None:
    """Back to what was saved some steps ago, twice."""
    draft.tag("persist-restore", "restore-twice")
    draft.script(PERSIST, send("A"), RESTORE, send("B"), RESTORE, send("x.y"))


def restore_with_children(draft: Draft) -> None:
    draft.tag("restore-with-children", "persist-restore")
    draft.scripts.insert(0, [PERSIST, RESTORE])
    draft.script(PERSIST, RESTORE, send("A"))


def restore_ended(draft: Draft) -> None:
    """Whatever became of the machine is saved and restored at the very end."""
    draft.tag("restore-at-end", "persist-restore")
    draft.endings.append([])  # other endings come before: see `steps` in the generator
    draft.case["_last"] = [PERSIST, RESTORE, send("A"), {"advance": 20}]


def restore_nothing(draft: Draft) -> None:
    """A restore with nothing saved is a fresh start."""
    draft.tag("restore-unsaved")
    draft.scripts.insert(0, [RESTORE])


def patched_snapshot(draft: Draft) -> None:
    """A snapshot written by hand: partial, wrong or foreign."""
    draft.tag("restore-patched")
    value: dict[str, Any] = {
        "status": "active",
        "value": {},
        "context": {"n": 5},
        "children": {},
        "historyValue": {},
    }
    dice = draft.dice
    children = [child.key for child in draft.root.normal_children()]
    value["value"] = dice.pick([{}, dice.pick(children), {dice.pick(children): {}}, "nowhere"])
    change = dice.below(6)
    if change == 0:
        value["children"] = {
            "ghost": {"src": "nosuch", "snapshot": {"status": "active"}, "syncSnapshot": False}
        }
    elif change == 1:
        value["historyValue"] = {"m.zz": [{"id": "m.zz"}]}
    elif change == 2:
        value["status"] = dice.pick(["stopped", "done", "error"])
    elif change == 3:
        value["children"] = {
            "pp": {"src": "manual", "snapshot": {"status": "active", "input": 3}, "syncSnapshot": True}
        }
        value["context"]["ref"] = {"xstate$$type": 1, "id": "pp"}
    elif change == 4:
        del value[dice.pick(["children", "historyValue", "status"])]
    draft.endings.append([{"restore": value}, send("A"), send("B"), {"advance": 10}])


def stops(draft: Draft) -> None:
    draft.tag("stop")
    draft.endings.append([{"stop": True}, send("A"), {"advance": 30}, PERSIST])


def pure_steps(draft: Draft) -> None:
    draft.tag("pure", "pureInitial")
    draft.case["_pure"] = True
    draft.script(
        {"pureInitial": True},
        {"pure": {"type": "A", "v": 1}},
        send("A"),
        {"pure": "B"},
        {"pureInitial": True},
    )


def queries(draft: Draft) -> None:
    draft.tag("query")
    keys = [node.key for node in draft.nodes]
    parent = draft.dice.pick(draft.nodes)
    nested: dict[str, Any] = {parent.key: {child.key: {} for child in parent.normal_children()[:1]}}
    asked = {
        "matches": [*draft.dice.some(keys, 3), nested, {}, ".".join(parent.id.split(".")[1:]) or "a.b"],
        "hasTag": ["t0", "t1", ""],
        "can": [*draft.dice.some(draft.events, 3), {"type": "A", "v": 1}],
        "meta": True,
        "nextTransitions": True,
        "context": ["n", "", "no.such", "ref"],
    }
    for node in draft.dice.some(draft.nodes, 3):
        node.json["meta"] = {"of": node.id, "2": 0, "1": None}
    draft.script({"query": asked}, send("A"), {"query": asked}, send("B"), {"query": asked})


def inspected(draft: Draft) -> None:
    draft.tag("inspect")
    draft.case["inspect"] = True


def input_given(draft: Draft) -> None:
    draft.tag("dynamic-context")
    draft.context["given"] = draft.dice.pick([{"$input": "v"}, {"$input": ""}, [{"$input": "v.x"}, 1]])
    if draft.dice.chance(0.8):
        draft.case["input"] = {"v": {"x": draft.dice.below(5), "2": 0, "1": []}}


def chosen_events(draft: Draft) -> None:
    draft.tag("canEvents")
    draft.case["canEvents"] = [
        {"type": "A", "v": 1},
        "x.y",
        "xstate.after.10.m",
        *draft.dice.some(draft.events, 2),
    ]


INGREDIENTS = [
    persist_restore,
    restore_earlier,
    restore_with_children,
    restore_ended,
    restore_nothing,
    patched_snapshot,
    stops,
    pure_steps,
    queries,
    inspected,
    input_given,
    chosen_events,
]
