"""From a document (JSON as read) to a definition: the checked, numbered tree of a machine.

:func:`build_definition` follows XState's ``createMachine`` clause by clause
(order of tables, target resolution, defaults), so that the loose reading
refuses exactly what XState refuses. The strict reading runs
:mod:`statecharts.validation` first and never gets here with a document that
has problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .actions import parse_actions
from .dynamic import read_value
from .errors import DefinitionError, Problem
from .events import ROUTE, after_event_type
from .guards import AllOf, Guard, InlineGuard, NullGuard, parse_guard
from .nodes import DelayedEvent, Initial, Invoke, StateNode, Transition
from .targets import resolve_path, resolve_state_id, resolve_target
from .values import EMPTY_OBJECT, UNDEFINED, freeze, js_keys, js_number, js_to_number, truthy

XSTATE_EXACT = "xstate-exact"
XSTATE = "xstate"


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A machine's structure, without implementations. Immutable and shareable between threads."""

    id: str
    version: str | None
    root: StateNode
    nodes: tuple[StateNode, ...]
    by_id: Mapping[str, StateNode]
    context: Any
    max_iterations: float
    document: Mapping[str, Any]
    schemas: Any
    semantics: str
    transitions: tuple[Transition, ...]

    def node(self, state_id: str) -> StateNode:
        """The node with this id (with or without ``#``; a path may follow). Raises ``DefinitionError``."""
        return resolve_state_id(self.by_id, self.id, state_id)


@dataclass(slots=True)
class _Builder:
    machine_id: str
    dialects: bool
    lang: str
    nodes: list[StateNode] = field(default_factory=list)
    by_id: dict[str, StateNode] = field(default_factory=dict)
    configs: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)


def _fail(code: str, pointer: str, message: str, hint: str | None = None) -> NoReturn:
    raise DefinitionError([Problem(code, pointer, message, hint)])


def build_definition(document: Mapping[str, Any], *, semantics: str = XSTATE) -> Definition:
    """The definition of an XState v5 document.

    Raises :class:`DefinitionError` where ``createMachine`` throws.
    """
    machine_id = document.get("id") or "(machine)"
    if not isinstance(machine_id, str):
        machine_id = str(machine_id)
    lang = document.get("@exprLang") or "cel"
    builder = _Builder(machine_id, semantics != XSTATE_EXACT, lang)
    root = _make_nodes(builder, document)
    for node in builder.nodes:
        _read_initial(builder, node)
    for node in builder.nodes:
        _read_transitions(builder, node)
    _add_routes(builder, root)
    for node in builder.nodes:
        _read_history_default(builder, node)
    options = document.get("options")
    limit = options.get("maxIterations", UNDEFINED) if isinstance(options, Mapping) else UNDEFINED
    return Definition(
        id=machine_id,
        version=document.get("version"),
        root=root,
        nodes=tuple(builder.nodes),
        by_id=builder.by_id,
        context=_read_context(builder, document),
        max_iterations=_iterations(limit, semantics),
        document=document,
        schemas=document.get("schemas"),
        semantics=semantics,
        transitions=tuple(builder.transitions),
    )


DEFAULT_MAX_ITERATIONS = 1000


def _iterations(limit: Any, semantics: str) -> float:
    if limit is UNDEFINED or limit is None:
        return DEFAULT_MAX_ITERATIONS
    return float(limit) if isinstance(limit, (int, float)) else float(js_to_number(str(limit)))


def _read_context(builder: _Builder, document: Mapping[str, Any]) -> Any:
    context = document.get("context", UNDEFINED)
    if callable(context):
        return context
    if not truthy(context):
        return EMPTY_OBJECT
    return read_value(context, "/context", builder.lang) if builder.dialects else freeze(context)


# ------------------------------------------------------------------ nodes


def _make_nodes(builder: _Builder, document: Mapping[str, Any]) -> StateNode:
    """Create every node in document order; an explicit stack, so depth is no limit."""
    root = _make_node(builder, document, builder.machine_id, None)
    stack: list[tuple[StateNode, Iterator[tuple[str, Any]]]] = [(root, _child_configs(document, root))]
    while stack:
        node, configs = stack[-1]
        for key, config in configs:
            if not isinstance(config, Mapping):
                _fail(
                    "state-shape",
                    f"{node.pointer}/states/{key}",
                    "a state is an object",
                    "Write {} for an empty state.",
                )
            child = _make_node(builder, config, key, node)
            node.children[key] = child
            stack.append((child, _child_configs(config, child)))
            break
        else:
            stack.pop()
            node.last = len(builder.nodes) - 1
            _finish_node(builder, node)
    return root


