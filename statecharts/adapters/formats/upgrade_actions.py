"""Actions and guards of version 4 in version 5's form."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from statecharts.validation.outline import Node
from statecharts.validation.targets import reference

from .upgrade_tree import Draft

_KEPT = ("type", "params", "meta", "description")


def upgrade_actions(draft: Draft, value: Any, pointer: str, new_pointer: str) -> Any:
    """The value of ``actions``, ``entry`` or ``exit``; its shape is kept."""
    if not isinstance(value, (list, tuple)):
        return _upgrade_action(draft, value, pointer, new_pointer)
    return [
        _upgrade_action(draft, item, f"{pointer}/{i}", f"{new_pointer}/{i}") for i, item in enumerate(value)
    ]


def _upgrade_action(draft: Draft, action: Any, pointer: str, new_pointer: str) -> Any:
    if isinstance(action, str) and action in _LOST:
        draft.unsupported(pointer, f"`{action}` has no version 5 form.", _LOST[action])
    if not isinstance(action, Mapping) or not isinstance(action.get("type"), str):
        return copy.deepcopy(action)
    name = action["type"]
    if isinstance(action.get("params"), Mapping) and name.startswith("xstate."):
        return copy.deepcopy(dict(action))
    rewrite = _BUILTINS.get(name)
    if rewrite is not None:
        made = rewrite(draft, action, pointer)
        if made is None:
            return copy.deepcopy(dict(action))
        draft.change(
            pointer, new_pointer, f"`{name}` became `{made['type']}`", "version 5 has its members in `params`"
        )
        return made
    if name in _LOST:
        draft.unsupported(pointer, f"`{name}` has no version 5 form.", _LOST[name])
        return copy.deepcopy(dict(action))
    return _with_params(draft, dict(action), pointer, new_pointer, "action")


def _with_params(
    draft: Draft, spec: dict[str, Any], pointer: str, new_pointer: str, kind: str
) -> dict[str, Any]:
    """``{type, …}`` with everything but the type moved into ``params``."""
    spec = copy.deepcopy(spec)
    if spec["type"].startswith("@xstate.") or callable(spec.pop("exec", None)):
        return spec
    rest = {key: spec.pop(key) for key in list(spec) if key not in _KEPT}
    if rest:
        params = spec.get("params")
        spec["params"] = {**params, **rest} if isinstance(params, Mapping) else rest
        names = ", ".join(f"`{key}`" for key in rest)
        draft.change(
            pointer,
            f"{new_pointer}/params",
            f"{names} moved into `params`",
            f"of a version 5 {kind} only `params` reaches the function",
        )
    return spec


def _event(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else copy.deepcopy(value)


def _sending(action: Mapping[str, Any]) -> dict[str, Any]:
    members: dict[str, Any] = {"event": _event(action.get("event"))}
    for key in ("id", "delay"):
        if action.get(key) is not None:
            members[key] = copy.deepcopy(action[key])
    return members


def _raise(_draft: Draft, action: Mapping[str, Any], _pointer: str) -> dict[str, Any]:
    return {"type": "xstate.raise", "params": _sending(action)}


def _send(draft: Draft, action: Mapping[str, Any], pointer: str) -> dict[str, Any] | None:
    to = action.get("to")
    params = _sending(action)
    if to == "#_internal" or (to is None and isinstance(params.get("delay"), (int, float, str))):
        return {"type": "xstate.raise", "params": params}
    if to is None:
        # version 4 queued it behind the current event, which raising would not
        return {"type": "xstate.sendTo", "params": {"to": "#_internal", **params}}
    if to == "#_parent":
        return {"type": "xstate.sendParent", "params": params}
    if isinstance(to, str):
        return {"type": "xstate.sendTo", "params": {"to": to, **params}}
    draft.unsupported(
        pointer, "The receiver of this event is computed.", "Bind an action that sends the event."
    )
    return None


def _cancel(_draft: Draft, action: Mapping[str, Any], _pointer: str) -> dict[str, Any]:
    return {"type": "xstate.cancel", "params": {"id": copy.deepcopy(action.get("sendId", action.get("id")))}}


def _log(_draft: Draft, action: Mapping[str, Any], _pointer: str) -> dict[str, Any]:
    members = {"value": action.get("expr"), "label": action.get("label")}
    return {
        "type": "xstate.log",
        "params": {k: copy.deepcopy(v) for k, v in members.items() if v is not None},
    }


def _assign(draft: Draft, action: Mapping[str, Any], pointer: str) -> dict[str, Any] | None:
    assignment = action.get("assignment")
    if not isinstance(assignment, Mapping) or not assignment:
        draft.unsupported(
            pointer,
            "What this assigns was a function and is not in the document.",
            "Bind an update in its place.",
        )
        return None
    return {"type": "xstate.assign", "params": {"assignments": copy.deepcopy(dict(assignment))}}


def _stop(draft: Draft, action: Mapping[str, Any], pointer: str) -> dict[str, Any] | None:
    activity = action.get("activity")
    name = activity.get("id") if isinstance(activity, Mapping) else activity
    if not isinstance(name, str):
        draft.unsupported(pointer, "Which actor this stops is computed.", "Bind an action that stops it.")
        return None
    return {"type": "xstate.stopChild", "params": {"id": name}}


_BUILTINS: dict[str, Callable[[Draft, Mapping[str, Any], str], dict[str, Any] | None]] = {
    "xstate.raise": _raise,
    "xstate.send": _send,
    "xstate.cancel": _cancel,
    "xstate.log": _log,
    "xstate.assign": _assign,
    "xstate.stop": _stop,
}
_LOST = {
    "xstate.choose": "Write the branches as guarded transitions, or bind an action made with `enqueue`.",
    "xstate.pure": "Bind an action made with `enqueue`.",
    "xstate.start": "Use `invoke`.",
    "xstate.invoke": "Use `invoke`.",
    "xstate.update": "Use `onSnapshot` of the parent's `invoke`.",
    "xstate.error": "Bind an action that raises.",
}


def upgrade_guard(draft: Draft, source: Node, spec: Mapping[str, Any], pointer: str, new_pointer: str) -> Any:
    """The version 5 guard for ``cond`` and ``in`` of a transition, None for none."""
    parts: list[Any] = []
    if spec.get("guard"):
        parts.append(copy.deepcopy(spec["guard"]))
    if spec.get("cond"):
        parts.append(_upgrade_cond(draft, spec["cond"], f"{pointer}/cond", f"{new_pointer}/guard"))
        draft.change(
            f"{pointer}/cond", f"{new_pointer}/guard", "`cond` became `guard`", "version 5 calls it so"
        )
    if spec.get("in"):
        parts.append(_upgrade_in(draft, source, spec["in"], f"{pointer}/in"))
        draft.change(
            f"{pointer}/in", f"{new_pointer}/guard", "`in` became a `stateIn` guard", "version 5 has no `in`"
        )
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else both(parts)


def both(parts: list[Any]) -> dict[str, Any]:
    """All of ``parts``, left to right."""
    return {"type": "xstate.and", "params": {"guards": parts}}


def state_in(state: Any) -> dict[str, Any]:
    """A guard that looks whether ``state`` is active."""
    return {"type": "xstate.stateIn", "params": {"state": state}}


def _upgrade_cond(draft: Draft, cond: Any, pointer: str, new_pointer: str) -> Any:
    if not isinstance(cond, Mapping) or not isinstance(cond.get("type"), str):
        return copy.deepcopy(cond)
    if cond["type"] == "xstate.guard":
        return cond.get("name", "")
    return _with_params(draft, dict(cond), pointer, new_pointer, "guard")


def _upgrade_in(draft: Draft, source: Node, state: Any, pointer: str) -> dict[str, Any]:
    """Version 4 reads ``in`` from two levels above the source, version 5 from the machine."""
    base = source
    for _ in range(2):
        base = base.parent or base
    if isinstance(state, str):
        node = draft.by_id(state[1:]) if state.startswith("#") else draft.below(base, source, state)
        if node is not None:
            return state_in(reference(draft.outline, node))
        draft.review(
            pointer, f'There is no state "{state}" here, so this was never true.', "Name the state by its id."
        )
        return state_in(state)
    value = copy.deepcopy(state)
    node = base
    while node.parent is not None:
        value, node = {node.key: value}, node.parent
    return state_in(value)
