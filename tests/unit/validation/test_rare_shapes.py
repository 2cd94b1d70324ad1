"""Rare shapes that a document may have, in which the validator must neither fail nor guess."""

from __future__ import annotations

from typing import Any

import pytest

from statecharts.errors import ImplementationError
from statecharts.validation import Code, check_document, expressions
from statecharts.validation.leftovers import v5_event_name
from statecharts.validation.report import Report
from statecharts.values import UNDEFINED


def machine(a: dict[str, Any] | None = None, **extra: Any) -> dict[str, Any]:
    return {"id": "m", "initial": "a", "states": {"a": a or {}, "b": {}}, **extra}


def found(document: Any) -> list[tuple[str, str]]:
    return [(problem.code, problem.pointer) for problem in check_document(document)]


def messages(document: Any) -> str:
    return "\n".join(f"{problem.message} {problem.hint}" for problem in check_document(document))


def test_the_same_words_at_one_place_count_once() -> None:
    report = Report({})
    report.add(Code.WRONG_TYPE, "/a", "Wrong.")
    report.add(Code.WRONG_TYPE, "/a", "Wrong.")
    assert len(report.problems()) == 1


def test_a_pointer_beyond_the_document_sorts_where_it_leaves_it() -> None:
    report = Report({"a": "text", "b": ["text"]})
    for pointer in ("/b/0/deep", "/a/deep/er", "/zzz", "/a"):
        report.add(Code.WRONG_TYPE, pointer, "Wrong.")
    assert [problem.pointer for problem in report.problems()] == ["/zzz", "/a/deep/er", "/a", "/b/0/deep"]


def test_a_handler_beside_an_invoke_that_is_no_object() -> None:
    document = machine({"invoke": [7, {"src": "job", "id": "j", "onDone": "b"}], "on": {"xstate.done.actor.j": "b"}})
    assert ("wrong-type", "/states/a/invoke/0") in found(document)
    assert any(pointer == "/states/a/on/xstate.done.actor.j" for _, pointer in found(document))


def test_a_language_that_is_not_installed_is_not_the_documents_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_given: Any, **_named: Any) -> None:
        raise ImplementationError("not installed")

    monkeypatch.setattr(expressions, "compile_expression", missing)
    assert found(machine({"on": {"E": {"guard": {"@expr": "("}, "target": "b"}}})) == []


def test_lists_and_objects_of_values_are_searched_for_expressions() -> None:
    nested = {"deep": [1, ({"@expr": 7},), {"x": {"@expr": ""}}]}
    assert found(machine(context=nested)) == [
        ("bad-expression", "/context/deep/1/0/@expr"),
        ("bad-expression", "/context/deep/2/x/@expr"),
    ]


def test_schemas_with_keys_that_are_no_text_or_with_python_in_them() -> None:
    assert [pointer for _, pointer in found(machine(schemas={"context": {}, 7: {}}))] == ["/schemas"]
    for opaque in (object, [object()], {"deep": [object()]}):
        assert found(machine(schemas={"context": opaque})) == []
    shared: dict[str, Any] = {"type": "object"}
    assert found(machine(schemas={"context": {"properties": {"a": shared, "b": shared}}})) == []


@pytest.mark.parametrize("kind", ["and", "or", "not", "stateIn"])
def test_a_guard_without_its_operands_is_said_to_miss_them(kind: str) -> None:
    document = machine({"on": {"E": {"guard": {"type": f"xstate.{kind}", "params": {}}, "target": "b"}}})
    assert found(document) == [("missing-member", "/states/a/on/E/guard")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("done.state.m.a", "xstate.done.state.m.a"),
        ("xstate.after(10)#m.a", "xstate.after.10.m.a"),
        ("xstate.after(10).m.a", "xstate.after.10.m.a"),
        ("xstate.after(10)m.a", None),
        ("xstate.after(10)#", None),
        ("xstate.after(10", None),
        ("GO", None),
    ],
)
def test_names_of_events_that_version_4_sends(old: str, new: str | None) -> None:
    assert v5_event_name(old) == new


