"""The tree a definition is made of: state nodes and transitions.

Nodes are numbered in document order. ``index`` and ``last`` bound a node's
subtree, so "is below" is two comparisons. ``order`` is what XState sorts by;
it equals ``index`` unless a document repeats an id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from .actions import Action
from .executable_content import Data, Invocation
from .guards import Guard
from .native import members, mypyc_attr, set_members
from .values import UNDEFINED


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True, eq=False)
class Invoke:
    """An actor that lives as long as its state is active."""

    id: str
    src: Any
    input: Any = UNDEFINED
    system_id: str | None = None
    sync_snapshot: bool = False
    pointer: str = ""


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True, eq=False)
class DelayedEvent:
    """One ``after`` key: on entry ``event_type`` is scheduled, on exit cancelled."""

    event_type: str
    delay: int | float | str


class Transition:
    """One candidate under a descriptor.

    ``targets`` is ``None`` for a transition without target and ``()`` for an
    empty list, which XState treats differently. A ``None`` among the targets
    is a JSON ``null`` on which XState fails when the transition is taken.
    ``event_type`` is the descriptor; an SCXML transition may have several,
    separated by spaces, and stands under each of them.

    Where it stands is given as a JSON ``pointer``, or as its ``place`` below
    the source, which many transitions can share.
    """

    __slots__ = (
        "_place",
        "_pointer",
        "actions",
        "description",
        "event_type",
        "guard",
        "meta",
        "number",
        "reenter",
        "source",
        "targets",
    )

    def __init__(
        self,
        source: StateNode,
        event_type: str | None,
        targets: tuple[StateNode | None, ...] | None,
        guard: Guard | None = None,
        actions: tuple[Action, ...] = (),
        reenter: bool = False,
        meta: Any = UNDEFINED,
        description: Any = UNDEFINED,
        pointer: str | None = None,
        place: str = "",
    ) -> None:
        self.source = source
        self.event_type = event_type
        self.targets = targets
        self.guard = guard
        self.actions = actions
        self.reenter = reenter
        self.meta = meta
        self.description = description
        self._pointer = pointer
        self._place = place
        self.number = -1

    @property
    def pointer(self) -> str:
        """JSON pointer to the transition in its document."""
        return self.source.pointer + self._place if self._pointer is None else self._pointer

    def __repr__(self) -> str:
        arrow = (
            "" if self.targets is None else " -> " + ", ".join(t.id if t else "null" for t in self.targets)
        )
        return f"<Transition {self.source.id} on {self.event_type!r}{arrow}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank_transition, (), members(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        set_members(self, state)


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True, eq=False)
class Initial:
    """A compound's default entry: one child in XState, any descendants in SCXML.

    ``targets`` is empty when what is named does not exist (``error`` says so).
    """

    targets: tuple[StateNode, ...]
    actions: tuple[Action, ...]
    error: str | None = None


NO_INITIAL = Initial((), ())


NO_NODES: Final[dict[str, StateNode]] = {}
"""The children of all states that have none. Never written to."""


class StateNode:
    """One state. Built by :mod:`statecharts.definition`, not changed afterwards."""

    __slots__ = (
        "always", "children", "data", "delayed", "depth", "description", "entry", "exit", "history", "history_actions",
        "history_children", "history_error", "history_targets", "id", "index", "initial", "invocations", "invokes", "key",
        "last", "meta", "order", "output", "own_id", "parent", "path", "raw_history_target", "tags", "transitions", "type",
    )  # fmt: skip

    def __init__(self, key: str, parent: StateNode | None, node_id: str, node_type: str, index: int) -> None:
        self.key = key
        self.parent = parent
        self.id = node_id
        self.own_id = False
        self.type = node_type
        self.index = index
        self.last = index
        self.order = index
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.path: tuple[str, ...] = () if parent is None else (*parent.path, key)
        self.children: dict[str, StateNode] = NO_NODES
        self.history_children: tuple[StateNode, ...] = ()
        self.initial: Initial | None = None
        self.history: str | None = None
        self.raw_history_target: Any = UNDEFINED
        self.history_targets: tuple[StateNode, ...] | None = None
        self.history_error: str | None = None
        self.history_actions: tuple[Action, ...] = ()
        self.entry: tuple[Action, ...] = ()
        self.exit: tuple[Action, ...] = ()
        self.delayed: tuple[DelayedEvent, ...] = ()
        self.invokes: tuple[Invoke, ...] = ()
        self.invocations: tuple[Invocation, ...] = ()
        self.data: tuple[Data, ...] = ()
        self.transitions: dict[str, tuple[Transition, ...]] = {}
        self.always: tuple[Transition, ...] | None = None
        self.output: Any = UNDEFINED
        self.tags: tuple[Any, ...] = ()
        self.meta: Any = UNDEFINED
        self.description: Any = UNDEFINED

    def adopt(self, child: StateNode) -> None:
        """Take ``child`` as the last of its children."""
        if self.children is NO_NODES:
            self.children = {}
        self.children[child.key] = child

    def __repr__(self) -> str:
        return f"<StateNode {self.id} ({self.type})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank_node, (), members(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        set_members(self, state)

    @property
    def is_leaf(self) -> bool:
        """Whether the node is atomic or final."""
        return self.type in ("atomic", "final")

    @property
    def pointer(self) -> str:
        """JSON pointer to the node in its document."""
        return "".join(f"/states/{key.replace('~', '~0').replace('/', '~1')}" for key in self.path)

    def is_below(self, ancestor: StateNode) -> bool:
        """Whether the node is a proper descendant of ``ancestor``."""
        return ancestor.index < self.index <= ancestor.last

    def proper_ancestors(self, upto: StateNode | None = None) -> list[StateNode]:
        """Ancestors from the parent upwards, without ``upto`` and what is above it."""
        found: list[StateNode] = []
        if upto is self:
            return found
        node = self.parent
        while node is not None and node is not upto:
            found.append(node)
            node = node.parent
        return found

    def real_children(self) -> list[StateNode]:
        """Children that can be active: all but history nodes."""
        return [child for child in self.children.values() if child.type != "history"]


def _blank_node() -> StateNode:
    """Made for :mod:`pickle` and :mod:`copy`, which fill it: nodes refer to one another in circles."""
    return StateNode("", None, "", "", 0)


def _blank_transition() -> Transition:
    return Transition(_blank_node(), None, None)
