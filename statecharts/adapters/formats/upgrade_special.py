"""Initial states, histories, and what differs for the machine as a whole."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from statecharts.validation.outline import Node
from statecharts.validation.targets import UnknownTarget, escaped, reference, resolve_history_default

from .upgrade_detect import listed, transitions_of
from .upgrade_tree import Draft, entry_actions, exit_actions


def upgrade_initial(draft: Draft, node: Node, value: Any) -> Any:
    """``initial``; a path is split over the states it leads through."""
    if not isinstance(value, str) or value in node.children or "." not in value:
        return copy.deepcopy(value)
    first, _, rest = value.partition(".")
    child = node.children.get(first)
    pointer = f"{node.pointer}/initial"
    if child is None or not _enters(child, rest.split(".")):
        draft.unsupported(
            pointer,
            f'`initial` is the path "{value}", and version 5 enters direct children only.',
            f'Write "{first}" here and "{rest}" as the `initial` of that state, if it is never entered otherwise.',
        )
        return value
    draft.change(
        pointer, pointer, f'`initial` shortened to "{first}"', "the rest is what that state enters by default"
    )
    return first


def _enters(node: Node, path: list[str]) -> bool:
    """Whether ``path`` below ``node`` is what entering ``node`` leads through anyway."""
    for name in path:
        child = node.children.get(name)
        if child is None or node.config.get("initial") != name:
            return False
        node = child
    return True


def upgrade_history_target(draft: Draft, node: Node, value: Any) -> Any:
    """The default of a history state: state values become paths."""
    if node.kind != "history" or node.parent is None or not value:
        return copy.deepcopy(value)
    pointer = f"{node.pointer}/target"
    draft.review(
        pointer,
        "Version 4 uses this default only before the first transition of the machine, and later the initial state; "
        "version 5 uses it until the parent has been entered.",
        "Check that the default is what you want.",
    )
    if isinstance(value, Mapping):
        paths = [".".join(map(escaped, path)) for path in _paths(value)]
        draft.change(pointer, pointer, "the default became a path", "version 5 takes no state value here")
        return paths[0] if len(paths) == 1 else paths
    if not isinstance(value, str):
        return copy.deepcopy(value)
    meant = draft.by_id(value[1:]) if value.startswith("#") else node.parent.children.get(value)
    try:
        found: Node | None = resolve_history_default(draft.outline, node, value)
    except UnknownTarget:
        found = None
    if meant is None or found is meant:
        return value
    draft.change(
        pointer, pointer, "the default is spelt as version 5 reads it", "the same state, found by other rules"
    )
    return reference(draft.outline, meant)


def _paths(value: Mapping[str, Any]) -> list[list[str]]:
    found: list[list[str]] = []
    stack: list[tuple[list[str], Any]] = [([key], part) for key, part in reversed(list(value.items()))]
    while stack:
        path, part = stack.pop()
        if isinstance(part, str):
            found.append([*path, part])
        elif isinstance(part, Mapping) and part:
            stack.extend(([*path, key], inner) for key, inner in reversed(list(part.items())))
        else:
            found.append(path)
    return found


def check_sorting(draft: Draft) -> None:
    """Without either setting, version 4 runs all assigns of a step before its other actions."""
    document = draft.document
    if document.get("predictableActionArguments") or document.get("preserveActionOrder"):
        return
    for node in draft.outline.nodes:
        for key, actions in (("entry", entry_actions(node)), ("exit", exit_actions(node))):
            late = [
                i
                for i, action in enumerate(actions)
                if i and _is_assign(action) and not _is_assign(actions[i - 1])
            ]
            if late:
                draft.review(
                    f"{node.pointer}/{key}" if key in node.config else node.pointer,
                    "Version 4 ran assigns before the other actions of a step; version 5 keeps the order of the list.",
                    "Put the assign first if the other actions read what it sets.",
                )


def check_final_events(draft: Draft) -> None:
    """Version 4 sends an event for a final state itself, which `*` catches; version 5 does not."""
    nested = any(
        node.kind == "final" and node.parent is not None and node.parent.parent is not None
        for node in draft.outline.nodes
    )
    for node in draft.outline.nodes if nested else ():
        handlers = node.config.get("on")
        if isinstance(handlers, Mapping) and handlers.get("*"):
            draft.review(
                f"{node.pointer}/on/*",
                "When a final state is entered, version 4 sends an event for it that `*` catches; version 5 sends none.",
                "Check what `*` is meant to catch.",
            )


def check_raising(draft: Draft) -> None:
    """What is raised while a raised event is handled went first in version 4, and goes last in version 5."""
    found = 0
    for node in draft.outline.nodes:
        lists = [entry_actions(node), exit_actions(node)]
        lists += [
            listed(item.get("actions")) for item in transitions_of(node.config) if isinstance(item, Mapping)
        ]
        found += sum(_is_raise(action) for actions in lists for action in actions)
    if found > 1:
        draft.review(
            "",
            "An event raised while another raised event is handled comes before those that wait in version 4, "
            "and after them in version 5.",
            "Check what is raised in answer to what is raised.",
        )


def _is_raise(action: Any) -> bool:
    if not isinstance(action, Mapping) or action.get("delay") is not None:
        return False
    return action.get("type") == "xstate.raise" or action.get("to") == "#_internal"


def _is_assign(action: Any) -> bool:
    return isinstance(action, Mapping) and action.get("type") == "xstate.assign"


def upgrade_root_output(draft: Draft, root: dict[str, Any]) -> None:
    """Version 4 took a machine's result from the final state it ended in; version 5 asks the machine."""
    if "output" in root or draft.outline.root.kind == "parallel":
        return
    finals = [child for child in draft.outline.root.children.values() if child.kind == "final"]
    values = [child.config.get("data", child.config.get("output")) for child in finals]
    if not finals or all(value is None for value in values):
        return
    place = next(child.pointer for child, value in zip(finals, values, strict=True) if value is not None)
    if all(value == values[0] for value in values):
        root["output"] = copy.deepcopy(values[0])
        draft.change(
            f"{place}/data",
            "/output",
            "the machine's `output` added",
            "version 5 takes a machine's result from there only",
        )
    else:
        draft.review(
            f"{place}/data",
            "The machine ended with the data of the final state it reached; a version 5 machine has one `output`.",
            'Give the machine `"output": {"@expr": "event.output"}`, or bind a function for it.',
        )
