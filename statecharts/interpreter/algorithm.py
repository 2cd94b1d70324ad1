"""The algorithm: which transitions are taken, what is left, what is entered.

Function names are those of the W3C SCXML algorithm (appendix D) and of
XState's ``stateUtils``. Everything here is a pure function of its arguments.
Where XState differs from SCXML (domain, entry by default) the function takes
the rule book (:mod:`.semantics`) and says so. These functions *plan*: a plan
is computed once per configuration and set of transitions and then kept
(:mod:`.program`).

Reading order, top down::

    (select_transitions, select_eventless_transitions: :mod:`.selection`)
    remove_conflicting_transitions
    get_transition_domain  <- get_effective_target_states
    compute_exit_set
    compute_entry_set      <- add_descendant_states_to_enter, add_ancestor_states_to_enter
    is_in_final_state
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ExecutionError
from ..nodes import StateNode, Transition
from ..values import UNDEFINED
from .configuration import initial_nodes, initial_targets, mask_of
from .semantics import Semantics

Nodes = Sequence[StateNode]


class HistoryView:
    """The history a plan looks at; remembers what it was asked for, for the plan then depends on that."""

    __slots__ = ("asked", "values")

    def __init__(self, values: Mapping[str, tuple[StateNode, ...]]) -> None:
        self.values = values
        self.asked: dict[str, None] = {}

    def get(self, node: StateNode) -> tuple[StateNode, ...] | None:
        """What the history state ``node`` remembers, if anything."""
        self.asked[node.id] = None
        return self.values.get(node.id)


def read_type(node: StateNode | None) -> StateNode:
    """``node``, or XState's own failure on a null target."""
    if node is None:
        raise ExecutionError("Cannot read properties of null (reading 'type')", js_name="TypeError")
    return node


# ------------------------------------------------------------- conflicts


def remove_conflicting_transitions(
    enabled: Sequence[Transition], active: Nodes, history: HistoryView, rules: Semantics
) -> list[Transition]:
    """Drop transitions preempted by others whose exit sets they share; deeper sources win."""
    candidates = dict.fromkeys(enabled)
    if len(candidates) < 2:
        return list(candidates)
    exits = {one: mask_of(compute_exit_set([one], active, history, rules)) for one in candidates}
    kept: list[Transition] = []
    for candidate in candidates:
        preempted = False
        losers: list[Transition] = []
        for other in kept:
            if not exits[candidate] & exits[other]:
                continue
            if candidate.source.is_below(other.source):
                losers.append(other)
            else:
                preempted = True
                break
        if not preempted:
            kept = [t for t in kept if t not in losers]
            kept.append(candidate)
    return kept


# ---------------------------------------------------------------- domain


class _Default(NamedTuple):
    """Where a history state leads when nothing is recorded."""

    targets: tuple[StateNode, ...]
    is_parents_initial: bool


def resolve_history_default(node: StateNode) -> _Default:
    """The default of a history node: its own target, else its parent's default entry."""
    parent = node.parent
    if parent is None:
        raise ExecutionError("Cannot read properties of undefined (reading 'type')", js_name="TypeError")
    if node.raw_history_target is not UNDEFINED:
        if node.history_targets is None:
            raise ExecutionError(node.history_error or "")
        return _Default(node.history_targets, False)
    if parent.type == "parallel":
        return _Default((parent,), False)
    return _Default(initial_targets(parent), True)


def get_effective_target_states(
    targets: Iterable[StateNode | None] | None, history: HistoryView, depth: int = 0
) -> list[StateNode]:
    """Targets with each history state replaced by what it stands for; no repeats."""
    if depth > MAX_HISTORY_DEPTH:
        raise ExecutionError("Maximum call stack size exceeded", js_name="RangeError")
    found: dict[StateNode, None] = {}
    for target in targets or ():
        node = read_type(target)
        if node.type != "history":
            found[node] = None
            continue
        recorded = history.get(node)
        if recorded is not None:
            found.update(dict.fromkeys(recorded))
        else:
            default = resolve_history_default(node)
            found.update(dict.fromkeys(get_effective_target_states(default.targets, history, depth + 1)))
    return list(found)


