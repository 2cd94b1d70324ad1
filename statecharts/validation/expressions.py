"""Expressions inside values: ``{"@expr": "...", "@lang": "..."}`` anywhere in JSON that a machine evaluates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecharts.errors import DefinitionError, ImplementationError
from statecharts.expressions import compile_expression

from .codes import Code
from .report import Report, described, is_list, is_object, token


def is_expression(value: object) -> bool:
    """Whether ``value`` is an expression object, well-formed or not."""
    return is_object(value) and ("@expr" in value or "@code" in value)


def check_expression(report: Report, value: Mapping[Any, Any], pointer: str) -> None:
    """Report what is wrong with one expression object."""
    if "@code" in value:
        report.add(
            Code.BAD_EXPRESSION,
            pointer,
            "`@code` holds program text, and a document is never run as a program.",
            "Write an expression as `@expr`, or bind a function in Python.",
        )
        return
    text = value["@expr"]
    if not isinstance(text, str) or not text.strip():
        report.add(
            Code.BAD_EXPRESSION,
            f"{pointer}/@expr",
            f"`@expr` is {described(text) if text != '' else 'empty'}; it must be the text of an expression.",
            'For example `{"@expr": "context.count > 3", "@lang": "cel"}`.',
        )
    language = value.get("@lang", report.expression_language)
    if not isinstance(language, str) or not language:
        report.add(
            Code.BAD_EXPRESSION,
            f"{pointer}/@lang",
            "`@lang` names a language, as a string.",
            'For example "cel".',
        )
    for key in value:
        if key not in ("@expr", "@lang"):
            report.add(
                Code.BAD_EXPRESSION,
                pointer + token(key),
                f"An expression has no member `{key}`.",
                "An expression stands alone in its object: move other members out.",
            )
            return
    if isinstance(text, str) and text.strip() and isinstance(language, str) and language:
        _compile(report, value, pointer)


def _compile(report: Report, value: Mapping[Any, Any], pointer: str) -> None:
    """Read the expression in its language, as the machine will."""
    try:
        compile_expression(dict(value), pointer=pointer, default_lang=report.expression_language)
    except DefinitionError as error:
        for problem in error.problems:
            report.add(Code.of(problem.code), problem.pointer, problem.message, problem.hint)
    except ImplementationError:
        pass  # the language's runtime is not installed; whoever binds the machine is told so


def check_values(report: Report, value: object, pointer: str) -> None:
    """Report malformed expressions anywhere inside ``value``, and keys that are not strings."""
    if not isinstance(value, (Mapping, list, tuple)):
        return
    stack: list[tuple[object, str]] = [(value, pointer)]
    seen: set[int] = set()
    while stack:
        item, place = stack.pop()
        if id(item) in seen:
            continue
        if is_object(item):
            seen.add(id(item))
            if is_expression(item):
                check_expression(report, item, place)
                continue
            for key, member in item.items():
                if not isinstance(key, str):
                    report.bad_key(place, key)
                elif isinstance(member, (Mapping, list, tuple)):
                    stack.append((member, place + token(key)))
        else:
            assert is_list(item)
            seen.add(id(item))
            for index, member in enumerate(item):
                if isinstance(member, (Mapping, list, tuple)):
                    stack.append((member, f"{place}/{index}"))
