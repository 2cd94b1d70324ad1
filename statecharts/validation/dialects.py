"""Built-in actions and guards as data: which there are, and what they must hold.

Two spellings are read: XState 6's, with the members beside the type
(``{"type": "@xstate.raise", "event": …}``), and Stately's, with the members
in ``params`` (``{"type": "xstate.raise", "params": {"event": …}}``). Whoever
reads a document uses :func:`builtin_of` and :func:`builtin_members`, so that
checking and running agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from statecharts.values import UNDEFINED

from .codes import Code
from .leftovers import V4_ACTIONS
from .nearest import nearest
from .report import Report, token

PREFIXES: Final = ("@xstate.", "xstate.")
_ANNOTATIONS: Final = ("meta", "description")


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in: its plain name, the members it needs (any one of each group) and those it may have."""

    name: str
    required: tuple[tuple[str, ...], ...] = ()
    optional: tuple[str, ...] = ()
    open: bool = False

    @property
    def members(self) -> tuple[str, ...]:
        """Every member it knows."""
        return (*(name for group in self.required for name in group), *self.optional)


_TO: Final = ("to", "actorRef", "target")
_ACTIONS: Final = (
    Builtin("raise", (("event",),), ("id", "delay")),
    Builtin("sendTo", (_TO, ("event",)), ("id", "delay")),
    Builtin("sendParent", (("event",),), ("id", "delay")),
    Builtin("forwardTo", (_TO,)),
    Builtin("emit", (("event",),)),
    Builtin("cancel", (("id", "sendId"),)),
    Builtin("log", (), ("args", "value", "message", "label")),
    Builtin("assign", (), ("context", "assignments", "assignment"), open=True),
    Builtin("spawnChild", (("src",),), ("id", "systemId", "input", "syncSnapshot")),
    Builtin("stopChild", (("id", "actorRef"),)),
)
_GUARDS: Final = (
    Builtin("and", (("guards",),)),
    Builtin("or", (("guards",),)),
    Builtin("not", (("guard",),)),
    Builtin("stateIn", (("state",),)),
)
ACTIONS: Final[Mapping[str, Builtin]] = {action.name: action for action in _ACTIONS}
GUARDS: Final[Mapping[str, Builtin]] = {guard.name: guard for guard in _GUARDS}


def builtin_of(type_name: str, table: Mapping[str, Builtin]) -> Builtin | None:
    """The built-in that ``type_name`` means in ``table`` (:data:`ACTIONS` or :data:`GUARDS`), if any."""
    for prefix in PREFIXES:
        if type_name.startswith(prefix):
            return table.get(type_name[len(prefix) :])
    return None


def is_reserved(type_name: str) -> bool:
    """Whether ``type_name`` lies in XState's own name space."""
    return type_name.startswith(PREFIXES)


def builtin_members(spec: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The members of a built-in: those in ``params`` when it is there, else those beside ``type``."""
    params = spec.get("params", UNDEFINED)
    if isinstance(params, Mapping):
        return params
    return {key: value for key, value in spec.items() if key not in ("type", "params", *_ANNOTATIONS)}


def members_pointer(spec: Mapping[Any, Any], pointer: str) -> str:
    """Where :func:`builtin_members` of the object at ``pointer`` stand."""
    return f"{pointer}/params" if isinstance(spec.get("params", UNDEFINED), Mapping) else pointer


def report_unknown_builtin(
    report: Report, kind: str, type_name: str, pointer: str, known: Mapping[str, Builtin]
) -> None:
    """``type_name`` is reserved but no built-in."""
    plain = type_name.removeprefix("@")
    if kind == "action" and plain in V4_ACTIONS:
        report.add(Code.V4_ACTION, pointer, f"`{type_name}` is an action of XState 4.", V4_ACTIONS[plain])
        return
    if plain == "xstate.enqueueActions":
        hint: str | None = (
            "It runs a function; bind an action made with `enqueue` in Python under a name of your own."
        )
    else:
        guess = nearest(plain.removeprefix("xstate."), known)
        hint = (
            f'Did you mean "xstate.{guess}"?'
            if guess
            else f"There are {', '.join(f'`{name}`' for name in known)}."
        )
    report.add(Code.UNKNOWN_BUILTIN, pointer, f"There is no built-in {kind} `{type_name}`.", hint)


def check_builtin_members(
    report: Report, builtin: Builtin, spec: Mapping[Any, Any], pointer: str
) -> Mapping[Any, Any]:
    """Report missing and unknown members of a built-in; returns its members."""
    params = spec.get("params", UNDEFINED)
    if params is not UNDEFINED and not isinstance(params, Mapping):
        report.wrong_type(f"{pointer}/params", "params", params, "an object with the members of the built-in")
        return {}
    found = builtin_members(spec)
    place = members_pointer(spec, pointer)
    for group in builtin.required:
        if all(found.get(name, UNDEFINED) is UNDEFINED for name in group):
            names = " or ".join(f"`{name}`" for name in group)
            report.add(
                Code.MISSING_MEMBER, pointer, f"`{spec['type']}` needs {names}.", _member_hint(spec, group[0])
            )
    if isinstance(params, Mapping):
        for key in spec:
            if isinstance(key, str) and key not in ("type", "params", *_ANNOTATIONS):
                report.add(
                    Code.STRAY_MEMBER,
                    pointer + token(key),
                    f"`{key}` stands beside `params`; it is ignored.",
                    "Move it into `params`.",
                )
    if not builtin.open or "context" in found:
        _check_unknown(report, builtin, found, place)
    return found


def _member_hint(spec: Mapping[Any, Any], member: str) -> str:
    if str(spec["type"]).startswith("@"):
        return f'Write `{{"type": "{spec["type"]}", "{member}": …}}`.'
    return f'Write `{{"type": "{spec["type"]}", "params": {{"{member}": …}}}}`.'


def _check_unknown(report: Report, builtin: Builtin, found: Mapping[Any, Any], place: str) -> None:
    known = builtin.members
    for key in found:
        if not isinstance(key, str):
            report.bad_key(place, key)
        elif key not in known:
            guess = nearest(key, known)
            report.add(
                Code.MISSPELT_KEY if guess else Code.STRAY_MEMBER,
                place + token(key),
                f"`{builtin.name}` has no member `{key}`; it would be ignored.",
                f"Did you mean `{guess}`?"
                if guess
                else f"It knows {', '.join(f'`{name}`' for name in known)}.",
            )
