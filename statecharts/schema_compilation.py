"""From the ``schemas`` object of a document to validators, with every problem found on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .errors import Problem
from .schema_messages import Violation, explain
from .values import freeze, plain

_NOT_SCHEMAS: Final = frozenset({"const", "enum", "default", "examples"})


@dataclass(frozen=True, slots=True)
class Check:
    """One compiled schema. ``names_type``: it describes an event including its ``type``."""

    schema: Any
    validator: Any
    names_type: bool

    def faults(self, value: Any) -> list[Any]:
        return list(self.validator.iter_errors(value))


def parts(document: Any, pointer: str, problems: list[Problem]) -> Iterator[tuple[tuple[str, ...], Any, str]]:
    """Every schema in the document: (key, schema, pointer)."""
    if not _is_object(document, pointer, problems):
        return
    for name in ("context", "input", "output"):
        if name in document:
            yield (name,), document[name], f"{pointer}/{name}"
    for name in ("events", "emitted"):
        members = document.get(name, {})
        if _is_object(members, f"{pointer}/{name}", problems):
            for event_type, schema in members.items():
                yield (name, event_type), schema, f"{pointer}/{name}/{_escape(event_type)}"
    actors = document.get("actors", {})
    if _is_object(actors, f"{pointer}/actors", problems):
        for actor, members in actors.items():
            where = f"{pointer}/actors/{_escape(actor)}"
            if _is_object(members, where, problems):
                for side in ("input", "output"):
                    if side in members:
                        yield ("actors", actor, side), members[side], f"{where}/{side}"


def _is_object(value: Any, pointer: str, problems: list[Problem]) -> bool:
    if isinstance(value, dict):
        return True
    problems.append(
        Problem("schema-shape", pointer, "an object is expected here", "see the reference page on `schemas`")
    )
    return False


def compile_schema(schema: Any, pointer: str, formats: bool, problems: list[Problem]) -> Check | None:
    """Check ``schema`` itself and make its validator; problems are added to ``problems``."""
    # Imported when a machine has schemas: jsonschema takes longer to load than all of this package.
    import jsonschema
    from jsonschema.validators import validator_for

    if not isinstance(schema, (dict, bool)):
        problems.append(
            Problem(
                "schema-shape",
                pointer,
                "a JSON Schema is expected here",
                "write an object, `true` or `false`",
            )
        )
        return None
    is_readable = isinstance(schema, bool) or isinstance(schema.get("$schema", ""), str)
    kind: Any = validator_for(schema, default=None) if is_readable else None  # type: ignore[arg-type]
    if kind is None and isinstance(schema, dict) and "$schema" in schema:
        problems.append(
            Problem(
                "schema-dialect",
                f"{pointer}/$schema",
                f"{schema['$schema']!r} is not a dialect of JSON Schema that is known here",
                "leave `$schema` out for Draft 2020-12",
            )
        )
        return None
    kind = kind or jsonschema.Draft202012Validator
    faults = explain(list(kind(kind.META_SCHEMA).iter_errors(plain(schema))))
    faults += tuple(_bad_patterns(schema, ""))
    problems += [
        Problem("schema-invalid", pointer + fault.pointer, fault.message, fault.right) for fault in faults
    ]
    if faults:
        return None
    registry = _registry()
    problems += _bad_references(schema, pointer, kind, registry)
    checker = kind.FORMAT_CHECKER if formats else None
    validator = kind(plain(schema), registry=registry, format_checker=checker)
    return Check(freeze(schema), validator, _names_type(schema))


def _registry() -> Any:
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    from referencing import Registry
    from referencing.exceptions import NoSuchResource

    def refuse(uri: str) -> Any:
        raise NoSuchResource(uri)

    return Registry(retrieve=refuse).with_resources(REGISTRY.items())  # type: ignore[call-arg]


def _bad_references(schema: Any, pointer: str, kind: Any, registry: Any) -> Iterator[Problem]:
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012, specification_with

    rules = specification_with(kind.META_SCHEMA.get("$schema", ""), default=DRAFT202012)
    root = rules.create_resource(schema)
    base = registry.with_resource(root.id() or "", root)

    def walk(node: Any, where: str, resolver: Any) -> Iterator[Problem]:
        if isinstance(node, dict):
            if node is not schema and isinstance(node.get("$id"), str):
                resolver = resolver.in_subresource(rules.create_resource(node))
            for name in ("$ref", "$dynamicRef"):
                if isinstance(node.get(name), str):
                    try:
                        resolver.lookup(node[name])
                    except Unresolvable:
                        yield _reference_problem(node[name], f"{where}/{name}")
        for key, member in _below(node):
            yield from walk(member, f"{where}/{_escape(key)}", resolver)

    yield from walk(schema, pointer, base.resolver(root.id() or ""))


def _reference_problem(reference: str, pointer: str) -> Problem:
    if reference.startswith("#"):
        message, hint = f"{reference!r} leads nowhere in this schema", "define it under `$defs`"
    else:
        message = f"{reference!r} lies outside the document; schemas are never fetched"
        hint = "copy it into `$defs` and refer to it by `#/$defs/…`"
    return Problem("schema-reference", pointer, message, hint)


def _bad_patterns(node: Any, where: str) -> Iterator[Violation]:
    """Regular expressions that Python cannot compile, which would otherwise fail at the first event."""
    patterns: list[tuple[str, Any]] = []
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            patterns.append((f"{where}/pattern", node["pattern"]))
        if isinstance(node.get("patternProperties"), dict):
            patterns += [
                (f"{where}/patternProperties/{_escape(key)}", key) for key in node["patternProperties"]
            ]
    for place, pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            yield Violation(
                place, f"{pattern!r} is not a regular expression here: {error}", "Python's `re` syntax"
            )
    for key, member in _below(node):
        yield from _bad_patterns(member, f"{where}/{_escape(key)}")


def _below(node: Any) -> list[tuple[str, Any]]:
    if isinstance(node, dict):
        return [(key, member) for key, member in node.items() if key not in _NOT_SCHEMAS]
    if isinstance(node, (list, tuple)):
        return [(str(index), member) for index, member in enumerate(node)]
    return []


def _names_type(schema: Any) -> bool:
    """Whether a schema speaks of the event's ``type`` member itself."""
    if not isinstance(schema, dict):
        return False
    if "type" in schema.get("properties", ()) or "type" in schema.get("required", ()):
        return True
    return any(_names_type(part) for name in ("allOf", "anyOf", "oneOf") for part in schema.get(name, ()))


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
