"""Names of events that XState itself sends, and handlers that would replace each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecharts.validation.outline import Node
from statecharts.validation.report import token

from .upgrade_detect import listed
from .upgrade_tree import Draft

_HANDLERS = (("onDone", "xstate.done.actor."), ("onError", "xstate.error.actor."))


def combine(first: Any, second: Any) -> list[Any]:
    """Two values of an event's transitions as one list."""
    return [*_as_list(first), *_as_list(second)]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


class EventNames:
    """Version 5's names for the events that version 4 sends in this document."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.actor_ids: dict[str, str] = {}
        self.has_silent_errors = False
        for node in draft.outline.nodes:
            activities = len(listed(node.config.get("activities")))
            for index, item in enumerate(listed(node.config.get("invoke"))):
                given = item.get("id") if isinstance(item, Mapping) else None
                if not given:
                    old = f"{draft.old_id(node)}:invocation[{index}]"
                    self.actor_ids[old] = f"{activities + index}.{node.id}"
                if not (isinstance(item, Mapping) and item.get("onError")):
                    self.has_silent_errors = True

    def renamed(self, node: Node, name: str, pointer: str, table: str) -> str:
        """The version 5 descriptor for ``name``, which stands in ``node``."""
        new = self._renamed(name, pointer)
        if new != name:
            self.draft.change(
                pointer, table + token(new), f"`{name}` became `{new}`", "version 5 sends it under this name"
            )
        elif name.endswith(".*"):
            self.draft.review(
                pointer,
                f"Version 4 never matched `{name}`; version 5 matches every event that starts so.",
                "Remove it if that is not wanted.",
            )
        return new

    def _renamed(self, name: str, pointer: str) -> str:
        for old, new in (("done.invoke.", "xstate.done.actor."), ("error.platform.", "xstate.error.actor.")):
            if name.startswith(old):
                actor = name[len(old) :]
                return new + self.actor_ids.get(actor, actor)
        if name.startswith("done.state."):
            state = self.draft.by_id(name[len("done.state.") :])
            if state is not None and state.kind == "final":
                self.draft.review(
                    pointer,
                    "Version 5 sends no event for a final state itself, only for its parent.",
                    "Handle it in the parent's `onDone`.",
                )
            return f"xstate.done.state.{state.id if state is not None else name[len('done.state.') :]}"
        if name.startswith("xstate.after(") and ")#" in name:
            delay, _, where = name[len("xstate.after(") :].partition(")#")
            state = self.draft.by_id(where)
            return f"xstate.after.{delay}.{state.id if state is not None else where}"
        return name

    def forgive_errors(self, root: dict[str, Any]) -> None:
        """Version 4 went on when an actor failed and nobody cared; version 5 ends the machine."""
        table = root.get("on")
        handlers = table if isinstance(table, dict) else {}
        if not self.has_silent_errors or "*" in handlers or "xstate.error.actor.*" in handlers:
            return
        root["on"] = {**handlers, "xstate.error.actor.*": {}}
        self.draft.change(
            "", "/on/xstate.error.actor.*", "errors of invoked actors that nobody handles are ignored",
            "version 4 goes on after them; version 5 would end the machine",
        )  # fmt: skip


def merge_replaced(draft: Draft, node: Node, out: dict[str, Any]) -> None:
    """Join handlers of one event that version 4 tried in turn and of which version 5 keeps the last only."""
    table = out.get("on")
    if not isinstance(table, dict):
        return
    if out.get("onDone"):
        _merge(draft, node, table, f"xstate.done.state.{node.id}", out, "onDone", "/onDone")
    invoked = out.get("invoke")
    for index, item in enumerate(_as_list(invoked) if invoked else []):
        if isinstance(item, dict):
            actor = item.get("id") or f"{index}.{node.id}"
            place = f"/invoke/{index}" if isinstance(invoked, list) else "/invoke"
            for key, prefix in _HANDLERS:
                if item.get(key):
                    _merge(draft, node, table, prefix + actor, item, key, f"{place}/{key}")
    if not table and node.config.get("on"):
        del out["on"]


def _merge(
    draft: Draft, node: Node, table: dict[str, Any], name: str, holder: dict[str, Any], key: str, place: str
) -> None:
    if name in table:
        holder[key] = combine(holder[key], table.pop(name))
        draft.change(
            f"{node.pointer}/on",
            node.pointer + place,
            f"`{name}` joined to `{key}`",
            "version 5 keeps one of the two handlers only",
        )
