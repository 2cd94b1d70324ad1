"""Actions as data: what a machine declares, before it becomes an effect.

Built-in actions are values made by the creators below. Their parts may be
constants, data expressions, or functions of ``(context, event, params)``. In
JSON the same actions are written in XState 6's spelling
(``{"type": "@xstate.raise", "event": …}``) or in Stately's
(``{"type": "xstate.raise", "params": {"event": …}}``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .callables import ACTION_ARGUMENTS, fit
from .dynamic import read_value
from .errors import DefinitionError, Problem, UsageError
from .executable_content import CONTENT, ExecutableContent
from .expressions import is_expression
from .values import UNDEFINED, freeze, truthy


@dataclass(frozen=True, slots=True, eq=False)
class NamedAction:
    """An action bound by name. ``builtin`` is its meaning as data when nothing is bound.

    Where it stands is given as a JSON ``pointer``, or as its ``place`` below
    the state or transition that has it: so one object serves many of those.
    """

    type: str
    params: Any = UNDEFINED
    pointer: str = ""
    builtin: BuiltinAction | None = None
    place: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class InlineAction:
    """A Python function run by the host, for its side effects. ``call`` takes all that a host offers."""

    function: Callable[..., Any]
    type: str
    call: Callable[..., Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "call", fit(self.function, ACTION_ARGUMENTS, f"action {self.type!r}"))


@dataclass(frozen=True, slots=True, eq=False)
class NullAction:
    """A JSON ``null`` in a list of actions, on which XState fails when it gets there."""


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """Changes to the context: an object of values per key, or a function that returns one."""

    assignment: Any


@dataclass(frozen=True, slots=True, eq=False)
class Raise:
    """An event for the machine itself: now (internal queue), or after ``delay`` milliseconds."""

    event: Any
    id: Any = UNDEFINED
    delay: Any = UNDEFINED


@dataclass(frozen=True, slots=True, eq=False)
class SendTo:
    """An event for another actor."""

    target: Any
    event: Any
    id: Any = UNDEFINED
    delay: Any = UNDEFINED


@dataclass(frozen=True, slots=True, eq=False)
class Emit:
    """An event for listeners outside the machine."""

    event: Any


@dataclass(frozen=True, slots=True, eq=False)
class Cancel:
    """Drops the pending timers with this id."""

    id: Any


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """A line for the host's logger."""

    value: Any
    label: Any = UNDEFINED


@dataclass(frozen=True, slots=True, eq=False)
class SpawnChild:
    """A new child actor."""

    src: Any
    id: Any = UNDEFINED
    system_id: str | None = None
    input: Any = UNDEFINED
    sync_snapshot: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class StopChild:
    """The end of a child actor, by id or reference."""

    target: Any


@dataclass(frozen=True, slots=True, eq=False)
class Enqueue:
    """A function that decides which actions follow; it sees the context and must be pure."""

    function: Callable[..., Any]


BuiltinAction = Assign | Raise | SendTo | Emit | Cancel | Log | SpawnChild | StopChild | Enqueue
Action = NamedAction | InlineAction | NullAction | BuiltinAction | ExecutableContent
BUILTINS = (Assign, Raise, SendTo, Emit, Cancel, Log, SpawnChild, StopChild, Enqueue)
_KINDS = (NamedAction, InlineAction, NullAction, *BUILTINS, *CONTENT)
_BARE_LOG = ("@xstate.log", "xstate.log")


def _value(value: Any) -> Any:
    """A part of a built-in action: functions stay, expressions are compiled, the rest is frozen."""
    if callable(value) or value is UNDEFINED:
        return value
    return read_value(value)


def _event(event: Any) -> Any:
    if isinstance(event, str):
        return freeze({"type": event})
    if not callable(event) and not isinstance(event, Mapping):
        raise UsageError(f"an event is a type name, an object or a function, not {type(event).__name__}")
    return _value(event)


def assign(
    assignment: Mapping[str, Any] | Callable[..., Mapping[str, Any]] | None = None, **values: Any
) -> Assign:
    """Change the context: ``assign({"n": 1})``, ``assign(n=lambda context: context["n"] + 1)``, or a function."""
    if assignment is not None and values:
        raise UsageError("assign() takes one mapping or function, or keywords, not both")
    if callable(assignment):
        return Assign(assignment)
    if is_expression(assignment):
        return Assign(_value(assignment))
    return Assign(
        {key: _value(value) for key, value in (assignment if assignment is not None else values).items()}
    )