def _child_configs(config: Mapping[str, Any], node: StateNode) -> Iterator[tuple[str, Any]]:
    states = config.get("states")
    if not truthy(states if states is not None else UNDEFINED):
        return iter(())
    if not isinstance(states, Mapping):
        _fail("states-shape", f"{node.pointer}/states", "'states' is an object of states")
    return iter([(key, states[key]) for key in js_keys(states)])


def _make_node(builder: _Builder, config: Mapping[str, Any], key: str, parent: StateNode | None) -> StateNode:
    own_id = config.get("id")
    if truthy(own_id) and (isinstance(own_id, str)):
        node_id = own_id
    elif parent is None:
        node_id = builder.machine_id
    else:
        node_id = ".".join((builder.machine_id, *parent.path, key))
    index = len(builder.nodes)
    node = StateNode(key, parent, node_id, _type_of(config), index)
    node.own_id = truthy(own_id if own_id is not None else UNDEFINED)
    node.order = len(builder.by_id)
    builder.by_id[node_id] = node
    builder.nodes.append(node)
    builder.configs[index] = config
    return node


def _type_of(config: Mapping[str, Any]) -> str:
    declared = config.get("type")
    if declared:
        return str(declared)
    states = config.get("states")
    if isinstance(states, Mapping) and states:
        return "compound"
    return "history" if truthy(config.get("history", UNDEFINED)) else "atomic"


def _finish_node(builder: _Builder, node: StateNode) -> None:
    config = builder.configs[node.index]
    if node.type == "compound" and not truthy(config.get("initial", UNDEFINED)):
        first = next(iter(node.children), "undefined")
        _fail(
            "initial-missing",
            node.pointer,
            f'No initial state specified for compound state node "#{node.id}". '
            f'Try adding {{ initial: "{first}" }} to the state config.',
        )
    history = config.get("history", UNDEFINED)
    node.history = "shallow" if history is True else (str(history) if truthy(history) else None)
    node.history_children = tuple(child for child in node.children.values() if child.type == "history")
    at = node.pointer
    node.entry = parse_actions(
        config.get("entry", UNDEFINED), f"{at}/entry", dialects=builder.dialects, default_lang=builder.lang
    )
    node.exit = parse_actions(
        config.get("exit", UNDEFINED), f"{at}/exit", dialects=builder.dialects, default_lang=builder.lang
    )
    node.meta = freeze(config.get("meta", UNDEFINED))
    node.description = config.get("description", UNDEFINED)
    if node.type == "final" or node.parent is None:
        node.output = _dynamic(builder, config.get("output", UNDEFINED), f"{at}/output")
    tags = config.get("tags", UNDEFINED)
    node.tags = () if tags is UNDEFINED else tuple(tags) if isinstance(tags, (list, tuple)) else (tags,)
    node.invokes = _read_invokes(builder, node, config)


def _dynamic(builder: _Builder, value: Any, pointer: str) -> Any:
    if callable(value) or value is UNDEFINED:
        return value
    return read_value(value, pointer, builder.lang) if builder.dialects else freeze(value)


def _read_invokes(builder: _Builder, node: StateNode, config: Mapping[str, Any]) -> tuple[Invoke, ...]:
    invokes = []
    for index, (item, pointer) in enumerate(
        _listed(config.get("invoke", UNDEFINED), f"{node.pointer}/invoke")
    ):
        if item is None:
            _fail(
                "invoke-null", pointer, "Cannot destructure property 'src' of 'invokeConfig' as it is null."
            )
        invoke = item if isinstance(item, Mapping) else {}
        given = invoke.get("id")
        src = invoke.get("src")
        inline = not isinstance(src, str)
        invokes.append(
            Invoke(
                id=given if given is not None else f"{index}.{node.id}",
                src=InlineSource(f"xstate.invoke.{index}.{node.id}", src) if inline else src,
                input=_dynamic(builder, invoke.get("input", UNDEFINED), f"{pointer}/input"),
                system_id=invoke.get("systemId") or None,
                sync_snapshot=truthy(invoke.get("onSnapshot", UNDEFINED)),
                pointer=pointer,
            )
        )
    return tuple(invokes)


@dataclass(frozen=True, slots=True, eq=False)
class InlineSource:
    """Actor logic given in place; it is persisted under ``name``, as XState does."""

    name: str
    logic: Any


def _listed(value: Any, pointer: str) -> list[tuple[Any, str]]:
    if value is UNDEFINED:
        return []
    if isinstance(value, (list, tuple)):
        return [(item, f"{pointer}/{i}") for i, item in enumerate(value)]
    return [(value, pointer)]


