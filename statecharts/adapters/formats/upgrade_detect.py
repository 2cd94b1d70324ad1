"""Telling a version 4 machine from a version 5 one by what only version 4 writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from statecharts.validation.leftovers import V4_ACTIONS, v5_event_name

_STATE_KEYS = frozenset(
    {
        "onEntry", "onExit", "activities", "parallel", "strict", "delimiter", "services", "schema", "tsTypes",
        "predictableActionArguments", "preserveActionOrder",
    }
)  # fmt: skip
_TRANSITION_KEYS = frozenset({"cond", "in", "internal", "external"})
_INVOKE_KEYS = frozenset({"data", "autoForward", "forward", "sync"})
_FLAT_BUILTINS = frozenset({"xstate.raise", "xstate.cancel", "xstate.log", "xstate.assign"})


def listed(value: Any) -> list[Any]:
    """``value`` as XState's ``toArray`` has it, with null left out."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def is_version_4(document: Mapping[str, Any]) -> bool:
    """Whether something in ``document`` is written as only version 4 writes it."""
    if "key" in document and "id" not in document:
        return True
    stack: list[Mapping[str, Any]] = [document]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if _is_version_4_state(node):
            return True
        states = node.get("states")
        if isinstance(states, Mapping):
            stack.extend(child for child in states.values() if isinstance(child, Mapping))
    return False


def _is_version_4_state(node: Mapping[str, Any]) -> bool:
    if any(key in _STATE_KEYS for key in node):
        return True
    if node.get("type") == "final" and "data" in node:
        return True
    if isinstance(node.get("target"), Mapping):
        return True
    if any(isinstance(node.get(key), (list, tuple)) for key in ("on", "after")):
        return True
    on = node.get("on")
    if isinstance(on, Mapping) and any(key == "" or v5_event_name(str(key)) for key in on):
        return True
    if any(_is_version_4_invoke(item) for item in listed(node.get("invoke"))):
        return True
    if any(_is_version_4_action(item) for key in ("entry", "exit") for item in listed(node.get(key))):
        return True
    return any(map(_is_version_4_transition, transitions_of(node)))


def _is_version_4_invoke(item: Any) -> bool:
    return isinstance(item, Mapping) and (
        any(key in _INVOKE_KEYS for key in item) or isinstance(item.get("src"), Mapping)
    )


def _is_version_4_transition(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    return any(key in _TRANSITION_KEYS for key in item) or any(
        map(_is_version_4_action, listed(item.get("actions")))
    )


def _is_version_4_action(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return item in V4_ACTIONS if isinstance(item, str) else False
    name = item.get("type")
    if not isinstance(name, str) or "params" in item:
        return False
    return name in V4_ACTIONS or name in _FLAT_BUILTINS


def transitions_of(node: Mapping[str, Any]) -> Iterator[Any]:
    """Every transition written in ``node``, wherever it stands."""
    for key in ("on", "after"):
        table = node.get(key)
        if isinstance(table, Mapping):
            for value in table.values():
                yield from listed(value)
        else:
            yield from listed(table)
    for key in ("always", "onDone"):
        yield from listed(node.get(key))
    for item in listed(node.get("invoke")):
        if isinstance(item, Mapping):
            for key in ("onDone", "onError"):
                yield from listed(item.get(key))
