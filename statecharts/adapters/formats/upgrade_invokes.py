"""Invoked services and activities of version 4 as invoked actors."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from statecharts.validation.outline import Node

from .upgrade_detect import listed
from .upgrade_transitions import upgrade_transitions
from .upgrade_tree import Draft


def upgrade_invokes(draft: Draft, node: Node) -> Any:
    """The value of ``invoke``: activities first, as version 4 starts them."""
    value = node.config.get("invoke")
    activities = listed(node.config.get("activities"))
    if not activities and not isinstance(value, (list, tuple)):
        return _upgrade_invoke(draft, node, value, f"{node.pointer}/invoke", f"{node.pointer}/invoke")
    made = [_activity(draft, node, item, index) for index, item in enumerate(activities)]
    for index, item in enumerate(listed(value)):
        old = (
            f"{node.pointer}/invoke/{index}" if isinstance(value, (list, tuple)) else f"{node.pointer}/invoke"
        )
        made.append(_upgrade_invoke(draft, node, item, old, f"{node.pointer}/invoke/{len(made)}"))
    return made


def _activity(draft: Draft, node: Node, item: Any, index: int) -> Any:
    old = f"{node.pointer}/activities"
    if isinstance(node.config.get("activities"), (list, tuple)):
        old = f"{old}/{index}"
    draft.change(
        old,
        f"{node.pointer}/invoke/{index}",
        "activity became an invoked actor",
        "version 5 runs activities as callback actors",
    )
    if not isinstance(item, Mapping):
        return {"src": copy.deepcopy(item)}
    made = {"src": item.get("type")}
    if isinstance(item.get("id"), str):
        made["id"] = item["id"]
    rest = {key: copy.deepcopy(value) for key, value in item.items() if key not in ("type", "id", "exec")}
    return {**made, "input": rest} if rest else made


def _upgrade_invoke(draft: Draft, node: Node, item: Any, pointer: str, new_pointer: str) -> Any:
    if isinstance(item, str):
        draft.change(
            pointer, new_pointer, "a bare name became an object", "version 5 wants an object with `src`"
        )
        return {"src": item}
    if not isinstance(item, Mapping):
        return copy.deepcopy(item)
    out: dict[str, Any] = {}
    for key, value in item.items():
        place, new_place = f"{pointer}/{key}", f"{new_pointer}/{key}"
        if key == "src" and isinstance(value, Mapping) and isinstance(value.get("type"), str):
            out["src"] = value["type"]
            rest = {name: copy.deepcopy(part) for name, part in value.items() if name != "type"}
            if rest:
                out["input"] = {**rest, **out.get("input", {})}
            draft.change(
                place, new_place, "`src` became a name", "version 5 gives the rest to the actor as `input`"
            )
        elif key == "data" and "input" not in item:
            given = copy.deepcopy(value)
            out["input"] = {**out["input"], **given} if isinstance(given, dict) and "input" in out else given
            draft.change(place, f"{new_pointer}/input", "`data` became `input`", "version 5 calls it so")
        elif key in ("autoForward", "forward"):
            _forwarding(draft, value, place, new_pointer, key)
        elif key == "sync":
            draft.change(place, new_pointer, "`sync` removed", "version 5 follows an actor with `onSnapshot`")
        elif key in ("onDone", "onError") and value:
            out[key] = upgrade_transitions(draft, node, value, place, new_place)
        else:
            out[key] = copy.deepcopy(value)
    return out


def _forwarding(draft: Draft, value: Any, pointer: str, new_pointer: str, key: str) -> None:
    if value:
        draft.unsupported(
            pointer,
            "Version 5 forwards no events by itself.",
            'Forward the events the actor needs with `{"type": "xstate.forwardTo", "params": {"to": id}}`.',
        )
    draft.change(pointer, new_pointer, f"`{key}` removed", "version 5 has no automatic forwarding")
