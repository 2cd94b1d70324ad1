"""What is wrong with a file is said with its line, in plain words, all at once."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sismic_random import random_chart

from statecharts.adapters.formats.sismic import read_definition
from statecharts.errors import DefinitionError, Problem, UsageError
from statecharts.validation import check_document


def problems_of(text: str, **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(DefinitionError) as caught:
        read_definition(text, file="chart.yaml", **options)
    assert all(problem.file == "chart.yaml" for problem in caught.value.problems)
    return caught.value.problems


def chart(states: str, root: str = "", top: str = "") -> str:
    """A chart whose states start on line 6."""
    return f"statechart:\n  name: chart\n{top}  root state:\n    name: root\n{root}    initial: a\n    states:\n{states}"


YAML_FAULTS = {
    "tabs": ("statechart:\n\tname: x\n", 2),
    "colon in code": ("statechart:\n  name: x\n  preamble: x = {1: 2} if y else z: 3\n", 3),
    "open bracket": ("statechart: [1\n", 2),
    "twice": ("statechart:\n  name: x\n  name: y\n", 3),
    "a tag that makes objects": ("statechart: !!python/object:os.system x\n", 1),
    "two documents": ("a: 1\n---\nb: 2\n", 2),
    "an impossible date": ("statechart:\n  name: 2024-13-45\n", None),
    "a value in itself": ("statechart: &x\n  - *x\n", None),
    "laughs": (
        "a: &a [1,1,1,1,1,1,1,1,1]\n"
        + "".join(f"{n}: &{n} [{','.join(['*' + p] * 9)}]\n" for p, n in zip("abcdefg", "bcdefgh", strict=True)),
        None,
    ),
}


@pytest.mark.parametrize(("text", "line"), YAML_FAULTS.values(), ids=YAML_FAULTS)
def test_broken_yaml_is_one_problem_with_its_line(text: str, line: int | None) -> None:
    (problem,) = problems_of(text)
    assert problem.code == "yaml-syntax"
    assert problem.line == line
    assert problem.message.startswith("This is not YAML")


SHAPES = {
    "empty": ("", [("sismic-shape", None, "The file has keys and values; here is nothing.")]),
    "a list": ("- 1\n", [("sismic-shape", 1, "here is a list")]),
    "no statechart": ("other: 1\n", [("sismic-unknown-key", 1, "no `other`"), ("sismic-shape", 1, "no `statechart`")]),
    "no name": (
        "statechart:\n  root state:\n    name: r\n",
        [("sismic-shape", 1, "A statechart has no `name`")],
    ),
    "no root": ("statechart:\n  name: x\n", [("sismic-shape", 1, "no `root state`")]),
    "misspelt key": (
        chart("      - name: a\n        on entri: x = 1\n"),
        [("sismic-unknown-key", 8, "A state has no `on entri`")],
    ),
    "nameless state": (chart("      - type: final\n"), [("sismic-shape", 7, "A state has no `name`")]),
    "empty name": (chart("      - name: ''\n"), [("sismic-shape", 7, "empty name")]),
    "unknown type": (
        chart("      - name: a\n        type: parallel\n"),
        [("sismic-shape", 8, "'parallel' is no type of a state")],
    ),
    "states is no list": (
        "statechart:\n  name: x\n  root state:\n    name: r\n    states:\n      name: a\n",
        [("sismic-shape", 5, "`states` is a list; here is a block of keys")],
    ),
    "nothing behind a key": (
        chart("      - name: a\n        on entry:\n"),
        [("sismic-shape", 8, "`on entry` is a text; here is nothing")],
    ),
    "code as a block of keys": (
        chart("      - name: a\n        on entry:\n          x: 1\n"),
        [("sismic-shape", 8, "`on entry` is a text; here is a block of keys")],
    ),
    "bad priority": (
        chart("      - name: a\n        transitions:\n          - event: e\n            priority: highest\n"),
        [("sismic-shape", 10, "'highest' is no priority")],
    ),
    "priority as a list": (
        chart("      - name: a\n        transitions:\n          - event: e\n            priority: [1]\n"),
        [("sismic-shape", 10, "is no priority")],
    ),
    "blank event": (
        chart("      - name: a\n        transitions:\n          - event: ' '\n"),
        [("sismic-shape", 9, "The event has no name")],
    ),
    "blank guard": (
        chart("      - name: a\n        transitions:\n          - guard: ' '\n"),
        [("sismic-shape", 9, "The guard is blank")],
    ),
    "odd contract": (
        chart("      - name: a\n        contract:\n          - never: x\n"),
        [("sismic-unknown-key", 9, "A condition of a contract has no `never`")],
    ),
    "two of a name": (
        chart("      - name: a\n      - name: b\n        states:\n          - name: a\n"),
        [("sismic-duplicate-state", 10, "There are two states 'a'; the other is on line 7.")],
    ),
    "both kinds of children": (
        chart("      - name: a\n        states: [{name: x}]\n        parallel states: [{name: y}]\n"),
        [("sismic-structure", 7, "has both `states` and `parallel states`")],
    ),
}


@pytest.mark.parametrize(("text", "expected"), SHAPES.values(), ids=SHAPES)
def test_a_wrong_shape_names_its_line(text: str, expected: list[tuple[str, int | None, str]]) -> None:
    found = problems_of(text)
    assert [(p.code, p.line) for p in found] == [(code, line) for code, line, _ in expected]
    for problem, (_, _, words) in zip(found, expected, strict=True):
        assert words in problem.message


STRUCTURES = {
    "unknown target": (
        chart("      - name: a\n        transitions:\n          - event: e\n            target: bb\n      - name: b\n"),
        "sismic-unknown-state",
        10,
        "The target 'bb' names no state.",
    ),
    "unknown initial": (
        "statechart:\n  name: x\n  root state:\n    name: r\n    initial: aa\n    states:\n      - name: a\n",
        "sismic-unknown-state",
        5,
        "'r' has no child 'aa' to start in.",
    ),
    "initial is a grandchild": (
        chart("      - name: a\n        initial: c\n        states:\n          - name: b\n            states: [{name: c}]\n"),
        "sismic-unknown-state",
        8,
        "'a' has no child 'c' to start in.",
    ),
    "no initial, but entered": (
        chart("      - name: a\n        states:\n          - name: b\n"),
        "sismic-structure",
        7,
        "'a' has no `initial`",
    ),
    "memory elsewhere": (
        chart("      - name: a\n      - name: h\n        type: deep history\n        memory: root\n"),
        "sismic-unknown-state",
        10,
        "'root' is not another child of 'root'.",
    ),
    "memory of itself": (
        chart("      - name: a\n      - name: h\n        type: deep history\n        memory: h\n"),
        "sismic-unknown-state",
        10,
        "'h' is not another child",
    ),
    "memories in a ring": (
        chart(
            "      - name: a\n      - name: h\n        type: deep history\n        memory: g\n"
            "      - name: g\n        type: shallow history\n        memory: h\n"
        ),
        "sismic-structure",
        10,
        "The memories 'h', 'g' point at each other.",
    ),
    "history beside regions": (
        chart("      - name: a\n        parallel states:\n          - name: r\n          - name: h\n            type: shallow history\n"),
        "sismic-structure",
        10,
        "stands in 'a', which has regions",
    ),
    "starting in an empty history": (
        chart("      - name: a\n        initial: h\n        states:\n          - name: b\n          - name: h\n            type: shallow history\n"),
        "sismic-structure",
        11,
        "starts in the history state 'h'",
    ),
    "nothing but history": (
        chart("      - name: a\n      - name: c\n        states:\n          - name: h\n            type: shallow history\n"),
        "sismic-structure",
        8,
        "'c' has history states only",
    ),
    "transitions of a final state": (
        chart("      - name: a\n        type: final\n        transitions:\n          - event: e\n"),
        "sismic-structure",
        9,
        "'a' is a final state and cannot have transitions.",
    ),
    "a final root": (
        "statechart:\n  name: x\n  root state:\n    name: r\n    type: final\n",
        "sismic-structure",
        5,
        "The root state 'r' is a final state.",
    ),
    "an event that stands for any": (
        chart("      - name: a\n        transitions:\n          - event: a.*\n"),
        "sismic-event-name",
        9,
        "`*` stands for any event",
    ),
    "an event of the machine's own": (
        chart("      - name: a\n        transitions:\n          - event: xstate.init\n"),
        "sismic-event-name",
        9,
        "`xstate.` events are made by the machine",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "code", "line", "words"), STRUCTURES.values(), ids=STRUCTURES)
def test_what_sismic_cannot_run_is_refused(text: str, code: str, line: int, words: str) -> None:
    found = problems_of(text)
    assert (found[0].code, found[0].line) == (code, line)
    assert words in found[0].message
    assert found[0].hint


def test_an_endless_loop_is_told_by_the_lines_of_the_file() -> None:
    text = chart(
        "      - name: a\n        transitions:\n          - target: b\n"
        "      - name: b\n        transitions:\n          - target: a\n"
    )
    found = problems_of(text)
    assert (found[0].code, found[0].line) == ("endless-always", 9)
    assert read_definition(text, strict=False).definition.id == "chart"


def test_every_problem_is_reported_at_once_and_errors_come_first() -> None:
    text = chart(
        "      - name: a\n        memory: b\n        transitions:\n          - evnt: e\n"
        "      - name: a\n      - name: c\n        type: paralel\n"
    )
    found = problems_of(text)
    assert [(p.code, p.severity) for p in found] == [
        ("sismic-unknown-key", "error"),
        ("sismic-duplicate-state", "error"),
        ("sismic-shape", "error"),
        ("sismic-ignored-key", "warning"),
    ]
    assert "Did you mean `event`?" in str(found[0])


def test_a_suggestion_comes_with_a_misspelt_target() -> None:
    text = chart("      - name: a\n        transitions:\n          - event: e\n            target: dorsOpen\n      - name: doorsOpen\n")
    assert problems_of(text)[0].hint == "Did you mean 'doorsOpen'?"


def test_keys_without_effect_are_warnings() -> None:
    text = chart(
        "      - name: a\n        initial: b\n"
        "      - name: f\n        type: final\n        states: [{name: lost}]\n"
        "      - name: c\n        contract:\n          - before: x\n            after: y\n"
    )
    imported = read_definition(text)
    assert [(p.code, p.line) for p in imported.warnings] == [
        ("sismic-ignored-key", 8),
        ("sismic-ignored-key", 11),
        ("sismic-ignored-key", 15),
    ]
    assert "lost" not in imported.chart.states


def test_values_are_read_as_sismic_reads_them() -> None:
    text = (
        "statechart:\n  name: 7\n  root state:\n    name: true\n    initial: 1\n    states:\n      - name: 1\n"
        "        transitions:\n          - event: no\n            target: 2\n            priority: '3'\n      - name: 2\n"
    )
    imported = read_definition(text)
    assert imported.chart.name == "7"
    assert list(imported.chart.states) == ["True", "1", "2"]
    (transition,) = imported.chart.transitions
    assert (transition.event, transition.target, transition.priority) == ("no", "2", 3)


def test_a_byte_order_mark_is_skipped() -> None:
    assert read_definition("\ufeff" + chart("      - name: a\n")).definition.id == "chart"


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def no_sismic(name: str, *rest: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "sismic":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", no_sismic)
    with pytest.raises(UsageError, match=r"pip install 'statecharts\[sismic\]'"):
        read_definition(chart("      - name: a\n"))


@pytest.mark.parametrize("depth", [20, 90, 150, 400, 3000])
def test_what_nests_deeply_is_read_or_refused(depth: int) -> None:
    states = [f"{'    ' * level}      - {{name: s{level}, initial: s{level + 1}, states: [" for level in range(depth)]
    nested = chart("".join(["      - name: a\n", *states, f"{{name: s{depth}}}", "]}" * depth, "\n"]))
    guards = ["not " * depth + "active('a')", "(" * depth + "x" + ")" * depth, "x" + ".y" * depth, "-" * depth + "x"]
    listed = [chart(f"      - name: a\n        transitions:\n          - {{event: e, guard: \"{guard}\"}}\n") for guard in guards]
    for text in (nested, *listed):
        for trusted in (False, True):
            try:
                read_definition(text, trusted=trusted)
            except DefinitionError as error:
                assert error.problems


LINES = st.sampled_from(
    [
        "statechart:", "  name: x", "  root state:", "    name: r", "    initial: a", "    states:", "      - name: a",
        "      - name: b", "        transitions:", "          - target: b", "            event: e", "            guard: x >",
        "    parallel states:", "        on entry: |", "          x = (1", "        type: final", "        contract: [before]",
        "  preamble: {a: b}", "\t", "- 1", "? [x]", "&a *a", "        memory: a", "        type: deep history",
    ]
)  # fmt: skip


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """A good chart with some lines lost, moved, indented otherwise or replaced."""
    lines = random_chart(draw(st.integers(0, 60))).splitlines()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        deed = draw(st.sampled_from(["drop", "double", "indent", "outdent", "replace", "swap"]))
        if deed == "drop" and len(lines) > 1:
            del lines[at]
        elif deed == "double":
            lines.insert(at, lines[at])
        elif deed == "indent":
            lines[at] = "  " + lines[at]
        elif deed == "outdent":
            lines[at] = lines[at].removeprefix("  ")
        elif deed == "replace":
            lines[at] = draw(LINES)
        else:
            lines[at], lines[at - 1] = lines[at - 1], lines[at]
    return "\n".join(lines)


@given(st.one_of(mangled(), st.lists(LINES, max_size=14).map("\n".join)))
@settings(max_examples=200)
def test_any_text_is_read_or_refused_with_problems(text: str) -> None:
    for trusted in (False, True):
        try:
            imported = read_definition(text, trusted=trusted)
        except DefinitionError as error:
            assert error.problems
            assert all(p.code and p.message for p in error.problems)
            assert any(p.severity == "error" for p in error.problems)
        else:
            assert imported.definition.document is imported.document
            assert not [p for p in check_document(imported.document) if p.severity == "error"]
