"""From a state value, as snapshots keep it, to the configuration that it names.

XState rebuilds the active nodes from the value, in an order of its own
(breadth first), and completes what is missing by default entry. Values that
a program has met before are looked up; the memory for that counts among what
the program may keep (:mod:`.memo`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import DefinitionError, ExecutionError
from ..nodes import StateNode
from ..targets import resolve_state_id
from ..values import FrozenDict, js_keys
from .configuration import Configuration, Order, complete
from .program import Program

Found = tuple[Configuration, Order | None]
"""The active nodes, and their order where it is not that of the document."""

_TEXTS: Final = frozenset({str})


def configuration_of(program: Program, value: Any) -> Found:
    """What ``value`` names in ``program``. Raises :class:`ExecutionError` where XState throws."""
    key = _key(value)
    known = None if key is None else _known_values(program).get(key)
    if known is not None:
        return known
    active = _legal_nodes(program.definition.root, value)
    if active is None:
        nodes = state_nodes(program, program.definition.root, value)
        active = complete(dict.fromkeys(nodes))
        configuration = program.intern(active)
    else:
        mask = 0
        for node in active:
            mask |= 1 << node.index
        configuration = program.configuration(mask)
    return _keep(program, key, configuration, tuple(active))


def configuration_in_order(program: Program, ids: list[str]) -> Found | None:
    """The configuration of the states with these ids, in this order; None when some id is no state's."""
    key = (None, *ids)
    known = _known_values(program).get(key)
    if known is not None:
        return known
    by_id = program.definition.by_id
    nodes = tuple([by_id[state_id] for state_id in ids if state_id in by_id])
    if len(nodes) != len(ids) or not nodes:
        return None
    return _keep(program, key, program.intern(nodes), nodes)


def _keep(program: Program, key: Any, configuration: Configuration, order: Order) -> Found:
    found = configuration, None if order == configuration.nodes else order
    if key is not None and program.memo.keeps:
        program.memo.charge(300 + 260 * len(order))
        _known_values(program)[key] = found
    return found


def _known_values(program: Program) -> dict[Any, Found]:
    """What a program remembers; nothing, once it has forgotten all."""
    kept = program.machine._restored
    if kept is None or kept[0] is not program or kept[1] != program.memo.forgotten:
        kept = program.machine._restored = (program, program.memo.forgotten, {})
    return kept[2]  # type: ignore[no-any-return]


def _key(value: Any) -> Any:
    """``value`` with its order as something to look up by; None for what is no state value."""
    kind = type(value)
    if kind is str:
        return value
    if kind is not dict and kind is not FrozenDict:
        return None
    if _TEXTS.issuperset(map(type, value.values())):
        return tuple(value.items())
    parts = tuple([(name, _key(inner)) for name, inner in value.items()])
    return None if any(part[1] is None for part in parts) else parts


def _legal_nodes(root: StateNode, value: Any) -> list[StateNode] | None:
    """The active nodes in XState's order, if ``value`` is one that XState writes of a running machine."""
    found = [root]
    return found if _add_below(root, value, found) else None


def _add_below(node: StateNode, value: Any, found: list[StateNode]) -> bool:
    """Add what ``value`` names below ``node``. False when that is not all of it, or in another order."""
    kind = node.type
    if type(value) is str:
        child = node.children.get(value)
        if child is None or kind != "compound" or not child.is_leaf:
            return False
        found.append(child)
        return True
    if type(value) is not dict and type(value) is not FrozenDict:
        return False
    if kind == "parallel":
        children = node.real_children()
    elif kind == "compound":
        children = [child for name in value if (child := node.children.get(name)) is not None]
        if len(children) != 1:
            return False
    else:
        return kind != "history" and not value
    if [child.key for child in children] != list(value) or any(key[:1] == "#" for key in value):
        return False
    found.extend(children)
    for child, inner in zip(children, value.values(), strict=True):  # noqa: SIM110  a generator would take a second stack frame a level
        if not _add_below(child, inner, found):
            return False
    return True


def state_nodes(program: Program, node: StateNode, value: Any) -> list[StateNode]:
    """The nodes a (partial) state value names, breadth first (XState ``getStateNodes``)."""
    if isinstance(value, str):
        child = node.children.get(value)
        if child is None:
            raise ExecutionError(f"State '{value}' does not exist on '{node.id}'")
        return [node, child]
    if not isinstance(value, Mapping):
        raise ExecutionError("Cannot convert undefined or null to object", js_name="TypeError")
    named = [(_child(program, node, key), value[key]) for key in js_keys(value)]
    found = [program.definition.root, node, *(child for child, _ in named)]
    for child, inner in named:
        found.extend(state_nodes(program, child, inner))
    return found


def _child(program: Program, node: StateNode, key: str) -> StateNode:
    if key.startswith("#"):
        try:
            return resolve_state_id(program.definition.by_id, program.definition.id, key)
        except DefinitionError as error:
            raise ExecutionError(error.problems[0].message) from None
    child = node.children.get(key)
    if child is None:
        raise ExecutionError(f"Child state '{key}' does not exist on '{node.id}'")
    return child
