"""The session behind the prompt: nothing half done, everything undone, every report right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from statecharts import Implementations, load_machine
from statecharts.cli.application import application
from statecharts.cli.doings import Doing
from statecharts.cli.expectations import mismatches
from statecharts.cli.guard_answers import GuardAnswers, UnansweredGuard
from statecharts.cli.session import Session
from statecharts.errors import ExecutionError, UsageError

LATE = {
    "id": "late",
    "initial": "a",
    "context": {"n": 0},
    "states": {
        "a": {"on": {"GO": {"target": "b", "actions": "count"}}},
        "b": {"always": {"guard": "ready", "target": "c"}},
        "c": {},
    },
}


def send(event: str, **data: Any) -> Doing:
    return Doing("send", value={"type": event, **data})


def test_a_guard_without_an_answer_in_the_middle_of_a_step_takes_the_step_back() -> None:
    session = Session(load_machine(LATE))
    with pytest.raises(UnansweredGuard, match="--guard ready=true"):
        session.do(send("GO"))
    assert session.now().states == ["a"]
    assert session.number == 0
    with pytest.raises(UsageError, match="nothing to undo"):
        session.undo()
    session.answers.fixed["ready"] = True
    assert session.do(send("GO")).states == ["c"]


def test_one_answer_holds_for_the_step_and_not_for_the_next() -> None:
    asked = []
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"on": {"GO": [{"guard": "g", "target": "a"}, {"guard": "g"}]}}},
    }
    answers = GuardAnswers(ask=lambda question: bool(asked.append(question.name)))
    session = Session(load_machine(document), answers)
    report = session.do(send("GO"))
    assert asked == ["g"]
    assert report.refusal is not None
    assert (report.refusal.by, report.refusal.guards) == ("g", ("g", "g"))
    session.do(send("GO"))
    assert asked == ["g", "g"]


def test_the_same_guard_with_other_params_is_another_question() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "states": {
            "a": {
                "on": {
                    "GO": [{"guard": {"type": "g", "params": {"n": n}}, "target": f"s{n}"} for n in (1, 2)]
                }
            },
            "s1": {},
            "s2": {},
        },
    }
    session = Session(load_machine(document), GuardAnswers(ask=lambda question: question.params["n"] == 2))
    assert session.do(send("GO")).states == ["s2"]


def test_who_refuses_is_asked_with_the_event_s_data() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "states": {
            "a": {"on": {"GO": [{"guard": "has_n", "target": "a"}, {"guard": "never", "target": "a"}]}}
        },
    }
    impl = Implementations()
    impl.guard("has_n")(lambda event: event["n"] > 5)
    impl.guard("never")(lambda: False)
    session = Session(load_machine(document, impl))
    (option,) = session.options()
    assert (option.enabled, option.reason) == (
        None,
        "guard 'has_n' cannot answer without the event's data ('n')",
    )
    report = session.do(send("GO", n=1))
    assert report.refusal is not None
    assert report.refusal.guards == ("has_n", "never")
    assert mismatches({"states": ["a"], "refused": "never"}, report) == []
    assert [m.what for m in mismatches({"states": ["a"]}, report)] == ["refused"]
    failed = session.do(send("GO"))
    assert failed.snapshot.status == "error"
    assert failed.error is not None and "'n'" in failed.error
    assert session.undo().snapshot.status == "active"


def test_an_endless_clock_is_refused_and_undone() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"after": {"10": "b"}}, "b": {"after": {"10": "a"}}},
    }
    session = Session(load_machine(document))
    with pytest.raises(ExecutionError, match="never rest"):
        session.do(Doing("settle"))
    assert (session.now().time, session.now().states) == (0, ["a"])
    report = session.do(Doing("advance", value=25))
    assert [fired.time for fired in report.fired] == [10, 20]
    assert [timer.due for timer in report.timers] == [30]


def test_a_machine_that_fails_before_it_has_a_state() -> None:
    session = Session(load_machine({"id": "m", "initial": "b", "states": {"a": {}}}, strict=False))
    assert session.first.snapshot.status == "error"
    assert session.first.states == []
    report = session.do(send("GO"))
    assert report.refusal is not None
    assert report.to_json()["value"] is None
    assert "error" in report.to_json()
    with pytest.raises(UsageError):
        session.undo()


def test_children_that_are_machines() -> None:
    child = load_machine(
        {"id": "c", "initial": "x", "states": {"x": {"on": {"END": "y"}}, "y": {"type": "final"}}}
    )
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"invoke": {"src": "child", "id": "kid", "onDone": "b"}}, "b": {}},
    }
    session = Session(load_machine(document, {"actors": {"child": child}}))
    assert session.do(Doing("send_to", "kid", {"type": "END"})).states == ["b"]
    assert session.undo().states == ["a"]


def test_a_late_result_is_remarked_on() -> None:
    document = {
        "id": "m",
        "initial": "a",
        "states": {"a": {"invoke": {"src": "s", "id": "i"}, "on": {"GO": "b"}}, "b": {}},
    }
    session = Session(load_machine(document))
    session.do(send("GO"))
    report = session.do(Doing("resolve", "i", 1))
    assert report.note == "i is not running any more; what it says now changes nothing"
    assert (report.states, report.changes) == (["b"], [])


def test_a_steps_file_that_ends_in_an_unexpected_error_fails(folder: Path) -> None:
    Path("m.json").write_text(
        '{"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": "boom"}}}, "b": {}}}',
        "utf-8",
    )
    Path("boom.py").write_text(
        "from statecharts import Implementations\nbound = Implementations()\n"
        "@bound.action('boom')\ndef boom(): raise ValueError('boom')\n",
        "utf-8",
    )
    arguments = ["run", "m.json", "--impl", "boom.py", "--steps", "-"]
    result = CliRunner().invoke(application, arguments, input='["GO"]')
    assert result.exit_code == 1
    assert "error    ValueError: boom" in result.stdout
    expected = '[{"send": "GO", "expect": {"status": "error"}}]'
    assert CliRunner().invoke(application, arguments, input=expected).exit_code == 0
    result = CliRunner().invoke(application, arguments, input="[]")
    assert result.exit_code == 0


def test_all_scenarios_and_the_day_of_the_ready_machine_run(folder: Path) -> None:
    home = Path("machines/support_agent")
    for steps in (home / "day.json", *sorted((home / "scenarios").glob("*.json"))):
        arguments = [
            "run",
            str(home / "machine.json"),
            "--impl",
            str(home / "implementations.py"),
            "--steps",
            str(steps),
        ]
        result = CliRunner().invoke(application, arguments)
        assert result.exit_code == 0, result.stdout[-1000:]
        assert result.stdout.splitlines()[-1].endswith("everything as expected")


def test_python_beside_the_machine_is_pointed_at_and_not_run(folder: Path) -> None:
    result = CliRunner().invoke(application, ["run", "machines/support_agent/machine.json"], input=":quit\n")
    assert "there is Python beside it: --impl machines/support_agent/implementations.py" in result.stdout


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "has no Implementations object; name the one to use"),
        (
            "from statecharts import Implementations\na, b = Implementations(), Implementations()",
            "has several (a, b)",
        ),
        ("1/0", "cannot be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_python_that_cannot_be_used(folder: Path, source: str, message: str) -> None:
    Path("odd.py").write_text(source, "utf-8")
    result = CliRunner().invoke(application, ["run", "light.json", "--impl", "odd.py"])
    assert result.exit_code == 2
    assert message in result.stderr
    assert (
        CliRunner().invoke(application, ["run", "light.json", "--impl", "media_impl.py:impl"]).exit_code == 0
    )
