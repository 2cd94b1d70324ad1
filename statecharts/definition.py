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
from typing import Any, Final

from .actions import Action
from .builder import Builder, fail, is_object, listed
from .dynamic import read_value
from .errors import DefinitionError
from .nodes import NO_INITIAL, Initial, Invoke, StateNode, Transition
from .targets import resolve_path, resolve_state_id
from .transition_tables import add_routes, read_transitions
from .values import EMPTY_OBJECT, UNDEFINED, freeze, js_keys, js_ordered, js_to_number, truthy

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
    for node, config in zip(builder.nodes, builder.configs, strict=True):
        if "initial" in config:
            _read_initial(builder, node, config)
        else:
            node.initial = NO_INITIAL
    for node, config in zip(builder.nodes, builder.configs, strict=True):
        read_transitions(builder, node, config)
    add_routes(builder, root)
    for node in builder.nodes:
        if node.type == "history":
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
    root = _make_node(builder, document, builder.machine_id, None, "")
    stack = [(root, _child_configs(document, root), f"{builder.machine_id}.")]
    while stack:
        node, configs, prefix = stack[-1]
        for key, config in configs:
            if not is_object(config):
                fail(
                    "state-shape",
                    f"{node.pointer}/states/{key}",
                    "a state is an object",
                    "Write {} for an empty state.",
                )
            child = _make_node(builder, config, key, node, prefix)
            node.adopt(child)
            if "states" in config:
                stack.append((child, _child_configs(config, child), f"{prefix}{key}."))
                break
            _finish_node(builder, child, config)
        else:
            stack.pop()
            node.last = len(builder.nodes) - 1
            _finish_node(builder, node, builder.configs[node.index])
    return root


def _child_configs(config: Mapping[str, Any], node: StateNode) -> Iterator[tuple[str, Any]]:
    states = config.get("states")
    if type(states) is dict:
        return iter(js_ordered(states).items())
    if not truthy(states if states is not None else UNDEFINED):
        return iter(())
    if not isinstance(states, Mapping):
        fail("states-shape", f"{node.pointer}/states", "'states' is an object of states")
    return iter([(key, states[key]) for key in js_keys(states)])


def _make_node(
    builder: Builder, config: Mapping[str, Any], key: str, parent: StateNode | None, prefix: str
) -> StateNode:
    """One node. ``prefix`` and its key are its id, unless it gives itself one."""
    own_id = config.get("id")
    if own_id and isinstance(own_id, str):
        node_id = own_id
    else:
        node_id = builder.machine_id if parent is None else prefix + key
    index = len(builder.nodes)
    node = StateNode(key, parent, node_id, _type_of(config), index)
    if own_id is not None:
        node.own_id = truthy(own_id)
    node.order = len(builder.by_id)
    builder.by_id[node_id] = node
    builder.nodes.append(node)
    builder.configs.append(config)
    return node


def _type_of(config: Mapping[str, Any]) -> str:
    declared = config.get("type")
    if declared:
        return str(declared)
    if "states" in config:
        states = config["states"]
        if states and isinstance(states, Mapping):
            return "compound"
    return "history" if "history" in config and truthy(config["history"]) else "atomic"


_MOVES: Final = frozenset({"after", "always", "id", "initial", "on", "onDone", "states", "type"})
"""Keys that say where a state stands and what leads out of it: nothing that a node keeps for itself."""


def _finish_node(builder: Builder, node: StateNode, config: Mapping[str, Any]) -> None:
    """What a node keeps of its own, once its children are there."""
    if node.type == "compound" and not truthy(config.get("initial", UNDEFINED)):
        first = next(iter(node.children), "undefined")
        fail(
            "initial-missing",
            node.pointer,
            f'No initial state specified for compound state node "#{node.id}". '
            f'Try adding {{ initial: "{first}" }} to the state config.',
        )
    if node.children:
        node.history_children = tuple([child for child in node.children.values() if child.type == "history"])
    if config.keys() <= _MOVES:
        return
    history = config.get("history", UNDEFINED)
    node.history = "shallow" if history is True else (str(history) if truthy(history) else None)
    if "entry" in config:
        node.entry = builder.actions(config["entry"], node, "", "entry")
    if "exit" in config:
        node.exit = builder.actions(config["exit"], node, "", "exit")
    node.meta = freeze(config.get("meta", UNDEFINED))
    node.description = config.get("description", UNDEFINED)
    if "output" in config and (node.type == "final" or node.parent is None):
        node.output = _dynamic(builder, config["output"], f"{builder.pointer(node)}/output")
    tags = config.get("tags", UNDEFINED)
    node.tags = () if tags is UNDEFINED else tuple(tags) if isinstance(tags, (list, tuple)) else (tags,)
    if "invoke" in config:
        node.invokes = _read_invokes(builder, node, config)


def _dynamic(builder: Builder, value: Any, pointer: str) -> Any:
    if callable(value) or value is UNDEFINED:
        return value
    return read_value(value, pointer, builder.lang) if builder.dialects else freeze(value)


def _read_invokes(builder: Builder, node: StateNode, config: Mapping[str, Any]) -> tuple[Invoke, ...]:
    invokes = []
    for index, (item, pointer) in enumerate(listed(config["invoke"], f"{builder.pointer(node)}/invoke")):
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


def _read_initial(builder: Builder, node: StateNode, config: Mapping[str, Any]) -> None:
    declared = config.get("initial")
    if type(declared) is str and declared in node.children:
        node.initial = Initial(builder.target(node.children[declared]), ())
        return
    if declared is None or not truthy(declared):
        node.initial = NO_INITIAL
        return
    key = declared.get("target") if isinstance(declared, Mapping) else declared
    target = node.children.get(key) if isinstance(key, str) else None
    error = None
    if target is None:
        shown = declared if isinstance(declared, str) else "[object Object]"
        error = f'Initial state node "{shown}" not found on parent state node #{node.id}'
    actions: tuple[Action, ...] = ()
    if isinstance(declared, Mapping):
        actions = builder.actions(declared.get("actions", UNDEFINED), node, "", "initial/actions")
    node.initial = Initial(() if target is None else (target,), actions, error)


def _read_history_default(builder: Builder, node: StateNode) -> None:
    """A history node's own default target; an unknown one fails when it is needed, as in XState."""
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
