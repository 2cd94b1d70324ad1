"""Reading what is typed at the prompt: events, and commands that do something."""

from __future__ import annotations

import json
import re
from typing import Any

from ..errors import UsageError
from ..json_text import loads
from ..values import UNDEFINED
from .doings import (
    ADVANCE,
    BREAK_OFF,
    COMPLETE,
    FEED,
    REJECT,
    RESOLVE,
    RUN,
    SEND,
    SEND_BACK,
    SEND_TO,
    SETTLE,
    STOP,
    Doing,
)
from .durations import parse_duration

_VERB_OF = {
    ":resolve": RESOLVE,
    ":reject": REJECT,
    ":feed": FEED,
    ":complete": COMPLETE,
    ":break-off": BREAK_OFF,
    ":run": RUN,
    ":send-back": SEND_BACK,
    ":send-to": SEND_TO,
    ":advance": ADVANCE,
    ":settle": SETTLE,
    ":stop": STOP,
}
DOING_COMMANDS = tuple(_VERB_OF)
_KEY = re.compile(r"([^\s=\"{}\[\]]+)=")
_WORD = re.compile(r"\S+")
_DECODER = json.JSONDecoder()


def read_doing(line: str) -> Doing:
    """What a line asks for. Raises :class:`UsageError` when it cannot be read."""
    text = line.strip()
    if not text.startswith(":"):
        return Doing(SEND, value=read_event(text))
    command, rest = split_word(text)
    verb = _VERB_OF.get(command)
    if verb is None:
        raise UsageError(f"{command} is not something to do here")
    if verb in (SETTLE, STOP):
        _nothing(rest, command)
        return Doing(verb)
    if verb == ADVANCE:
        return Doing(ADVANCE, value=parse_duration(rest))
    actor, rest = _name(rest, command)
    if verb in (COMPLETE, RUN):
        _nothing(rest, command)
        return Doing(verb, actor)
    if verb in (SEND_BACK, SEND_TO):
        return Doing(verb, actor, read_event(rest))
    if verb == FEED and not rest:
        raise UsageError(f":feed needs a value: :feed {actor} 1")
    return Doing(verb, actor, read_value(rest) if rest else UNDEFINED)


def split_word(text: str) -> tuple[str, str]:
    """The first word and what follows it."""
    parts = text.split(None, 1)
    return (parts[0] if parts else ""), (parts[1].strip() if len(parts) > 1 else "")


def _name(text: str, command: str) -> tuple[str, str]:
    """An actor's id; in double quotes when there are spaces in it."""
    if text.startswith('"'):
        value, end = _decode(text, 0)
        return str(value), text[end:].strip()
    name, rest = split_word(text)
    if not name:
        raise UsageError(f"{command} needs the id of an actor; :children lists them")
    return name, rest


def _nothing(rest: str, command: str) -> None:
    if rest:
        raise UsageError(f"{command} takes nothing after it here, not {rest!r}")


def read_value(text: str) -> Any:
    """A JSON value."""
    try:
        return loads(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not JSON ({error}); strings stand in double quotes") from None


def read_event(text: str) -> dict[str, Any]:
    """``EVENT``, ``EVENT {json}``, ``EVENT key=value …``, ``"two words" …`` or a whole ``{"type": …}``."""
    wanted = text.strip()
    if not wanted:
        raise UsageError("which event?")
    if wanted.startswith("{"):
        event = read_value(wanted)
        if not isinstance(event.get("type"), str):
            raise UsageError('an event written as JSON has a string under "type"')
        return dict(event)
    if wanted.startswith('"'):
        kind, end = _decode(wanted, 0)
        rest = wanted[end:].strip()
    else:
        kind, rest = split_word(wanted)
    data = _data(rest)
    if "type" in data:
        raise UsageError("an event's type is its first word; take `type` out of the data")
    return {"type": kind, **data}


def _data(text: str) -> dict[str, Any]:
    if text.startswith("{"):
        data = read_value(text)
        return dict(data)
    data, at = {}, 0
    while at < len(text):
        key = _KEY.match(text, at)
        if key is None:
            raise UsageError(f"{text[at:]!r} is neither key=value nor a JSON object")
        data[key[1]], at = _member(text, key.end())
        while at < len(text) and text[at].isspace():
            at += 1
    return data


def read_pair(word: str) -> tuple[str, Any]:
    """``key=value`` as a shell hands it over, in one piece: JSON where it is JSON, else the rest as a string."""
    key = _KEY.match(word)
    if key is None:
        raise UsageError(f"{word!r} is not key=value; several words go in quotes, other data under --data")
    text = word[key.end() :]
    try:
        return key[1], loads(text)
    except ValueError:
        return key[1], text


def _member(text: str, at: int) -> tuple[Any, int]:
    """The value after ``key=``: JSON where it is JSON, else the word as a string."""
    if text[at : at + 1] in ('"', "{", "["):
        return _decode(text, at)
    word = _WORD.match(text, at)
    if word is None:
        return "", at
    try:
        return loads(word[0]), word.end()
    except ValueError:
        return word[0], word.end()


def _decode(text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError as error:
        raise UsageError(f"{text[at:]!r} is not JSON: {error}") from None
    return value, end
