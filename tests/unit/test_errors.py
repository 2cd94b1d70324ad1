"""Errors say whose turn it is, keep what they carry, and travel between processes."""

from __future__ import annotations

import copy
import pickle

import pytest

from statecharts.errors import (
    DefinitionError,
    EndlessLoopError,
    ExecutionError,
    ImplementationError,
    InvalidTransition,
    MissingName,
    Problem,
    PurityError,
    SnapshotError,
    StatechartError,
    StoreError,
    UsageError,
)


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("c", "", "Wrong."), "(document): Wrong. [c]"),
        (Problem("c", "/a", "Wrong.", "Do this."), "/a: Wrong. [c]\n    Do this."),
        (Problem("c", "/a", "Wrong.", line=3), "<text>:3 /a: Wrong. [c]"),
        (Problem("c", "/a", "Wrong.", line=3, file="m.json"), "m.json:3 /a: Wrong. [c]"),
        (Problem("c", "/a", "Wrong.", file="m.json"), "m.json /a: Wrong. [c]"),
    ],
)
def test_a_problem_reads_as_a_line(problem: Problem, text: str) -> None:
    assert str(problem) == text


def test_a_problem_as_json_leaves_out_what_is_absent() -> None:
    assert Problem("c", "/a", "Wrong.").to_dict() == {
        "code": "c",
        "severity": "error",
        "pointer": "/a",
        "message": "Wrong.",
    }
    assert Problem("c", "/a", "Wrong.", "Do.", "warning", 3, "f").to_dict() == {
        "code": "c",
        "severity": "warning",
        "pointer": "/a",
        "message": "Wrong.",
        "hint": "Do.",
        "file": "f",
        "line": 3,
    }


def test_a_definition_error_counts_and_lists_its_problems() -> None:
    first, second = Problem("c", "/a", "One."), Problem("d", "/b", "Two.")
    assert str(DefinitionError([first])) == "machine has 1 problem:\n  /a: One. [c]"
    assert str(DefinitionError([first, second], "m")) == "machine 'm' has 2 problems:\n  /a: One. [c]\n  /b: Two. [d]"


@pytest.mark.parametrize("copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_a_definition_error_travels(copied: object) -> None:
    error = DefinitionError([Problem("c", "/a", "One.", line=2)], "m")
    again = copied(error)  # type: ignore[operator]
    assert (again.problems, again.machine_id, str(again)) == (error.problems, "m", str(error))


def test_an_implementation_error_names_what_it_is_about() -> None:
    missing = MissingName("guard", "g", ("/a", "/b"))
    error = ImplementationError("no", name="g", state="m.a", missing=[missing])
    assert (error.name, error.state, error.missing, str(missing)) == ("g", "m.a", (missing,), "guard 'g', used at /a, /b")
    assert isinstance(PurityError("x"), ImplementationError)


def test_execution_errors_say_where_the_run_stands() -> None:
    assert ExecutionError("x").js_name == "Error"
    refused = InvalidTransition("no", state="a", event="GO", allowed=["X"])
    assert (refused.state, refused.event, refused.allowed) == ("a", "GO", ("X",))
    endless = EndlessLoopError("Round.", ["a", "b"])
    assert str(endless) == "Round. The loop passes through: a, b."
    assert (endless.xstate_message, endless.states) == ("Round.", ("a", "b"))
    assert str(EndlessLoopError("Round.")) == "Round."


def test_one_root_and_five_who_must_act() -> None:
    kinds = (DefinitionError, ImplementationError, ExecutionError, StoreError, UsageError)
    assert all(kind.__base__ is StatechartError for kind in kinds)
    assert all(issubclass(kind, ExecutionError) for kind in (EndlessLoopError, InvalidTransition, SnapshotError))
