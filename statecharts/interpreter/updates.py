"""Operations that change the context (XState ``assign``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ExecutionError, UsageError
from ..values import UNDEFINED, FrozenDict, freeze, js_ordered
from .effects import ActorRef, NewActor, StartActor
from .operations import Frame, Getter, Operation


class AssignAll(Operation):
    """An update by one function."""

    __slots__ = ("function", "params", "spawns")

    def __init__(self, label: str, function: Callable[..., Any], params: Getter, spawns: bool) -> None:
        super().__init__(label)
        self.function = function
        self.params = params
        self.spawns = spawns

    def run(self, frame: Frame) -> None:
        params = self.params(frame, UNDEFINED)
        scope = frame.scope
        if not self.spawns:
            changes = self.function(frame.context, frame.event, params, None, None, None)
            apply_changes(frame, changes, self.label)
            return
        spawner = Spawner(frame)
        changes = self.function(frame.context, frame.event, params, scope.self_ref, scope.view, spawner)
        apply_changes(frame, changes, self.label)
        spawner.adopt()


class AssignEach(Operation):
    """An update by a value or function per key, each evaluated against the old context."""

    __slots__ = ("getters", "params")

    def __init__(self, label: str, getters: tuple[tuple[str, Getter], ...], params: Getter) -> None:
        super().__init__(label)
        self.getters = getters
        self.params = params

    def run(self, frame: Frame) -> None:
        params = self.params(frame, UNDEFINED)
        changes = {key: getter(frame, params) for key, getter in self.getters}
        apply_changes(frame, changes, self.label)


def spawning_getter(function: Callable[..., Any]) -> Getter:
    """A getter for one key whose function makes children."""

    def call(frame: Frame, params: Any) -> Any:
        spawner = Spawner(frame)
        scope = frame.scope
        value = function(frame.context, frame.event, params, scope.self_ref, scope.view, spawner)
        spawner.adopt()
        return value

    return call


def apply_changes(frame: Frame, changes: Any, label: str) -> None:
    """Merge ``changes`` into a new frozen context (``Object.assign({}, context, changes)``)."""
    frame.changed = True
    if changes is None or changes is UNDEFINED:
        return
    if not isinstance(changes, Mapping):
        raise UsageError(f"{label} must return a dict of changes (or None), not {type(changes).__name__}")
    merged = _members(frame.context)
    indexed = False
    for key, value in changes.items():
        if key and "0" <= key[0] <= "9":
            indexed = True
        merged[key] = freeze(value)
    frame.context = FrozenDict(js_ordered(merged) if indexed else merged)


def _members(context: Any) -> dict[str, Any]:
    """``{...context}``: a context that is not an object (loose reading) gives what JavaScript's spread gives."""
    if isinstance(context, dict):
        return dict(context)
    if isinstance(context, (list, str)):
        return {str(index): item for index, item in enumerate(context)}
    return {}


class Spawner:
    """What an update gets as ``spawn``: makes children that start when the step is over."""

    __slots__ = ("_frame", "_spawned")

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._spawned: dict[str, ActorRef] = {}

    def __call__(
        self,
        src: Any,
        *,
        id: str | None = None,
        input: Any = UNDEFINED,
        system_id: str | None = None,
        sync_snapshot: Any = UNDEFINED,
    ) -> ActorRef:
        """A reference to a new child. ``src`` is a source's name or a logic. Raises for an unknown name."""
        frame = self._frame
        logic = frame.program.actor_logic(src)
        if logic is None:
            raise ExecutionError(
                f"Actor logic '{src}' not implemented in machine '{frame.program.definition.id}'"
            )
        ref = frame.scope.create(
            NewActor(src, logic, id, system_id, freeze(input), sync_snapshot), frame.records
        )
        self._spawned[ref.id] = ref
        frame.records.append(StartActor(frame.position, ref, id, src, input, system_id, True))
        return ref

    def adopt(self) -> None:
        """Put what was spawned among the machine's children."""
        if self._spawned:
            self._frame.children = js_ordered({**self._frame.children, **self._spawned})
