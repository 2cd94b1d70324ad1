"""The case protocol's implementations by name: guards, updates, actions and actor sources.

They exist so that one JSON case means the same here and under Node. Values
may hold ``{"$ctx": path}``, ``{"$evt": path}`` and ``{"$input": path}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..actions import (
    Action,
    Assign,
    Cancel,
    Emit,
    Raise,
    SendTo,
    SpawnChild,
    StopChild,
    enqueue,
)
from ..guards import InlineGuard, Negation, NullGuard, StateIn, and_, or_
from ..json_text import dumps
from ..values import UNDEFINED, FrozenDict, freeze, truthy
from .protocol_values import (
    JsError,
    as_event,
    compare,
    eval_dyn,
    get_path,
    has_dyn,
    js_add,
    js_string,
    js_type_error,
    listed,
    member,
)


def _params(params: Any) -> Any:
    return FrozenDict() if params is UNDEFINED or params is None else params


# ------------------------------------------------------------------ guards


def _key(params: Any, name: str = "key") -> Any:
    if params is UNDEFINED or params is None:
        raise js_type_error(f"Cannot read properties of {js_string(params)} (reading '{name}')")
    return member(params, name)


def _context_guard(test: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    def guard(context: Any, event: Any, params: Any) -> bool:
        key = _key(params)
        return bool(test(get_path(context, key), member(params, "value")))

    return guard


def _same(left: Any, right: Any) -> bool:
    return bool(_text(left) == _text(right))


def _text(value: Any) -> Any:
    return UNDEFINED if value is UNDEFINED else dumps(value)


def _throw_guard(context: Any, event: Any, params: Any) -> bool:
    message = member(params, "message")
    raise JsError("guard failed" if message is UNDEFINED or message is None else js_string(message))


GUARDS: dict[str, Callable[..., bool]] = {
    "true": lambda context: True,
    "false": lambda context: False,
    "always": lambda context, event, params: member(params, "value") is not False,
    "ctxEq": _context_guard(_same),
    "ctxNe": _context_guard(lambda a, b: not _same(a, b)),
    "ctxGt": _context_guard(lambda a, b: compare(a, b, lambda x, y: x > y)),
    "ctxGte": _context_guard(lambda a, b: compare(a, b, lambda x, y: x >= y)),
    "ctxLt": _context_guard(lambda a, b: compare(a, b, lambda x, y: x < y)),
    "ctxLte": _context_guard(lambda a, b: compare(a, b, lambda x, y: x <= y)),
    "ctxTruthy": lambda context, event, params: truthy(get_path(context, _key(params))),
    "evtEq": lambda context, event, params: _same(get_path(event, _key(params)), member(params, "value")),
    "evtGt": lambda context, event, params: compare(
        get_path(event, _key(params)), member(params, "value"), lambda x, y: x > y
    ),
    "evtTruthy": lambda context, event, params: truthy(get_path(event, _key(params))),
    "evtType": lambda context, event, params: bool(event["type"] == _key(params, "type")),
    "throw": _throw_guard,
}


def prepare_guard(guard: Any) -> Any:
    """A case's guard as one of ours: the four combinators have JSON names in the protocol."""
    if not isinstance(guard, Mapping):
        return guard
    params = guard.get("params")
    params = {} if params is None else params
    kind = guard.get("type")
    if kind in ("and", "or"):
        parts = [_part(item) for item in params.get("guards") or []]
        return and_(parts) if kind == "and" else or_(parts)
    if kind == "not":
        inner = params.get("guard")
        if inner is None:
            inner = next(iter(params.get("guards") or []), UNDEFINED)
        return Negation(_part(inner))
    if kind in ("stateIn", "in"):
        state = params.get("state")
        return StateIn(freeze(state if state is not None else params.get("stateValue", UNDEFINED)))
    return guard


def _part(guard: Any) -> Any:
    prepared = prepare_guard(guard)
    if prepared is UNDEFINED:
        return InlineGuard(_undefined_guard)
    return NullGuard() if prepared is None else prepared


def _undefined_guard() -> bool:
    raise js_type_error("Cannot read properties of undefined (reading 'type')")


# ----------------------------------------------------------------- updates


