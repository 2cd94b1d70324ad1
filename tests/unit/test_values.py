"""JavaScript's values in Python: numbers as text, key order, absence, frozen data."""

from __future__ import annotations

import copy
import enum
import json
import math
import pickle
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from statecharts.errors import UsageError
from statecharts.json_text import dumps, loads
from statecharts.values import (
    EMPTY_OBJECT,
    UNDEFINED,
    FrozenDict,
    FrozenList,
    Undefined,
    freeze,
    is_array_index,
    is_flat,
    js_keys,
    js_number,
    js_ordered,
    js_to_number,
    plain,
    thaw,
    truthy,
)

# What `String(value)` is under Node.
NUMBERS: list[tuple[int | float, str]] = [
    (0, "0"),
    (-0.0, "0"),
    (1, "1"),
    (1.0, "1"),
    (-1.5, "-1.5"),
    (0.1, "0.1"),
    (0.1 + 0.2, "0.30000000000000004"),
    (123456789.125, "123456789.125"),
    (1e-6, "0.000001"),
    (1e-7, "1e-7"),
    (1.5e-7, "1.5e-7"),
    (-1e-7, "-1e-7"),
    (1e20, "100000000000000000000"),
    (1e21, "1e+21"),
    (1.25e21, "1.25e+21"),
    (123456789012345680000.0, "123456789012345680000"),
    (5e-324, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
    (9007199254740992, "9007199254740992"),
    (9007199254740993, "9007199254740992"),
    (-9007199254740993, "-9007199254740992"),
    (10**22, "1e+22"),
    (10**400, "Infinity"),
    (-(10**400), "-Infinity"),
    (math.nan, "NaN"),
    (math.inf, "Infinity"),
    (-math.inf, "-Infinity"),
]


@pytest.mark.parametrize(("value", "text"), NUMBERS, ids=[text for _, text in NUMBERS])
def test_numbers_print_as_javascript_prints_them(value: float, text: str) -> None:
    assert js_number(value) == text


# What `Number(text)` is under Node.
TEXTS: list[tuple[str, float]] = [
    ("", 0),
    ("  \u00a0\ufeff\n", 0),
    ("10", 10),
    (" 10 ", 10),
    ("+1.50", 1.5),
    ("-.5e1", -5),
    ("1.", 1),
    ("0x1F", 31),
    ("0o17", 15),
    ("0B101", 5),
    ("Infinity", math.inf),
    ("+Infinity", math.inf),
    ("-Infinity", -math.inf),
    ("1e21", 1e21),
    ("1e400", math.inf),
]
NO_NUMBERS = ["x", "1x", "1_000", "0x", "0xG", "0x1_0", "infinity", "--Infinity", "1 2", "\u0661", ".", "1e", "-0x1"]


@pytest.mark.parametrize(("text", "number"), TEXTS)
def test_texts_become_numbers_as_in_javascript(text: str, number: float) -> None:
    assert js_to_number(text) == number


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_other_texts_are_nan(text: str) -> None:
    assert math.isnan(js_to_number(text))


def test_whole_numbers_are_ints() -> None:
    assert type(js_to_number("1000")) is int
    assert type(js_to_number("1e21")) is float


@pytest.mark.parametrize(
    ("key", "is_index"),
    [
        ("0", True),
        ("7", True),
        ("4294967294", True),
        ("4294967295", False),
        ("42949672940", False),
        ("01", False),
        ("-1", False),
        ("1.0", False),
        ("1a", False),
        ("", False),
        ("a", False),
        ("1\u0661", False),
    ],
)
def test_which_keys_count_as_integers(key: str, is_index: bool) -> None:
    assert is_array_index(key) is is_index


def test_integer_keys_come_first_in_ascending_order() -> None:
    assert js_keys(["b", "10", "a", "2", "01"]) == ["2", "10", "b", "a", "01"]
    assert js_keys(["b", "1x", "a"]) == ["b", "1x", "a"]
    assert list(js_ordered({"b": 0, "1": 1})) == ["1", "b"]
    unchanged = {"b": 0, "a": 1}
    assert js_ordered(unchanged) is unchanged
    assert list(freeze({"z": {"b": 0, "3": 1}, "1": 2})) == ["1", "z"]
    assert list(freeze({"z": {"b": 0, "3": 1}})["z"]) == ["3", "b"]
    assert list(loads('{"z":{"b":0,"3":1},"1":2}')) == ["1", "z"]


# ------------------------------------------------------------------ undefined


def test_undefined_is_one_value_and_false() -> None:
    assert Undefined() is UNDEFINED
    assert not UNDEFINED
    assert repr(UNDEFINED) == "UNDEFINED"
    assert pickle.loads(pickle.dumps(UNDEFINED)) is UNDEFINED
    assert copy.copy(UNDEFINED) is copy.deepcopy(UNDEFINED) is UNDEFINED


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        (True, True),
        (False, False),
        (None, False),
        (UNDEFINED, False),
        (0, False),
        (0.0, False),
        (math.nan, False),
        (2, True),
        ("", False),
        ("0", True),
        ({}, True),
        ([], True),
    ],
)
def test_truth_is_javascripts(value: Any, truth: bool) -> None:
    assert truthy(value) is truth


