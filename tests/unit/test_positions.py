"""JSON text: lines of values, keys that come twice, and messages for text that is no JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts.adapters.formats.positions import read_json
from statecharts.errors import DefinitionError

TEXT = """{
  "id": "m",
  "states": {
    "b/c": {},
    "2": {"on": [
      1,
      {"x~y": null}]},
    "1": {}
  }
}
"""


def test_lines() -> None:
    text = read_json(TEXT)
    wanted = {"": 1, "/id": 2, "/states": 3, "/states/b~1c": 4, "/states/2/on": 5, "/states/2/on/0": 6}
    wanted |= {"/states/2/on/1/x~0y": 7, "/states/1": 8}
    assert {pointer: text.line_of(pointer) for pointer in wanted} == wanted
    assert text.line_of("/nothing") is None
    assert text.line_of("/states/2/on/2") is None
    assert text.problems == ()


def test_objects_come_in_javascript_order() -> None:
    assert list(read_json(TEXT).data["states"]) == ["1", "2", "b/c"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_kind_of_newline_and_a_byte_order_mark(newline: str) -> None:
    text = read_json("\ufeff" + TEXT.replace("\n", newline))
    assert text.line_of("/states/1") == 8
    assert text.data == read_json(TEXT).data


def test_duplicate_keys() -> None:
    text = read_json('{"a": {"x": 1},\n "b": [{"k": 1,\n "k": 2}],\n "a": {"y": 2}}', "m.json")
    assert text.data == {"a": {"y": 2}, "b": [{"k": 2}]}
    assert [(p.code, p.pointer, p.line, p.file) for p in text.problems] == [
        ("duplicate-key", "/b/0/k", 3, "m.json"),
        ("duplicate-key", "/a", 4, "m.json"),
    ]
    assert "lines 1 and 4" in text.problems[1].message
    assert text.line_of("/a") == 4
    assert text.line_of("/a/x") is None


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "empty"),
        (" \n", 2, 1, "empty"),
        ("{", 1, 2, "not closed"),
        ('{"a": "b', 1, 7, "not closed"),
        ('{"a": 1,}', 1, 9, "comma"),
        ("[1,\n]", 2, 1, "comma"),
        ("{a: 1}", 1, 2, "double quotes"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ("// note\n{}", 1, 1, "comments"),
        ('{"a": NaN}', 1, 7, "no such value"),
        ('{\n"a":\n -Infinity}', 3, 2, "no such value"),
        ('{"a": undefined}', 1, 7, "no such value"),
        ("export const m = {}", 1, 1, "JavaScript"),
        ('{"a": 1e999}', 1, 7, ""),
        ("[1 2]", 1, 4, "missing"),
        ('{"a" 1}', 1, 6, "missing"),
        ('{"a": 1,\n"b": 2,\n"c"}', 3, 4, "missing"),
        ('{"a": 1}}', 1, 9, ""),
        ("01", 1, 2, ""),
        ('"\x01"', 1, 2, ""),
        ('[1, "a" "b"]', 1, 9, ""),
        ('{"a": 1, "b" "c"}', 1, 14, ""),
    ],
)
def test_text_that_is_no_json(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_json(text, "m.json")
    (problem,) = caught.value.problems
    assert (problem.code, problem.pointer, problem.line, problem.file) == ("json-syntax", "", line, "m.json")
    assert f"line {line}, column {column}" in problem.message
    assert words in (problem.hint or "")


def test_deep_documents_are_read() -> None:
    depth = 5000
    text = read_json('{"a":\n' * depth + "1" + "}" * depth)
    value = text.data
    for _ in range(depth):
        value = value["a"]
    assert value == 1
    assert text.line_of("/a" * depth) == depth
    assert read_json('{"b": 1, "b": 2, "a": ' + "[" * depth + "]" * depth + "}").problems[0].pointer == "/b"
    for broken in ("", '{"a" 1}', "{a: 1}", "[1 2]", "}"):
        with pytest.raises(DefinitionError):
            read_json("[" * depth + broken)


def test_numbers_are_javascripts() -> None:
    data = read_json(
        "[9007199254740992, 9007199254740993, -0, 1.0, 1e2, 123456789012345678901234567890]"
    ).data
    assert data == [9007199254740992, 9007199254740992.0, 0, 1.0, 100.0, 1.2345678901234568e29]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


def check_lines(value: Any, pointer: str, text: Any) -> None:
    line = text.line_of(pointer)
    assert line is not None
    if isinstance(value, dict):
        for key, member in value.items():
            place = pointer + "/" + key.replace("~", "~0").replace("/", "~1")
            assert json.dumps(key) in text.text.splitlines()[text.line_of(place) - 1]
            check_lines(member, place, text)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            check_lines(member, f"{pointer}/{index}", text)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(json_values)
def test_every_value_has_a_line(value: Any) -> None:
    text = read_json(json.dumps(value, indent=1))
    assert text.data == value
    check_lines(value, "", text)
