"""Steps files: what to do with a machine, and what to expect after each step.

Three shapes are read: a scenario (an object with ``steps``), a day (an object
with ``tickets``, each a scenario), and a plain list of steps. A step is an
object such as ``{"send": {...}, "expect": {...}}``, an event
(``{"type": ...}``), or a string as it would be typed at the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..validation.nearest import nearest
from ..values import UNDEFINED
from .doings import ADVANCE, SEND, SETTLE, STOP, TO_ACTOR, VALUE_KEY, Doing
from .durations import parse_duration
from .typed import read_doing

EXPECTATIONS = ("states", "value", "context", "status", "output", "refused", "waiting", "emitted")
_VERBS = (SEND, ADVANCE, SETTLE, STOP, *TO_ACTOR)
_STEP_KEYS = (*_VERBS, *dict.fromkeys(VALUE_KEY.values()), "expect", "say")
_SCENARIO_KEYS = ("name", "description", "machine", "input", "steps", "say")


@dataclass(frozen=True)
class ScriptStep:
    """A doing, what is expected after it (``None``: nothing), and a caption."""

    doing: Doing
    expect: Mapping[str, Any] | None = None
    say: str | None = None
    place: str = ""


@dataclass(frozen=True)
class Scenario:
    """Steps on one machine of their own."""

    name: str | None
    input: Any
    steps: tuple[ScriptStep, ...]


def read_steps(document: Any, file: str) -> list[Scenario]:
    """The scenarios in a steps document. Raises :class:`UsageError` naming the step that is wrong."""
    if isinstance(document, list):
        return [_scenario({"steps": document}, file, "")]
    if isinstance(document, dict) and "tickets" in document:
        tickets = document["tickets"]
        if not isinstance(tickets, list):
            raise UsageError(f"{file}: `tickets` is a list")
        return [_scenario(ticket, file, f"/tickets/{index}") for index, ticket in enumerate(tickets)]
    if isinstance(document, dict) and "steps" in document:
        return [_scenario(document, file, "")]
    raise UsageError(f"{file}: a steps file is a list of steps, or an object with `steps` or `tickets`")


def _scenario(document: Any, file: str, pointer: str) -> Scenario:
    where = f"{file} {pointer}".rstrip()
    if not isinstance(document, dict) or not isinstance(document.get("steps"), list):
        raise UsageError(f"{where}: a scenario is an object with a list under `steps`")
    _only(document, _SCENARIO_KEYS, where)
    start = f"{pointer}/steps" if pointer or len(document) > 1 else ""
    steps = tuple(_step(step, f"{file} {start}/{index}") for index, step in enumerate(document["steps"]))
    return Scenario(document.get("name"), document.get("input", UNDEFINED), steps)


def _step(step: Any, place: str) -> ScriptStep:
    if isinstance(step, str):
        try:
            return ScriptStep(read_doing(step), place=place)
        except UsageError as error:
            raise UsageError(f"{place}: {error}") from None
    if not isinstance(step, dict):
        raise UsageError(
            f'{place}: a step is an object or a string, for example {{"send": {{"type": "GO"}}}}'
        )
    if isinstance(step.get("type"), str):
        return ScriptStep(Doing(SEND, value=step), place=place)
    _only(step, _STEP_KEYS, place)
    verbs = [key for key in step if key in _VERBS]
    if len(verbs) != 1:
        raise UsageError(
            f"{place}: a step does one of {', '.join(_VERBS)}; this one names {', '.join(verbs) or 'none'}"
        )
    return ScriptStep(_doing(step, verbs[0], place), _expectation(step, place), step.get("say"), place)


def _doing(step: dict[str, Any], verb: str, place: str) -> Doing:
    value = step[verb]
    if verb in (SETTLE, STOP):
        return Doing(verb)
    if verb == SEND:
        return Doing(SEND, value=_event(value, place, SEND))
    if verb == ADVANCE:
        return Doing(ADVANCE, value=_milliseconds(value, place))
    if not isinstance(value, str):
        raise UsageError(f"{place}: `{verb}` is the id of an actor, not {value!r}")
    key = VALUE_KEY.get(verb)
    given = step.get(key, UNDEFINED) if key is not None else UNDEFINED
    if key == "event":
        given = _event(given, place, key)
    if verb == "feed" and given is UNDEFINED:
        raise UsageError(f"{place}: `feed` needs a `value`")
    return Doing(verb, value, given)


def _event(value: Any, place: str, key: str) -> dict[str, Any]:
    event = {"type": value} if isinstance(value, str) else value
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise UsageError(f"{place}: `{key}` is an event: a string, or an object with a `type`")
    return event


def _milliseconds(value: Any, place: str) -> float:
    if isinstance(value, str):
        try:
            return parse_duration(value)
        except UsageError as error:
            raise UsageError(f"{place}: {error}") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise UsageError(f'{place}: `advance` is a number of milliseconds, or a text such as "10s"')
    return value


def _expectation(step: dict[str, Any], place: str) -> Mapping[str, Any] | None:
    expect = step.get("expect")
    if expect is None:
        return None
    if not isinstance(expect, dict):
        raise UsageError(f"{place}: `expect` is an object")
    _only(expect, EXPECTATIONS, f"{place}/expect")
    return expect


def _only(document: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in document:
        if key not in known:
            near = nearest(key, known)
            hint = f"; did you mean `{near}`?" if near else f"; known: {', '.join(known)}"
            raise UsageError(f"{where}: there is no `{key}` here{hint}")
