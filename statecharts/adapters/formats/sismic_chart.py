"""A sismic statechart as it stands in its file: states, transitions, code, and what sismic asks of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from .sismic_text import Path

BASIC: Final = "basic"
COMPOUND: Final = "compound"
ORTHOGONAL: Final = "orthogonal"
FINAL: Final = "final"
SHALLOW: Final = "shallow history"
DEEP: Final = "deep history"
ConditionKind = Literal["before", "after", "always"]


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of Python: ``text`` as sismic runs it, ``line`` on which it starts, ``path`` in the file."""

    text: str
    line: int | None
    path: Path


@dataclass(frozen=True, slots=True)
class Condition:
    """One line of a contract: ``before`` (precondition), ``after`` (postcondition) or ``always`` (invariant)."""

    kind: ConditionKind
    code: Code


@dataclass(frozen=True, slots=True, eq=False)
class ChartTransition:
    """A transition; ``number`` is its place in its state's list, ``event`` and ``target`` may be missing."""

    source: str
    number: int
    target: str | None
    event: str | None
    guard: Code | None
    action: Code | None
    priority: int
    contract: tuple[Condition, ...]
    path: Path
    line: int | None

    def __str__(self) -> str:
        event = f" on {self.event!r}" if self.event is not None else ""
        arrow = f" -> {self.target!r}" if self.target is not None else " (internal)"
        return f"{self.source!r}{arrow}{event}"


@dataclass(slots=True, eq=False)
class ChartState:
    """A state; ``children`` are names in the order of the file."""

    name: str
    kind: str
    parent: str | None
    initial: str | None
    memory: str | None
    on_entry: Code | None
    on_exit: Code | None
    contract: tuple[Condition, ...]
    path: Path
    line: int | None
    depth: int
    number: int
    children: list[str] = field(default_factory=list)
    transitions: tuple[ChartTransition, ...] = ()

    @property
    def is_history(self) -> bool:
        return self.kind in (SHALLOW, DEEP)


@dataclass(slots=True, eq=False)
class Chart:
    """A whole file. ``number`` of a state is its place in the file's own depth-first order."""

    name: str
    description: str | None
    preamble: Code | None
    root: str
    states: dict[str, ChartState]

    @property
    def transitions(self) -> Iterator[ChartTransition]:
        """All transitions in the order of the file."""
        for state in self.states.values():
            yield from state.transitions

    def ancestors(self, name: str) -> list[str]:
        """Proper ancestors, nearest first."""
        found = []
        parent = self.states[name].parent
        while parent is not None:
            found.append(parent)
            parent = self.states[parent].parent
        return found

    def is_below(self, name: str, ancestor: str) -> bool:
        """Whether ``name`` is a proper descendant of ``ancestor``."""
        return name != ancestor and ancestor in self.ancestors(name)

    def subtree(self, name: str) -> list[str]:
        """``name`` and everything below it, in the order of the file."""
        found = [name]
        for child in self.states[name].children:
            found += self.subtree(child)
        return found

    def common_ancestor(self, first: str, second: str) -> str | None:
        """Sismic's ``least_common_ancestor``: the deepest state properly above both; ``None`` above the root."""
        above = set(self.ancestors(second))
        return next((name for name in self.ancestors(first) if name in above), None)

    def meeting(self, first: str, second: str) -> str:
        """The deepest state that is, or contains, both."""
        above = {second, *self.ancestors(second)}
        return next(name for name in (first, *self.ancestors(first)) if name in above)

    def child_towards(self, ancestor: str | None, name: str) -> str:
        """``name``, or the one above it that is a child of ``ancestor`` (``None``: the root)."""
        while self.states[name].parent != ancestor:
            parent = self.states[name].parent
            assert parent is not None
            name = parent
        return name

    def top_exited(self, transition: ChartTransition) -> str | None:
        """The highest state that a transition leaves in sismic; ``None`` for an internal one."""
        if transition.target is None:
            return None
        return self.child_towards(self.domain(transition), transition.source)

    def domain(self, transition: ChartTransition) -> str | None:
        """What stays active around a transition with a target; ``None`` when the root itself is left."""
        assert transition.target is not None
        return self.common_ancestor(transition.source, transition.target)

    def entered_path(self, transition: ChartTransition) -> list[str]:
        """States entered on the way to the target, outermost first, the target last."""
        assert transition.target is not None
        domain = self.domain(transition)
        path = [transition.target]
        for name in self.ancestors(transition.target):
            if name == domain:
                break
            path.insert(0, name)
        return path

    def entered_with(self, name: str) -> set[str]:
        """States that may be entered when ``name`` is entered by default; for a history state, what it may restore."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            state = self.states[waiting.pop()]
            found.add(state.name)
            if state.is_history and state.parent is not None:
                found.update(self.subtree(state.parent)[1:])
            elif state.kind == ORTHOGONAL:
                waiting += state.children
            elif state.initial:
                waiting.append(state.initial)
        return found
