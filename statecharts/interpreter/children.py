"""Operations that make and end child actors.

A child's first snapshot is computed in the middle of its parent's step, and
its effects wait until it starts, after that step (XState ``createActor`` and
``actor.start``).
"""

from __future__ import annotations

from typing import Any

from ..errors import ExecutionError
from ..values import UNDEFINED, truthy
from .effects import ActorRef, NewActor, StartActor, StopActor, record
from .getters import NO_VALUE, Getter, Known
from .operations import Frame, Operation


class SpawnOperation(Operation):
    """``spawnChild`` and ``invoke``: the child's first snapshot is computed now, it starts later."""

    __slots__ = ("id", "input", "name", "params", "src", "sync_snapshot", "system_id")

    def __init__(
        self,
        label: str,
        src: Any,
        id_: Getter,
        system_id: str | None,
        input_: Getter,
        sync_snapshot: bool,
        params: Getter,
    ) -> None:
        super().__init__(label)
        self.src = src
        self.name = getattr(src, "name", src)
        self.id = id_
        self.system_id = system_id
        self.input = input_
        self.sync_snapshot = sync_snapshot
        self.params = params

    def run(self, frame: Frame) -> None:
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        program = frame.program
        logic = program.actor_logic(self.src)
        name = self.id
        actor_id = name.value if isinstance(name, Known) else name(frame, params)
        src = self.name
        ref: ActorRef | None = None
        value: Any = UNDEFINED
        if logic is not None:
            value = self.input(frame, params)
            given = None if actor_id is UNDEFINED else actor_id
            new = record(NewActor, (src, logic, given, self.system_id, value, self.sync_snapshot))
            ref = frame.scope.create(new, frame.records)
        elif program.semantics.unknown_actor_is_error:
            raise ExecutionError(
                f"actor {src!r} is not implemented in machine {program.definition.id!r}; bind it under `actors`"
            )
        if isinstance(actor_id, str):
            key = actor_id
        elif ref is not None and program.semantics.spawn_without_id_uses_session:
            key = ref.id
        else:
            key = "undefined"
        frame.add_child(key, ref)
        records = frame.records
        place = (frame.sequence, len(records))
        records.append(record(StartActor, (place, ref, actor_id, src, value, self.system_id, False)))


class StopOperation(Operation):
    """``stopChild``, and the end of an invoke when its state is left."""

    __slots__ = ("params", "target")

    def __init__(self, label: str, target: Getter, params: Getter) -> None:
        super().__init__(label)
        self.target = target
        self.params = params

    def run(self, frame: Frame) -> None:
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        target = self.target
        wanted = target.value if isinstance(target, Known) else target(frame, params)
        ref = frame.children.get(wanted) if isinstance(wanted, str) else wanted
        if truthy(ref) and not isinstance(ref, ActorRef):
            raise ExecutionError("actorRef.getSnapshot is not a function", js_name="TypeError")
        stop_child(frame, ref if isinstance(ref, ActorRef) else None)


def stop_child(frame: Frame, ref: ActorRef | None) -> None:
    """Take ``ref`` out of the children and record its stop."""
    frame.changed = True
    if ref is not None:
        if ref.id in frame.children:
            frame.children = {key: child for key, child in frame.children.items() if key != ref.id}
        frame.scope.unregister(ref, len(frame.records))
    records = frame.records
    records.append(record(StopActor, ((frame.sequence, len(records)), ref)))
