"""Payload schemas: JSON Schema for what enters and leaves a machine.

A document may carry ``schemas``::

    {"context": S, "input": S, "output": S,
     "events": {"START": S, "audit.*": S}, "emitted": {"progress": S},
     "actors": {"draftAnswer": {"input": S, "output": S}}}

They are compiled once (:meth:`Schemas.from_document`) and checked at the
edges: a host calls :meth:`Schemas.check_event` before it delivers an event,
and so on. What has no schema is not checked.

JSON Schema is Draft 2020-12 unless a schema names another dialect in
``$schema``. References are never fetched. ``format`` is an annotation, as the
draft says, unless asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import DefinitionError, ExecutionError, Problem, UsageError
from .schema_compilation import Check, compile_schema, parts
from .schema_messages import Violation, explain
from .values import UNDEFINED, freeze, plain


class SchemaError(ExecutionError):
    """A value does not fit the machine's schema for it.

    ``subject`` says which value (``event 'START'``); ``violations`` lists
    everything that is wrong, in the order of the value.
    """

    def __init__(self, subject: str, violations: tuple[Violation, ...]) -> None:
        lines = "\n".join(f"  {violation}" for violation in violations)
        count = "" if len(violations) == 1 else f" in {len(violations)} places"
        super().__init__(f"{subject} does not fit its schema{count}:\n{lines}")
        self.subject = subject
        self.violations = violations

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.subject, self.violations)


class Schemas:
    """The compiled ``schemas`` of one machine. Immutable; may be shared between threads."""

    __slots__ = ("_checks", "_wildcards", "document")

    def __init__(self, document: Mapping[str, Any], checks: Mapping[tuple[str, ...], Check]) -> None:
        self.document = document
        self._checks = checks
        typed = [(key[0], key[1]) for key in checks if key[0] in ("events", "emitted")]
        wildcards = [key for key in typed if key[1] == "*" or key[1].endswith(".*")]
        self._wildcards = sorted(wildcards, key=lambda key: -len(key[1]))

    @classmethod
    def from_document(cls, document: Any, pointer: str = "/schemas", *, formats: bool = False) -> Schemas:
        """Compile the ``schemas`` object that stands at ``pointer`` in its document.

        With ``formats``, ``format`` is checked too. Raises
        :class:`DefinitionError` with all problems: ``schema-shape`` (not an
        object where one belongs), ``schema-dialect`` (unknown ``$schema``),
        ``schema-invalid`` (not a JSON Schema) and ``schema-reference`` (a
        reference that leads nowhere, or outside).
        """
        problems: list[Problem] = []
        checks: dict[tuple[str, ...], Check] = {}
        for key, schema, where in parts(document, pointer, problems):
            check = compile_schema(schema, where, formats, problems)
            if check is not None:
                checks[key] = check
        if problems:
            raise DefinitionError(problems)
        return cls(freeze(document), checks)

    def __bool__(self) -> bool:
        return bool(self._checks)

    def __reduce__(self) -> tuple[Any, ...]:
        formats = any(check.validator.format_checker is not None for check in self._checks.values())
        return _rebuild, (self.document, formats)

    def check_context(self, value: Any) -> None:
        """Raise :class:`SchemaError` when ``value`` is no context of this machine."""
        self._check(("context",), value, "the context")

    def check_input(self, value: Any) -> None:
        """Raise :class:`SchemaError` when ``value`` is no input of this machine."""
        self._check(("input",), value, "the input")

    def check_output(self, value: Any) -> None:
        """Raise :class:`SchemaError` when ``value`` is no output of this machine."""
        self._check(("output",), value, "the output")

    def check_actor_input(self, name: str, value: Any) -> None:
        """Raise :class:`SchemaError` when ``value`` is no input for the actor source ``name``."""
        self._check(("actors", name, "input"), value, f"the input of actor {name!r}")

    def check_actor_output(self, name: str, value: Any) -> None:
        """Raise :class:`SchemaError` when ``value`` is no output of the actor source ``name``."""
        self._check(("actors", name, "output"), value, f"the output of actor {name!r}")

    def check_event(self, event: Mapping[str, Any]) -> None:
        """Raise :class:`SchemaError` when ``event`` does not fit the schema of its type.

        The schema under the exact type counts, else the longest wildcard
        (``a.b.*``, ``a.*``, ``*``) that matches; wildcards leave XState's own
        ``xstate.…`` events alone. A schema may describe the event with its
        ``type`` or without.
        """
        self._check_typed("events", event, "event")

    def check_emitted(self, event: Mapping[str, Any]) -> None:
        """As :meth:`check_event`, for an event that the machine emits."""
        self._check_typed("emitted", event, "emitted event")

    def event_schema(self, event_type: str) -> Any:
        """The JSON Schema that events of ``event_type`` are checked against; ``UNDEFINED`` when there is none."""
        check = self._for_type("events", event_type)
        return UNDEFINED if check is None else check.schema

    def _check(self, key: tuple[str, ...], value: Any, subject: str) -> None:
        check = self._checks.get(key)
        if check is not None:
            faults = check.faults(_json(value, subject))
            if faults:
                raise SchemaError(subject, explain(faults, absent=value is UNDEFINED))

    def _check_typed(self, kind: str, event: Mapping[str, Any], what: str) -> None:
        event_type = str(event.get("type"))
        check = self._for_type(kind, event_type)
        if check is None:
            return
        subject = f"{what} {event_type!r}"
        whole = _json(event, subject)
        payload = {key: member for key, member in whole.items() if key != "type"}
        likely, other = (whole, payload) if check.names_type else (payload, whole)
        faults = check.faults(likely)
        # `names_type` is a reading of the schema's surface; behind a reference it may be the other way.
        if faults and check.faults(other):
            raise SchemaError(subject, explain(faults))

    def _for_type(self, kind: str, event_type: str) -> Check | None:
        exact = self._checks.get((kind, event_type))
        if exact is not None or event_type.startswith("xstate."):
            return exact
        for key in self._wildcards:
            descriptor = key[1]
            if key[0] == kind and (
                descriptor == "*" or event_type == descriptor[:-2] or event_type.startswith(descriptor[:-1])
            ):
                return self._checks[key]
        return None


def _rebuild(document: Any, formats: bool) -> Schemas:
    return Schemas.from_document(document, formats=formats)


def _json(value: Any, subject: str) -> Any:
    try:
        written = plain(value)
    except UsageError as error:
        raise SchemaError(subject, (Violation("", str(error), "a JSON value"),)) from None
    return None if written is UNDEFINED else written
