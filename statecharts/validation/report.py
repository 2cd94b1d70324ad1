"""Collecting problems: pointers, names for JSON types, and document order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from statecharts.errors import Problem

from .codes import Code


def token(key: object) -> str:
    """``key`` as one reference token of an RFC 6901 pointer, with its slash."""
    text = key if isinstance(key, str) else str(key)
    if "~" in text or "/" in text:
        text = text.replace("~", "~0").replace("/", "~1")
    return f"/{text}"


def tokens(pointer: str) -> list[str]:
    """The unescaped reference tokens of ``pointer``."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def is_object(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether ``value`` is a JSON object."""
    return type(value) is dict or isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether ``value`` is a JSON list (a tuple counts, for documents written in Python)."""
    return isinstance(value, (list, tuple))


def is_opaque(value: object) -> bool:
    """Whether ``value`` is no JSON at all: a function, a machine, any Python object."""
    return not (value is None or isinstance(value, (str, int, float, Mapping, list, tuple)))


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether ``value`` is a JSON number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def described(value: object) -> str:
    """``value``'s JSON type with its article, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"a Python {type(value).__name__}"


def quoted(names: Sequence[str], limit: int = 8) -> str:
    """Names for a hint: ``"a", "b" and 3 more``."""
    shown = ", ".join(f'"{name}"' for name in names[:limit])
    rest = len(names) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown


class Report:
    """The problems found so far in one document."""

    def __init__(self, document: object) -> None:
        self._document = document
        language = document.get("@exprLang") if isinstance(document, Mapping) else None
        self.expression_language = language if isinstance(language, str) and language else "cel"
        self._found: list[Problem] = []
        self._seen: set[tuple[str, str, str]] = set()
        self._positions: dict[int, dict[str, int]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not self._found

    def add(self, code: Code, pointer: str, message: str, hint: str | None = None) -> None:
        """Record one problem; the same words at the same place count once."""
        key = (code.slug, pointer, message)
        if key not in self._seen:
            self._seen.add(key)
            self._found.append(Problem(code.slug, pointer, message, hint, code.severity))

    def wrong_type(
        self, pointer: str, name: str, value: object, wanted: str, hint: str | None = None
    ) -> None:
        """``value`` of key ``name`` is not ``wanted``."""
        self.add(Code.WRONG_TYPE, pointer, f"`{name}` is {described(value)}; it must be {wanted}.", hint)

    def null_value(self, pointer: str, name: str, hint: str = "Leave the key out.") -> None:
        """``null`` under ``name``, where XState crashes."""
        self.add(Code.NULL_VALUE, pointer, f"`{name}` is null, and XState fails on it.", hint)

    def null_ignored(self, pointer: str, name: str) -> None:
        """``null`` under ``name``, where XState sees nothing."""
        self.add(
            Code.NULL_IGNORED, pointer, f"`{name}` is null, which counts as absent.", "Leave the key out."
        )

    def bad_key(self, pointer: str, key: object) -> None:
        """``key`` of the object at ``pointer`` is not a string."""
        self.add(Code.NON_STRING_KEY, pointer, f"The key {key!r} is not a string.", f'Write "{key}".')

    def problems(self) -> list[Problem]:
        """All problems in document order."""
        return sorted(self._found, key=lambda problem: self._place(problem.pointer))

    def _place(self, pointer: str) -> tuple[int, ...]:
        place: list[int] = []
        value = self._document
        for part in tokens(pointer):
            if is_object(value):
                positions = self._positions.get(id(value))
                if positions is None:
                    positions = {str(key): index for index, key in enumerate(value)}
                    self._positions[id(value)] = positions
                place.append(positions.get(part, -1))
                value = value.get(part)
            elif is_list(value):
                place.append(int(part))
                value = value[int(part)]
            else:
                break
        return tuple(place)