# --------------------------------------------------------------------- frozen


def test_freezing_goes_all_the_way_down_and_shares_what_is_frozen() -> None:
    inner = freeze([1, {"a": (2, 3)}])
    outer = freeze({"inner": inner, "other": {"x": [1]}})
    assert outer["inner"] is inner
    assert type(outer["other"]["x"]) is FrozenList
    assert type(inner[1]["a"]) is FrozenList
    assert freeze(outer) is outer
    assert outer == {"inner": [1, {"a": [2, 3]}], "other": {"x": [1]}}


def test_other_mappings_and_sequences_freeze_too() -> None:
    class Stack(list[Any]):
        pass

    assert type(freeze(MappingProxyType({"a": 1}))) is FrozenDict
    assert type(freeze({"a": OrderedDict(b=Stack([1]))})["a"]["b"]) is FrozenList
    assert freeze([OrderedDict(b=1)]) == [{"b": 1}]


def test_keys_must_be_strings_and_values_finite() -> None:
    with pytest.raises(UsageError, match="object keys are strings in JSON, not int: 1"):
        freeze({1: "x"})
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(UsageError, match="contains itself"):
        freeze(loop)


MUTATIONS = [
    *(
        pytest.param(kind, name, args, id=f"{kind}.{name}")
        for kind, name, args in [
            ("dict", "__setitem__", ("a", 1)),
            ("dict", "__delitem__", ("a",)),
            ("dict", "__ior__", ({},)),
            ("dict", "clear", ()),
            ("dict", "pop", ("a",)),
            ("dict", "popitem", ()),
            ("dict", "setdefault", ("b", 1)),
            ("dict", "update", ({},)),
            ("list", "__setitem__", (0, 1)),
            ("list", "__delitem__", (0,)),
            ("list", "__iadd__", ([],)),
            ("list", "__imul__", (2,)),
            ("list", "append", (1,)),
            ("list", "extend", ([],)),
            ("list", "insert", (0, 1)),
            ("list", "pop", ()),
            ("list", "remove", (1,)),
            ("list", "clear", ()),
            ("list", "sort", ()),
            ("list", "reverse", ()),
        ]
    )
]


@pytest.mark.parametrize(("kind", "name", "args"), MUTATIONS)
def test_every_mutator_raises_and_says_what_to_do(kind: str, name: str, args: tuple[Any, ...]) -> None:
    value = freeze({"a": 1}) if kind == "dict" else freeze([1, 2])
    before = json.dumps(value)
    noun = "an object" if kind == "dict" else "a list"
    with pytest.raises(TypeError, match=f"{noun} inside a machine cannot be changed; an update returns"):
        getattr(value, name)(*args)
    assert json.dumps(value) == before


