"""Python behind the names in a document.

Kinds are kept apart because they have different rights: a *guard* and an
*update* are pure and decide; an *action* is run by the host, after the
decision; an *actor* runs beside the machine and reports back with events; a
*delay*, an invoke's input, an output and the initial context are values or
pure functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any, TypeVar, overload

from .actions import BUILTINS, Assign, InlineAction, assign
from .callables import GUARD_ARGUMENTS, UPDATE_ARGUMENTS, fit
from .dynamic import read_value
from .effect_policies import EffectPolicy
from .errors import ImplementationError, UsageError
from .guards import AllOf, AnyOf, ExpressionGuard, NamedGuard, Negation, StateIn
from .values import UNDEFINED

F = TypeVar("F", bound=Callable[..., Any])
_GUARD_VALUES = (NamedGuard, AllOf, AnyOf, Negation, StateIn, ExpressionGuard)
_SECTIONS = ("guards", "updates", "actions", "actors", "delays", "invoke_inputs", "outputs")


class Implementations:
    """What the names in a machine mean in Python.

    Use the decorators, or pass a mapping with any of ``guards``, ``updates``,
    ``actions``, ``actors``, ``delays``, ``invoke_inputs``, ``outputs`` (name →
    callable or value) and ``context``. ``version`` is what the durable runtime
    writes to its log, so that a replay can tell other code from a log that was
    changed::

        impl = Implementations()

        @impl.guard("canRetry")
        def can_retry(context): return context["attempt"] < 3
    """

    def __init__(self, source: Mapping[str, Any] | None = None) -> None:
        # mappings: a dict's own `get` would be called in place of a subclass's by compiled code
        self.guards: MutableMapping[str, Any] = {}
        self.actions: MutableMapping[str, Any] = {}
        self.actors: MutableMapping[str, Any] = {}
        self.delays: MutableMapping[str, Any] = {}
        self.invoke_inputs: dict[str, Any] = {}
        self.outputs: dict[str, Any] = {}
        self.initial_context: Any = UNDEFINED
        self.policies: dict[str, EffectPolicy] = {}
        self.version: str | None = None
        if source is not None:
            if not isinstance(source, Mapping):
                raise UsageError(f"implementations are a mapping of sections, not {type(source).__name__}")
            self._take(source)

    def _take(self, source: Mapping[str, Any]) -> None:
        unknown = [key for key in source if key not in (*_SECTIONS, "context")]
        if unknown:
            raise UsageError(
                f"implementations have no section {unknown[0]!r}; the sections are {', '.join(_SECTIONS)} and context"
            )
        for key in _SECTIONS:
            if source.get(key) is not None and not isinstance(source[key], Mapping):
                raise UsageError(
                    f"{key!r} maps names to implementations; it is {type(source[key]).__name__} here"
                )
        for name, value in (source.get("guards") or {}).items():
            self._add_guard(name, value)
        for name, value in (source.get("updates") or {}).items():
            self._add_action(name, _as_update(name, value))
        for name, value in (source.get("actions") or {}).items():
            self._add_action(name, value)
        self.actors.update(source.get("actors") or {})
        for section in ("delays", "invoke_inputs", "outputs"):
            given = source.get(section) or {}
            getattr(self, section).update({name: _as_data(value) for name, value in given.items()})
        if "context" in source:
            self.initial_context = _as_data(source["context"])

    @classmethod
    def of(cls, source: Implementations | Mapping[str, Any] | None) -> Implementations:
        """``source`` as implementations; a mapping is read, ``None`` is empty."""
        if isinstance(source, Implementations):
            return source
        return cls(source)

    def merged(self, other: Implementations) -> Implementations:
        """Both, ``other`` winning where a name is in both. Neither is changed."""
        result = Implementations()
        for section in ("guards", "actions", "actors", "delays", "invoke_inputs", "outputs", "policies"):
            getattr(result, section).update(getattr(self, section))
            getattr(result, section).update(getattr(other, section))
        result.initial_context = (
            self.initial_context if other.initial_context is UNDEFINED else other.initial_context
        )
        result.version = self.version if other.version is None else other.version
        return result

    # ---------------------------------------------------------- decorators

    @overload
    def guard(self, name: F) -> F: ...
    @overload
    def guard(self, name: str | None = None) -> Callable[[F], F]: ...
    def guard(self, name: Any = None) -> Any:
        """A pure question: ``(context, event, params) -> bool``."""
        return self._decorate(name, self._add_guard)

    @overload
    def update(self, name: F) -> F: ...
    @overload
    def update(self, name: str | None = None) -> Callable[[F], F]: ...
    def update(self, name: Any = None) -> Any:
        """A pure change of context (XState ``assign``): ``(context, event, params) -> dict of changes``."""
        return self._decorate(name, lambda key, function: self._add_action(key, _as_update(key, function)))

    @overload
    def action(self, name: F) -> F: ...
    @overload
    def action(self, name: str | None = None) -> Callable[[F], F]: ...
    def action(self, name: Any = None) -> Any:
        """Something the host does when the step is decided: ``(context, event, params) -> None``."""
        return self._decorate(name, self._add_action)

    @overload
    def actor(self, name: F) -> F: ...
    @overload
    def actor(self, name: str | None = None) -> Callable[[F], F]: ...
    def actor(self, name: Any = None) -> Any:
        """Async work: ``async def`` (promise), async generator (observable), callback, logic or machine."""
        return self._decorate(name, self.actors.__setitem__)

    @overload
    def delay(self, name: F) -> F: ...
    @overload
    def delay(self, name: str | None = None) -> Callable[[F], F]: ...
    def delay(self, name: Any = None) -> Any:
        """A delay in milliseconds: ``(context, event, params) -> number``."""
        return self._decorate(name, self.delays.__setitem__)

    def invoke_input(self, invoke_id: str) -> Callable[[F], F]:
        """The input of the invoke with this id: ``(context, event) -> value``."""
        return self._decorate(invoke_id, self.invoke_inputs.__setitem__)  # type: ignore[no-any-return]

    def output(self, state_id: str) -> Callable[[F], F]:
        """The output of the final state (or root) with this id: ``(context, event) -> value``."""
        return self._decorate(state_id, self.outputs.__setitem__)  # type: ignore[no-any-return]

    def context(self, function: F) -> F:
        """The initial context: ``(input) -> dict``."""
        self.initial_context = function
        return function

    def effect(self, name: str, **policy: Any) -> EffectPolicy:
        """How the durable runtime calls the actor or action of this name: the members of :class:`EffectPolicy`.

        Raises :class:`UsageError` for a member there is none of, or a value that cannot be.
        """
        known = EffectPolicy.__dataclass_fields__
        for member in policy:
            if member not in known:
                raise UsageError(f"an effect has no {member!r}; it has {', '.join(known)}")
        made = self.policies[name] = EffectPolicy(**policy)
        return made

    def _decorate(self, name: Any, store: Callable[[str, Any], None]) -> Any:
        if name is None or isinstance(name, str):

            def bind(function: F) -> F:
                store(name or function.__name__, function)
                return function

            return bind
        store(name.__name__, name)
        return name

    # -------------------------------------------------------------- binding

    def _add_guard(self, name: str, value: Any) -> None:
        if isinstance(value, (str, Mapping, bool, *_GUARD_VALUES)):
            self.guards[name] = value
            return
        fit(value, GUARD_ARGUMENTS, f"guard {name!r}")
        self.guards[name] = value

    def _add_action(self, name: str, value: Any) -> None:
        if isinstance(value, (*BUILTINS, InlineAction)):
            self.actions[name] = value
        elif callable(value):
            self.actions[name] = InlineAction(value, name)
        else:
            raise ImplementationError(
                f"action {name!r} must be callable or made by a creator such as raise_(), not {type(value).__name__}",
                name=name,
            )

    def names(self) -> Iterable[tuple[str, str]]:
        """Every ``(kind, name)`` that is bound."""
        for kind, section in (
            ("guard", self.guards),
            ("action", self.actions),
            ("actor", self.actors),
            ("delay", self.delays),
        ):
            for name in section:
                yield kind, name


def _as_data(value: Any) -> Any:
    """Expressions inside data are compiled; functions and single values stay."""
    return read_value(value) if isinstance(value, (Mapping, list, tuple)) else value


def _as_update(name: str, value: Any) -> Assign:
    if isinstance(value, Assign):
        return value
    if callable(value):
        fit(value, UPDATE_ARGUMENTS, f"update {name!r}")
        return Assign(value)
    if isinstance(value, Mapping):
        return assign(value)
    raise ImplementationError(
        f"update {name!r} must be a function or a mapping, not {type(value).__name__}", name=name
    )
