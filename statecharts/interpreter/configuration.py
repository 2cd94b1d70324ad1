"""Configurations: the set of active nodes, interned per program.

XState keeps active nodes in entry order. That order shows in few places
(eventless selection, tags, meta, history), so a configuration is interned by
its *set*, and the order travels beside it in the snapshot. Only when the
order changes the state value's own key order (after a machine is done, or in
a hand-made snapshot) is it part of the configuration's identity; such a
configuration is called irregular.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..nodes import StateNode
from ..values import js_ordered

if TYPE_CHECKING:
    from .planner import Plan
    from .program import Program
    from .selection import Selector
    from .strides import Stride

Order = tuple[StateNode, ...]
KeptOrder = Order | str | None
"""The order in a snapshot: nodes, the same as text (:func:`order_text`), or ``None`` where it is the document's."""


NO_ROUTES: Final[dict[str, Stride]] = {}
NO_SELECTORS: Final[dict[str, Selector | None]] = {}
NO_PLANS: Final[dict[Any, Plan]] = {}
"""What configurations start with. Shared and never written to: most of very many are met once."""


class Configuration:
    """One set of active nodes of one program. Compare by identity.

    ``regular`` as above; ``legal`` when the set obeys the rules of a
    statechart (one child of each active compound, all regions of each active
    parallel, nothing whose parent is not active), so that what it means can
    be put together from its regions; ``is_plain``: both. ``routes``,
    ``selectors`` and ``plans`` are what the program keeps about it, the first route
    also where it is found without a look-up, ``text`` how a saved snapshot begins
    (:mod:`.texts`; empty until it is needed). What is asked for seldom is computed when it is.
    """

    __slots__ = (
        "_is_chain", "_leaves", "_mask", "_nodes", "_value", "always", "first_route", "first_type", "is_plain", "legal",
        "plans", "program", "regular", "routes", "selectors", "text", "visits",
    )  # fmt: skip

    def __init__(self, program: Program, nodes: Order | None, mask: int, regular: bool, legal: bool) -> None:
        """``mask`` is -1 for a chain of ``nodes``, whose bit set is long in a large chart and seldom asked for."""
        self.program = program
        self._mask = mask
        self.regular = regular
        self.legal = legal
        self.is_plain = regular and legal
        self.always: bool = (
            any(node.always for node in nodes or ()) if mask < 0 else mask & program.always_below != 0
        )
        self.visits = 0
        self.first_type: str | None = None
        self.first_route: Stride | None = None
        self.routes: dict[str, Stride] = NO_ROUTES
        self.selectors: dict[str, Selector | None] = NO_SELECTORS
        self.plans: dict[Any, Plan] = NO_PLANS
        self.text = ""
        self._nodes = nodes
        self._leaves: Order | None = None
        self._value: Any = None
        self._is_chain = 1 if mask < 0 else -1

    def forget(self) -> None:
        """Drop what is kept about it."""
        self.first_type = None
        self.first_route = None
        self.routes = NO_ROUTES
        self.selectors = NO_SELECTORS
        self.plans = NO_PLANS
        self.text = ""

    def keep_route(self, event_type: str, route: Stride) -> None:
        """Remember where an event type leads."""
        if self.routes is NO_ROUTES:
            self.routes = {}
            self.first_route = route
            self.first_type = event_type
        self.routes[event_type] = route

    def keep_selector(self, event_type: str, selector: Selector | None) -> None:
        """Remember what may be taken for an event type."""
        if self.selectors is NO_SELECTORS:
            self.selectors = {}
        self.selectors[event_type] = selector

    def keep_plan(self, key: Any, plan: Plan) -> None:
        """Remember a plan."""
        if self.plans is NO_PLANS:
            self.plans = {}
        self.plans[key] = plan

    @property
    def mask(self) -> int:
        """The active nodes as a bit set over their document numbers."""
        if self._mask < 0:
            self.program.memo.charge(self.program.bits // 7)
            self._mask = mask_of(self.nodes)
        return self._mask

    @property
    def nodes(self) -> Order:
        """The active nodes in document order (as given, when irregular)."""
        nodes = self._nodes
        if nodes is None:
            nodes = self._nodes = nodes_of(self._mask, self.program.definition.nodes)
        return nodes

    @property
    def value(self) -> Any:
        """XState's state value. Shared; not to be changed."""
        value = self._value
        if value is None:
            nodes = self.nodes
            self.program.memo.charge(300 + 150 * len(nodes))
            value = self._value = state_value(self.program.definition.root, nodes)
        return value

    def complete(self) -> None:
        """Compute the value now: raises :class:`ExecutionError` where XState fails on a state without an initial one."""
        self._value = state_value(self.program.definition.root, self.nodes)

    @property
    def leaves(self) -> Order:
        """The active atomic and final nodes."""
        leaves = self._leaves
        if leaves is None:
            leaves = self._leaves = tuple(node for node in self.nodes if node.is_leaf)
        return leaves

    @property
    def atomic_states(self) -> tuple[str, ...]:
        """Ids of the active leaves in document order."""
        return tuple(leaf.id for leaf in sorted(self.leaves, key=lambda node: node.index))

    @property
    def is_chain(self) -> bool:
        """Whether each node is the child of the one before: only one order is possible, and none has to be kept."""
        if self._is_chain < 0:
            nodes = self.nodes
            self._is_chain = all(node.parent is above for node, above in zip(nodes[1:], nodes, strict=False))
        return self._is_chain == 1

    @property
    def size(self) -> int:
        """Bytes that keeping it takes, before it is asked for anything: an estimate, rounded up."""
        return 260 + self._mask.bit_length() // 7 + (0 if self._nodes is None else 8 * len(self._nodes))

    def __repr__(self) -> str:
        return f"<Configuration {', '.join(self.atomic_states)}>"


def nodes_of(mask: int, nodes: Sequence[StateNode]) -> Order:
    """The nodes of a bit set, by document number; ``nodes`` are all there are."""
    found: list[StateNode] = []
    while mask:
        index = (mask & -mask).bit_length() - 1
        found.append(nodes[index])
        mask ^= 1 << index
    return tuple(found)


def is_chain(nodes: Sequence[StateNode]) -> bool:
    """Whether ``nodes`` lead from the root to one leaf: what is active in a chart without regions."""
    above: StateNode | None = None
    for node in nodes:
        if node.parent is not above:
            return False
        above = node
    return above is not None and above.is_leaf


def is_legal(nodes: Sequence[StateNode], mask: int) -> bool:
    """Whether the set ``nodes`` (``mask`` as a bit set) obeys the rules of a statechart (SCXML §3.11)."""
    below: dict[StateNode, int] = {}
    for node in nodes:
        parent = node.parent
        if parent is not None:
            if not mask >> parent.index & 1:
                return False
            below[parent] = below.get(parent, 0) + 1
    for node in nodes:
        if node.type == "compound":
            if below.get(node, 0) != 1:
                return False
        elif node.type == "parallel" and below.get(node, 0) != len(node.real_children()):
            return False
    return True


def mask_of(nodes: Iterable[StateNode]) -> int:
    """The set of ``nodes`` as a bit set over their document numbers."""
    mask = 0
    for node in nodes:
        mask |= 1 << node.index
    return mask


def subtree_mask(node: StateNode) -> int:
    """``node`` and all below it, as a bit set."""
    return (1 << node.last + 1) - (1 << node.index)


def is_regular(nodes: Sequence[StateNode]) -> bool:
    """Whether children stand in document order below each parent, one per compound."""
    last_child: dict[StateNode, int] = {}
    for node in nodes:
        parent = node.parent
        if parent is None:
            continue
        previous = last_child.get(parent)
        if previous is not None and (previous > node.index or parent.type != "parallel"):
            return False
        last_child[parent] = node.index
    return True


def in_document_order(nodes: Iterable[StateNode]) -> Order:
    """``nodes`` by document number."""
    return tuple(sorted(nodes, key=lambda node: node.index))


def order_text(nodes: Iterable[StateNode]) -> str:
    """An order of nodes as text: each node is the character of its document number."""
    return "".join([chr(node.index) for node in nodes])


def nodes_in(order: str, nodes: Sequence[StateNode]) -> Order:
    """An order given as text; ``nodes`` are all there are."""
    return tuple([nodes[ord(number)] for number in order])


def moved(order: Order, left: Order, entered: Order) -> Order:
    """The order of active nodes when some left and others were entered."""
    gone = set(left)
    return (*[node for node in order if node not in gone], *entered)


# ---------------------------------------------------------- state values


def initial_nodes(node: StateNode) -> list[StateNode]:
    """Default entry below ``node`` (itself included), without history; parents before children."""
    found = [node]
    if node.type == "compound":
        for target in initial_targets(node):
            found += [above for above in reversed(target.proper_ancestors(node)) if above not in found]
            found += initial_nodes(target)
    elif node.type == "parallel":
        for child in node.real_children():
            found += initial_nodes(child)
    return found


def initial_targets(node: StateNode) -> tuple[StateNode, ...]:
    """What ``node`` enters by default (XState: one child). Raises :class:`ExecutionError` for an unknown one."""
    from ..errors import ExecutionError

    initial = node.initial
    assert initial is not None
    if not initial.targets:
        if initial.error is not None:
            raise ExecutionError(initial.error)
        raise ExecutionError("Cannot read properties of undefined (reading 'type')", js_name="TypeError")
    return initial.targets


def complete(nodes: Iterable[StateNode]) -> list[StateNode]:
    """``nodes`` with missing defaults and ancestors added, in XState's order (``getAllStateNodes``)."""
    given = list(nodes)
    found: dict[StateNode, None] = dict.fromkeys(given)
    children = _adjacency(found)
    queue = list(found)
    for state in queue:
        added: list[StateNode] = []
        if state.type == "compound" and not children.get(state):
            added = initial_nodes(state)
        elif state.type == "parallel":
            for child in state.real_children():
                if child not in found:
                    added.extend(initial_nodes(child))
        for node in added:
            if node not in found:
                found[node] = None
                queue.append(node)
    for state in queue:
        for ancestor in state.proper_ancestors():
            if ancestor not in found:
                found[ancestor] = None
    return list(found)


def _adjacency(nodes: Iterable[StateNode]) -> dict[StateNode, list[StateNode]]:
    children: dict[StateNode, list[StateNode]] = {}
    for node in nodes:
        children.setdefault(node, [])
        if node.parent is not None:
            children.setdefault(node.parent, []).append(node)
    return children


def state_value(root: StateNode, nodes: Iterable[StateNode]) -> Any:
    """The nested state value of active ``nodes``, keys in their order."""
    return _value_below(root, _adjacency(complete(nodes)))


def _value_below(node: StateNode, children: dict[StateNode, list[StateNode]]) -> Any:
    active = children[node]
    if node.type == "compound" and active[0].is_leaf:
        return active[0].key
    value: dict[str, Any] = {}
    for child in active:  # a loop: a comprehension would take a second stack frame a level
        value[child.key] = _value_below(child, children)
    return js_ordered(value)
