"""Operations that change the context (XState ``assign``).

An update that looks at nothing but context and event is *lean*: it needs no
frame, so that a macrostep which consists of lean updates can be taken in one
go (:mod:`.routes`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..callables import Fitted
from ..errors import ExecutionError, UsageError
from ..values import ATOMS, EMPTY_OBJECT, UNDEFINED, FrozenDict, freeze, js_ordered
from .effects import ActorRef, NewActor, StartActor
from .getters import BOTH, CONTEXT, EVENT, OFFERED, VALUE, Getter, shape_of
from .operations import Frame, Operation


class Update(Operation):
    """An update of the context.

    ``lean``: what it changes is a function of context and event alone.
    ``direct``: that function, when it takes the context only; a macrostep in a
    hurry calls it without asking :meth:`changes`.
    """

    __slots__ = ("direct",)

    def __init__(self, label: str, lean: bool, direct: Callable[..., Any] | None = None) -> None:
        super().__init__(label)
        self.lean = lean
        self.direct = direct

    @abstractmethod
    def changes(self, context: Any, event: FrozenDict) -> Any:
        """What a lean update changes."""

    def fresh(self, context: Any, event: FrozenDict) -> Any:
        """The context after a lean update."""
        return merged(context, self.changes(context, event), self.label)

    def run(self, frame: Frame) -> None:
        """A lean update; others say how they run."""
        frame.changed = True
        frame.context = self.fresh(frame.context, frame.event)


def lean_updates(operations: Sequence[Operation]) -> tuple[Update, ...] | None:
    """``operations`` when all of them are lean updates, else ``None``."""
    found: list[Update] = []
    for operation in operations:
        if not isinstance(operation, Update) or not operation.lean:
            return None
        found.append(operation)
    return tuple(found)


class Later(Update):
    """A lean update in a later microstep, which sees another event than the one that came in."""

    __slots__ = ("event", "update")

    def __init__(self, update: Update, event: FrozenDict) -> None:
        super().__init__(update.label, update.lean, update.direct)
        self.state = update.state
        self.update = update
        self.event = event

    def changes(self, context: Any, event: FrozenDict) -> Any:
        return self.update.changes(context, self.event)


class AssignAll(Update):
    """An update by one function."""

    __slots__ = ("function", "params", "shape", "spawns", "user")

    def __init__(self, label: str, fitted: Fitted, params: Getter | None, spawns: bool) -> None:
        shape = shape_of(fitted)
        lean = not spawns and params is None and shape != OFFERED
        super().__init__(label, lean, fitted.function if lean and shape == CONTEXT else None)
        self.function = fitted.call
        self.user = fitted.function
        self.shape = shape
        self.params = params
        self.spawns = spawns

    def changes(self, context: Any, event: FrozenDict) -> Any:
        shape = self.shape
        if shape == CONTEXT:
            return self.user(context)
        if shape == BOTH:
            return self.user(context, event)
        if shape == EVENT:
            return self.user(event)
        return self.user()

    def run(self, frame: Frame) -> None:
        if self.lean:
            super().run(frame)
            return
        params = UNDEFINED if self.params is None else self.params(frame, UNDEFINED)
        scope = frame.scope
        if not self.spawns:
            changes = self.function(frame.context, frame.event, params, None, None, None)
            apply_changes(frame, changes, self.label)
            return
        spawner = Spawner(frame)
        changes = self.function(frame.context, frame.event, params, scope.self_ref, scope.view, spawner)
        apply_changes(frame, changes, self.label)
        spawner.adopt()


class Part:
    """One key of an update: its value, or what computes it. ``shape`` is :data:`OFFERED` when that needs a frame."""

    __slots__ = ("getter", "key", "shape", "value")

    def __init__(self, key: str, shape: int, value: Any, getter: Getter) -> None:
        self.key = key
        self.shape = shape
        self.value = value
        self.getter = getter


class AssignEach(Update):
    """An update by a value or function per key, each evaluated against the old context."""

    __slots__ = ("params", "parts")

    def __init__(self, label: str, parts: tuple[Part, ...], params: Getter | None) -> None:
        super().__init__(label, params is None and all(part.shape != OFFERED for part in parts))
        self.parts = parts
        self.params = params

    def changes(self, context: Any, event: FrozenDict) -> Any:
        changes: dict[str, Any] = {}
        for part in self.parts:
            shape = part.shape
            if shape == VALUE:
                changes[part.key] = part.value
            elif shape == CONTEXT:
                changes[part.key] = part.value(context)
            elif shape == BOTH:
                changes[part.key] = part.value(context, event)
            elif shape == EVENT:
                changes[part.key] = part.value(event)
            else:
                changes[part.key] = part.value()
        return changes

    def run(self, frame: Frame) -> None:
        if self.lean:
            super().run(frame)
            return
        params = UNDEFINED if self.params is None else self.params(frame, UNDEFINED)
        changes = {part.key: part.getter(frame, params) for part in self.parts}
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
    """Merge ``changes`` into the frame's context."""
    frame.changed = True
    frame.context = merged(frame.context, changes, label)


def merged(context: Any, changes: Any, label: str) -> Any:
    """A new frozen context with ``changes`` in it (``Object.assign({}, context, changes)``)."""
    if type(changes) is dict and type(context) is FrozenDict:
        for key in changes:
            if type(changes[key]) not in ATOMS or key not in context:
                break
        else:  # keys keep their places
            return FrozenDict({**context, **changes})
    elif changes is None or changes is UNDEFINED:
        return context
    elif not isinstance(changes, Mapping):
        raise UsageError(f"{label} must return a dict of changes (or None), not {type(changes).__name__}")
    return _merged(context, changes)


def _merged(context: Any, changes: Mapping[str, Any]) -> Any:
    """The same with new keys, and values to freeze."""
    new = dict(context if isinstance(context, dict) else _members(context))
    indexed = False
    for key, value in changes.items():
        if key and "0" <= key[0] <= "9":
            indexed = True
        new[key] = freeze(value)
    return FrozenDict(js_ordered(new) if indexed else new)


def _members(context: Any) -> dict[str, Any]:
    """``{...context}`` of what is not an object (loose reading): what JavaScript's spread gives."""
    if isinstance(context, (list, str)):
        return {str(index): item for index, item in enumerate(context)}
    return EMPTY_OBJECT


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