def test_every_mutator_of_dict_and_list_is_covered() -> None:
    covered = {(str(param.values[0]), str(param.values[1])) for param in MUTATIONS}
    reading = {"copy", "get", "items", "keys", "values", "fromkeys", "count", "index"}
    for kind in (dict, list):
        public = {name for name in dir(kind) if not name.startswith("_")} - reading
        assert {(kind.__name__, name) for name in public} <= covered


@pytest.mark.parametrize("value", [freeze({"a": [1, {"b": None}]}), freeze([1, {"b": []}]), EMPTY_OBJECT])
def test_frozen_values_pickle_copy_compare_and_print(value: Any) -> None:
    again = pickle.loads(pickle.dumps(value))
    assert again == value and type(again) is type(value)
    with pytest.raises(TypeError):
        again.clear()
    assert copy.copy(value) is value and copy.deepcopy(value) is value
    assert value == thaw(value) and thaw(value) == value
    assert json.loads(json.dumps(value)) == value
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)


def test_thaw_gives_an_independent_copy() -> None:
    frozen = freeze({"a": [1, (2,)]})
    mine = thaw(frozen)
    mine["a"][1].append(3)
    assert (mine, frozen) == ({"a": [1, [2, 3]]}, {"a": [1, [2]]})
    assert type(mine) is dict and type(mine["a"]) is list


# ----------------------------------------------------------------------- JSON


class Color(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 2


class Point:
    def to_json(self) -> Any:
        return {"x": 1, "gone": UNDEFINED}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": UNDEFINED, "b": None}, {"b": None}),
        ([UNDEFINED, print, 1], [None, None, 1]),
        ({"f": print}, {}),
        ([math.nan, math.inf, -math.inf], [None, None, None]),
        ([1.0, -2.0, 1e21, 0.5], [1, -2, 1e21, 0.5]),
        ([2**53 + 1, 10**22], [2**53, 1e22]),
        ([ValueError("x")], [{}]),
        ([Color.RED, Level.HIGH, True], ["red", 2, True]),
        ((Point(),), [{"x": 1}]),
        ({"b": 1, "2": 2}, {"2": 2, "b": 1}),
    ],
)
def test_plain_loses_what_json_stringify_loses(value: Any, expected: Any) -> None:
    found = plain(value)
    assert found == expected
    assert json.dumps(found) == json.dumps(expected)


def test_plain_undefined_is_undefined_and_strangers_are_refused() -> None:
    assert plain(UNDEFINED) is UNDEFINED
    with pytest.raises(UsageError, match=r"set is not a JSON value: \{1\}.*convert it first"):
        plain({"a": {1}})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (UNDEFINED, "null"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ({"a": 1.0, "b": [1e21, "x"], "1": {}}, '{"1":{},"a":1,"b":[1e+21,"x"]}'),
        ([], "[]"),
        ("ä\u2028\n\"", '"ä\u2028\\n\\""'),
        ("\ud800x", '"\\ud800x"'),
        ({"\udc00": 0}, '{"\\udc00":0}'),
    ],
)
def test_dumps_writes_what_json_stringify_writes(value: Any, text: str) -> None:
    assert dumps(value) == text


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a":-Infinity}', "{", "[1,]"])
def test_loads_refuses_what_json_parse_refuses(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        loads(text)


def test_loads_reads_numbers_as_javascript_does() -> None:
    assert loads("[1, 1.5, 9007199254740993, 123456789012345678901234567890]") == [
        1,
        1.5,
        9007199254740992.0,
        1.2345678901234568e29,
    ]
    assert loads("9007199254740991") == 9007199254740991
    assert loads("1" * 500) == math.inf


def test_flat_objects_hold_texts_under_names_that_keep_their_order() -> None:
    names = [f"k{i}" for i in range(12)]
    assert is_flat(dict.fromkeys(names, "x"))
    assert not is_flat({**dict.fromkeys(names, "x"), "n": 1})
    assert not is_flat({**dict.fromkeys(names, "x"), "1": "x"})
    assert not is_flat(dict.fromkeys([*names, 7], "x")), "a name that is no text"
