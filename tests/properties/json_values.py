"""Values as a machine may hold them, what JavaScript would write of them, and JSON texts, odd ones among them."""

from __future__ import annotations

import enum
import json
import math
from collections import OrderedDict
from typing import Any

from hypothesis import strategies as st

from statecharts.values import UNDEFINED, FrozenDict, FrozenList, js_number


class Colour(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Own:
    def to_json(self) -> Any:
        return {"b": 1, "0": UNDEFINED}


ODD = (
    None, True, False, UNDEFINED, 0, -1, 1.0, -0.0, 1.5, 1e21, 1e-7, math.nan, math.inf, 2**53, 2**53 + 1, -(2**60), 10**30,
    "", "a", "1", "true", "é", "\u2028", "\ud800", "\udfff\ud800", '"\\\n\x00\x7f', Colour.RED, Level.HIGH, Own(), ValueError("x"), len,
)  # fmt: skip
KEYS = ("a", "b", "", "0", "1", "10", "01", "-1", "4294967295", "9a", "Z", " ", "é", "\ud800", '"', "null", "true")


def kinds(members: list[Any] | dict[str, Any]) -> list[Any]:
    """The same in each type that holds it."""
    return [members, FrozenDict(members), OrderedDict(members)] if isinstance(members, dict) else [members, FrozenList(members), tuple(members)]


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    many = st.integers(0, 12)
    lists = many.flatmap(lambda size: st.lists(inner, max_size=size))
    objects = many.flatmap(lambda size: st.dictionaries(st.sampled_from(KEYS) | st.text("ab1", max_size=3), inner, max_size=size))
    return (lists | objects).flatmap(lambda members: st.sampled_from(kinds(members)))


values = st.recursive(st.sampled_from(ODD) | st.text(max_size=4) | st.integers() | st.floats(), containers, max_leaves=25)
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text("aé1", max_size=3),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text("ab0", max_size=2), inner, max_size=12),
    max_leaves=25,
)


def is_index(key: str) -> bool:
    """ECMA-262's array index: a canonical number below 2**32 - 1."""
    return key.isascii() and key.isdigit() and str(int(key)) == key and int(key) < 2**32 - 1


def ordered(keys: Any) -> list[str]:
    """``keys`` as JavaScript enumerates them."""
    return sorted(filter(is_index, keys), key=int) + [key for key in keys if not is_index(key)]


def stringified(value: Any) -> str | None:
    """``JSON.stringify(value)``, clause by clause; None for what it leaves out."""
    if isinstance(value, Own):
        return stringified(value.to_json())
    if isinstance(value, enum.Enum):
        return stringified(int(value) if isinstance(value, int) else str(value))
    if value is UNDEFINED or callable(value):
        return None
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return js_number(value) if abs(float(js_number(value))) < math.inf else "null"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if value.isprintable() else quoted(value)
    if isinstance(value, BaseException):
        return "{}"
    if isinstance(value, dict):
        members = [(key, stringified(value[key])) for key in ordered(value)]
        return "{" + ",".join(f"{quoted(key)}:{text}" for key, text in members if text is not None) + "}"
    return "[" + ",".join(stringified(item) or "null" for item in value) + "]"


SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quoted(text: str) -> str:
    """ECMA-262 QuoteJSONString."""
    return '"' + "".join(SHORT.get(c) or (f"\\u{ord(c):04x}" if c < " " or "\ud800" <= c <= "\udfff" else c) for c in text) + '"'


@st.composite
def texts(draw: st.DrawFn) -> str:
    """JSON texts: compact or not, with escapes or without, some of them broken."""
    value = draw(plain_values | values.map(lambda value: json.loads(stringified(value) or "null")))
    text = json.dumps(
        value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])),
        separators=draw(st.sampled_from([(",", ":"), (" , ", " : ")])),
    )  # fmt: skip
    change = draw(st.sampled_from(["", "", "", "cut", "insert"]))
    place = draw(st.integers(0, len(text)))
    if change == "cut":
        return text[:place]
    inserted = ("NaN", "1e999", "\\u0031", '"1":', "[", "}", " ", "12345678901234567890", "-Infinity", "\ufeff", '{"2":1,"1":2}')
    return text[:place] + draw(st.sampled_from(inserted)) + text[place:] if change else text
