"""A machine: a definition together with the Python behind its names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from .actions import (
    Action,
    Assign,
    Enqueue,
    NamedAction,
    Raise,
    SendTo,
    SpawnChild,
)
from .callables import names
from .definition import XSTATE, Definition, InlineSource
from .environment import NO_ENVIRONMENT, Environment
from .errors import ImplementationError, MissingName, Problem
from .executable_content import SCXML_TYPES, inner_actions
from .guards import AllOf, AnyOf, Guard, NamedGuard, Negation, parse_guard
from .implementations import Implementations
from .native import set_members
from .schemas import Schemas

C = TypeVar("C")
E = TypeVar("E")
_Names = tuple[tuple[MissingName, ...], tuple[tuple[str, str], ...]]
"""What is missing, and what is bound in vain."""


_GIVEN = ("_hash", "_names", "definition", "environment", "implementations", "is_pure", "warnings")
"""What a machine is; the rest is made from it."""


class Machine(Generic[C, E]):
    """A definition and its implementations. Immutable; may be shared between threads.

    ``missing`` lists names nobody bound, ``surplus`` bound names the document
    does not use, ``warnings`` what loading found that is harmless.
    """

    __slots__ = (
        "__weakref__",
        "_hash",
        "_names",
        "_program",
        "_schemas",
        "definition",
        "environment",
        "implementations",
        "is_pure",
        "warnings",
    )

    def __init__(
        self,
        definition: Definition,
        implementations: Implementations | None = None,
        *,
        is_pure: bool = False,
        environment: Environment = NO_ENVIRONMENT,
    ) -> None:
        self.definition = definition
        self.environment = environment
        self.implementations = implementations if implementations is not None else Implementations()
        self._names: _Names | None = None
        if implementations is not None:  # else every name is missing, which is told when somebody asks
            self._names = _compare(definition, self.implementations, environment)
        self.is_pure = is_pure
        self.warnings: tuple[Problem, ...] = ()
        self._program: Any = None
        self._hash: str | None = None
        self._schemas: Schemas | None = None

    @property
    def missing(self) -> tuple[MissingName, ...]:
        """The names that nobody bound, and where each is used."""
        if self._names is None:
            self._names = _compare(self.definition, self.implementations, self.environment)
        return self._names[0]

    @property
    def surplus(self) -> tuple[tuple[str, str], ...]:
        """``(kind, name)`` of what is bound and not used."""
        return () if self._names is None else self._names[1]

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
        """``"xstate"``, ``"xstate-exact"`` or ``"scxml"``."""
        return self.definition.semantics

    @property
    def document(self) -> Mapping[str, Any]:
        """The JSON this machine was read from."""
        return self.definition.document

    def provide(self, implementations: Implementations | Mapping[str, Any]) -> Machine[C, E]:
        """A new machine with more, or other, implementations."""
        merged = self.implementations.merged(Implementations.of(implementations))
        return Machine(self.definition, merged, is_pure=self.is_pure, environment=self.environment)

    def in_pure_mode(self) -> Machine[C, E]:
        """The same machine, with every guard, update, delay, input and output held to purity.

        Each is evaluated twice and refused I/O, clocks and randomness
        (:mod:`statecharts.purity`); what breaks the rule is named in a
        :class:`PurityError`. For tests and try-outs: it costs time.
        """
        return Machine(self.definition, self.implementations, is_pure=True, environment=self.environment)

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
        What an SCXML document cannot invoke is its own business: it gets an
        error event (§6.4).
        """
        if self.definition.scxml is not None:
            ignore |= {"actor"}
        missing = self.missing and [name for name in self.missing if name.kind not in ignore]
        if missing:
            lines = "\n".join(f"  {name}" for name in missing)
            raise ImplementationError(
                f"machine {self.id!r} uses names that are not bound:\n{lines}\n"
                "bind them (Implementations, or `machine.provide(...)`), or simulate with stubs=True",
                missing=missing,
            )

    def __repr__(self) -> str:
        return f"<Machine {self.id!r} {len(self.definition.nodes)} states>"

    def __copy__(self) -> Machine[C, E]:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Machine[C, E]:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _GIVEN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._program = None  # made again where it is run
        self._schemas = None
        set_members(self, state)


def _compare(
    definition: Definition, bound: Implementations, environment: Environment
) -> _Names:
    known = set(bound.names())
    used: dict[tuple[str, str], list[str]] = {}
    for kind, name, holder, place in _uses(definition):
        pair = (kind, name)
        if pair in known:
            used[pair] = _SOMEWHERE
        else:
            used.setdefault(pair, []).append(holder.pointer + place)
    invoked = [] if definition.scxml is None else list(_invoked(definition))
    for names_, is_session, place in invoked:
        found = is_session and environment.resolve is not None
        if not found and not any(("actor", name) in known for name in names_):
            used.setdefault(("actor", names_[-1]), []).append(place)
    missing = tuple(
        MissingName(kind, name, tuple(places))
        for (kind, name), places in used.items()
        if (kind, name) not in known
    )
    by_invoke = {("actor", name) for names_, _, _ in invoked for name in names_}
    reached = {*used, *_named_by(bound, used), *by_invoke}
    deciding = [bound.initial_context, *(bound.actions.get(name) for _, name in reached)]
    chosen_later = {kind for decider in deciding for kind in _chosen_later(decider)}
    surplus = tuple(pair for pair in bound.names() if pair not in reached and pair[0] not in chosen_later)
    return missing, surplus


