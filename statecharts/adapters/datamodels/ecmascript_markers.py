"""What a variable may hold besides JSON and ``undefined``: JavaScript's other values as frozen Python data.

All compare by value and have ``to_json()``. All but :class:`Opaque` can be
kept in a snapshot.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from ...errors import SnapshotError
from ...values import FrozenDict

OPAQUE_ADVICE: Final = (
    "cannot be kept: it lives in one JavaScript engine only. Keep plain data in variables; a function that must be "
    "kept is declared by name (`function f() {...}`) in a top-level <script>"
)


@dataclass(frozen=True, slots=True)
class DeclaredFunction:
    """A function that a top-level script of the document declares, by its name."""

    name: str

    def to_json(self) -> str:
        return f"function {self.name}"


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function that was written outside of any other, so its source says everything about it."""

    source: str

    def to_json(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True)
class Instance:
    """What ``new F()`` made, ``of`` being the name of the declared function ``F``."""

    of: str
    data: FrozenDict

    def to_json(self) -> FrozenDict:
        return self.data


@dataclass(frozen=True, slots=True)
class DateValue:
    """A ``Date``: ISO 8601 text in UTC, ``None`` for an invalid date."""

    iso: str | None

    def to_json(self) -> str | None:
        return self.iso


@dataclass(frozen=True, slots=True)
class XmlContent:
    """An XML document (or, with ``element``, its root element alone), by its source."""

    source: str
    element: bool = False

    def to_json(self) -> str:
        return self.source


class Handle:
    """Keeps one JavaScript value alive: when the handle is collected, its id joins ``released``."""

    __slots__ = ("id", "released")

    def __init__(self, ident: int, released: deque[int]) -> None:
        self.id = ident
        self.released = released

    def __del__(self) -> None:
        self.released.append(self.id)


class Opaque:
    """A JavaScript value that is not data (a closure, a Map, a symbol ...): usable in its own engine only."""

    __slots__ = ("description", "handle")

    def __init__(self, description: str, handle: Handle) -> None:
        self.description = description
        self.handle = handle

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Opaque):
            return NotImplemented
        return self.handle.id == other.handle.id and self.handle.released is other.handle.released

    def __hash__(self) -> int:
        return hash((self.handle.id, id(self.handle.released)))

    def __repr__(self) -> str:
        return f"Opaque({self.description!r})"

    def __copy__(self) -> Opaque:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Opaque:
        return self

    def __reduce__(self) -> NoReturn:
        raise SnapshotError(f"{self.description} {OPAQUE_ADVICE}")

    def to_json(self) -> str:
        return self.description
