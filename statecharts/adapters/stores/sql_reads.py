"""The questions of :class:`statecharts.durability.store.Store` that are one SELECT each, in whatever dialect."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ...durability.rows import DefinitionRow, EffectRow, InboxRow, Instance, LogRow, TimerRow
from ...durability.store import EffectQuery, InstanceQuery
from .sql_rows import DEFINITIONS, EFFECTS, INBOX, INSTANCES, LOG, TIMERS


class SqlReads(ABC):
    """Reads by named statements. A store says how one is run and how a list is given to it."""

    @abstractmethod
    def _rows(self, name: str, /, **given: Any) -> Sequence[tuple[Any, ...]]:
        """What the statement ``name`` finds. Raises :class:`StoreError`."""

    @abstractmethod
    def _list(self, values: Sequence[str]) -> Any:
        """``values`` as a parameter."""

    def _any(self, values: Sequence[str]) -> Any:
        return self._list(values) if values else None

    def instance(self, namespace: str, id: str) -> Instance | None:
        """One instance, if there is one."""
        rows = self._rows("instance", namespace=namespace, id=id)
        return INSTANCES.read(rows[0]) if rows else None

    def instances(self, query: InstanceQuery) -> list[Instance]:
        """Instances by id."""
        members = {name: getattr(query, name) for name in InstanceQuery.__dataclass_fields__}
        return [INSTANCES.read(row) for row in self._rows("instances", **members)]

    def inbox(
        self, namespace: str, instance: str, *, event_id: str | None = None, statuses: tuple[str, ...] = (), limit: int = 100
    ) -> list[InboxRow]:
        """Inbox rows in their order."""
        rows = self._rows(
            "inbox", namespace=namespace, instance=instance, event_id=event_id, statuses=self._any(statuses), limit=limit
        )
        return [INBOX.read(row) for row in rows]

    def log(self, namespace: str, instance: str, *, after: int = 0, limit: int = 1_000) -> list[LogRow]:
        """Log rows by version."""
        return [LOG.read(row) for row in self._rows("log", namespace=namespace, instance=instance, after=after, limit=limit)]

    def effects(self, query: EffectQuery) -> list[EffectRow]:
        """Effects, oldest first."""
        members = {name: getattr(query, name) for name in EffectQuery.__dataclass_fields__}
        return [EFFECTS.read(row) for row in self._rows("effects", **{**members, "statuses": self._any(query.statuses)})]

    def timers(self, namespace: str, instance: str) -> list[TimerRow]:
        """Timers, first first."""
        return [TIMERS.read(row) for row in self._rows("timers", namespace=namespace, instance=instance)]

    def definition(self, digest: str) -> DefinitionRow | None:
        """One definition, if it is known."""
        rows = self._rows("definition", hash=digest)
        return DEFINITIONS.read(rows[0]) if rows else None

    def definitions(self) -> list[DefinitionRow]:
        """All definitions."""
        return [DEFINITIONS.read(row) for row in self._rows("definitions")]

    def next_due(self, namespace: str, definitions: tuple[str, ...]) -> int | None:
        """When there is something to do."""
        found: int | None = self._rows("next_due", namespace=namespace, definitions=self._list(definitions))[0][0]
        return found

    def running(self, namespace: str) -> list[EffectRow]:
        """Effects that somebody has claimed."""
        return [EFFECTS.read(row) for row in self._rows("running", namespace=namespace)]
