"""All there is to know about one instance, gathered from the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..durability.controls import may_be_revived
from ..durability.rows import (
    ACTION,
    ACTIVE,
    DEAD,
    FAILED,
    OPEN,
    UNKNOWN,
    DefinitionRow,
    EffectRow,
    InboxRow,
    Instance,
    TimerRow,
)
from ..durability.stepping import resumed
from ..errors import SnapshotError
from ..interpreter.queries import next_events
from ..interpreter.snapshot import EventOption, Snapshot
from ..runtime import Runtime
from .step_report import option_json
from .store_json import effect_json, instance_json, letter_json, parsed, timer_json

SHOWN = 50
"""So many effects or dead letters; a page is no list."""


@dataclass(frozen=True)
class Operation:
    """Something an operator may do now: the command, and to what."""

    action: str
    instance: str
    effect: str | None = None
    event_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """With ``null`` for what it is not about."""
        return {"action": self.action, "instance": self.instance, "effect": self.effect, "eventId": self.event_id}


@dataclass(frozen=True)
class Page:
    """An instance and what belongs to it. ``options`` is ``None`` when nobody here can tell; ``unknown`` says why."""

    now: int
    row: Instance
    definition: DefinitionRow | None
    effects: list[EffectRow]
    timers: list[TimerRow]
    letters: list[InboxRow]
    options: tuple[EventOption, ...] | None
    unknown: str | None

    def operations(self) -> Iterator[Operation]:
        """What an operator may do now."""
        name = self.row.id
        if self.row.status == ACTIVE:
            yield Operation("resume" if self.row.is_suspended else "suspend", name)
            yield Operation("cancel", name)
        elif self.row.is_suspended:
            yield Operation("resume", name)
        for effect in self.effects:
            if effect.status == UNKNOWN:
                yield Operation("settle", name, effect.id)
            if effect.status == UNKNOWN or (effect.status == FAILED and effect.kind == ACTION):
                yield Operation("retry", name, effect.id)
        for letter in self.letters:
            if may_be_revived(letter):
                yield Operation("dead --retry", name, event_id=letter.event_id)
            yield Operation("dead --drop", name, event_id=letter.event_id)

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        row, definition = self.row, self.definition
        return {
            "namespace": row.namespace,
            **instance_json(row, self.now),
            "definitionVersion": None if definition is None else definition.version,
            "incarnation": row.incarnation,
            "parent": row.parent,
            "head": row.head,
            "output": parsed(row.output),
            "effects": [effect_json(effect) for effect in self.effects],
            "timers": [timer_json(timer, self.now) for timer in self.timers],
            "deadLetters": [letter_json(letter) for letter in self.letters],
            "events": None if self.options is None else [option_json(option) for option in self.options],
            "operations": [operation.to_json() for operation in self.operations()],
        }


async def page_of(runtime: Runtime, instance: str) -> Page:
    """Look at everything once. Raises :class:`UnknownInstance`."""
    row = await runtime.get(instance)
    now, definitions = await runtime.now(), await runtime.definitions()
    definition = next((one for one in definitions if one.hash == row.definition), None)
    opened = await runtime.effects(instance=instance, statuses=OPEN, limit=SHOWN)
    failed = await runtime.effects(instance=instance, kind=ACTION, statuses=(FAILED,), limit=SHOWN)
    effects = sorted((*opened, *failed), key=lambda effect: (effect.created_at, effect.version, effect.number))
    timers, letters = await runtime.timers(instance), await runtime.inbox(instance, statuses=(DEAD,), limit=SHOWN)
    options, unknown = _options(runtime, row)
    return Page(now, row, definition, effects, timers, letters, options, unknown)


def _options(runtime: Runtime, row: Instance) -> tuple[tuple[EventOption, ...] | None, str | None]:
    """What the root would take now; or why that cannot be said."""
    if row.status != ACTIVE:
        return (), None
    hosted = runtime.registry.by_hash.get(row.definition)
    if hosted is None:
        is_other = row.machine in runtime.registry.by_id
        other = f"--app has {row.machine} with another definition" if is_other else f"needs {row.machine} in --app"
        return None, f"unknown: {other}"
    try:
        snapshot = resumed(hosted.machine, row.state or "").snapshot
    except SnapshotError as error:
        return None, f"unknown: the state cannot be read: {error}"
    return (next_events(snapshot) if isinstance(snapshot, Snapshot) else ()), None