def _named_by(bound: Implementations, used: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Names that what is bound to ``used`` names in its turn (``spawn_child("job")``, ``and_("a", "b")``)."""
    reached: set[tuple[str, str]] = set()
    waiting = list(used)
    while waiting:
        kind, name = waiting.pop()
        if kind == "guard":
            inner = _in_bound_guard(bound.guards.get(name))
        else:
            found = bound.actions.get(name) if kind == "action" else None
            inner = [] if found is None else list(_in_actions((found,), _NOWHERE))
        for pair in ((inner_kind, inner_name) for inner_kind, inner_name, _, _ in inner):
            if pair not in reached:
                reached.add(pair)
                waiting.append(pair)
    return reached


def _in_bound_guard(found: Any) -> list[_Use]:
    if isinstance(found, (Guard, str, Mapping)):
        return list(_in_guard(parse_guard(found), _NOWHERE))
    return []


def _chosen_later(decider: Any) -> tuple[str, ...]:
    """Kinds of names that a function picks only when it runs."""
    if isinstance(decider, Enqueue):
        return "action", "actor", "delay", "guard"
    if isinstance(decider, Assign):
        decider = decider.assignment
    parts = decider.values() if isinstance(decider, Mapping) else [decider]
    return ("actor",) if any(callable(part) and "spawn" in names(part) for part in parts) else ()


def _uses(definition: Definition) -> Iterator[_Use]:
    """Every place at which a definition needs Python."""
    for node in definition.nodes:
        initial = node.initial
        if node.entry:
            yield from _in_actions(node.entry, node)
        if node.exit:
            yield from _in_actions(node.exit, node)
        if initial is not None and initial.actions:
            yield from _in_actions(initial.actions, node)
        if node.history_actions:
            yield from _in_actions(node.history_actions, node)
        for invocation in node.invocations:
            if invocation.document is not None:
                yield from _uses(invocation.document)
            if invocation.finalize is not None:
                yield from _in_actions(invocation.finalize.actions, node)
        for invoke in node.invokes:
            if not isinstance(invoke.src, InlineSource):
                yield "actor", invoke.src, invoke, "/src"
        for delayed in node.delayed:
            if isinstance(delayed.delay, str):
                yield "delay", delayed.delay, node, f"/after/{delayed.delay}"
    for transition in definition.transitions:
        if transition.guard is not None:
            yield from _in_guard(transition.guard, transition)
        if transition.actions:
            yield from _in_actions(transition.actions, transition)


def _invoked(definition: Definition) -> Iterator[tuple[tuple[str, ...], bool, str]]:
    """What an SCXML document invokes by fixed names: any one of them will do, or (second) a resolver."""
    for node in definition.nodes:
        for invocation in node.invocations:
            if invocation.document is not None:
                yield from _invoked(invocation.document)
                continue
            kind = "" if invocation.type is None else invocation.type.value
            if invocation.type is not None and invocation.type.is_expression:
                continue
            src = invocation.src
            named = () if src is None or src.is_expression else (src.value,)
            is_session = kind in SCXML_TYPES
            candidates = named if is_session else (*named, kind)
            if candidates:
                yield candidates, is_session, invocation.pointer


def _in_guard(guard: Guard, holder: _Placed) -> Iterator[_Use]:
    if isinstance(guard, NamedGuard):
        if guard.builtin is not None:
            yield from _in_guard(guard.builtin, guard)
        else:
            yield ("guard", guard.name, guard, "") if guard.pointer else ("guard", guard.name, holder, guard.place)
    elif isinstance(guard, (AllOf, AnyOf)):
        for part in guard.guards:
            yield from _in_guard(part, holder)
    elif isinstance(guard, Negation):
        yield from _in_guard(guard.guard, holder)


def _in_actions(actions: tuple[Action, ...], holder: _Placed) -> Iterator[_Use]:
    for action in actions:
        place = ""
        owner: _Placed = holder
        if isinstance(action, NamedAction):
            if action.pointer:
                owner = action
            else:
                place = action.place
            if action.builtin is None:
                yield "action", action.type, owner, place
                continue
            action = action.builtin
        else:
            yield from _in_actions(inner_actions(action), holder)
        if isinstance(action, (Raise, SendTo)) and isinstance(action.delay, str):
            yield "delay", action.delay, owner, place
        if isinstance(action, SpawnChild) and isinstance(action.src, str):
            yield "actor", action.src, owner, place


class _Placed(Protocol):
    """What stands somewhere in a document. The pointer is asked for only when it is needed."""

    @property
    def pointer(self) -> str: ...


_Use = tuple[str, str, _Placed, str]
"""Kind, name, and where: what has the pointer, and the place below it."""
_SOMEWHERE: Final[list[str]] = []
"""Where names stand that are bound: nobody asks."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """What is not in a document, but bound to a name in it."""

    pointer: str = ""


_NOWHERE = _Bound()
