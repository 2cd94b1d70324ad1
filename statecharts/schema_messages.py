"""Validation errors as sentences: where, what is wrong, what would be right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .json_text import dumps

_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Violation:
    """One place in a value that does not fit. ``pointer`` is RFC 6901, ``""`` the whole value."""

    pointer: str
    message: str
    right: str

    def __str__(self) -> str:
        return f"{self.pointer or '(whole value)'}: {self.message}; {self.right}"


def explain(faults: Sequence[Any], *, absent: bool = False) -> tuple[Violation, ...]:
    """``jsonschema``'s errors as violations, in the order of their place in the value.

    ``absent``: there was no value at all, and ``null`` was checked in its place.
    """
    found = [violation for fault in faults for violation in _violations(fault)]
    if absent:
        found = [Violation("", "is missing", found[0].right)]
    unique = dict.fromkeys(sorted(found, key=lambda violation: violation.pointer))
    return tuple(unique)


def _violations(fault: Any) -> list[Violation]:
    pointer = "".join(f"/{_escape(str(part))}" for part in fault.absolute_path)
    if fault.validator == "required":
        # The library reports each missing name by itself, in quotes at the start of its message.
        missing = [name for name in fault.validator_value if f"{name!r} is a required" in fault.message]
        return [_missing(fault, pointer, name) for name in missing]
    if (
        fault.validator in ("additionalProperties", "unevaluatedProperties")
        and fault.validator_value is False
    ):
        return _surplus(fault, pointer)
    if fault.validator in ("anyOf", "oneOf") and fault.context:
        return [_alternatives(fault, pointer)]
    if fault.validator is None:  # the schema `false`
        return [Violation(pointer, f"is {_short(fault.instance)}", "no value is allowed here")]
    say = _SENTENCES.get(fault.validator)
    if say is None:
        return [
            Violation(
                pointer,
                fault.message,
                f"the schema asks for {_short({fault.validator: fault.validator_value})}",
            )
        ]
    return [Violation(pointer, f"is {_short(fault.instance)}", say(fault.validator_value))]


def _missing(fault: Any, pointer: str, name: str) -> Violation:
    wanted = fault.schema.get("properties", {}).get(name)
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    article = f" ({_kinds(kind)})" if kind else ""
    return Violation(f"{pointer}/{_escape(name)}", "is missing", f"add it{article}")


def _surplus(fault: Any, pointer: str) -> list[Violation]:
    allowed = list(fault.schema.get("properties", {}))
    surplus = [name for name in fault.instance if name not in allowed and repr(name) in fault.message]
    right = f"allowed are {', '.join(map(repr, allowed))}" if allowed else "no members are allowed"
    return [Violation(f"{pointer}/{_escape(name)}", "is not a member of it", right) for name in surplus]


def _alternatives(fault: Any, pointer: str) -> Violation:
    closest = sorted(fault.context, key=lambda error: (-len(error.absolute_path), error.validator == "type"))[
        0
    ]
    detail = _violations(closest)[0]
    return Violation(
        pointer,
        f"is {_short(fault.instance)}, which fits none of {len(fault.validator_value)} alternatives",
        f"closest: {detail.pointer or 'it'} {detail.message}; {detail.right}",
    )


_SENTENCES: Final[dict[str, Callable[[Any], str]]] = {
    "type": lambda kinds: f"must be {_kinds(kinds)}",
    "enum": lambda values: f"must be one of {', '.join(map(_short, values))}",
    "const": lambda value: f"must be {_short(value)}",
    "minimum": lambda limit: f"must be at least {_short(limit)}",
    "maximum": lambda limit: f"must be at most {_short(limit)}",
    "exclusiveMinimum": lambda limit: f"must be more than {_short(limit)}",
    "exclusiveMaximum": lambda limit: f"must be less than {_short(limit)}",
    "multipleOf": lambda step: f"must be a multiple of {_short(step)}",
    "minLength": lambda count: f"must have at least {_short(count)} characters",
    "maxLength": lambda count: f"must have at most {_short(count)} characters",
    "pattern": lambda pattern: f"must match {pattern}",
    "format": lambda name: f"must be a valid {name}",
    "minItems": lambda count: f"must have at least {_short(count)} items",
    "maxItems": lambda count: f"must have at most {_short(count)} items",
    "minProperties": lambda count: f"must have at least {_short(count)} members",
    "maxProperties": lambda count: f"must have at most {_short(count)} members",
    "uniqueItems": lambda _true: "its items must differ",
}


def _kinds(kinds: Any) -> str:
    listed = [kinds] if isinstance(kinds, str) else list(kinds)
    return " or ".join("null" if kind == "null" else f"{_article(kind)} {kind}" for kind in listed)


def _article(noun: str) -> str:
    return "an" if noun[:1] in "aeiou" else "a"


def _short(value: Any) -> str:
    text = dumps(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
