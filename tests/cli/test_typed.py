"""What can be typed at the prompt, and what a steps file may say."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts.cli.changes import differences
from statecharts.cli.doings import Doing
from statecharts.cli.durations import clock_time, parse_duration, span
from statecharts.cli.line_source import Pipe
from statecharts.cli.readable import members, readable
from statecharts.cli.steps_file import read_steps
from statecharts.cli.typed import read_doing, read_event
from statecharts.errors import UsageError
from statecharts.values import UNDEFINED


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("GO", {"type": "GO"}),
        ("GO n=1 flag=true", {"type": "GO", "n": 1, "flag": True}),
        ("GO ref=ticket://77?a=b", {"type": "GO", "ref": "ticket://77?a=b"}),
        (
            'GO text="two words" list=[1, 2] last=x',
            {"type": "GO", "text": "two words", "list": [1, 2], "last": "x"},
        ),
        ('GO\t{"n": {"deep": null}}', {"type": "GO", "n": {"deep": None}}),
        ("GO empty= n=NaN", {"type": "GO", "empty": "", "n": "NaN"}),
        ('"my event" n=1', {"type": "my event", "n": 1}),
        ('{"type": "GO", "n": 1}', {"type": "GO", "n": 1}),
        ("a.b.c", {"type": "a.b.c"}),
    ],
)
def test_events(text: str, event: dict[str, Any]) -> None:
    assert read_event(text) == event


@pytest.mark.parametrize(
    "text", ["", '{"n": 1}', '{"type": 1}', "GO n", "GO {1}", 'GO a="x', 'GO type="x"', '"open', "GO [1]"]
)
def test_events_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError):
        read_event(text)


def test_actors_with_blanks_in_their_ids() -> None:
    assert read_doing(':resolve "my actor" {"n": 1}') == Doing("resolve", "my actor", {"n": 1})
    assert read_doing(":reject a/b") == Doing("reject", "a/b", UNDEFINED)


@pytest.mark.parametrize("text", [":complete a 1", ":settle now", ":run", ":send-to a", ":resolve a nojson"])
def test_commands_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError):
        read_doing(text)


@pytest.mark.parametrize(
    ("text", "ms"),
    [("500ms", 500), ("10s", 10_000), ("1000", 1000), ("1.5s", 1500), ("2m", 120_000), ("2 min", 120_000),
     ("1h30m", 5_400_000), ("1d", 86_400_000), ("0.5", 0.5)],
)  # fmt: skip
def test_spans_of_time(text: str, ms: float) -> None:
    assert parse_duration(text) == ms


@pytest.mark.parametrize("text", ["", "s", "-1s", "10 parsecs", "1e3"])
def test_no_spans_of_time(text: str) -> None:
    with pytest.raises(UsageError):
        parse_duration(text)


def test_shown_times() -> None:
    assert [span(ms) for ms in (0, 0.25, 999, 1000, 61_500, 86_400_000, float("inf"))] == [
        "0 ms", "0.25 ms", "999 ms", "1 s", "1 min 1.5 s", "1 d", "for ever",
    ]  # fmt: skip
    assert [clock_time(ms) for ms in (0, 302_500, 90_061_001, float("inf"))] == [
        "0:00:00.000", "0:05:02.500", "1d 1:01:01.001", "never",
    ]  # fmt: skip


def test_differences() -> None:
    old = {"same": 1, "n": 1, "gone": [1], "list": [1, 2, 3], "a/b": {"~": True}, "kind": {}}
    new = {"same": 1, "n": 1.5, "list": [1, 5], "a/b": {"~": 1}, "kind": [], "new": None}
    assert [tuple(change) for change in differences(old, new)] == [
        ("/n", 1, 1.5),
        ("/gone", [1], UNDEFINED),
        ("/list/1", 2, 5),
        ("/list/2", 3, UNDEFINED),
        ("/a~1b/~0", True, 1),
        ("/kind", {}, []),
        ("/new", UNDEFINED, None),
    ]


def test_readable_values() -> None:
    assert readable({"a": [1, None]}) == '{"a": [1, null]}'
    assert readable(UNDEFINED) == "undefined"
    assert members({"a": 1, "b": None, "c": "x"}) == 'a 1, c "x"'
    assert members([1]) == "[1]"


def test_every_kind_of_step() -> None:
    steps = [
        "GO n=1",
        {"type": "GO", "n": 1},
        {"send": "GO"},
        {"send": {"type": "GO"}, "say": "go", "expect": {"states": ["a"]}},
        {"advance": 5},
        {"advance": "5s"},
        {"settle": True},
        {"stop": True},
        {"resolve": "a", "output": None},
        {"resolve": "a"},
        {"reject": "a", "error": "e"},
        {"feed": "a", "value": 1},
        {"complete": "a"},
        {"break_off": "a", "error": 1},
        {"run": "a"},
        {"send_back": "a", "event": "X"},
        {"send_to": "a", "event": {"type": "X"}},
    ]
    (scenario,) = read_steps(steps, "steps.json")
    assert [step.doing for step in scenario.steps] == [
        Doing("send", None, {"type": "GO", "n": 1}),
        Doing("send", None, {"type": "GO", "n": 1}),
        Doing("send", None, {"type": "GO"}),
        Doing("send", None, {"type": "GO"}),
        Doing("advance", None, 5),
        Doing("advance", None, 5000),
        Doing("settle"),
        Doing("stop"),
        Doing("resolve", "a", None),
        Doing("resolve", "a"),
        Doing("reject", "a", "e"),
        Doing("feed", "a", 1),
        Doing("complete", "a"),
        Doing("break_off", "a", 1),
        Doing("run", "a"),
        Doing("send_back", "a", {"type": "X"}),
        Doing("send_to", "a", {"type": "X"}),
    ]
    assert scenario.steps[3].say == "go"
    again = read_steps([step.doing.to_json() for step in scenario.steps], "again.json")
    assert [step.doing for step in again[0].steps] == [step.doing for step in scenario.steps]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (1, "a steps file is a list of steps"),
        ({"machine": "m"}, "a steps file is a list of steps"),
        ({"steps": 1}, "a list under `steps`"),
        ({"tickets": 1}, "`tickets` is a list"),
        ({"tickets": [1]}, r"/tickets/0: a scenario is an object"),
        ({"steps": [], "nane": 1}, "no `nane` here; did you mean `name`"),
        ([1], r"steps.json /0: a step is an object or a string"),
        ({"name": "x", "steps": [1]}, r"steps.json /steps/0: a step is"),
        ([{}], "this one names none"),
        ([{"send": "A", "advance": 1}], "this one names send, advance"),
        ([{"send": 1}], "`send` is an event"),
        ([{"advance": -1}], "`advance` is a number"),
        ([{"advance": True}], "`advance` is a number"),
        ([{"advance": "soon"}], "'soon' is no span of time"),
        ([{"resolve": 1}], "`resolve` is the id of an actor"),
        ([{"feed": "a"}], "`feed` needs a `value`"),
        ([{"send_to": "a"}], "`event` is an event"),
        ([{"send": "A", "expect": 1}], "`expect` is an object"),
        ([{"send": "A", "expect": {"state": []}}], "no `state` here; did you mean `states`"),
        ([{"send": "A", "xyz": 1}], "there is no `xyz` here; known: "),
        ([":advance"], r"/0: how long\?"),
        ([":undo"], ":undo is not something to do here"),
    ],
)
def test_steps_files_that_are_wrong(document: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_steps(document, "steps.json")


def test_a_pipe_gives_a_line_as_an_answer_only_when_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("y\nGO\nyes\n"))
    pipe = Pipe()
    assert [pipe.answer("?"), pipe.answer("?"), pipe.line(), pipe.answer("?"), pipe.answer("?"), pipe.line()] == [
        "y", None, "GO", "yes", None, None,
    ]  # fmt: skip
