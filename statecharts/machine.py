"""A machine: a definition together with the Python behind its names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from .actions import (
    Action,
    NamedAction,
    Raise,
    SendTo,
    SpawnChild,
)
from .definition import XSTATE, Definition, InlineSource
from .errors import ImplementationError, MissingName
from .guards import AllOf, AnyOf, Guard, NamedGuard, Negation
from .implementations import Implementations
from .schemas import Schemas

C = TypeVar("C")
E = TypeVar("E")


class Machine(Generic[C, E]):
    """A definition and its implementations. Immutable; may be shared between threads.

    ``missing`` lists names nobody bound, ``surplus`` bound names the document
    does not use.
    """

    __slots__ = (
        "__weakref__",
        "_program",
        "_schemas",
        "definition",
        "implementations",
        "is_pure",
        "missing",
        "surplus",
    )

    def __init__(
        self, definition: Definition, implementations: Implementations | None = None, *, is_pure: bool = False
    ) -> None:
        self.definition = definition
        self.implementations = implementations if implementations is not None else Implementations()
        self.missing, self.surplus = _compare(definition, self.implementations)
        self.is_pure = is_pure
        self._program: Any = None
        self._schemas: Schemas | None = None

    @property
    def id(self) -> str:
        """The machine's id."""
        return self.definition.id

    @property
    def version(self) -> str | None:
        """The document's ``version``."""
        return self.definition.version

    @property
    def semantics(self) -> str:
        """``"xstate"`` or ``"xstate-exact"``."""
        return self.definition.semantics

    @property
    def document(self) -> Mapping[str, Any]:
        """The JSON this machine was read from."""
        return self.definition.document

    def provide(self, implementations: Implementations | Mapping[str, Any]) -> Machine[C, E]:
        """A new machine with more, or other, implementations."""
        merged = self.implementations.merged(Implementations.of(implementations))
        return Machine(self.definition, merged, is_pure=self.is_pure)

    def in_pure_mode(self) -> Machine[C, E]:
        """The same machine, with every guard, update, delay, input and output held to purity.

        Each is evaluated twice and refused I/O, clocks and randomness
        (:mod:`statecharts.purity`); what breaks the rule is named in a
        :class:`PurityError`. For tests and try-outs: it costs time.
        """
        return Machine(self.definition, self.implementations, is_pure=True)

    @property
    def schemas(self) -> Schemas:
        """The document's JSON Schemas (empty ones when it has none, or under ``xstate-exact``)."""
        if self._schemas is None:
            declared = self.definition.schemas if self.semantics == XSTATE else None
            self._schemas = Schemas.from_document(declared if isinstance(declared, Mapping) else {})
        return self._schemas

    def require_complete(self, *, ignore: frozenset[str] = frozenset()) -> None:
        """Raise one :class:`ImplementationError` naming every unbound name and where it is used.

        ``ignore`` holds kinds (``"guard"``, ``"action"``, …) the host stubs.
        """
        missing = [name for name in self.missing if name.kind not in ignore]
        if missing:
            lines = "\n".join(f"  {name}" for name in missing)
            raise ImplementationError(
                f"machine {self.id!r} uses names that are not bound:\n{lines}\n"
                "bind them (Implementations, or `machine.provide(...)`), or simulate with stubs=True",
                missing=missing,
            )

    def __repr__(self) -> str:
        return f"<Machine {self.id!r} {len(self.definition.nodes)} states>"


def _compare(
    definition: Definition, bound: Implementations
) -> tuple[tuple[MissingName, ...], tuple[tuple[str, str], ...]]:
    used: dict[tuple[str, str], list[str]] = {}
    for kind, name, place in _uses(definition):
        used.setdefault((kind, name), []).append(place)
    names = set(bound.names())
    missing = tuple(
        MissingName(kind, name, tuple(places))
        for (kind, name), places in used.items()
        if (kind, name) not in names
    )
    surplus = tuple(pair for pair in bound.names() if pair not in used)
    return missing, surplus


def _uses(definition: Definition) -> Iterator[tuple[str, str, str]]:
    """Every ``(kind, name, pointer)`` at which a definition needs Python."""
    for node in definition.nodes:
        for actions in (node.entry, node.exit, node.initial.actions if node.initial else ()):
            yield from _in_actions(actions, node.pointer)
        for invoke in node.invokes:
            if not isinstance(invoke.src, InlineSource):
                yield "actor", invoke.src, f"{invoke.pointer}/src"
        for delayed in node.delayed:
            if isinstance(delayed.delay, str):
                yield "delay", delayed.delay, f"{node.pointer}/after/{delayed.delay}"
    for transition in definition.transitions:
        if transition.guard is not None:
            yield from _in_guard(transition.guard, transition.pointer)
        yield from _in_actions(transition.actions, transition.pointer)


def _in_guard(guard: Guard, place: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(guard, NamedGuard):
        if guard.builtin is not None:
            yield from _in_guard(guard.builtin, guard.pointer)
        else:
            yield "guard", guard.name, guard.pointer or place
    elif isinstance(guard, (AllOf, AnyOf)):
        for part in guard.guards:
            yield from _in_guard(part, place)
    elif isinstance(guard, Negation):
        yield from _in_guard(guard.guard, place)


def _in_actions(actions: tuple[Action, ...], place: str) -> Iterator[tuple[str, str, str]]:
    for action in actions:
        pointer = place
        if isinstance(action, NamedAction):
            pointer = action.pointer or place
            if action.builtin is None:
                yield "action", action.type, pointer
                continue
            action = action.builtin
        if isinstance(action, (Raise, SendTo)) and isinstance(action.delay, str):
            yield "delay", action.delay, pointer
        if isinstance(action, SpawnChild) and isinstance(action.src, str):
            yield "actor", action.src, pointer
