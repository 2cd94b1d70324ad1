"""Which transitions an event enables: the specification's ``selectTransitions``, for both rule books.

What may be taken for an event type in a configuration is a tree of
candidates, made once and kept (:class:`Selector`). XState's tree follows the
state value: if any region of a parallel state has an answer, the parallel and
what is around it are not asked. SCXML's has one branch for each active leaf,
which asks the leaf and all its ancestors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ImplementationError, caused_by
from ..events import descriptor_matches, matching_descriptors
from ..nodes import StateNode, Transition
from ..values import UNDEFINED, FrozenDict
from .algorithm import HistoryView, remove_conflicting_transitions
from .compiler import GuardFunction, guard_name
from .configuration import Configuration, Order, subtree_mask
from .datamodel import Session
from .getters import BOTH, CONTEXT
from .messages import event_object, received, token_match
from .snapshot import History

if TYPE_CHECKING:
    from .program import Program

NO_TYPE = "\0"
SELECTOR_SIZE = 200
"""Bytes that a selector's place in a dict and the dict itself take: an estimate, rounded up."""
NOBODY = Session("x:0", UNDEFINED, ())
"""Who asks when a bare snapshot is asked."""


class Candidate:
    """One transition that may be taken, with its guard (``None``: it needs none).

    ``shape`` and ``direct`` are the short way to a guard that is a user's
    function of context and event (:mod:`.updates` has the shapes).
    """

    __slots__ = ("direct", "guard", "shape", "transition")

    def __init__(
        self, transition: Transition, guard: GuardFunction | None, shape: int, direct: Callable[..., Any] | None
    ) -> None:
        self.transition = transition
        self.guard = guard
        self.shape = shape
        self.direct = direct

    def passes(self, context: Any, event: Any, configuration: Any) -> Any:
        """What the guard says. Raises what it raises."""
        shape = self.shape
        if shape == CONTEXT:
            return self.direct(context)  # type: ignore[misc]  # there is one for every shape but two
        if shape == BOTH:
            return self.direct(context, event)  # type: ignore[misc]
        guard = self.guard
        return guard is None or guard(context, event, configuration)


class Selector:
    """What may be taken for one event type in one configuration: own candidates, after the children's.

    ``fixed`` is what is taken whatever guards say; ``None`` when some guard
    has to be asked.
    """

    __slots__ = ("candidates", "children", "fixed", "node")

    def __init__(
        self, node: StateNode, candidates: tuple[Candidate, ...], children: tuple[Selector, ...]
    ) -> None:
        self.node = node
        self.candidates = candidates
        self.children = children
        self.fixed: tuple[Transition, ...] | None = None

    @property
    def size(self) -> int:
        """Bytes that keeping it takes: an estimate, rounded up."""
        return 160 + 8 * len(self.candidates) + sum(child.size for child in self.children)


class GuardFailure(ImplementationError):
    """A guard raised while an event's transitions were selected."""


class Sight(NamedTuple):
    """What an SCXML condition may see of its session beside context and event."""

    mask: int
    value: Any
    session: Session
    seen: FrozenDict | None
    """The ``_event`` of the moment."""


class RefusedCondition(NamedTuple):
    """A condition that could not be evaluated, which counts as false (SCXML §5.9.1)."""

    transition: Transition
    error: "Exception"  # noqa: UP037 -- mypyc looks up a built-in in the module otherwise