def raise_(event: Any, *, id: Any = UNDEFINED, delay: Any = UNDEFINED) -> Raise:
    """Raise ``event``; ``delay`` in milliseconds or a delay's name makes it a timer that ``cancel(id)`` ends."""
    return Raise(_event(event), _value(id), _value(delay))


def send_to(target: Any, event: Any, *, id: Any = UNDEFINED, delay: Any = UNDEFINED) -> SendTo:
    """Send ``event`` to an actor: a child's id, a reference, or a function that returns one."""
    return SendTo(_value(target), _event(event), _value(id), _value(delay))


def send_parent(event: Any, *, id: Any = UNDEFINED, delay: Any = UNDEFINED) -> SendTo:
    """Send ``event`` to the actor that invoked or spawned this one."""
    return send_to("#_parent", event, id=id, delay=delay)


def forward_to(target: Any, *, id: Any = UNDEFINED, delay: Any = UNDEFINED) -> SendTo:
    """Send the current event on to ``target``."""
    return send_to(target, lambda event: event, id=id, delay=delay)


def emit(event: Any) -> Emit:
    """Emit ``event`` to listeners of the actor."""
    return Emit(_event(event))


def cancel(id: Any) -> Cancel:
    """Cancel the pending delayed events with this id."""
    return Cancel(_value(id))


def log(value: Any = UNDEFINED, label: str | None = None) -> Log:
    """Log ``value`` (default: context and event), under ``label``."""
    if value is UNDEFINED:
        return _bare_log(label or UNDEFINED)
    return Log(_value(value), label or UNDEFINED)


def spawn_child(
    src: Any,
    *,
    id: Any = UNDEFINED,
    system_id: str | None = None,
    input: Any = UNDEFINED,
    sync_snapshot: bool = False,
) -> SpawnChild:
    """Spawn a child actor from a source's name or a logic."""
    return SpawnChild(src, _value(id), system_id, _value(input), sync_snapshot)


def stop_child(target: Any) -> StopChild:
    """Stop a child: its id, a reference, or a function that returns one."""
    return StopChild(_value(target))


def enqueue(function: Callable[..., Any]) -> Enqueue:
    """Decide in Python which actions run: ``enqueue(lambda context, enqueue: enqueue("name"))``."""
    return Enqueue(function)


def parse_actions(
    value: Any, pointer: str, *, dialects: bool = True, default_lang: str = "cel"
) -> tuple[Action, ...]:
    """The actions written at ``pointer``: absent, one, or a list."""
    if value is UNDEFINED:
        return ()
    if not isinstance(value, (list, tuple)):
        return (parse_action(value, pointer, dialects=dialects, default_lang=default_lang),)
    return tuple(
        [
            parse_action(item, f"{pointer}/{i}", dialects=dialects, default_lang=default_lang)
            for i, item in enumerate(value)
        ]
    )


def named_actions(names: str | list[str], place: str, *, dialects: bool) -> tuple[NamedAction, ...]:
    """As :func:`parse_actions`, for mere names at ``place`` below whatever has them."""
    if isinstance(names, str):
        return (_named(names, "", place, dialects),)
    return tuple([_named(name, "", f"{place}/{i}", dialects) for i, name in enumerate(names)])


def _named(name: str, pointer: str, place: str, dialects: bool) -> NamedAction:
    builtin = _bare_log() if dialects and name in _BARE_LOG else None
    return NamedAction(name, UNDEFINED, pointer, builtin, place)


def parse_action(
    value: Any, pointer: str = "", *, dialects: bool = True, default_lang: str = "cel"
) -> Action:
    """One action as written in a document or in Python, as an :data:`Action`.

    ``dialects=False`` reads every object as a named action, as XState 5 does.
    """
    if type(value) is dict:
        return _parse_object(value, pointer, dialects, default_lang)
    if isinstance(value, str):
        return _named(value, pointer, "", dialects)
    if isinstance(value, _KINDS):
        return value
    if value is None:
        return NullAction()
    if isinstance(value, Mapping):
        return _parse_object(value, pointer, dialects, default_lang)
    if callable(value):
        return InlineAction(value, getattr(value, "__name__", None) or "(anonymous)")
    raise DefinitionError(
        [
            Problem(
                "action-shape",
                pointer,
                f"an action is a name or an object with a type, not {type(value).__name__}",
            )
        ]
    )


