"""Whole states of version 4 as version 5: renamed keys, moved lists, what only version 4 had."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from statecharts.validation.outline import Node
from statecharts.validation.report import token

from .upgrade_actions import upgrade_actions
from .upgrade_events import EventNames, combine, merge_replaced
from .upgrade_invokes import upgrade_invokes
from .upgrade_special import (
    check_final_events,
    check_raising,
    check_sorting,
    upgrade_history_target,
    upgrade_initial,
    upgrade_root_output,
)
from .upgrade_transitions import upgrade_transitions
from .upgrade_tree import Draft

_REMOVED = {
    "schema": "it only steered TypeScript",
    "tsTypes": "it only steered TypeScript",
    "predictableActionArguments": "version 5 always behaves like this",
    "preserveActionOrder": "version 5 always behaves like this",
    "delimiter": "version 5 has one delimiter, `.`; targets are spelt with it",
}


def upgrade_states(draft: Draft) -> dict[str, Any]:
    """The whole document."""
    names = EventNames(draft)
    made: dict[Node, dict[str, Any]] = {}
    for node in draft.outline.nodes:
        new = _State(draft, names, node).build()
        made[node] = new
        if node.parent is not None:
            made[node.parent]["states"][node.key] = new
    root = made[draft.outline.root]
    check_sorting(draft)
    check_final_events(draft)
    check_raising(draft)
    upgrade_root_output(draft, root)
    names.forgive_errors(root)
    return root


def _silently(draft: Draft, node: Node, value: Any, pointer: str) -> Any:
    """``value`` rewritten a second time, without recording that again."""
    counts = len(draft.changes), len(draft.problems)
    made = upgrade_transitions(draft, node, value, pointer, pointer)
    del draft.changes[counts[0] :], draft.problems[counts[1] :]
    return made


class _State:
    """One state being rewritten; its children are put in afterwards."""

    def __init__(self, draft: Draft, names: EventNames, node: Node) -> None:
        self.draft = draft
        self.names = names
        self.node = node
        self.at = node.pointer
        self.config = node.config if node.parent is not None else draft.document
        self.out: dict[str, Any] = {}

    def build(self) -> dict[str, Any]:
        for key, value in self.config.items():
            if not isinstance(key, str):
                self.out[key] = copy.deepcopy(value)
                continue
            handler = _HANDLERS.get(key)
            if handler is not None:
                handler(self, value)
            else:
                self.out[key] = copy.deepcopy(value)
        self._check_initial_missing()
        merge_replaced(self.draft, self.node, self.out)
        return self.out

    def _rename(self, old: str, new: str, value: Any, why: str = "version 5 calls it so") -> None:
        self.out[new] = value
        self.draft.change(f"{self.at}/{old}", f"{self.at}/{new}", f"`{old}` became `{new}`", why)

    def _remove(self, key: str, why: str) -> None:
        self.draft.change(f"{self.at}/{key}", self.at, f"`{key}` removed", why)

    def states(self, value: Any) -> None:
        if isinstance(value, Mapping):
            self.out["states"] = {
                key: copy.deepcopy(child) if key not in self.node.children else {}
                for key, child in value.items()
            }
        else:
            self.out["states"] = copy.deepcopy(value)

    def actions(self, key: str, old_key: str, value: Any) -> None:
        """``entry`` or ``exit``; a false value made version 4 look at the older key."""
        if key in self.config and (self.config.get(key) or old_key not in self.config):
            if value is None:
                self._remove(key, "null was an empty list in version 4 and fails in version 5")
                return
            self.out[key] = upgrade_actions(self.draft, value, f"{self.at}/{key}", f"{self.at}/{key}")
        else:
            self._remove(key, f"it was empty, and `{old_key}` counted")

    def old_actions(self, old_key: str, key: str, value: Any) -> None:
        if self.config.get(key):
            self._remove(old_key, f"version 4 ignored it beside `{key}`")
        else:
            self._rename(
                old_key, key, upgrade_actions(self.draft, value, f"{self.at}/{old_key}", f"{self.at}/{key}")
            )

    def parallel(self, value: Any) -> None:
        if value and not self.config.get("type"):
            self.out["type"] = "parallel"
            self.draft.change(
                f"{self.at}/parallel",
                f"{self.at}/type",
                '`parallel` became `"type": "parallel"`',
                "version 5 calls it so",
            )
        else:
            self._remove("parallel", "it has no effect")

    def data(self, value: Any) -> None:
        if self.node.kind != "final" or "output" in self.config:
            self.out["data"] = copy.deepcopy(value)
            return
        self._rename("data", "output", copy.deepcopy(value))

    def strict(self, value: Any) -> None:
        if value:
            self.draft.review(
                f"{self.at}/strict",
                "Version 4 refused events that no state mentions; version 5 ignores them.",
                "Ask the host to raise on unhandled events.",
            )
        self._remove("strict", "version 5 has no strict machines")

    def services(self, _value: Any) -> None:
        self.draft.review(
            f"{self.at}/services",
            "Implementations do not belong to the document.",
            "Bind them as actors in Python.",
        )
        self._remove("services", "version 5 binds actors by name, outside the document")

    def key(self, value: Any) -> None:
        if self.node.parent is None and isinstance(value, str) and not self.config.get("id"):
            self._rename("key", "id", value)
        elif value == self.node.key or self.node.parent is None:
            self._remove("key", "version 5 takes the name from where the state stands")
        else:
            self.draft.review(
                f"{self.at}/key",
                "This state had another name than its place; version 5 has no such thing.",
                "Rename the state.",
            )
            self.out["key"] = copy.deepcopy(value)

    def on(self, value: Any) -> None:
        if isinstance(value, (list, tuple)):
            value = self._keyed(value, "on", "event")
        if not isinstance(value, Mapping):
            self.out["on"] = copy.deepcopy(value)
            return
        made: dict[str, Any] = {}
        eventless: Any = None
        for name, item in value.items():
            at = f"{self.at}/on{token(name)}"
            if name == "":
                eventless = upgrade_transitions(self.draft, self.node, item, at, f"{self.at}/always")
                self.draft.change(
                    at,
                    f"{self.at}/always",
                    "eventless transition moved to `always`",
                    'version 5 refuses the event ""',
                )
                continue
            new_name = self.names.renamed(self.node, name, at, f"{self.at}/on")
            new = upgrade_transitions(self.draft, self.node, item, at, f"{self.at}/on{token(new_name)}")
            made[new_name] = combine(made[new_name], new) if new_name in made else new
        if made or not value:
            self.out["on"] = made
        if eventless is not None:
            self.out["always"] = combine(eventless, self.out["always"]) if "always" in self.out else eventless

    def always(self, value: Any) -> None:
        made = (
            upgrade_transitions(self.draft, self.node, value, f"{self.at}/always", f"{self.at}/always")
            if value
            else value
        )
        self.out["always"] = combine(self.out["always"], made) if "always" in self.out and value else made

    def after(self, value: Any) -> None:
        if isinstance(value, (list, tuple)):
            value = self._keyed(value, "after", "delay")
        if not isinstance(value, Mapping):
            self.out["after"] = copy.deepcopy(value)
            return
        wildcard = self.config.get("on", {}).get("*") if isinstance(self.config.get("on"), Mapping) else None
        made: dict[str, Any] = {}
        for name, item in value.items():
            at = f"{self.at}/after{token(name)}"
            new = upgrade_transitions(
                self.draft,
                self.node,
                [t for t in item if t != ""] if isinstance(item, list) else item,
                at,
                at,
            )
            new = [{"target": t} if isinstance(t, str) else t for t in new] if isinstance(new, list) else new
            if wildcard:
                first = _silently(self.draft, self.node, wildcard, at)
                new = [{"target": t} if isinstance(t, str) else t for t in combine(first, new)]
                self.draft.change(
                    at,
                    at,
                    "the transitions of `*` come first",
                    "version 4 let `*` catch the end of a delay, too",
                )
            made[str(name)] = new
        self.out["after"] = made

    def _keyed(self, value: Any, key: str, by: str) -> dict[str, Any]:
        """A list of transitions as an object of lists."""
        made: dict[str, Any] = {}
        for index, item in enumerate(value):
            if isinstance(item, Mapping):
                name = item.get(by)
                if not isinstance(name, (str, int, float)):
                    self.draft.unsupported(
                        f"{self.at}/{key}/{index}",
                        f"The {by} of this transition is computed.",
                        f"Give the {by} a name and bind it.",
                    )
                    continue
                made.setdefault(str(name), []).append({k: v for k, v in item.items() if k != by})
        self.draft.change(
            f"{self.at}/{key}",
            f"{self.at}/{key}",
            f"list of transitions keyed by {by}",
            f"version 5 wants `{key}` as an object",
        )
        return made

    def on_done(self, value: Any) -> None:
        at = f"{self.at}/onDone"
        self.out["onDone"] = (
            upgrade_transitions(self.draft, self.node, value, at, at) if value else copy.deepcopy(value)
        )

    def invoke(self, _value: Any) -> None:
        if "invoke" not in self.out:
            self.out["invoke"] = upgrade_invokes(self.draft, self.node)

    def history_target(self, value: Any) -> None:
        self.out["target"] = upgrade_history_target(self.draft, self.node, value)

    def initial(self, value: Any) -> None:
        self.out["initial"] = upgrade_initial(self.draft, self.node, value)

    def _check_initial_missing(self) -> None:
        if self.node.kind == "compound" and not self.config.get("initial"):
            self.draft.unsupported(
                self.at,
                "Version 4 can be in this state without being in any of its children; version 5 cannot.",
                "Name the child to enter in `initial`.",
            )


_HANDLERS: dict[str, Any] = {
    "states": _State.states,
    "entry": lambda self, value: self.actions("entry", "onEntry", value),
    "exit": lambda self, value: self.actions("exit", "onExit", value),
    "onEntry": lambda self, value: self.old_actions("onEntry", "entry", value),
    "onExit": lambda self, value: self.old_actions("onExit", "exit", value),
    "parallel": _State.parallel,
    "data": _State.data,
    "strict": _State.strict,
    "services": _State.services,
    "key": _State.key,
    "on": _State.on,
    "always": _State.always,
    "after": _State.after,
    "onDone": _State.on_done,
    "invoke": _State.invoke,
    "activities": _State.invoke,
    "target": _State.history_target,
    "initial": _State.initial,
    **{key: (lambda self, _value, key=key, why=why: self._remove(key, why)) for key, why in _REMOVED.items()},
}
