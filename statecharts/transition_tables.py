"""The transitions of a state, in XState's order: on, onDone, invokes, after; and ``always`` apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .actions import Action
from .builder import Builder, fail, is_object, listed
from .errors import DefinitionError
from .events import ROUTE, after_event_type
from .guards import AllOf, Guard, InlineGuard, NullGuard, parse_guard
from .nodes import DelayedEvent, StateNode, Transition
from .targets import resolve_target
from .values import UNDEFINED, js_keys, truthy

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
    if type(on) is not dict and not (on is not None and truthy(on) and isinstance(on, Mapping)):
        return
    for descriptor in js_keys(on) if len(on) > 1 else on:
        if descriptor == "":
            fail(
                "event-empty",
                f"{node.pointer}/on/",
                'Null events ("") cannot be specified as a transition key. Use `always: { ... }` instead.',
            )
        place = builder.place("/on", descriptor)
        table[descriptor] = _read_list(builder, node, descriptor, on[descriptor], place)


def _read_invoked(builder: Builder, node: StateNode, table: Table, config: Mapping[str, Any]) -> None:
    for invoke, (item, place) in zip(node.invokes, listed(config["invoke"], "/invoke"), strict=True):
        if is_object(item):
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
    above: str,
) -> None:
    value = holder.get(key)
    if value is not None and truthy(value):
        table[descriptor] = _read_list(builder, node, descriptor, value, builder.place(above, key))


def _read_list(
    builder: Builder, node: StateNode, descriptor: str, value: Any, place: str
) -> tuple[Transition, ...]:
    if type(value) is not list and not isinstance(value, (list, tuple)):
        return (_read_transition(builder, node, descriptor, value, place),)
    return tuple(
        [
            _read_transition(builder, node, descriptor, item, builder.place(place, str(index)))
            for index, item in enumerate(value)
        ]
    )


def _read_transition(
    builder: Builder, node: StateNode, descriptor: str, item: Any, place: str
) -> Transition:
    """One candidate; it stands at ``place`` below its state."""
    if type(item) is str:
        targets = None if item == "" else _one_target(builder, node, item, place)
        transition = Transition(node, descriptor, targets, None, (), False, UNDEFINED, UNDEFINED, None, place)
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
    targets = None
    guard: Guard | None = None
    actions: tuple[Action, ...] = ()
    if "target" in item:
        targets = _resolve_targets(builder, node, item["target"], f"{place}/target")
    if "guard" in item:
        guard = _read_guard(builder, node, item["guard"], descriptor, place)
    if "actions" in item:
        actions = builder.actions(item["actions"], node, place, "actions")
    reenter = "reenter" in item and truthy(item["reenter"])
    meta, description = item.get("meta", UNDEFINED), item.get("description", UNDEFINED)
    return Transition(node, descriptor, targets, guard, actions, reenter, meta, description, None, place)


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
    if type(target) is str:
        return None if target == "" else _one_target(builder, node, target, place)
    if target is UNDEFINED or target == "":
        return None
    wanted = target if isinstance(target, (list, tuple)) else [target]
    return tuple(
        [_one_target(builder, node, item, place)[0] if isinstance(item, str) else None for item in wanted]
    )


def _one_target(builder: Builder, node: StateNode, target: str, place: str) -> tuple[StateNode]:
    """The node that ``target`` names: a sibling at once, an id that was asked for before, or by XState's rules."""
    if target[:1] == "#":
        known = builder.addressed.get(target)
        if known is not None:
            return known
    elif target and node.parent is not None and "." not in target and "\\" not in target:
        sibling = node.parent.children.get(target)
        if sibling is not None:
            return builder.target(sibling)
    try:
        made = builder.target(resolve_target(builder.by_id, builder.machine_id, node, target))
    except DefinitionError as error:
        raise DefinitionError([replace(error.problems[0], pointer=node.pointer + place)]) from None
    if target[:1] == "#":
        builder.addressed[target] = made
    return made


def _read_after(builder: Builder, node: StateNode, table: Table, after: Any) -> None:
    if after is None or not truthy(after) or not is_object(after):
        return
    delayed: list[DelayedEvent] = []
    for key in js_keys(after):
        delay = builder.delay(key)
        event_type = after_event_type(delay, node.id)
        delayed.append(DelayedEvent(event_type, delay))
        value = after[key]
        if isinstance(value, (list, tuple)):
            # XState spreads list items here, so a bare string or null in the list has no target
            value = [item if is_object(item) else {} for item in value]
        elif not isinstance(value, str) and not is_object(value):
            value = [] if value is UNDEFINED else {}
        made = _read_list(builder, node, event_type, value, builder.place("/after", key))
        table[event_type] = table[event_type] + made if event_type in table else made
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