class Selection:
    """Selection as XState does it."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._candidates: dict[int, Candidate] = {}

    def select(self, configuration: Configuration, context: Any, event: Any) -> tuple[Transition, ...]:
        """The transitions ``event`` enables, innermost first."""
        event_type = event.get("type")
        if type(event_type) is not str:  # a raised object without a type: only "*" matches it
            event_type = NO_TYPE
        selector = self.selector(configuration, event_type)
        if selector is None:
            return ()
        return self.evaluate(selector, context, event, configuration)

    def evaluate(
        self, selector: Selector, context: Any, event: Any, configuration: Any
    ) -> tuple[Transition, ...]:
        """Ask the guards, children before their parent, regions left to right."""
        found: tuple[Transition, ...] = ()
        for child in selector.children:
            found += self.evaluate(child, context, event, configuration)
        if found:
            return found
        for candidate in selector.candidates:
            if candidate.guard is None:
                return (candidate.transition,)
            try:
                passed = candidate.passes(context, event, configuration)
            except Exception as error:
                raise caused_by(guard_failure(candidate.transition, event["type"], error), error)
            if passed:
                return (candidate.transition,)
        return ()

    def selector(self, configuration: Configuration, event_type: str) -> Selector | None:
        """What may be taken for ``event_type`` in ``configuration``; ``None`` if nothing names it."""
        return self._program.selector(configuration, event_type)

    def make(self, configuration: Configuration, event_type: str) -> Selector | None:
        """:meth:`selector`, built anew."""
        return self._fixed(self._build(configuration, event_type))

    def _fixed(self, selector: Selector | None) -> Selector | None:
        if selector is not None:
            selector.fixed = fixed_choice(selector)
        return selector

    def _build(self, configuration: Configuration, event_type: str) -> Selector | None:
        return self._below(self._program.definition.root, configuration.value, event_type)

    def names(self, event_type: str, descriptor: str) -> bool:
        """Whether transitions under ``descriptor`` are candidates for ``event_type``."""
        return descriptor_matches(event_type, descriptor)

    def reach(self, node: StateNode) -> int:
        """The states whose being active can bring ``node``'s candidates into play, as a bit set."""
        return 1 << node.index

    def _below(self, node: StateNode, value: Any, event_type: str) -> Selector | None:
        """Walk the state value as XState does; branches without candidates are left out."""
        children: list[Selector] = []
        if isinstance(value, str):
            leaf = self._selector_of(node.children[value], event_type, ())
            children = [leaf] if leaf else []
        else:
            for key, inner in value.items():
                child = self._below(node.children[key], inner, event_type)
                if child is not None:
                    children.append(child)
        return self._selector_of(node, event_type, tuple(children))

    def _selector_of(
        self, node: StateNode, event_type: str, children: tuple[Selector, ...]
    ) -> Selector | None:
        candidates = tuple(
            self.candidate(transition)
            for descriptor in matching_descriptors(event_type, list(node.transitions))
            for transition in node.transitions[descriptor]
        )
        if not candidates:
            return (
                None if not children else children[0] if len(children) == 1 else Selector(node, (), children)
            )
        return Selector(node, candidates, children)

    def candidate(self, transition: Transition) -> Candidate:
        """``transition`` with its guard bound, once."""
        found = self._candidates.get(transition.number)
        if found is None:
            found = self._candidates[transition.number] = self._program.candidate(transition)
        return found

    def select_eventless(
        self, configuration: Configuration, order: Order | None, context: Any, event: Any, history: History
    ) -> tuple[Transition, ...]:
        """Enabled ``always`` transitions, leaves in configuration order."""
        leaves = configuration.leaves if order is None else [node for node in order if node.is_leaf]
        enabled = dict.fromkeys(
            transition
            for leaf in leaves
            if (transition := self._first_always(leaf, context, event, configuration)) is not None
        )
        if len(enabled) < 2:
            return tuple(enabled)
        nodes = configuration.nodes if order is None else order
        rules = self._program.semantics
        return tuple(remove_conflicting_transitions(list(enabled), nodes, HistoryView(history), rules))

    def _first_always(
        self, leaf: StateNode, context: Any, event: Any, configuration: Any
    ) -> Transition | None:
        node: StateNode | None = leaf
        while node is not None:
            for transition in node.always or ():
                if self.candidate(transition).passes(context, event, configuration):
                    return transition
            node = node.parent
        return None


