"""Faults of a store, planted one at a time: each function takes a :class:`pytest.MonkeyPatch` and does its harm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from statecharts.adapters.stores import memory
from statecharts.adapters.stores.memory import MemoryStore
from statecharts.durability.rows import PENDING, RUNNING, WITHDRAWN

Patch = pytest.MonkeyPatch


def no_compare_and_swap(patch: Patch) -> None:
    write = MemoryStore._write

    def written(self: Any, commit: Any) -> None:
        existing = self._instances.get((commit.after.namespace, commit.after.id))
        commit.before = existing if commit.before is not None else None
        write(self, commit)

    patch.setattr(MemoryStore, "_write", written)


def _without(patch: Patch, **members: Any) -> None:
    write = MemoryStore._write

    def written(self: Any, commit: Any) -> None:
        for name, value in members.items():
            setattr(commit, name, value)
        write(self, commit)

    patch.setattr(MemoryStore, "_write", written)


def effects_are_not_written(patch: Patch) -> None:
    _without(patch, effects=[])


def timers_are_not_written(patch: Patch) -> None:
    _without(patch, timers_set=[])


def the_log_is_not_written(patch: Patch) -> None:
    _without(patch, log=[])


def any_fence_settles(patch: Patch) -> None:
    def holds(self: Any, settlement: Any) -> bool:
        row = self._effects.get(settlement.id)
        return row is not None and row.status in settlement.was and settlement.beat in (None, row.beat)

    patch.setattr(MemoryStore, "_holds", holds)


def any_status_settles(patch: Patch) -> None:
    def holds(self: Any, settlement: Any) -> bool:
        row = self._effects.get(settlement.id)
        return row is not None and row.fence == settlement.fence and settlement.beat in (None, row.beat)

    patch.setattr(MemoryStore, "_holds", holds)


def _claimed(patch: Patch, change: Any) -> None:
    claim = MemoryStore.claim

    def claimed(self: Any, asked: Any) -> Any:
        rows = [change(row) for row in claim(self, asked)]
        for row in rows:
            self._effects[row.id] = row
        return rows

    patch.setattr(MemoryStore, "claim", claimed)


def a_claim_raises_no_fence(patch: Patch) -> None:
    _claimed(patch, lambda row: replace(row, fence=max(row.fence - 1, 1)))


def a_claim_counts_no_attempt(patch: Patch) -> None:
    _claimed(patch, lambda row: replace(row, attempts=row.attempts - 1))


def a_claim_keeps_called_at(patch: Patch) -> None:
    claim = MemoryStore.claim

    def claimed(self: Any, asked: Any) -> Any:
        before = {id_: row.called_at for id_, row in self._effects.items()}
        rows = [replace(row, called_at=before[row.id]) for row in claim(self, asked)]
        for row in rows:
            self._effects[row.id] = row
        return rows

    patch.setattr(MemoryStore, "claim", claimed)


def what_was_withdrawn_is_claimed(patch: Patch) -> None:
    def withdraw(self: Any, instance: Any, session: Any) -> None:
        for row in self._of(instance.namespace, instance.id):
            if row.kind == "invoke" and row.status in (PENDING, RUNNING) and session in (None, row.session):
                self._effects[row.id] = replace(row, is_cancelled=True)

    patch.setattr(MemoryStore, "_withdraw", withdraw)


def what_was_left_is_tried_again(patch: Patch) -> None:
    move = MemoryStore._move

    def moved(self: Any, settlement: Any) -> None:
        row = self._effects[settlement.id]
        move(self, settlement)
        if settlement.status == PENDING and self._effects[row.id].status == WITHDRAWN:
            self._effects[row.id] = replace(self._effects[row.id], status=PENDING, settled_at=None)

    patch.setattr(MemoryStore, "_move", moved)


def actions_overtake_each_other(patch: Patch) -> None:
    free = memory._is_free
    patch.setattr(memory, "_is_free", lambda row, index, rows: free(replace(row, lane=None), index, rows))


def one_key_is_called_side_by_side(patch: Patch) -> None:
    free = memory._is_free
    patch.setattr(memory, "_is_free", lambda row, index, rows: free(replace(row, key=f"own:{row.id}"), index, rows))


def the_suspended_work_on(patch: Patch) -> None:
    def able(self: Any, namespace: str, definitions: Any) -> Any:
        return [one for one in self._instances.values() if one.namespace == namespace and one.definition in definitions]

    claimable = MemoryStore._claimable

    def found(self: Any, namespace: str, definitions: Any, rows: Any) -> Any:
        instances, self._instances = self._instances, {}
        try:
            return claimable(self, namespace, definitions, rows)
        finally:
            self._instances = instances

    patch.setattr(MemoryStore, "_able", able)
    patch.setattr(MemoryStore, "_claimable", found)


def effects_of_any_machine_are_claimed(patch: Patch) -> None:
    claim = MemoryStore.claim

    def claimed(self: Any, asked: Any) -> Any:
        return claim(self, replace(asked, definitions=tuple(self._definitions)))

    patch.setattr(MemoryStore, "claim", claimed)


def a_heartbeat_leaves_no_trace(patch: Patch) -> None:
    beat = MemoryStore.beat

    def beaten(self: Any, namespace: str, owner: str, ids: Any) -> Any:
        before = dict(self._effects)
        found = beat(self, namespace, owner, ids)
        self._effects.update(before)
        return found

    patch.setattr(MemoryStore, "beat", beaten)


def results_are_not_counted_as_waiting(patch: Patch) -> None:
    tell = MemoryStore._tell

    def told(self: Any, row: Any) -> None:
        tell(self, row)
        if row is not None:
            key = (row.namespace, row.instance)
            self._instances[key] = replace(self._instances[key], pending=0)

    patch.setattr(MemoryStore, "_tell", told)


def results_get_lost(patch: Patch) -> None:
    patch.setattr(MemoryStore, "_tell", lambda self, row: None)


def the_newest_waiting_event_comes_first(patch: Patch) -> None:
    load = MemoryStore._load

    def loaded(self: Any, job: Any) -> Any:
        found = load(self, job)
        return replace(found, waiting=found.waiting[::-1])

    patch.setattr(MemoryStore, "_load", loaded)


PLANTED = [value for value in list(vars().values()) if getattr(value, "__module__", None) == __name__ and not value.__name__.startswith("_")]
