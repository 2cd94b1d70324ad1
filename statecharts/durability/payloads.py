"""What comes from outside, checked and as text, before anything is written."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import PayloadError
from ..json_text import dumps
from ..values import UNDEFINED


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is too much. ``event`` and ``state`` in bytes of UTF-8 text, ``depth`` in levels.

    ``queue``: inbox rows that may wait for one instance. ``deliveries``: events
    the actors of one instance may exchange before they come to rest. ``batch``:
    rows that one decision takes from the queue.
    """

    event: int = 256 * 1024
    state: int = 4 * 1024 * 1024
    result: int = 1024 * 1024
    depth: int = 64
    queue: int = 1_000
    deliveries: int = 10_000
    batch: int = 64


def checked_text(value: Any, what: str, size: int, depth: int) -> str:
    """``value`` as JSON text. Raises :class:`PayloadError` naming the place of what JSON cannot hold, or what is too much."""
    _check(value, what, "", depth)
    text = dumps(value)
    length = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if length > size:
        raise PayloadError(f"{what} has {length} bytes as JSON; {size} are allowed. Store large data elsewhere and send a reference")
    return text


def _check(value: Any, what: str, place: str, depth: int) -> None:
    if depth < 0:
        raise PayloadError(f"{what} is nested too deeply at {place[:80]!r}")
    kind = type(value)
    if kind is str:
        _check_text(value, what, place)
    elif value is None or kind is bool or kind is int:
        return
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise PayloadError(f"{what} holds {value!r} at {place or '/'!r}, which JSON does not have; send null or a string")
    elif isinstance(value, Mapping):
        for key, member in value.items():
            if not isinstance(key, str):
                raise PayloadError(f"{what} has the key {key!r} at {place or '/'!r}; keys are strings")
            _check_text(key, what, place)
            if member is not UNDEFINED:
                _check(member, what, f"{place}/{_escaped(key)}", depth - 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, what, f"{place}/{index}", depth - 1)
    elif isinstance(value, (str, int)):
        _check_text(str(value), what, place)
    elif value is not UNDEFINED:
        raise PayloadError(f"{what} holds {kind.__name__} at {place or '/'!r}, which is not JSON")


def _check_text(text: str, what: str, place: str) -> None:
    if text.isascii():
        if "\0" in text:
            raise PayloadError(f"{what} holds a NUL character at {place or '/'!r}, which PostgreSQL cannot keep")
        return
    for character in text:
        if "\ud800" <= character <= "\udfff" or character == "\0":
            raise PayloadError(f"{what} holds the character {character!r} at {place or '/'!r}, which is not valid text")


def storable(text: str) -> str:
    """``text``, such as an exception's message, with what no store can keep written as an escape."""
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text.replace("\0", "\\0")


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def digest(text: str) -> str:
    """SHA-256 of ``text``."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
