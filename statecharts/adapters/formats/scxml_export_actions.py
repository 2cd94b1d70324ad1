"""XState's actions and guards in SCXML: built-ins as the elements closest to them, the others as ``x:action``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ...errors import UsageError
from ...validation.delays import js_to_number
from ...validation.dialects import ACTIONS, GUARDS, builtin_members, builtin_of
from ...validation.report import is_number
from ...values import js_number
from .scxml_chart import Chart, safe_name
from .scxml_json import write_value
from .scxml_markup import Markup, config, helper, params, writable

RESERVED: Final = "#_"
"""Starts the targets that SCXML makes up: ``#_parent``, ``#_internal``, ``#_<invokeid>``."""


def has_expression(value: Any) -> bool:
    """Whether an ``@expr`` stands somewhere in ``value``."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, Mapping):
            if "@expr" in each:
                return True
            stack.extend(each.values())
        elif isinstance(each, (list, tuple)):
            stack.extend(each)
    return False


def action_name(action: Any) -> str | None:
    """The plain name of the built-in that ``action`` is (``raise`` …), None for any other action."""
    if action in ("@xstate.log", "xstate.log"):
        return "log"
    name = action.get("type") if isinstance(action, Mapping) else None
    builtin = builtin_of(name, ACTIONS) if isinstance(name, str) else None
    return None if builtin is None else builtin.name


def action_members(action: Any) -> Mapping[str, Any]:
    """The members of a built-in action, whichever way it is spelled."""
    return builtin_members(action) if isinstance(action, Mapping) else {}


def listed(value: Any) -> list[Any]:
    """One action or many, as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


class ActionWriter:
    """Turns actions of one machine into elements."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart

    def markup(self, action: Any, pointer: str) -> list[Markup]:
        """The elements for ``action``; the first carries it, the others help other engines.

        Raises :class:`UsageError` for what is no action.
        """
        if not (action is None or isinstance(action, (str, Mapping))):
            raise UsageError(f"{pointer}: an action is a name or an object with a type, not {action!r}")
        name = action_name(action)
        made: list[Markup] = []
        if name is not None and not has_expression(action):
            write = _WRITERS.get(name)
            made = write(self, action_members(action)) if write is not None else []
        if not made:
            return [named_action(action)]
        made[0].attributes |= config(action)
        for more in made[1:]:
            more.attributes |= helper("action")
        return made

    # ------------------------------------------------------------- built-ins

    def _raise(self, members: Mapping[str, Any]) -> list[Markup]:
        """SCXML's ``raise`` takes no data and no delay; ``send`` does."""
        return self._message(members, None if _is_delayed(members) else "#_internal")

    def _send_to(self, members: Mapping[str, Any]) -> list[Markup]:
        to = next((members[name] for name in ("to", "actorRef", "target") if name in members), None)
        if not isinstance(to, str):
            return []
        known = to in ("#_parent", "#_internal")
        return self._message(members, to if known else self.actor_target(to))

    def _send_parent(self, members: Mapping[str, Any]) -> list[Markup]:
        return self._message(members, "#_parent")

    def actor_target(self, actor: str) -> str:
        """The SCXML target of the child ``actor``."""
        return RESERVED + self._chart.actor_ids.get(actor, safe_name(actor))

    def _message(self, members: Mapping[str, Any], target: str | None) -> list[Markup]:
        event = members.get("event")
        payload: dict[str, Any] = {}
        if isinstance(event, Mapping):
            payload = {key: value for key, value in event.items() if key != "type"}
            event = event.get("type")
        if not isinstance(event, str) or not writable(*payload):
            return []
        name = self._chart.event_name(event)
        if target == "#_internal" and not payload:
            return [Markup("raise", {"event": name})]
        attributes = {"event": name}
        if target is not None:
            attributes["target"] = target
        if _is_delayed(members):
            if target == "#_internal":
                return []
            send_id = members.get("id")
            if isinstance(send_id, str) and send_id and writable(send_id):
                attributes["id"] = send_id
            delay = delay_attributes(members["delay"])
            if delay is None:
                return []
            attributes |= delay
        return [Markup("send", attributes, params(payload))]

    def _cancel(self, members: Mapping[str, Any]) -> list[Markup]:
        send_id = members.get("id", members.get("sendId"))
        if not isinstance(send_id, str) or not writable(send_id):
            return []
        return [Markup("cancel", {"sendid": send_id})]

    def _log(self, members: Mapping[str, Any]) -> list[Markup]:
        args = members.get("args")
        values = args if isinstance(args, (list, tuple)) else []
        value = (
            values[0]
            if len(values) == 1
            else next((members[name] for name in ("value", "message") if name in members), None)
        )
        label = members.get("label")
        attributes: dict[str, str] = {}
        if isinstance(label, str) and writable(label):
            attributes["label"] = label
        if value is not None:
            attributes["expr"] = write_value(value)
        return [Markup("log", attributes)]

    def _assign(self, members: Mapping[str, Any]) -> list[Markup]:
        changes = next(
            (members[name] for name in ("context", "assignments", "assignment") if name in members), members
        )
        if not isinstance(changes, Mapping):
            return []
        return [
            Markup("assign", {"location": self._chart.data_id(key), "expr": write_value(value)})
            for key, value in changes.items()
        ]