def _parse_object(value: Mapping[str, Any], pointer: str, dialects: bool, lang: str) -> Action:
    name = value.get("type")
    params = value.get("params", UNDEFINED)
    builtin = None
    if dialects and isinstance(name, str) and name.startswith(("@xstate.", "xstate.")):
        builtin = _parse_dialect(name, value, pointer, lang)
        if builtin is not None:
            return NamedAction(name, UNDEFINED if callable(params) else freeze(params), pointer, builtin)
    if not callable(params) and params is not UNDEFINED:
        params = read_value(params, f"{pointer}/params", lang) if dialects else freeze(params)
    return NamedAction(name if isinstance(name, str) else str(name), params, pointer, builtin)


def _parse_dialect(name: str, value: Mapping[str, Any], pointer: str, lang: str) -> BuiltinAction | None:
    """``@xstate.raise`` (members on the object) and ``xstate.raise`` (members in ``params``)."""
    kind = name.partition("xstate.")[2]
    in_params = isinstance(value.get("params"), Mapping)
    holder: Mapping[str, Any] = value["params"] if in_params else value
    where = f"{pointer}/params" if in_params else pointer

    def part(key: str, *aliases: str, index: int | None = None) -> Any:
        for candidate in (key, *aliases):
            if candidate in holder:
                raw, place = holder[candidate], f"{where}/{candidate}"
                if index is not None:
                    raw, place = raw[index], f"{place}/{index}"
                return raw if callable(raw) else read_value(raw, place, lang)
        return UNDEFINED

    def event() -> Any:
        found = part("event")
        if found is UNDEFINED:
            raise DefinitionError([Problem("action-member", where, f"{name} needs an 'event'")])
        return freeze({"type": found}) if isinstance(found, str) else found

    make = _DIALECT.get(kind)
    return None if make is None else make(part, event, holder)


def _assignments(part: Callable[..., Any], _event: Any, holder: Mapping[str, Any]) -> Assign:
    found = part("context", "assignments", "assignment")
    if found is UNDEFINED:  # older drafts wrote the assignments as the params themselves
        beside = ("type", "params", "meta", "description") if "type" in holder else ()
        found = {key: part(key) for key in holder if key not in beside}
    return Assign(found)


def _log(part: Callable[..., Any], _event: Any, holder: Mapping[str, Any]) -> Log:
    args = holder.get("args")
    if isinstance(args, (list, tuple)) and len(args) == 1:
        return Log(part("args", index=0), part("label"))
    value = part("value", "message", "args")
    return _bare_log(part("label")) if value is UNDEFINED else Log(value, part("label"))


def _bare_log(label: Any = UNDEFINED) -> Log:
    """Without a value, context and event are logged."""
    return Log(lambda context, event: {"context": context, "event": event}, label)


_DIALECT: dict[str, Callable[[Callable[..., Any], Callable[[], Any], Mapping[str, Any]], BuiltinAction]] = {
    "assign": _assignments,
    "raise": lambda part, event, _h: Raise(event(), part("id"), part("delay")),
    "sendTo": lambda part, event, _h: SendTo(
        part("to", "actorRef", "target"), event(), part("id"), part("delay")
    ),
    "sendParent": lambda part, event, _h: SendTo("#_parent", event(), part("id"), part("delay")),
    "forwardTo": lambda part, _e, _h: SendTo(
        part("to", "actorRef", "target"), lambda event: event, part("id"), part("delay")
    ),
    "emit": lambda _part, event, _h: Emit(event()),
    "cancel": lambda part, _e, _h: Cancel(part("id", "sendId")),
    "log": _log,
    "spawnChild": lambda part, _e, h: SpawnChild(
        h.get("src"), part("id"), h.get("systemId"), part("input"), truthy(h.get("syncSnapshot", False))
    ),
    "stopChild": lambda part, _e, _h: StopChild(part("id", "actorRef")),
}