def test_loops_of_always_are_not_followed_into_what_is_broken() -> None:
    broken = machine({"always": "b"}, states={"a": {"always": "b"}, "b": {"initial": "zzz", "states": {"x": {"always": "#m.a"}}}})
    assert [code for code, _ in found(broken)] == ["unknown-initial"]
    opaque = machine({"always": {"actions": [print]}})
    assert "endless-always" not in {code for code, _ in found(opaque)}
    changing = machine({"always": {"actions": {"type": "@xstate.assign", "context": {"n": 1}}}})
    assert ("endless-always", "/states/a/always") in found(changing)


def test_an_undefined_state_counts_as_an_empty_one() -> None:
    assert found(machine(states={"a": {}, "b": UNDEFINED})) == []


def test_undefined_transitions_are_no_transitions() -> None:
    assert found(machine({"on": {"E": UNDEFINED}, "after": {"10": [UNDEFINED, {"target": "b"}], "20": UNDEFINED}})) == []


def test_a_state_that_cannot_have_a_child_says_so() -> None:
    document = machine({"on": {"E": {"guard": {"type": "xstate.stateIn", "params": {"state": "b.x"}}, "target": "b"}}})
    assert '"m.b" has no children.' in messages(document)


def test_states_from_python_are_not_looked_into() -> None:
    assert ("initial-without-states", "/states/a/initial") not in found(machine({"initial": "x", "states": object()}))


@pytest.mark.parametrize(
    ("initial", "hint"),
    [
        ("x.y", "`initial` names a direct child: write \"x\" here"),
        ("#m.a.x", "takes the key of a direct child, not an id: one of \"x\", \"other\""),
        ("othr", 'Did you mean "other"?'),
        ("completely different", 'Its children are "x", "other".'),
    ],
)
def test_a_wrong_initial_gets_the_hint_that_fits(initial: str, hint: str) -> None:
    inner = {"x": {"initial": "y", "states": {"y": {}}}, "other": {}}
    assert hint in messages(machine({"initial": initial, "states": inner}))
    assert "It has no children." in messages(machine({"type": "compound", "initial": initial}))


def test_two_histories_of_one_parallel_state_cannot_be_entered_together() -> None:
    document = machine(
        states={
            "a": {"on": {"E": {"target": ["p.h1", "p.h2"]}}},
            "p": {"type": "parallel", "states": {"x": {}, "h1": {"type": "history"}, "h2": {"type": "history"}}},
        },
    )
    assert found(document) == [("illegal-targets", "/states/a/on/E/target")]


@pytest.mark.parametrize(
    ("schema", "code", "pointer"),
    [
        ({"$schema": []}, "schema-dialect", "/schemas/context/$schema"),
        ({"$schema": {"a": 1}}, "schema-dialect", "/schemas/context/$schema"),
        ({1: 2}, "non-string-key", "/schemas/context"),
        ({"allOf": [{"properties": {2: True}}]}, "non-string-key", "/schemas/context/allOf/0/properties"),
    ],
)
def test_a_schema_that_is_none_is_a_problem_and_no_crash(schema: Any, code: str, pointer: str) -> None:
    assert found(machine(schemas={"context": schema})) == [(code, pointer)]


def test_a_schema_that_contains_itself_is_refused_once() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema}
    assert [code for code, _ in found(machine(schemas={"context": schema}))] == ["too-deep"]


def test_events_of_xstates_own_are_replaced_only_by_handlers_of_the_same() -> None:
    state = {"initial": "x", "states": {"x": {}}, "onDone": "b", "on": {"xstate.done.state.m.b": "b", "xstate.done.state.m.a": "b"}}
    assert found(machine(state)) == [("replaced-handler", "/states/a/on/xstate.done.state.m.a")]


def test_an_actors_event_that_has_no_handler_of_its_own_is_not_replaced() -> None:
    invoked = {"src": "work", "id": "i", "onDone": "b", "onError": "b"}
    state = {"invoke": invoked, "on": {"xstate.snapshot.i": "b", "xstate.error.actor.i": "b"}}
    assert found(machine(state)) == [("replaced-handler", "/states/a/on/xstate.error.actor.i")]