def _read_initial(builder: _Builder, node: StateNode) -> None:
    declared = builder.configs[node.index].get("initial", UNDEFINED)
    if not truthy(declared if declared is not None else UNDEFINED):
        node.initial = Initial(None, ())
        return
    key = declared.get("target") if isinstance(declared, Mapping) else declared
    target = node.children.get(key) if isinstance(key, str) else None
    error = None
    if target is None:
        shown = declared if isinstance(declared, str) else "[object Object]"
        error = f'Initial state node "{shown}" not found on parent state node #{node.id}'
    actions = declared.get("actions", UNDEFINED) if isinstance(declared, Mapping) else UNDEFINED
    parsed = parse_actions(
        actions, f"{node.pointer}/initial/actions", dialects=builder.dialects, default_lang=builder.lang
    )
    node.initial = Initial(target, parsed, error)


# ------------------------------------------------------------ transitions


def _read_transitions(builder: _Builder, node: StateNode) -> None:
    """The descriptor table in XState's order: on, onDone, invokes, after."""
    config = builder.configs[node.index]
    table: dict[str, tuple[Transition, ...]] = {}
    at = node.pointer
    on = config.get("on", UNDEFINED)
    if truthy(on if on is not None else UNDEFINED) and isinstance(on, Mapping):
        for descriptor in js_keys(on):
            if descriptor == "":
                _fail(
                    "event-empty",
                    f"{at}/on/",
                    'Null events ("") cannot be specified as a transition key. Use `always: { ... }` instead.',
                )
            pointer = f"{at}/on/{descriptor.replace('~', '~0').replace('/', '~1')}"
            table[descriptor] = _read_list(builder, node, descriptor, on[descriptor], pointer)
    _read_handler(builder, node, table, config, "onDone", f"xstate.done.state.{node.id}", at)
    for invoke, (item, pointer) in zip(
        node.invokes, _listed(config.get("invoke", UNDEFINED), f"{at}/invoke"), strict=True
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
    builder: _Builder,
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
    builder: _Builder, node: StateNode, descriptor: str, value: Any, pointer: str
) -> tuple[Transition, ...]:
    listed = _listed(value, pointer) if value is not UNDEFINED else [(value, pointer)]
    return tuple(_read_transition(builder, node, descriptor, item, where) for item, where in listed)


def _read_transition(
    builder: _Builder, node: StateNode, descriptor: str, item: Any, pointer: str
) -> Transition:
    if item is None:
        _fail("transition-null", pointer, "Cannot read properties of null (reading 'target')")
    config: Mapping[str, Any]
    if isinstance(item, str) or item is UNDEFINED:
        config = {"target": item}
    else:
        config = item if isinstance(item, Mapping) else {}
    targets = _resolve_targets(builder, node, config.get("target", UNDEFINED), pointer)
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


def _read_guard(builder: _Builder, value: Any, descriptor: str, pointer: str) -> Guard | None:
    """A falsy guard is no guard for an event; for ``always`` only an absent one is."""
    if value is UNDEFINED or (descriptor != "" and not truthy(value)):
        return None
    if value is None or (not truthy(value) and not isinstance(value, str)):
        return NullGuard()
    return parse_guard(value, pointer, dialects=builder.dialects, default_lang=builder.lang)


def _resolve_targets(
    builder: _Builder, node: StateNode, target: Any, pointer: str
) -> tuple[StateNode | None, ...] | None:
    if target is UNDEFINED or target == "":
        return None
    listed = target if isinstance(target, (list, tuple)) else [target]
    return tuple(
        resolve_target(builder.by_id, builder.machine_id, node, item, f"{pointer}/target")
        if isinstance(item, str)
        else None
        for item in listed
    )


def _read_after(
    builder: _Builder, node: StateNode, table: dict[str, tuple[Transition, ...]], config: Mapping[str, Any]
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
        if isinstance(value, str):
            value = {"target": value}
        # XState spreads list items here, so a bare string or null in the list has no target
        items = [({} if not isinstance(item, Mapping) else item, at) for item, at in _listed(value, pointer)]
        made = tuple(_read_transition(builder, node, event_type, item, at) for item, at in items)
        table[event_type] = table.get(event_type, ()) + made
    node.delayed = tuple(delayed)


def _add_routes(builder: _Builder, root: StateNode) -> None:
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


def _read_history_default(builder: _Builder, node: StateNode) -> None:
    """A history node's own default target; an unknown one fails when it is needed, as in XState."""
    if node.type != "history":
        return
    target = builder.configs[node.index].get("target", UNDEFINED)
    if target is UNDEFINED or target == "":
        return
    node.raw_history_target = target
    listed = target if isinstance(target, (list, tuple)) else [target]
    if node.parent is None:
        return
    try:
        node.history_targets = tuple(
            resolve_path(builder.by_id, builder.machine_id, node.parent, item) for item in listed
        )
    except DefinitionError as error:
        node.history_error = error.problems[0].message
    except (TypeError, AttributeError):
        node.history_error = "Cannot read properties of null (reading 'type')"


def describe_delay(delay: int | float | str) -> str:
    """A delay as it stands in event names."""
    return delay if isinstance(delay, str) else js_number(delay)