def _update(function: Callable[[Any, Any, Any], dict[str, Any]]) -> Assign:
    return Assign(lambda context, event, params: function(context, event, _params(params)))


def _inc(context: Any, event: Any, p: Any) -> dict[str, Any]:
    key = js_string(member(p, "key"))
    old, by = member(context, key), p.get("by")
    return {
        key: js_add(0 if old is None or old is UNDEFINED else old, 1 if by is None or by is UNDEFINED else by)
    }


def _set(context: Any, event: Any, p: Any) -> dict[str, Any]:
    return {js_string(member(p, "key")): eval_dyn(p.get("value", UNDEFINED), context, event)}


def _set_from_event(context: Any, event: Any, p: Any) -> dict[str, Any]:
    source = p.get("from")
    if source is None:
        source = p.get("key", UNDEFINED)
    return {js_string(member(p, "key")): get_path(event, source)}


def _append(context: Any, event: Any, p: Any) -> dict[str, Any]:
    key = js_string(member(p, "key"))
    old = member(context, key)
    if old is None or old is UNDEFINED:
        old = []
    if not isinstance(old, (list, str)):
        raise js_type_error("(a.context[p.key] ?? []) is not iterable")
    new = get_path(event, p["from"]) if "from" in p else eval_dyn(p.get("value", UNDEFINED), context, event)
    return {key: [*old, new]}


def _toggle(context: Any, event: Any, p: Any) -> dict[str, Any]:
    key = js_string(member(p, "key"))
    return {key: not truthy(member(context, key))}


def _throw_assign(context: Any, event: Any, p: Any) -> dict[str, Any]:
    message = p.get("message")
    raise JsError("assign failed" if message is None else js_string(message))


def _assign_all(context: Any, event: Any, p: Any) -> Any:
    for key in ("assignments", "assignment"):
        if p.get(key) is not None:
            return eval_dyn(p[key], context, event)
    return eval_dyn(p, context, event)


# ----------------------------------------------------------------- actions


def build_event(p: Any, context: Any, event: Any) -> Any:
    """The event in an action's params, with its fields filled in."""
    given = as_event(p.get("event", UNDEFINED))
    made: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
    for key, source in (p.get("ctxKeys") or {}).items():
        made[key] = get_path(context, source)
    for key, source in (p.get("evtKeys") or {}).items():
        made[key] = get_path(event, source)
    return freeze(eval_dyn(made, context, event) if has_dyn(made) else made)


def _queue(function: Callable[..., Iterator[Any]]) -> Any:
    """A protocol action that lists built-ins: XState's ``enqueueActions``."""

    def collect(
        context: Any, event: Any, params: Any, enqueue: Any, check: Any, system: Any, self: Any
    ) -> None:
        for action in function(context, event, _params(params), check, system, self):
            enqueue(action)

    return enqueue(collect)


def _target(to: Any, context: Any, system: Any, self: Any) -> Any:
    if to is UNDEFINED or to in ("self", "#_internal"):
        return self
    if isinstance(to, Mapping) and "system" in to:
        return system.get(to["system"])
    if isinstance(to, Mapping) and "$ctx" in to:
        return get_path(context, to["$ctx"])
    return to


def _constant(value: Any) -> Any:
    return lambda: value


def _send(target: Any, event: Any, p: Any) -> SendTo:
    goal = target if isinstance(target, str) else _constant(target)
    return SendTo(goal, event, p.get("id", UNDEFINED), p.get("delay", UNDEFINED))


def _raise_action(c: Any, e: Any, p: Any, *_: Any) -> Iterator[Any]:
    yield Raise(build_event(p, c, e), p.get("id", UNDEFINED), p.get("delay", UNDEFINED))


def _send_to(c: Any, e: Any, p: Any, _check: Any, system: Any, self: Any) -> Iterator[Any]:
    to = p.get("to")
    goal = _target(p.get("actorRef", UNDEFINED) if to is None else to, c, system, self)
    yield _send(goal, build_event(p, c, e), p)


def _send_parent(c: Any, e: Any, p: Any, *_: Any) -> Iterator[Any]:
    yield _send("#_parent", build_event(p, c, e), p)


def _forward_to(c: Any, e: Any, p: Any, _check: Any, system: Any, self: Any) -> Iterator[Any]:
    yield _send(_target(p.get("to", UNDEFINED), c, system, self), e, p)


