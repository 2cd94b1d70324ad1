"""JSON is written and read as JavaScript does it, whichever way is taken."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from json_values import ordered, plain_values, stringified, texts, values

from statecharts.json_text import dumps, loads
from statecharts.values import UNDEFINED, freeze, plain


@given(values | plain_values)
@settings(max_examples=250)
@example({str(key): "a" for key in range(20)})
@example({f"k{key}": "a" for key in range(20)})
@example([*"abcdefghijk", 1.5])
def test_what_is_written_is_what_javascript_writes(value: Any) -> None:
    expected = stringified(value)
    assert dumps(value) == (expected or "null")
    kept = plain(value)
    if expected is None:
        assert kept is UNDEFINED
        return
    assert dumps(kept) == expected
    assert freeze(kept) == kept
    assert dumps(freeze(kept)) == expected


near_limits = st.sampled_from([1e-4, 1e-6, 1e-7, 1e15, 1e16, 1e21, 2.0**52, 2.0**53]).flatmap(
    lambda limit: st.sampled_from([limit, math.nextafter(limit, 0), math.nextafter(limit, math.inf), limit + 0.5, -limit])
)


@given(st.floats() | near_limits | st.floats(-1e16, 1e16) | st.integers(-(2**54), 2**54), st.sampled_from(["x", 1, None, True]))
@settings(max_examples=400)
@example(1.5, "x")
def test_a_number_is_written_as_javascript_writes_it_wherever_it_stands(number: Any, beside: Any) -> None:
    small = {"a": beside, "b": number}
    large = {**{f"k{key}": beside for key in range(9)}, "b": number}
    for value in (small, large, [number, beside], [small] * 9, {"in": small}, {"in": [number]}):
        assert dumps(value) == dumps(freeze(value)) == stringified(value)


def told(read: Any) -> Any:
    """A value with the types of its numbers and the order of its keys, or the error that there is instead."""
    if isinstance(read, dict):
        return [(key, told(member)) for key, member in read.items()]
    return [told(member) for member in read] if isinstance(read, list) else (type(read), read)


def by_the_book(text: str) -> Any:
    def number(digits: str) -> int | float:
        found = int(digits)
        return found if abs(found) <= 2**53 else float(found)

    def member(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        return {key: found[key] for key in ordered(found)}

    def refuse(constant: str) -> Any:
        raise json.JSONDecodeError(f"{constant} is not JSON", constant, 0)

    return json.loads(text, object_pairs_hook=member, parse_int=number, parse_constant=refuse)


def outcome(read: Any, text: str) -> Any:
    try:
        return told(read(text))
    except json.JSONDecodeError as error:
        return str(error)


@given(texts())
@settings(max_examples=300)
@example('{"b":1,"\\u0031":2}')
@example('{"b":1,"1" :2}')
@example('{"b":1,"1"\n:2}')
@example('{"a":{"b":1,"b":2,"a":9007199254740993,"c":900719925474099}}')
@example('{"a":1} x')
@example(' {"a":1}')
def test_what_is_read_is_what_javascript_reads(text: str) -> None:
    assert outcome(loads, text) == outcome(by_the_book, text)
