"""Which keys stand where, and what an unknown one probably was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from statecharts.values import UNDEFINED

from .codes import Code
from .leftovers import report_leftover
from .nearest import nearest
from .report import Report, token


@dataclass(frozen=True, slots=True)
class Level:
    """One kind of object: its name in messages, its keys, and other words people use for them."""

    name: str
    keys: tuple[str, ...]
    synonyms: Mapping[str, str]
    silent: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()


_STATE_KEYS: Final = (
    "id", "type", "initial", "states", "on", "always", "after", "onDone", "entry", "exit", "invoke",
    "history", "target", "output", "tags", "meta", "description", "route",
)  # fmt: skip
_STATE_SYNONYMS: Final = {
    "onEnter": "entry", "enter": "entry", "onexit": "exit", "leave": "exit", "onLeave": "exit",
    "entryActions": "entry", "exitActions": "exit", "events": "on", "transitions": "on", "handlers": "on",
    "initialState": "initial", "start": "initial", "children": "states", "substates": "states", "nodes": "states",
    "tag": "tags", "service": "invoke", "src": "invoke", "delay": "after", "delays": "after",
    "timeout": "after", "eventless": "always", "transient": "always", "done": "onDone", "result": "output",
    "actions": "entry", "action": "entry",
}  # fmt: skip
_TRANSITION_SYNONYMS: Final = {
    "condition": "guard", "when": "guard", "if": "guard", "to": "target", "goto": "target", "next": "target",
    "state": "target", "action": "actions", "do": "actions", "effects": "actions", "reentry": "reenter",
    "reenters": "reenter", "re_enter": "reenter",
}  # fmt: skip
_INVOKE_SYNONYMS: Final = {
    "source": "src", "service": "src", "actor": "src", "params": "input", "args": "input", "payload": "input",
    "done": "onDone", "error": "onError", "onSuccess": "onDone", "onFailure": "onError", "onFail": "onError",
    "onUpdate": "onSnapshot", "onNext": "onSnapshot", "system_id": "systemId", "registryKey": "systemId",
}  # fmt: skip
_NAMED_SYNONYMS: Final = {"name": "type", "args": "params", "arguments": "params", "param": "params"}
_ANNOTATIONS: Final = frozenset({"meta", "description"})

STATE = Level("a state", _STATE_KEYS, _STATE_SYNONYMS, foreign=frozenset({"actors", "delays"}))
ROOT = Level(
    "a machine",
    (*_STATE_KEYS, "context", "version", "types", "schemas", "options"),
    {**_STATE_SYNONYMS, "schema": "schemas"},
    silent=frozenset({"$schema"}),
    foreign=frozenset({"actors", "delays", "guards", "actions"}),
)
TRANSITION = Level(
    "a transition", ("target", "guard", "actions", "reenter", "meta", "description"), _TRANSITION_SYNONYMS
)
INITIAL = Level("an initial transition", ("target", "actions", "meta", "description"), _TRANSITION_SYNONYMS)
ROUTE = Level("a route", ("guard", "actions", "reenter", "meta", "description"), _TRANSITION_SYNONYMS)
INVOKE = Level(
    "an invoked actor",
    ("src", "id", "systemId", "input", "onDone", "onError", "onSnapshot", "meta", "description"),
    _INVOKE_SYNONYMS,
)
ACTION = Level("an action", ("type", "params"), _NAMED_SYNONYMS, silent=_ANNOTATIONS)
GUARD = Level("a guard", ("type", "params"), _NAMED_SYNONYMS, silent=_ANNOTATIONS)
OPTIONS = Level("the options", ("maxIterations",), {})

_HOME: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("guard", "actions", "reenter"), "a transition"),
        **dict.fromkeys(("src", "systemId", "input", "onError", "onSnapshot"), "an invoked actor (`invoke`)"),
        "params": "an action or a guard",
        "target": "a transition, an `initial` object or a history state",
        **dict.fromkeys(("context", "options", "schemas"), "the machine itself"),
        **dict.fromkeys(
            ("states", "on", "always", "after", "entry", "exit", "invoke", "history", "output", "route"),
            "a state",
        ),
        **dict.fromkeys(("initial", "tags"), "a state"),
        "onDone": "a state or an invoked actor",
    }
)


def level_of(depth: int) -> Level:
    """The level of a state: the machine itself has more keys than the states in it."""
    return STATE if depth else ROOT


@cache
def _guess(
    level_name: str, keys: tuple[str, ...], synonyms: tuple[tuple[str, str], ...], key: str
) -> str | None:
    found = nearest(key, keys)
    if found is not None:
        return found
    words = dict(synonyms)
    synonym = nearest(key, words)
    return None if synonym is None else words[synonym]


def guess(level: Level, key: str) -> str | None:
    """The known key that ``key`` was probably meant to be."""
    if len(key) > 40:
        return None
    return _guess(level.name, level.keys, tuple(level.synonyms.items()), key)


def check_keys(
    report: Report, level: Level, mapping: Mapping[Any, Any], pointer: str, extra: str = ""
) -> None:
    """Report every key of ``mapping`` that does not belong to ``level``.

    ``extra`` refines what version 4 meant here: ``"final"`` for final states,
    ``"root"`` for the machine.
    """
    known = level.keys
    for key, value in mapping.items():
        if not isinstance(key, str):
            report.bad_key(pointer, key)
        elif key not in known and key not in level.silent and value is not UNDEFINED:
            _report_unknown(report, level, key, value, pointer + token(key), extra)


def _report_unknown(report: Report, level: Level, key: str, value: object, pointer: str, extra: str) -> None:
    if report_leftover(report, level.name, key, value, pointer, extra):
        return
    if key in level.foreign:
        report.add(
            Code.FOREIGN_KEY,
            pointer,
            f"`{key}` is not read from the document.",
            "Bind implementations in Python, and pass them when the machine is loaded.",
        )
        return
    exact_synonym = level.synonyms.get(key)
    if exact_synonym is None and key in _HOME:
        report.add(
            Code.MISPLACED_KEY,
            pointer,
            f"`{key}` means nothing in {level.name}; it would be ignored.",
            f"It belongs to {_HOME[key]}.{_aside(key, level)}",
        )
        return
    guessed = exact_synonym or guess(level, key)
    if guessed is not None:
        report.add(
            Code.MISSPELT_KEY,
            pointer,
            f"{level.name.capitalize()} has no key `{key}`; it would be ignored.",
            f"Did you mean `{guessed}`?",
        )
        return
    report.add(
        Code.UNKNOWN_KEY,
        pointer,
        f"{level.name.capitalize()} has no key `{key}`; it is ignored.",
        "Put notes and data of your own under `meta`.",
    )


def _aside(key: str, level: Level) -> str:
    if level is TRANSITION and key == "context":
        return " To change the context, add an action of type `@xstate.assign`."
    if level is STATE and key == "onError":
        return " A state as such cannot catch errors."
    return ""
