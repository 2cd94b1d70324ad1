"""What only the machine itself has: context, options, schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from statecharts.values import UNDEFINED

from .codes import Code
from .expressions import check_values
from .keys import OPTIONS, check_keys
from .report import Report, is_object, is_opaque, token

_MAPS_OF_SCHEMAS = ("events", "emitted", "actors", "actions", "guards", "delays", "children")


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
    for key, schema in schemas.items():
        if not isinstance(key, str):
            report.bad_key("/schemas", key)
            continue
        for place, part in _parts(key, schema, "/schemas" + token(key)):
            _check_schema(report, part, place)


def _parts(key: str, schema: object, pointer: str) -> Iterator[tuple[str, object]]:
    """The schemas under ``key``: ``events`` and its like are maps from names to schemas, or one schema."""
    if key not in _MAPS_OF_SCHEMAS or not is_object(schema) or not all(map(_may_be_schema, schema.values())):
        yield pointer, schema
        return
    for name, part in schema.items():
        place = pointer + token(name)
        if is_object(part) and part and set(part) <= {"input", "output", "params"}:
            yield from ((place + token(inner), deep) for inner, deep in part.items())
        else:
            yield place, part


def _may_be_schema(value: object) -> bool:
    return isinstance(value, (Mapping, bool)) or is_opaque(value)


def _check_schema(report: Report, schema: object, pointer: str) -> None:
    if is_opaque(schema):
        return
    if not isinstance(schema, (Mapping, bool)):
        report.wrong_type(pointer, "schema", schema, "a JSON Schema: an object, true or false")
        return
    # not imported with the package: most machines have no schemas
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(schema, default=Draft202012Validator).check_schema(cast("dict[str, Any]", schema))
    except SchemaError as error:
        where = "".join(token(part) for part in error.absolute_path)
        report.add(Code.BAD_SCHEMA, pointer + where, f"This is no valid JSON Schema: {error.message}", None)
    except RecursionError:
        report.add(Code.TOO_DEEP, pointer, "This schema nests too deeply.", "Use `$defs` and `$ref`.")
