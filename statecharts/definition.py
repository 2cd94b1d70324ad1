"""From a document (JSON as read) to a definition: the checked, numbered tree of a machine.

:func:`build_definition` follows XState's ``createMachine`` clause by clause
(order of tables, target resolution, defaults), so that the loose reading
refuses exactly what XState refuses. The strict reading runs
:mod:`statecharts.validation` first and never gets here with a document that
has problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .actions import parse_actions
from .builder import Builder, fail, listed
from .dynamic import read_value
from .errors import DefinitionError
from .nodes import Initial, Invoke, StateNode, Transition
from .targets import resolve_path, resolve_state_id
from .transition_tables import add_routes, read_transitions
from .values import EMPTY_OBJECT, UNDEFINED, freeze, js_keys, js_to_number, truthy

XSTATE_EXACT = "xstate-exact"
XSTATE = "xstate"
SCXML = "scxml"


@dataclass(frozen=True, slots=True, eq=False)
class ScxmlPart:
    """What only an SCXML document has.

    ``name`` is ``UNDEFINED`` without one; ``scripts`` are texts; ``lines``
    gives the line of a JSON pointer in the text the document was read from.
    """

    name: Any
    datamodel: str
    late_binding: bool
    scripts: tuple[str, ...]
    lines: Callable[[str], int | None] | None = None


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
    scxml: ScxmlPart | None = None

    def node(self, state_id: str) -> StateNode:
        """The node with this id (with or without ``#``; a path may follow). Raises ``DefinitionError``."""
        return resolve_state_id(self.by_id, self.id, state_id)


def build_definition(document: Mapping[str, Any], *, semantics: str = XSTATE) -> Definition:
    """The definition of an XState v5 document.

    Raises :class:`DefinitionError` where ``createMachine`` throws.
    """
    machine_id = document.get("id") or "(machine)"
    if not isinstance(machine_id, str):
        machine_id = str(machine_id)
    lang = document.get("@exprLang") or "cel"
    builder = Builder(machine_id, semantics != XSTATE_EXACT, lang)
    root = _make_nodes(builder, document)
    for node in builder.nodes:
        _read_initial(builder, node)
    for node in builder.nodes:
        read_transitions(builder, node)
    add_routes(builder, root)
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


def _read_context(builder: Builder, document: Mapping[str, Any]) -> Any:
    context = document.get("context", UNDEFINED)
    if callable(context):
        return context
    if not truthy(context):
        return EMPTY_OBJECT
    return read_value(context, "/context", builder.lang) if builder.dialects else freeze(context)


# ------------------------------------------------------------------ nodes


def _make_nodes(builder: Builder, document: Mapping[str, Any]) -> StateNode:
    """Create every node in document order; an explicit stack, so depth is no limit."""
    root = _make_node(builder, document, builder.machine_id, None)
    stack: list[tuple[StateNode, Iterator[tuple[str, Any]]]] = [(root, _child_configs(document, root))]
    while stack:
        node, configs = stack[-1]
        for key, config in configs:
            if not isinstance(config, Mapping):
                fail(
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
        fail("states-shape", f"{node.pointer}/states", "'states' is an object of states")
    return iter([(key, states[key]) for key in js_keys(states)])


def _make_node(builder: Builder, config: Mapping[str, Any], key: str, parent: StateNode | None) -> StateNode:
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


def _finish_node(builder: Builder, node: StateNode) -> None:
    config = builder.configs[node.index]
    if node.type == "compound" and not truthy(config.get("initial", UNDEFINED)):
        first = next(iter(node.children), "undefined")
        fail(
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


def _dynamic(builder: Builder, value: Any, pointer: str) -> Any:
    if callable(value) or value is UNDEFINED:
        return value
    return read_value(value, pointer, builder.lang) if builder.dialects else freeze(value)


def _read_invokes(builder: Builder, node: StateNode, config: Mapping[str, Any]) -> tuple[Invoke, ...]:
    invokes = []
    for index, (item, pointer) in enumerate(
        listed(config.get("invoke", UNDEFINED), f"{node.pointer}/invoke")
    ):
        if item is None:
            fail("invoke-null", pointer, "Cannot destructure property 'src' of 'invokeConfig' as it is null.")
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


def _read_initial(builder: Builder, node: StateNode) -> None:
    declared = builder.configs[node.index].get("initial", UNDEFINED)
    if not truthy(declared if declared is not None else UNDEFINED):
        node.initial = Initial((), ())
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
    node.initial = Initial(() if target is None else (target,), parsed, error)


def _read_history_default(builder: Builder, node: StateNode) -> None:
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
