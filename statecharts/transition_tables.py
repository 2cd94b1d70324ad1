"""The transitions of a state, in XState's order: on, onDone, invokes, after; and ``always`` apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .actions import parse_actions
from .builder import Builder, fail, listed
from .events import ROUTE, after_event_type
from .guards import AllOf, Guard, InlineGuard, NullGuard, parse_guard
from .nodes import DelayedEvent, StateNode, Transition
from .targets import resolve_target
from .values import UNDEFINED, js_keys, js_to_number, truthy


def read_transitions(builder: Builder, node: StateNode) -> None:
    """The descriptor table in XState's order: on, onDone, invokes, after."""
    config = builder.configs[node.index]
    table: dict[str, tuple[Transition, ...]] = {}
    at = node.pointer
    on = config.get("on", UNDEFINED)
    if truthy(on if on is not None else UNDEFINED) and isinstance(on, Mapping):
        for descriptor in js_keys(on):
            if descriptor == "":
                fail(
                    "event-empty",
                    f"{at}/on/",
                    'Null events ("") cannot be specified as a transition key. Use `always: { ... }` instead.',
                )
            pointer = f"{at}/on/{descriptor.replace('~', '~0').replace('/', '~1')}"
            table[descriptor] = _read_list(builder, node, descriptor, on[descriptor], pointer)
    _read_handler(builder, node, table, config, "onDone", f"xstate.done.state.{node.id}", at)
    for invoke, (item, pointer) in zip(
        node.invokes, listed(config.get("invoke", UNDEFINED), f"{at}/invoke"), strict=True
    ):
        if isinstance(item, Mapping):
            _read_handler(builder, node, table, item, "onDone", f"xstate.done.actor.{invoke.id}", pointer)
            _read_handler(builder, node, table, item, "onError", f"xstate.error.actor.{invoke.id}", pointer)
            _read_handler(builder, node, table, item, "onSnapshot", f"xstate.snapshot.{invoke.id}", pointer)
    _read_after(builder, node, table, config)
    node.transitions = table
    always = config.get("always", UNDEFINED)
    if truthy(always if always is not None else UNDEFINED):
        node.always = _read_list(builder, node, "", always, f"{at}/always")


def _read_handler(
    builder: Builder,
    node: StateNode,
    table: dict[str, tuple[Transition, ...]],
    holder: Mapping[str, Any],
    key: str,
    descriptor: str,
    at: str,
) -> None:
    value = holder.get(key, UNDEFINED)
    if truthy(value if value is not None else UNDEFINED):
        table[descriptor] = _read_list(builder, node, descriptor, value, f"{at}/{key}")


def _read_list(
    builder: Builder, node: StateNode, descriptor: str, value: Any, pointer: str
) -> tuple[Transition, ...]:
    items = listed(value, pointer) if value is not UNDEFINED else [(value, pointer)]
    return tuple(_read_transition(builder, node, descriptor, item, where) for item, where in items)


def _read_transition(
    builder: Builder, node: StateNode, descriptor: str, item: Any, pointer: str
) -> Transition:
    if item is None:
        fail("transition-null", pointer, "Cannot read properties of null (reading 'target')")
    config: Mapping[str, Any]
    if isinstance(item, str) or item is UNDEFINED:
        config = {"target": item}
    else:
        config = item if isinstance(item, Mapping) else {}
    place = f"{pointer}/target" if config is item else pointer
    targets = _resolve_targets(builder, node, config.get("target", UNDEFINED), place)
    transition = Transition(
        source=node,
        event_type=descriptor,
        targets=targets,
        guard=_read_guard(builder, config.get("guard", UNDEFINED), descriptor, f"{pointer}/guard"),
        actions=parse_actions(
            config.get("actions", UNDEFINED),
            f"{pointer}/actions",
            dialects=builder.dialects,
            default_lang=builder.lang,
        ),
        reenter=truthy(config.get("reenter", UNDEFINED)),
        meta=config.get("meta", UNDEFINED),
        description=config.get("description", UNDEFINED),
        pointer=pointer,
    )
    transition.number = len(builder.transitions)
    builder.transitions.append(transition)
    return transition


def _read_guard(builder: Builder, value: Any, descriptor: str, pointer: str) -> Guard | None:
    """A falsy guard is no guard for an event; for ``always`` only an absent one is."""
    if value is UNDEFINED or (descriptor != "" and not truthy(value)):
        return None
    if value is None or (not truthy(value) and not isinstance(value, str)):
        return NullGuard()
    return parse_guard(value, pointer, dialects=builder.dialects, default_lang=builder.lang)


def _resolve_targets(
    builder: Builder, node: StateNode, target: Any, pointer: str
) -> tuple[StateNode | None, ...] | None:
    if target is UNDEFINED or target == "":
        return None
    wanted = target if isinstance(target, (list, tuple)) else [target]
    return tuple(
        resolve_target(builder.by_id, builder.machine_id, node, item, pointer)
        if isinstance(item, str)
        else None
        for item in wanted
    )


def _read_after(
    builder: Builder, node: StateNode, table: dict[str, tuple[Transition, ...]], config: Mapping[str, Any]
) -> None:
    after = config.get("after", UNDEFINED)
    if not truthy(after if after is not None else UNDEFINED) or not isinstance(after, Mapping):
        return
    delayed: list[DelayedEvent] = []
    for key in js_keys(after):
        number = js_to_number(key)
        delay: int | float | str = key if number != number else number
        event_type = after_event_type(delay, node.id)
        delayed.append(DelayedEvent(event_type, delay))
        pointer = f"{node.pointer}/after/{key.replace('~', '~0').replace('/', '~1')}"
        value = after[key]
        # XState spreads list items here, so a bare string or null in the list has no target
        kept = (Mapping, str) if isinstance(value, str) else Mapping
        items = [(item if isinstance(item, kept) else {}, at) for item, at in listed(value, pointer)]
        made = tuple(_read_transition(builder, node, event_type, item, at) for item, at in items)
        table[event_type] = table.get(event_type, ()) + made
    node.delayed = tuple(delayed)


def add_routes(builder: Builder, root: StateNode) -> None:
    routes: list[Transition] = []
    for node in builder.nodes[1:]:
        route = builder.configs[node.index].get("route", UNDEFINED)
        if not node.own_id or not truthy(route if route is not None else UNDEFINED):
            continue
        pointer = f"{node.pointer}/route"
        config = route if isinstance(route, Mapping) else {}
        matches = InlineGuard(_route_guard(f"#{node.id}"))
        own = config.get("guard", UNDEFINED)
        guard: Guard = matches
        if truthy(own if own is not None else UNDEFINED):
            user_guard = parse_guard(
                own, f"{pointer}/guard", dialects=builder.dialects, default_lang=builder.lang
            )
            guard = AllOf((matches, user_guard))
        item = {**config, "guard": guard, "target": f"#{node.id}"}
        routes.append(_read_transition(builder, root, ROUTE, item, pointer))
    if routes:
        root.transitions[ROUTE] = tuple(routes)


def _route_guard(address: str) -> Any:
    def is_routed_here(event: Mapping[str, Any]) -> bool:
        return bool(event.get("to") == address)

    return is_routed_here