def _emit(c: Any, e: Any, p: Any, *_: Any) -> Iterator[Any]:
    yield Emit(build_event(p, c, e))


def _cancel(c: Any, e: Any, p: Any, *_: Any) -> Iterator[Any]:
    found = p.get("id")
    yield Cancel(p.get("sendId", UNDEFINED) if found is None else found)


def _stop_child(c: Any, e: Any, p: Any, _check: Any, system: Any, self: Any) -> Iterator[Any]:
    child = p.get("id", UNDEFINED)
    if isinstance(child, Mapping):
        child = _target(child, c, system, self)
    yield StopChild(child if isinstance(child, str) else _constant(child))


def _spawn(c: Any, e: Any, p: Any, *_: Any) -> Iterator[Any]:
    options: dict[str, Any] = {}
    for key, name in (("id", "id"), ("systemId", "system_id"), ("syncSnapshot", "sync_snapshot")):
        if key in p:
            options[name] = p[key]
    if "input" in p:
        options["input"] = freeze(eval_dyn(p["input"], c, e))
    src = p.get("src", UNDEFINED)
    key = p.get("ctxKey")
    if key is not None:
        yield Assign(lambda spawn: {key: spawn(src, **options)})
        return
    yield SpawnChild(
        src,
        options.get("id", UNDEFINED),
        options.get("system_id"),
        options.get("input", UNDEFINED),
        truthy(options.get("sync_snapshot", False)),
    )


def _choose(c: Any, e: Any, p: Any, check: Any, *_: Any) -> Iterator[Any]:
    branches = p.get("branches") or []
    if not isinstance(branches, (list, str)):
        raise js_type_error(
            f"number {js_string(branches)} is not iterable (cannot read property Symbol(Symbol.iterator))"
        )
    for branch in branches:
        if branch is None:
            raise js_type_error("Cannot read properties of null (reading 'guard')")
        guard = member(branch, "guard")
        if guard is UNDEFINED or check(_part(guard)):
            yield from listed(member(branch, "actions"))
            return


LIBRARY: dict[str, Action] = {
    "inc": _update(_inc),
    "set": _update(_set),
    "setFromEvent": _update(_set_from_event),
    "append": _update(_append),
    "toggle": _update(_toggle),
    "throwAssign": _update(_throw_assign),
    "raise": _queue(_raise_action),
    "sendTo": _queue(_send_to),
    "sendParent": _queue(_send_parent),
    "forwardTo": _queue(_forward_to),
    "emit": _queue(_emit),
    "cancel": _queue(_cancel),
    "stopChild": _queue(_stop_child),
    "spawn": _queue(_spawn),
    "choose": _queue(_choose),
    "xstate.assign": _update(_assign_all),
}
for _alias, _name in (
    ("raise", "raise"),
    ("sendTo", "sendTo"),
    ("sendParent", "sendParent"),
    ("emit", "emit"),
    ("cancel", "cancel"),
    ("stopChild", "stopChild"),
    ("spawnChild", "spawn"),
):
    LIBRARY[f"xstate.{_alias}"] = LIBRARY[_name]


def alias(actions: Any) -> Any:
    """A case's own action name that stands for a list of actions."""
    return _queue(lambda *_args: iter(listed(actions)))


def action_text(name: str, params: Any) -> str:
    """What an action that nobody knows writes into the trace."""
    return name if params is UNDEFINED else f"{name}({dumps(params)})"


def log_text(context: Any, event: Any, params: Any) -> str:
    """What ``log`` writes: label, a context value, the event's type or a value in it."""
    label = member(params, "label")
    text = "" if label is UNDEFINED or label is None else js_string(label)
    key = member(params, "ctx")
    if key is not UNDEFINED:
        text += f"[{js_string(key)}={_shown(get_path(context, key))}]"
    wanted = member(params, "evt")
    if truthy(wanted):
        text += (
            f"[{js_string(member(event, 'type'))}]"
            if wanted is True
            else f"[{js_string(wanted)}={_shown(get_path(event, wanted))}]"
        )
    return text


def _shown(value: Any) -> str:
    return "null" if value is UNDEFINED else dumps(value)
