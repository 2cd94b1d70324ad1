"""Rows as SQL has them, and as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, TypeVar

from ...durability.rows import DefinitionRow, EffectRow, InboxRow, Instance, LogRow, TimerRow

R = TypeVar("R")


class Table(Generic[R]):
    """How a row class and a table's columns go together: the columns are its members, in their order."""

    __slots__ = ("_booleans", "_members", "_row", "names", "width")

    def __init__(self, row: type[R], booleans: Sequence[str] = ()) -> None:
        self._row = row
        self.names: tuple[str, ...] = tuple(row.__dataclass_fields__)  # type: ignore[attr-defined]
        self._members = attrgetter(*self.names)
        self._booleans = tuple(self.names.index(name) for name in booleans)
        self.width = len(self.names)

    def read(self, values: Sequence[Any], start: int = 0) -> R:
        """The row in ``values``, from ``start`` on."""
        found = list(values[start : start + self.width])
        for index in self._booleans:
            found[index] = bool(found[index])
        return self._row(**dict(zip(self.names, found, strict=True)))

    def pick(self, members: Mapping[str, Any]) -> R:
        """The row in ``members``, whatever else is there."""
        return self._row(**{name: members[name] for name in self.names})

    def write(self, row: R) -> dict[str, Any]:
        """The parameters for ``row``."""
        return dict(zip(self.names, self._members(row), strict=True))


INSTANCES = Table(Instance, ("is_suspended", "needs_attention"))
INBOX = Table(InboxRow)
LOG = Table(LogRow)
EFFECTS = Table(EffectRow, ("is_cancelled",))
TIMERS = Table(TimerRow)
DEFINITIONS = Table(DefinitionRow)
