"""JSON text as JavaScript writes and reads it: ``JSON.stringify`` and ``JSON.parse``.

Python's C encoder and scanner do the work wherever they give the same result;
what needs care (key order, numbers, lone surrogates, ``undefined``) is found
first and goes the long way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from .values import (
    INERT,
    MAX_SAFE,
    UNDEFINED,
    FrozenDict,
    FrozenList,
    is_array_index,
    is_flat,
    js_number,
    js_ordered,
    plain,
)

_escape = json.encoder.encode_basestring
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))
_make_encoder: Any = getattr(json.encoder, "c_make_encoder", None)
_encode: Callable[[Any, int], Iterable[str]] = (
    (lambda value, _level: _ENCODER.iterencode(value))
    if _make_encoder is None
    else _make_encoder(None, _ENCODER.default, _escape, None, ":", ",", False, False, False)
)


def dumps(value: Any) -> str:
    """``JSON.stringify(value)``: no spaces, JavaScript numbers, non-ASCII kept.

    ``dumps(UNDEFINED)`` is ``"null"``.
    """
    kind = type(value)
    if (kind is FrozenDict or kind is dict) and len(value) <= _FEW:
        text = _written_quickly(value)
        if text:
            return text if text.isascii() else _well_formed(text)
    if _is_alike(value):
        # the encoder asks a subclass of dict for its items, which takes long
        text = "".join(_encode({**value} if kind is FrozenDict else value, 0))
        return text if text.isascii() else _well_formed(text)
    out: list[str] = []
    _write(plain(value), out.append)
    return "".join(out)


_FEW: Final = 8
"""Up to so many members an object is written sooner one by one than it is looked over and then encoded."""


def _written_quickly(value: dict[Any, Any]) -> str:
    """A small object, whose members take no care; nothing when one of them does. Lone surrogates are left as they are."""
    text = ""
    for key, member in value.items():
        kind = type(member)
        if kind is str:
            written = _escape(member)
        elif kind is int and -MAX_SAFE <= member <= MAX_SAFE:
            written = str(member)
        elif kind is bool or member is None:
            written = "null" if member is None else "true" if member else "false"
        elif kind is float and _is_fraction(member):
            written = repr(member)
        elif _is_alike(member):
            written = "".join(_encode(member, 0))
        else:
            return ""
        if type(key) is not str or ("0" <= key[:1] <= "9" and is_array_index(key)):
            return ""
        text = f"{text},{_escape(key)}:{written}" if text else f"{{{_escape(key)}:{written}"
    return text + "}" if text else "{}"


def _is_alike(value: Any) -> bool:
    """Whether Python's and JavaScript's JSON of an object or list are one text.

    True of nothing but exact types, keys that no JavaScript engine would move,
    and numbers that both write the same; so also of no object that comes
    from an ``int`` or ``str`` of one's own.
    """
    kind = type(value)
    if kind is dict or kind is FrozenDict:
        if len(value) > 8 and is_flat(value):
            return True
        for key in value:
            if type(key) is not str or ("0" <= key[:1] <= "9" and is_array_index(key)):
                return False
        members: Iterable[Any] = value.values()
    elif kind is list or kind is FrozenList:
        if len(value) > 8 and INERT.issuperset(map(type, value)):
            return True
        members = value
    else:
        return False
    for member in members:
        kind = type(member)
        if kind in INERT or (kind is int and -MAX_SAFE <= member <= MAX_SAFE):
            continue
        if not (_is_fraction(member) if kind is float else _is_alike(member)):
            return False
    return True


def _is_fraction(value: float) -> bool:
    """Whether a number is none that JavaScript writes as an integer, and neither language with an exponent."""
    return 1e-4 <= abs(value) < 1e15 and value % 1 != 0


def _write(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, str):
        put(_write_string(value))
    elif value is None or value is UNDEFINED:
        put("null")
    elif value is True or value is False:
        put("true" if value else "false")
    elif isinstance(value, (int, float)):
        put(js_number(value))
    elif isinstance(value, dict):
        put("{")
        for index, key in enumerate(value):
            put(("," if index else "") + _write_string(key) + ":")
            _write(value[key], put)
        put("}")
    else:
        put("[")
        for index, item in enumerate(value):
            if index:
                put(",")
            _write(item, put)
        put("]")


def _write_string(text: str) -> str:
    return _well_formed(_escape(text))


def _well_formed(written: str) -> str:
    """JSON text in which lone surrogates are escaped (ECMA-262 QuoteJSONString)."""
    if written.isascii():
        return written
    try:
        written.encode()
    except UnicodeEncodeError:
        return "".join([f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in written])
    return written


def loads(text: str) -> Any:
    """``JSON.parse(text)``: objects in JavaScript key order at every depth.

    Raises ``json.JSONDecodeError`` with line and column; NaN and infinities
    are refused, as in JavaScript.
    """
    if type(text) is str and text[:1] in ("{", "[") and "\\u003" not in text and _INDEX.search(text) is None:
        try:
            value, end = scan(text, 0)
            if end == len(text):
                return value
        except (ValueError, StopIteration):  # told below, with its place
            pass
    return json.loads(
        text, object_pairs_hook=_ordered_object, parse_constant=_refuse_constant, parse_int=_parse_int
    )


_INDEX = re.compile(r'"[0-9]+"\s*:', re.ASCII)
"""Finds every key that JavaScript may move to the front, unless an escaped digit (``\\u003…``) hides it."""


def _ordered_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return js_ordered(dict(pairs))


def _parse_int(text: str) -> int | float:
    if len(text) < 16:
        return int(text)
    if len(text) > 17:  # too long for a safe integer, perhaps too long for int()
        return float(text)
    number = int(text)
    return number if -MAX_SAFE <= number <= MAX_SAFE else float(text)


def _refuse_constant(text: str) -> NoReturn:
    raise json.JSONDecodeError(f"{text} is not JSON", text, 0)


scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_parse_int
).scan_once  # type: ignore[attr-defined]
"""The JSON value that begins at a place in a text, and where it ends; keys of objects are in the text's order.

Raises ``ValueError`` and ``StopIteration``.
"""
