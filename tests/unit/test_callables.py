"""Fitting a user's function to what a machine offers: by name, by position, or an error at bind time."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import Any

import pytest

from statecharts.callables import (
    ENQUEUE_ARGUMENTS,
    GUARD_ARGUMENTS,
    PROMISE_ARGUMENTS,
    REDUCER_ARGUMENTS,
    UPDATE_ARGUMENTS,
    fit,
    names,
)
from statecharts.errors import ImplementationError

OFFERED = ("context", "event", "params", "self")


class Method:
    def guard(self, event: str) -> str:
        return event

    def __call__(self, params: str, context: str) -> str:
        return params + context

    @staticmethod
    def static(event: str, context: str) -> str:
        return event + context


def with_rest(*everything: str) -> str:
    return "".join(everything)


def first_and_rest(event: str, *rest: str) -> str:
    return event + repr(rest)


def with_keywords(**everything: str) -> str:
    return repr(everything)


def some_and_keywords(event: str, **rest: str) -> str:
    return event + repr(rest)


def keyword_only(*, params: str, context: str) -> str:
    return params + context


def own_default(context: str, limit: int = 3, params: str = "?") -> str:
    return context + str(limit) + params


def default_first(limit: int = 3, event: str = "?") -> str:
    return str(limit) + event


def positional_only(event: str, /, context: str) -> str:
    return event + context


FITS: list[tuple[Callable[..., Any], str]] = [
    (lambda: "nothing", "nothing"),
    (lambda context: context, "c"),
    (lambda event: event, "e"),
    (lambda params: params, "p"),
    (lambda self: self, "s"),
    (lambda context, event: context + event, "ce"),
    (lambda event, context: event + context, "ec"),
    (lambda context, params: context + params, "cp"),
    (lambda event, params: event + params, "ep"),
    (lambda context, event, params: context + event + params, "cep"),
    (lambda params, event, context: params + event + context, "pec"),
    (lambda self, context: self + context, "sc"),
    (lambda c: c, "c"),
    (lambda c, e: c + e, "ce"),
    (lambda c, e, p: c + e + p, "cep"),
    (lambda context, e: context + e, "ce"),
    (lambda c, event: c + event, "ce"),
    (lambda c, extra="x": c + extra, "cx"),
    (with_rest, "cep"),
    (first_and_rest, "e()"),
    (with_keywords, "{'context': 'c', 'event': 'e', 'params': 'p', 'self': 's'}"),
    (some_and_keywords, "e{'context': 'c', 'params': 'p', 'self': 's'}"),
    (keyword_only, "pc"),
    (own_default, "c3p"),
    (default_first, "3e"),
    (positional_only, "ec"),
    (Method().guard, "e"),
    (Method(), "pc"),
    (Method.static, "ec"),
    (functools.partial(lambda limit, context: str(limit) + context, 5), "5c"),
    (operator.add, "ce"),
]


@pytest.mark.parametrize(("function", "answer"), FITS)
def test_a_function_takes_what_it_names(function: Callable[..., Any], answer: str) -> None:
    assert fit(function, OFFERED, "guard 'g'")("c", "e", "p", "s") == answer


def test_a_function_that_does_not_tell_its_parameters_gets_the_first_two() -> None:
    class Silent:
        __signature__ = "unreadable"

        def __call__(self, *given: str) -> str:
            return "".join(given)

    assert fit(Silent(), OFFERED, "guard 'g'")("c", "e", "p", "s") == "ce"
    assert fit(Silent(), ("input",), "context")("i") == "i"
    assert names(Silent()) == frozenset()


def test_names_of_parameters() -> None:
    assert names(own_default) == {"context", "limit", "params"}


def needs_a_keyword(context: str, *, secret: str) -> str:
    return context + secret


MISFITS: list[tuple[Callable[..., Any], tuple[str, ...], str]] = [
    (needs_a_keyword, OFFERED, "guard 'g' asks for 'secret'; it may name any of context, event, params, self"),
    (lambda a, b, c, d: 0, OFFERED, "asks for 'a', 'b', 'c', 'd'"),
    (lambda event, x: 0, OFFERED, "asks for 'x'"),
    (lambda x, context: 0, OFFERED, "asks for 'x'"),
    # a name that belongs elsewhere is never filled by position
    (lambda input: 0, GUARD_ARGUMENTS, "asks for 'input'; it may name any of context, event, params"),
    (lambda spawn: 0, GUARD_ARGUMENTS, "asks for 'spawn'"),
    (lambda context, enqueue: 0, UPDATE_ARGUMENTS, "asks for 'enqueue'"),
    (lambda context: 0, PROMISE_ARGUMENTS, "asks for 'context'; it may name any of input, self, system, emit"),
    (lambda x, y: 0, ("input",), "asks for 'x', 'y'"),
]


@pytest.mark.parametrize(("function", "offered", "message"), MISFITS)
def test_what_nothing_fills_is_an_error_when_it_is_bound(
    function: Callable[..., Any], offered: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ImplementationError, match=re.escape(message)) as caught:
        fit(function, offered, "guard 'g'")
    assert caught.value.name == function.__name__


def test_what_cannot_be_called_is_an_error() -> None:
    with pytest.raises(ImplementationError, match="guard 'g' must be callable, not int"):
        fit(3, GUARD_ARGUMENTS, "guard 'g'")  # type: ignore[arg-type]


def test_a_reducer_may_call_its_state_anything() -> None:
    for reducer in (lambda context, event: context + event, lambda total, e: total + e, lambda state, event: state + event):
        assert fit(reducer, REDUCER_ARGUMENTS, "actor 'r'")("s", "e") == "se"


def test_enqueue_functions_name_what_they_use() -> None:
    fitted = fit(lambda check, enqueue: (check, enqueue), ENQUEUE_ARGUMENTS, "action 'a'")
    assert fitted(*ENQUEUE_ARGUMENTS) == ("check", "enqueue")
