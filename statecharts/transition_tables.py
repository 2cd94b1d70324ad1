"""The transitions of a state, in XState's order: on, onDone, invokes, after; and ``always`` apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .builder import Builder, fail, is_object, listed
from .events import ROUTE, after_event_type
from .guards import AllOf, Guard, InlineGuard, NullGuard, parse_guard
from .nodes import DelayedEvent, StateNode, Transition
from .targets import resolve_target
from .values import UNDEFINED, js_keys, js_to_number, truthy


Table = dict[str, tuple[Transition, ...]]


def read_transitions(builder: Builder, node: StateNode, config: Mapping[str, Any]) -> None:
    """The descriptor table in XState's order: on, onDone, invokes, after."""
    table = node.transitions
    if "on" in config:
        _read_on(builder, node, table, config["on"])
    if "onDone" in config:
        _read_handler(builder, node, table, config, "onDone", f"xstate.done.state.{node.id}", "")
    if node.invokes:
        _read_invoked(builder, node, table, config)
    if "after" in config:
        _read_after(builder, node, table, config["after"])
    if "always" in config:
        always = config["always"]
        if always is not None and truthy(always):
            node.always = _read_list(builder, node, "", always, "/always")


def _read_on(builder: Builder, node: StateNode, table: Table, on: Any) -> None:
    if on is None or not truthy(on) or not is_object(on):
        return
    for descriptor in js_keys(on):
        if descriptor == "":
            fail(
                "event-empty",
                f"{node.pointer}/on/",
                'Null events ("") cannot be specified as a transition key. Use `always: { ... }` instead.',
            )
        table[descriptor] = _read_list(
            builder, node, descriptor, on[descriptor], builder.place("on", descriptor)
        )


def _read_invoked(builder: Builder, node: StateNode, table: Table, config: Mapping[str, Any]) -> None:
    for invoke, (item, place) in zip(node.invokes, listed(config["invoke"], "/invoke"), strict=True):
        if isinstance(item, Mapping):
            _read_handler(builder, node, table, item, "onDone", f"xstate.done.actor.{invoke.id}", place)
            _read_handler(builder, node, table, item, "onError", f"xstate.error.actor.{invoke.id}", place)
            _read_handler(builder, node, table, item, "onSnapshot", f"xstate.snapshot.{invoke.id}", place)


def _read_handler(
    builder: Builder,
    node: StateNode,
    table: Table,
    holder: Mapping[str, Any],
    key: str,
    descriptor: str,
    place: str,
) -> None:
    value = holder.get(key)
    if value is not None and truthy(value):
        table[descriptor] = _read_list(builder, node, descriptor, value, f"{place}/{key}")


def _read_list(
    builder: Builder, node: StateNode, descriptor: str, value: Any, place: str
) -> tuple[Transition, ...]:
    if type(value) is str or not isinstance(value, (list, tuple)):
        return (_read_transition(builder, node, descriptor, value, place),)
    return tuple(
        [
            _read_transition(builder, node, descriptor, item, f"{place}/{i}")
            for i, item in enumerate(value)
        ]
    )


def _read_transition(
    builder: Builder, node: StateNode, descriptor: str, item: Any, place: str
) -> Transition:
    """One candidate; it stands at ``place`` below its state."""
    if type(item) is str:
        targets = None if item == "" else builder.target(_resolve(builder, node, item, place))
        transition = Transition(node, descriptor, targets, place=place)
    else:
        transition = _read_object(builder, node, descriptor, item, place)
    transition.number = len(builder.transitions)
    builder.transitions.append(transition)
    return transition


def _read_object(builder: Builder, node: StateNode, descriptor: str, item: Any, place: str) -> Transition:
    if type(item) is not dict:
        if item is None:
            message = "Cannot read properties of null (reading 'target')"
            fail("transition-null", node.pointer + place, message)
        if isinstance(item, str):
            return Transition(node, descriptor, _resolve_targets(builder, node, item, place), place=place)
        if not isinstance(item, Mapping):
            return Transition(node, descriptor, None, place=place)
    config: Mapping[str, Any] = item
    targets = None
    if "target" in config:
        targets = _resolve_targets(builder, node, config["target"], f"{place}/target")
    transition = Transition(node, descriptor, targets, place=place)
    if "guard" in config:
        transition.guard = _read_guard(builder, node, config["guard"], descriptor, place)
    if "actions" in config:
        transition.actions = builder.actions(config["actions"], node, place, "actions")
    if "reenter" in config:
        transition.reenter = truthy(config["reenter"])
    transition.meta = config.get("meta", UNDEFINED)
    transition.description = config.get("description", UNDEFINED)
    return transition


def _read_guard(builder: Builder, node: StateNode, value: Any, descriptor: str, place: str) -> Guard | None:
    """A falsy guard is no guard for an event; for ``always`` only an absent one is."""
    if value is UNDEFINED or (descriptor != "" and not truthy(value)):
        return None
    if value is None or (not truthy(value) and not isinstance(value, str)):
        return NullGuard()
    return builder.guard(value, node, place)


def _resolve_targets(
    builder: Builder, node: StateNode, target: Any, place: str
) -> tuple[StateNode | None, ...] | None:
    if target is UNDEFINED or target == "":
        return None
    if type(target) is str:
        return builder.target(_resolve(builder, node, target, place))
    wanted = target if isinstance(target, (list, tuple)) else [target]
    return tuple(
        [_resolve(builder, node, item, place) if isinstance(item, str) else None for item in wanted]
    )


def _resolve(builder: Builder, node: StateNode, target: str, place: str) -> StateNode:
    """The node that ``target`` names: a sibling or an id at once, everything else by XState's rules."""
    if target and "." not in target and "\\" not in target:
        if target[:1] == "#":
            found = builder.by_id.get(target[1:])
        else:
            found = None if node.parent is None else node.parent.children.get(target)
        if found is not None:
            return found
    return resolve_target(builder.by_id, builder.machine_id, node, target, node.pointer + place)


def _read_after(builder: Builder, node: StateNode, table: Table, after: Any) -> None:
    if after is None or not truthy(after) or not is_object(after):
        return
    delayed: list[DelayedEvent] = []
    for key in js_keys(after):
        number = js_to_number(key)
        delay: int | float | str = key if number != number else number
        event_type = after_event_type(delay, node.id)
        delayed.append(DelayedEvent(event_type, delay))
        value = after[key]
        place = builder.place("after", key)
        if type(value) is dict:
            made: tuple[Transition, ...] = (_read_transition(builder, node, event_type, value, place),)
            table[event_type] = table[event_type] + made if event_type in table else made
            continue
        # XState spreads list items here, so a bare string or null in the list has no target
        kept = (Mapping, str) if isinstance(value, str) else Mapping
        items = [
            (item if isinstance(item, kept) else {}, at) for item, at in listed(value, place)
        ]
        made = tuple([_read_transition(builder, node, event_type, item, at) for item, at in items])
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