MAX_HISTORY_DEPTH = 200


def find_least_common_ancestor(nodes: Nodes, rules: Semantics) -> StateNode | None:
    """The nearest proper ancestor of the first node that has all others below it; in SCXML never parallel (LCCA)."""
    head, *tail = nodes
    for ancestor in head.proper_ancestors():
        if rules.domain_is_compound and ancestor.type == "parallel":
            continue
        if all(node.is_below(ancestor) for node in tail):
            return ancestor
    return None


def get_transition_domain(
    transition: Transition, history: HistoryView, rules: Semantics
) -> StateNode | None:
    """The state inside which ``transition`` changes things; ``None`` when the root itself is left.

    XState's transitions are internal unless ``reenter`` says otherwise, for
    any type of source (SCXML §3.13: only when declared, and compound; read so
    when the document is).
    """
    source = transition.source
    targets = get_effective_target_states(transition.targets, history)
    if not transition.reenter and all(target is source or target.is_below(source) for target in targets):
        return source
    ancestor = find_least_common_ancestor([*targets, source], rules)
    if ancestor is not None:
        return ancestor
    if transition.reenter:
        return None
    root = source
    while root.parent is not None:
        root = root.parent
    return root


# ------------------------------------------------------------------ exit


def compute_exit_set(
    transitions: Iterable[Transition], active: Nodes, history: HistoryView, rules: Semantics
) -> list[StateNode]:
    """Active states that ``transitions`` leave, in the order in which they are found."""
    found: dict[StateNode, None] = {}
    for transition in transitions:
        if not transition.targets:
            continue
        domain = get_transition_domain(transition, history, rules)
        if domain is None:  # the root itself is left
            found.update(dict.fromkeys(active))
            continue
        for node in active:
            if node.is_below(domain):
                found[node] = None
    return list(found)


# ----------------------------------------------------------------- entry


class EntrySet:
    """States to enter, and what runs on top of their own entry actions.

    ``default``: states whose own ``initial`` actions run. ``histories``: by
    parent, the history state whose default content runs (SCXML
    ``defaultHistoryContent``). ``covered``: numbers of parallel states whose
    regions have all been looked at; a second look finds nothing more.
    """

    __slots__ = ("_below", "covered", "default", "histories", "states", "whole_defaults")

    def __init__(self, rules: Semantics) -> None:
        self.states: dict[StateNode, None] = {}
        self.default: dict[StateNode, None] = {}
        self.histories: dict[StateNode, StateNode] = {}
        self.whole_defaults = rules.defaults_run_initial
        self.covered: set[int] = set()
        self._below: set[int] = set()

    def add(self, node: StateNode) -> None:
        """Enter ``node``."""
        if node in self.states:
            return
        self.states[node] = None
        parent = node.parent
        while parent is not None and parent.index not in self._below:
            self._below.add(parent.index)
            parent = parent.parent

    def by_name(self, node: StateNode) -> None:
        """XState: ``node`` was named (as target or initial child), which is what lets its own ``initial`` run."""
        if not self.whole_defaults:
            self.default[node] = None

    def by_default(self, node: StateNode) -> None:
        """SCXML: the default entry of ``node`` is taken, so the content of its ``initial`` runs."""
        if self.whole_defaults:
            self.default[node] = None

    def reaches_below(self, node: StateNode) -> bool:
        """Whether some state to enter lies properly below ``node``."""
        return node.index in self._below


Domains = Mapping[Transition, StateNode | None]