class LeafSelection(Selection):
    """Selection as SCXML does it (appendix D ``selectTransitions``, ``selectEventlessTransitions``)."""

    def select(self, configuration: Configuration, context: Any, event: Any) -> tuple[Transition, ...]:
        """The same for a bare snapshot; conditions that fail are false, and nobody hears of it."""
        known = received(event)
        sight = Sight(configuration.mask, configuration.value, NOBODY, event_object(known))
        return self.enabled(configuration, context, known, sight, [])

    def enabled(
        self,
        configuration: Configuration,
        context: Any,
        event: Any,
        sight: Sight,
        refused: list[RefusedCondition],
    ) -> tuple[Transition, ...]:
        """What ``event`` enables, leaf by leaf; conditions that could not be evaluated join ``refused``."""
        found = self.selector(configuration, event["type"])
        if found is None:
            return ()
        chosen: dict[Transition, None] = {}
        for leaf in found.children:
            taken = self._first(leaf.candidates, context, event, sight, refused)
            if taken is not None:
                chosen[taken] = None
        return tuple(chosen)

    def enabled_eventless(
        self,
        configuration: Configuration,
        context: Any,
        event: Any,
        sight: Sight,
        refused: list[RefusedCondition],
    ) -> tuple[Transition, ...]:
        """Enabled transitions without event, leaves in document order."""
        chosen: dict[Transition, None] = {}
        for leaf in configuration.leaves:
            asked = (
                self.candidate(transition)
                for node in (leaf, *leaf.proper_ancestors())
                for transition in node.always or ()
            )
            taken = self._first(asked, context, event, sight, refused)
            if taken is not None:
                chosen[taken] = None
        return tuple(chosen)

    def evaluate(
        self, selector: Selector, context: Any, event: Any, configuration: Any
    ) -> tuple[Transition, ...]:
        """For questions: what is enabled; an error of a condition is raised."""
        known = received(event)
        sight = Sight(configuration.mask, configuration.value, NOBODY, event_object(known))
        found = super().evaluate(selector, context, known, sight)
        return tuple(dict.fromkeys(found))

    def _build(self, configuration: Configuration, event_type: str) -> Selector | None:
        leaves = []
        for leaf in configuration.leaves:
            candidates = tuple(
                self.candidate(transition)
                for node in (leaf, *leaf.proper_ancestors())
                for transition in self._named(node, event_type)
            )
            if candidates:
                leaves.append(Selector(leaf, candidates, ()))
        return Selector(self._program.definition.root, (), tuple(leaves)) if leaves else None

    def names(self, event_type: str, descriptor: str) -> bool:
        return token_match(event_type, descriptor)

    def reach(self, node: StateNode) -> int:
        """Every leaf below ``node`` asks it."""
        return subtree_mask(node)

    def _named(self, node: StateNode, event_type: str) -> list[Transition]:
        """The transitions of ``node`` whose descriptors match, in document order."""
        found = dict.fromkeys(
            transition
            for descriptor, transitions in node.transitions.items()
            if token_match(event_type, descriptor)
            for transition in transitions
        )
        return sorted(found, key=lambda transition: transition.number)

    def _first(
        self,
        candidates: Iterable[Candidate],
        context: Any,
        event: Any,
        sight: Sight,
        refused: list[RefusedCondition],
    ) -> Transition | None:
        for candidate in candidates:
            try:
                if candidate.passes(context, event, sight):
                    return candidate.transition
            except Exception as error:
                refused.append(RefusedCondition(candidate.transition, error))
        return None


def fixed_choice(selector: Selector) -> tuple[Transition, ...] | None:
    """What ``selector`` selects when no guard has a say in it, else ``None``."""
    found: tuple[Transition, ...] = ()
    for child in selector.children:
        below = fixed_choice(child)
        if below is None:
            return None
        found += below
    if found:
        return tuple(dict.fromkeys(found))
    first = selector.candidates[0]
    return (first.transition,) if first.guard is None else None


def guard_failure(transition: Transition, event_type: str, error: Exception) -> GuardFailure:
    name = guard_name(transition.guard)
    shown = f"'{name}' " if name is not None else ""
    return GuardFailure(
        f"Unable to evaluate guard {shown}in transition for event '{event_type}' in state node "
        f"'{transition.source.id}':\n{error}",
        name=name,
        state=transition.source.id,
    )
