"""Guards that are said to exclude each other never hold together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts.adapters.formats.sismic_chart import Code
from statecharts.adapters.formats.sismic_exclusive import are_exclusive


def exclusive(first: str, second: str) -> bool:
    return are_exclusive(Code(first, 1, ()), Code(second, 1, ()))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("x", "not x", True),
        ("not (x and y)", "x and y", True),
        ("x > 1", "x <= 1", True),
        ("x > y", "x < y", True),
        ("x > y", "y > x and x", True),
        ("x == 'a'", "x == 'b'", True),
        ("x == 'a'", "'b' == x", True),
        ("0 <= x < 5", "x >= 5", True),
        ("x < 3", "4 < x", True),
        ("x in y", "x not in y", True),
        ("x is None", "x is not None", True),
        ("active('a')", "not active('a')", True),
        ("len(x) == 0", "len(x) > 0", True),
        ("False", "x", True),
        ("x > 1", "x < 5", False),
        ("x > 1 or y", "x <= 1", False),
        ("x", "y", False),
        ("x >= 1", "x <= 1", False),
        ("roll() > 1", "roll() <= 1", False),
        ("x.pop()", "not x.pop()", False),
        ("x == 1", "x == 1.0", False),
        ("not python", "x", False),
    ],
)
def test_what_is_told_from_the_text(first: str, second: str, expected: bool) -> None:
    assert exclusive(first, second) is expected
    assert exclusive(second, first) is expected


def test_no_guard_excludes_nothing() -> None:
    assert not are_exclusive(None, Code("x", 1, ()))
    assert not are_exclusive(Code("x", 1, ()), None)


numbers = st.integers(-2, 3).map(str) | st.sampled_from(["0.5", "1.5", "-1.0"])
sides = st.sampled_from(["x", "y"]) | numbers
operators = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
comparisons = st.builds("{} {} {}".format, sides, operators, sides) | st.builds(
    "{} {} {} {} {}".format, numbers, operators, st.sampled_from(["x", "y"]), operators, numbers
)
guards = st.recursive(
    comparisons | st.sampled_from(["x", "y", "True"]),
    lambda inner: st.builds("({}) and ({})".format, inner, inner)
    | st.builds("({}) or ({})".format, inner, inner)
    | st.builds("not ({})".format, inner),
    max_leaves=5,
)


@given(guards, guards)
@settings(max_examples=800)
def test_exclusive_guards_never_hold_together(first: str, second: str) -> None:
    if exclusive(first, second):
        for x in (-3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4):
            for y in (-3, -1, 0, 0.5, 1, 2, 4):
                assert not (eval(first) and eval(second)), (x, y)
