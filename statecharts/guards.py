"""Guards as data: what a transition asks before it is taken.

A guard sees the event and a frozen context and answers with a bool. In JSON
it is a name or ``{"type": name, "params": …}``; from Python it may also be a
function or one of the four combinators below, which have a JSON spelling of
their own (``{"type": "@xstate.and", "guards": […]}``, or Stately's
``{"type": "xstate.and", "params": {"guards": […]}}``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .dynamic import read_value
from .errors import DefinitionError, Problem
from .expressions import Expression, compile_expression, is_expression
from .values import UNDEFINED, freeze


@dataclass(frozen=True, slots=True, eq=False)
class NamedGuard:
    """A guard bound by name. ``params`` is a constant, a template, a function, or ``UNDEFINED``.

    Where it stands is given as a JSON ``pointer``, or as its ``place`` below
    the transition that has it: so one object serves many of those.
    """

    name: str
    params: Any = UNDEFINED
    pointer: str = ""
    builtin: Guard | None = None
    place: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AllOf:
    """True when every guard is; stops at the first that is not (XState ``and``)."""

    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """True when some guard is; stops at the first that is (XState ``or``)."""

    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Negation:
    """True when its guard is false (XState ``not``)."""

    guard: Guard


@dataclass(frozen=True, slots=True, eq=False)
class StateIn:
    """True when the state value matches, or the node ``#id`` is active."""

    state: Any


@dataclass(frozen=True, slots=True, eq=False)
class ExpressionGuard:
    """A guard written as an expression over ``context``, ``event`` and ``params``."""

    expression: Expression


@dataclass(frozen=True, slots=True, eq=False)
class InlineGuard:
    """A Python function of any of ``(context, event, params)``."""

    function: Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A condition in the language of the document's datamodel (SCXML ``cond``)."""

    source: str


@dataclass(frozen=True, slots=True, eq=False)
class NullGuard:
    """A JSON ``null`` where XState would fail on use."""


Guard = NamedGuard | AllOf | AnyOf | Negation | StateIn | ExpressionGuard | InlineGuard | Condition | NullGuard
_KINDS = (NamedGuard, AllOf, AnyOf, Negation, StateIn, ExpressionGuard, InlineGuard, Condition, NullGuard)

GuardLike = Guard | str | Mapping[str, Any] | Callable[..., Any]


def and_(*guards: GuardLike | Sequence[GuardLike]) -> AllOf:
    """Every guard holds. Takes guards, or one list of them."""
    return AllOf(tuple(parse_guard(g) for g in _flat(guards)))


def or_(*guards: GuardLike | Sequence[GuardLike]) -> AnyOf:
    """Some guard holds. Takes guards, or one list of them."""
    return AnyOf(tuple(parse_guard(g) for g in _flat(guards)))


def not_(guard: GuardLike) -> Negation:
    """The guard does not hold."""
    return Negation(parse_guard(guard))


def state_in(state: str | Mapping[str, Any]) -> StateIn:
    """The machine is in ``state``: a state value, a dotted path, or ``#id``."""
    return StateIn(freeze(state))


def _flat(guards: Sequence[Any]) -> Sequence[Any]:
    return guards[0] if len(guards) == 1 and isinstance(guards[0], (list, tuple)) else guards


def parse_guard(value: Any, pointer: str = "", *, dialects: bool = True, default_lang: str = "cel") -> Guard:
    """A guard as written in a document or in Python, as a :data:`Guard`.

    ``dialects=False`` reads every object as a named guard, as XState 5 does.
    Raises :class:`DefinitionError` for what cannot be a guard.
    """
    if type(value) is dict:
        return _parse_object(value, pointer, dialects, default_lang)
    if isinstance(value, str):
        return NamedGuard(value, UNDEFINED, pointer)
    if isinstance(value, _KINDS):
        return value
    if value is None:
        return NullGuard()
    if isinstance(value, Mapping):
        return _parse_object(value, pointer, dialects, default_lang)
    if callable(value):
        return InlineGuard(value)
    raise DefinitionError(
        [
            Problem(
                "guard-shape",
                pointer,
                f"a guard is a name or an object with a type, not {type(value).__name__}",
            )
        ]
    )


def _parse_object(value: Mapping[str, Any], pointer: str, dialects: bool, lang: str) -> Guard:
    if dialects and is_expression(value):
        return ExpressionGuard(compile_expression(dict(value), pointer=pointer, default_lang=lang))
    name = value.get("type")
    params = value.get("params", UNDEFINED)
    builtin = None
    if dialects and isinstance(name, str) and name.startswith(("@xstate.", "xstate.")):
        builtin = _parse_dialect(name.partition("xstate.")[2], value, pointer, lang)
    if not callable(params) and params is not UNDEFINED:
        params = read_value(params, f"{pointer}/params", lang) if dialects else freeze(params)
    return NamedGuard(name if isinstance(name, str) else str(name), params, pointer, builtin)


def _parse_dialect(kind: str, value: Mapping[str, Any], pointer: str, lang: str) -> Guard | None:
    holder = value.get("params") if isinstance(value.get("params"), Mapping) else value
    assert holder is not None
    where = f"{pointer}/params" if holder is not value else pointer

    def parse(item: Any, at: str) -> Guard:
        return parse_guard(item, f"{where}/{at}", default_lang=lang)

    if kind in ("and", "or"):
        parts = tuple(parse(g, f"guards/{i}") for i, g in enumerate(holder.get("guards") or ()))
        return AllOf(parts) if kind == "and" else AnyOf(parts)
    if kind == "not":
        inner = holder.get("guard", (holder.get("guards") or [None])[0])
        return Negation(parse(inner, "guard"))
    if kind == "stateIn":
        return StateIn(freeze(holder.get("state", holder.get("stateValue"))))
    return None