_WRITERS: Final = {
    "raise": ActionWriter._raise,
    "sendTo": ActionWriter._send_to,
    "sendParent": ActionWriter._send_parent,
    "cancel": ActionWriter._cancel,
    "log": ActionWriter._log,
    "assign": ActionWriter._assign,
}


def named_action(action: Any) -> Markup:
    """``<x:action type="name">params</x:action>``; what does not fit that stands in ``x:config``."""
    if isinstance(action, str) and action and writable(action):
        return Markup("x:action", {"type": action})
    name = action.get("type") if isinstance(action, Mapping) else None
    if not isinstance(name, str) or not name or not writable(name):
        return Markup("x:action", {"type": "null" if action is None else "action", **config([action])})
    text = write_value(action["params"]) if "params" in action else None
    made = Markup("x:action", {"type": name}, text=text)
    if list(action) != ["type", "params"]:
        made.attributes |= config({key: key in ("type", "params") or [action[key]] for key in action})
    return made


def _is_delayed(members: Mapping[str, Any]) -> bool:
    return members.get("delay") is not None


def delay_attributes(delay: Any) -> dict[str, str] | None:
    """``delay`` in milliseconds, or the name of one, as an attribute; None for anything else."""
    if is_number(delay):
        text = js_number(max(delay, 0))
        if "e" in text or not text[0].isdigit():
            return {"delay": "0ms"} if delay < 1 else None
        return {"delay": f"{text}ms"}
    if not isinstance(delay, str):
        return None
    return {"delayexpr": f"delay({js_string(delay)})"}


def after_attributes(key: str) -> dict[str, str]:
    """The delay of an ``after`` key."""
    number = js_to_number(key)
    if number != number or number > 1e20:
        return {"delayexpr": f"delay({js_string(key)})"}
    return delay_attributes(number) or {}


def js_string(text: str) -> str:
    """``text`` as an ECMAScript literal between single quotes."""
    body = write_value(text)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{body}'"


# --------------------------------------------------------------------- guards


def condition(chart: Chart, guard: Any) -> str | None:
    """``guard`` as an ECMAScript condition; named ones call a function that other engines have to be given."""
    if isinstance(guard, str):
        return f"guard({js_string(guard)})"
    if not isinstance(guard, Mapping):
        return None
    if "@expr" in guard:
        return f"expression({js_string(str(guard['@expr']))})"
    name = guard.get("type")
    builtin = builtin_of(name, GUARDS) if isinstance(name, str) else None
    if builtin is not None:
        return _combined(chart, builtin.name, builtin_members(guard)) or f"guard({js_string(str(name))})"
    more = f", {write_value(guard['params'])}" if "params" in guard else ""
    return f"guard({js_string(str(name))}{more})"


def _combined(chart: Chart, name: str, members: Mapping[str, Any]) -> str | None:
    if name == "stateIn":
        return _state_in(chart, members.get("state", members.get("stateValue")))
    parts = members.get("guards") if name != "not" else [members.get("guard")]
    if not isinstance(parts, (list, tuple)):
        return None
    texts = [condition(chart, part) for part in parts]
    if None in texts:
        return None
    written = [text for text in texts if text is not None]
    if name == "not":
        return f"!{written[0]}" if written[0][-1] == ")" and written[0][0] != "(" else f"!({written[0]})"
    if not written:
        return "true" if name == "and" else "false"
    return "(" + (" && " if name == "and" else " || ").join(written) + ")"


def _state_in(chart: Chart, value: Any) -> str | None:
    """``In()`` for every state that a state value names."""
    if isinstance(value, str) and value.startswith("#"):
        node = chart.outline.ids.get(value[1:])
        return f"In({js_string(chart.ids[node])})" if node in chart.ids and node is not None else None
    found = []
    stack = [(chart.outline.root, value)]
    while stack:
        node, below = stack.pop()
        if isinstance(below, str):
            below = {below: {}} if "." not in below else _nested(below.split("."))
        if not isinstance(below, Mapping):
            return None
        for key, rest in below.items():
            child = node.children.get(key)
            if child is None or child not in chart.ids:
                return None
            found.append(child)
            if rest:
                stack.append((child, rest))
    if not found:
        return None
    texts = [f"In({js_string(chart.ids[node])})" for node in found]
    return texts[0] if len(texts) == 1 else f"({' && '.join(texts)})"


def _nested(keys: list[str]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key in reversed(keys):
        value = {key: value}
    return value


def guard_names(guard: Any) -> list[str]:
    """The names in ``guard`` that have to be bound."""
    found: list[str] = []
    stack = [guard]
    while stack:
        each = stack.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, Mapping) and "@expr" not in each:
            name = each.get("type")
            builtin = builtin_of(name, GUARDS) if isinstance(name, str) else None
            if builtin is None:
                found.append(json.dumps(name) if not isinstance(name, str) else name)
                continue
            members = builtin_members(each)
            parts = members.get("guards") if builtin.name != "not" else [members.get("guard")]
            stack.extend(parts if isinstance(parts, (list, tuple)) else [])
    return found
