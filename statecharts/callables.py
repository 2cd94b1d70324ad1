"""Fitting a user's function to the arguments a machine can give it.

A function takes as many of the offered arguments as it names; that is
settled once, when it is bound, so a wrong parameter is an error at bind time
and a call costs no inspection.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .errors import ImplementationError

GUARD_ARGUMENTS = ("context", "event", "params")
ACTION_ARGUMENTS = ("context", "event", "params", "self", "system")
UPDATE_ARGUMENTS = ("context", "event", "params", "self", "system", "spawn")
ENQUEUE_ARGUMENTS = ("context", "event", "params", "self", "system", "enqueue", "check")
CONTEXT_ARGUMENTS = ("input", "self", "spawn")
PROMISE_ARGUMENTS = ("input", "self", "system", "emit")
CALLBACK_ARGUMENTS = ("input", "self", "system", "emit", "send_back", "receive")
REDUCER_ARGUMENTS = ("state", "event")
_MEANT_BY_NAME = frozenset(
    {"context", "event", "params", "system", "spawn", "enqueue", "input", "emit", "send_back", "receive"}
)

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of ``function``; ``None`` for builtins that do not tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def names(function: Callable[..., Any]) -> frozenset[str]:
    """The parameter names of ``function``."""
    return frozenset(p.name for p in parameters_of(function) or ())


class Fitted(NamedTuple):
    """A function fitted to what it is offered.

    ``call`` takes all of that. ``takes`` says which of it ``function`` itself
    takes by position, for callers who rather call it without the detour;
    ``None`` when it takes some by keyword.
    """

    call: Callable[..., Any]
    function: Callable[..., Any]
    takes: tuple[int, ...] | None


def fit(function: Callable[..., Any], offered: Sequence[str], what: str) -> Callable[..., Any]:
    """``function`` as a callable that takes all of ``offered``, positionally (:func:`fitting`)."""
    return fitting(function, offered, what).call


def fitting(function: Callable[..., Any], offered: Sequence[str], what: str) -> Fitted:
    """``function``, so that it can be given all of ``offered``, positionally.

    Parameters are matched by name. A function none of whose names is known
    gets the offered arguments by position (``lambda c, e: ...``), but never
    one under the name of another. Raises :class:`ImplementationError` for a
    required parameter that nothing fills.
    """
    if not callable(function):
        raise ImplementationError(f"{what} must be callable, not {type(function).__name__}")
    parameters = parameters_of(function)
    if parameters is None:
        return _fitted(function, range(min(2, len(offered))), {})
    by_name = _match_names(parameters, offered)
    if by_name is not None:
        return _fitted(function, *by_name)
    by_position = _match_positions(parameters, offered)
    if by_position is not None:
        return _fitted(function, by_position, {})
    strangers = [p.name for p in parameters if p.name not in offered and _required(p)]
    raise ImplementationError(
        f"{what} asks for {', '.join(map(repr, strangers))}; it may name any of {', '.join(offered)}",
        name=getattr(function, "__name__", None),
    )


def made_when_called(make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """What ``make`` makes, made at the first call.

    This module is never compiled: calls that go round in a circle through
    here end in a ``RecursionError``, which only Python's own frames count.
    """
    made: list[Callable[..., Any]] = []

    def call(*arguments: Any) -> Any:
        if not made:
            made.append(make())
        return made[0](*arguments)

    return call


def _required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind not in (
        parameter.VAR_POSITIONAL,
        parameter.VAR_KEYWORD,
    )


def _match_names(
    parameters: list[inspect.Parameter], offered: Sequence[str]
) -> tuple[Sequence[int], dict[str, int]] | None:
    positional: list[int] = []
    keywords: dict[str, int] = {}
    open_positions = True
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            taken = {offered[i] for i in positional} | set(keywords)
            keywords.update({name: i for i, name in enumerate(offered) if name not in taken})
        elif parameter.kind is parameter.VAR_POSITIONAL:
            if not positional:
                positional.extend(range(min(3, len(offered))))
            open_positions = False
        elif parameter.name in offered:
            index = offered.index(parameter.name)
            if parameter.kind in _POSITIONAL and open_positions:
                positional.append(index)
            else:
                keywords[parameter.name] = index
        elif _required(parameter):
            return None
        else:  # a default of the user's own ends what can be given by position
            open_positions = False
    return positional, keywords


def _match_positions(parameters: list[inspect.Parameter], offered: Sequence[str]) -> Sequence[int] | None:
    positional = [p for p in parameters if p.kind in _POSITIONAL and _required(p)]
    if any(_required(p) and p.kind is p.KEYWORD_ONLY for p in parameters) or len(positional) > min(
        3, len(offered)
    ):
        return None
    for index, parameter in enumerate(positional):
        if parameter.name in offered and offered.index(parameter.name) != index:
            return None
        if parameter.name in _MEANT_BY_NAME.difference(offered) and offered != REDUCER_ARGUMENTS:
            return None  # `input` of a guard would silently be its context; a reducer's state has many names
    return range(len(positional))


def _fitted(function: Callable[..., Any], positions: Sequence[int], keywords: dict[str, int]) -> Fitted:
    return Fitted(_spread(function, positions, keywords), function, None if keywords else tuple(positions))


def _spread(
    function: Callable[..., Any], positions: Sequence[int], keywords: dict[str, int]
) -> Callable[..., Any]:
    """A callable over all offered arguments that passes on the chosen ones."""
    chosen = tuple(positions)
    if not keywords:
        plain = _SHAPES.get(chosen)
        if plain is not None:
            return plain(function)
        return lambda *offered: function(*[offered[i] for i in chosen])
    named = tuple(keywords.items())
    return lambda *offered: function(*[offered[i] for i in chosen], **{name: offered[i] for name, i in named})


_SHAPES: dict[tuple[int, ...], Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    (): lambda f: lambda *_: f(),
    (0,): lambda f: lambda a, *_: f(a),
    (1,): lambda f: lambda _a, b, *_: f(b),
    (2,): lambda f: lambda _a, _b, c, *_: f(c),
    (0, 1): lambda f: lambda a, b, *_: f(a, b),
    (1, 0): lambda f: lambda a, b, *_: f(b, a),
    (0, 2): lambda f: lambda a, _b, c, *_: f(a, c),
    (1, 2): lambda f: lambda _a, b, c, *_: f(b, c),
    (0, 1, 2): lambda f: lambda a, b, c, *_: f(a, b, c),
}