def compute_entry_set(
    transitions: Iterable[Transition], history: HistoryView, rules: Semantics, domains: Domains | None = None
) -> EntrySet:
    """States that ``transitions`` enter, given the history recorded on the way out.

    ``domains`` are those of the exit, under the history before it. Without
    them (XState, SCXML) each domain is computed anew, and a history state may
    then lead to a smaller one: what was left is not entered again.
    """
    entry = EntrySet(rules)
    for transition in transitions:
        domain = (
            get_transition_domain(transition, history, rules) if domains is None else domains[transition]
        )
        source = transition.source
        for target in transition.targets or ():
            node = read_type(target)
            moves = source is not node or source is not domain or transition.reenter
            if node.type != "history" and moves:
                entry.add(node)
                entry.by_name(node)
            add_descendant_states_to_enter(node, history, entry)
        limit = None if source.parent is None and transition.reenter else domain
        for node in get_effective_target_states(transition.targets, history):
            ancestors = node.proper_ancestors(domain)
            if domain is not None and domain.type == "parallel":
                ancestors.append(domain)
            add_ancestor_states_to_enter(ancestors, limit, history, entry)
    return entry


def add_descendant_states_to_enter(
    node: StateNode, history: HistoryView, entry: EntrySet, depth: int = 0
) -> None:
    """Default entry below ``node``, or what its history remembers. ``depth`` counts history after history."""
    if node.type == "history":
        if depth > MAX_HISTORY_DEPTH:
            raise ExecutionError("Maximum call stack size exceeded", js_name="RangeError")
        _enter_history(node, history, entry, depth)
    elif node.type == "compound":
        entry.by_default(node)
        targets = initial_targets(node)
        for target in targets:
            if target.type != "history":
                entry.add(target)
                entry.by_name(target)
            add_descendant_states_to_enter(target, history, entry, depth)
        for target in targets:
            add_ancestor_states_to_enter(target.proper_ancestors(node), None, history, entry)
    elif node.type == "parallel":
        for child in node.real_children():
            if not entry.reaches_below(child):
                entry.add(child)
                entry.by_name(child)
                add_descendant_states_to_enter(child, history, entry, depth)


def _enter_history(node: StateNode, history: HistoryView, entry: EntrySet, depth: int) -> None:
    targets = history.get(node)
    by_initial = False
    if targets is None:
        default = resolve_history_default(node)
        targets, by_initial = default.targets, default.is_parents_initial
        if node.history_actions and node.parent is not None:
            entry.histories[node.parent] = node
    for target in targets:
        if not (entry.whole_defaults and target.type == "history"):
            entry.add(target)
        if by_initial and node.parent is not None:
            entry.default[node.parent] = None
        add_descendant_states_to_enter(target, history, entry, depth + 1)
    for target in targets:
        add_ancestor_states_to_enter(target.proper_ancestors(node.parent), None, history, entry)


def add_ancestor_states_to_enter(
    ancestors: Nodes, limit: StateNode | None, history: HistoryView, entry: EntrySet
) -> None:
    """Ancestors below ``limit``, and the other regions of parallel ones.

    In XState regions entered this way do not run their own ``initial`` actions.
    """
    for ancestor in ancestors:
        if limit is None or ancestor.is_below(limit):
            entry.add(ancestor)
        if ancestor.type == "parallel" and ancestor.index not in entry.covered:
            for child in ancestor.real_children():
                if not entry.reaches_below(child):
                    entry.add(child)
                    add_descendant_states_to_enter(child, history, entry)
            entry.covered.add(ancestor.index)


# ------------------------------------------------------------ completion


def is_in_final_state(node: StateNode, active: Mapping[StateNode, Any]) -> bool:
    """Whether ``node`` is complete: a final child is active, or all regions are complete."""
    if node.type == "compound":
        return any(child.type == "final" and child in active for child in node.real_children())
    if node.type == "parallel":
        return all(is_in_final_state(child, active) for child in node.real_children())
    return node.type == "final"


def initial_transition_of(root: StateNode, rules: Semantics) -> Transition:
    """The pseudo transition that enters the root and everything below it by default."""
    if rules.defaults_run_initial:  # SCXML: ``doc.initial.transition``
        return Transition(root, None, initial_targets(root))
    return Transition(root, None, tuple(initial_nodes(root)), reenter=True)
