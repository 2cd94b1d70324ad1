"""What only the machine itself has: context, options, schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecharts.errors import DefinitionError
from statecharts.schemas import Schemas
from statecharts.values import UNDEFINED

from .codes import Code
from .expressions import check_values
from .keys import OPTIONS, check_keys
from .report import Report, is_object, is_opaque, token


def check_root_extras(report: Report, document: Mapping[Any, Any], implementations_known: bool) -> None:
    """Report problems of ``context``, ``options``, ``types`` and ``schemas``."""
    context = document.get("context", UNDEFINED)
    if context is None:
        report.null_ignored("/context", "context")
    elif context is not UNDEFINED and not is_opaque(context):
        _check_context(report, context, implementations_known)
    _check_options(report, document.get("options", UNDEFINED))
    schemas = document.get("schemas", UNDEFINED)
    if schemas is None:
        report.null_ignored("/schemas", "schemas")
    elif schemas is not UNDEFINED and not is_opaque(schemas):
        if is_object(schemas):
            _check_schemas(report, schemas)
        else:
            report.wrong_type("/schemas", "schemas", schemas, "an object of JSON Schemas")


def _check_context(report: Report, context: object, implementations_known: bool) -> None:
    if is_object(context):
        check_values(report, context, "/context")
    elif isinstance(context, str) and context.startswith("{{") and context.endswith("}}"):
        # with implementations at hand the context may be bound there, and whoever binds sees to it
        if not implementations_known:
            report.add(
                Code.CONTEXT_IS_CODE,
                "/context",
                "The context is the text of a program, as Stately Studio exports it; it would be used as a string.",
                "Write the initial context as JSON, or bind a function for it in Python.",
            )
    else:
        report.wrong_type("/context", "context", context, "an object")


def _check_options(report: Report, options: object) -> None:
    if options is UNDEFINED:
        return
    if options is None:
        report.null_ignored("/options", "options")
        return
    if not is_object(options):
        report.wrong_type("/options", "options", options, "an object")
        return
    check_keys(report, OPTIONS, options, "/options")
    limit = options.get("maxIterations", UNDEFINED)
    if limit is UNDEFINED:
        return
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        report.add(
            Code.WRONG_TYPE,
            "/options/maxIterations",
            f"`maxIterations` is {limit!r}; it must be a whole number above 0.",
            "Leave it out for 1000.",
        )


def _check_schemas(report: Report, schemas: Mapping[Any, Any]) -> None:
    if _report_bad_keys(report, schemas):
        return
    if _holds_objects(schemas):
        return
    try:
        Schemas.from_document(schemas)
    except DefinitionError as error:
        for problem in error.problems:
            report.add(Code.of(problem.code), problem.pointer, problem.message, problem.hint)
    except RecursionError:
        report.add(Code.TOO_DEEP, "/schemas", "This schema nests too deeply.", "Use `$defs` and `$ref`.")


def _report_bad_keys(report: Report, schemas: Mapping[Any, Any]) -> bool:
    """Report every key inside ``schemas`` that is not a string; whether there is one."""
    found = False
    stack: list[tuple[Any, str]] = [(schemas, "/schemas")]
    seen: set[int] = set()
    while stack:
        item, place = stack.pop()
        if id(item) in seen or not isinstance(item, (Mapping, list, tuple)):
            continue
        seen.add(id(item))
        if not is_object(item):
            stack.extend((member, f"{place}/{index}") for index, member in enumerate(item))
            continue
        for key, member in item.items():
            if isinstance(key, str):
                stack.append((member, place + token(key)))
            else:
                report.bad_key(place, key)
                found = True
    return found


def _holds_objects(value: object) -> bool:
    """Whether something in ``value`` is no JSON (a schema library's own object), which is not ours to check."""
    stack = [value]
    seen: set[int] = set()
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        if is_opaque(item):
            return True
        if isinstance(item, Mapping):
            seen.add(id(item))
            stack.extend(item.values())
        elif isinstance(item, (list, tuple)):
            seen.add(id(item))
            stack.extend(item)
    return False
