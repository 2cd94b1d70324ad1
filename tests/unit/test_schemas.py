"""Schemas: which value is checked by which schema, what is said about a bad one, what a bad schema is."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts.errors import DefinitionError, ExecutionError
from statecharts.schema_messages import Violation
from statecharts.schemas import SchemaError, Schemas
from statecharts.values import UNDEFINED, freeze

START = {
    "type": "object",
    "properties": {"ticketRef": {"type": "string", "minLength": 1}, "priority": {"enum": ["low", "high"]}},
    "required": ["ticketRef"],
    "additionalProperties": False,
}
DOCUMENT = {
    "context": {"type": "object", "required": ["attempt"], "properties": {"attempt": {"type": "integer", "minimum": 1}}},
    "input": {"type": "object"},
    "output": {"type": ["string", "null"]},
    "events": {
        "START": START,
        "TYPED": {"type": "object", "properties": {"type": {"const": "TYPED"}, "n": {"type": "number"}}, "required": ["type", "n"]},
        "audit.*": {"required": ["by"]},
        "audit.deep.*": {"required": ["why"]},
        "*": {"maxProperties": 2},
    },
    "emitted": {"progress": {"required": ["percent"]}},
    "actors": {"draft/er": {"input": {"type": "string"}, "output": {"type": "object", "required": ["draftRef"]}},
               "one-sided": {"input": {"type": "string"}}},
}  # fmt: skip
SCHEMAS = Schemas.from_document(DOCUMENT)


def violations(check: Any, *args: Any) -> list[tuple[str, str, str]]:
    with pytest.raises(SchemaError) as caught:
        check(*args)
    return [(v.pointer, v.message, v.right) for v in caught.value.violations]


# --- which schema ------------------------------------------------------------------------------------


def test_values_that_fit() -> None:
    SCHEMAS.check_context(freeze({"attempt": 1, "other": UNDEFINED}))
    SCHEMAS.check_context({"attempt": 2.0})
    SCHEMAS.check_input({})
    SCHEMAS.check_output(None)
    SCHEMAS.check_output(UNDEFINED)
    SCHEMAS.check_event({"type": "START", "ticketRef": "t", "priority": "low"})
    SCHEMAS.check_event({"type": "TYPED", "n": 1.5})
    SCHEMAS.check_emitted({"type": "progress", "percent": 1})
    SCHEMAS.check_actor_input("draft/er", "x")
    SCHEMAS.check_actor_output("draft/er", {"draftRef": "r"})


def test_what_has_no_schema_is_not_checked() -> None:
    SCHEMAS.check_emitted({"type": "other"})
    SCHEMAS.check_actor_input("somebody else", object())
    SCHEMAS.check_actor_output("one-sided", 3)
    empty = Schemas.from_document({})
    assert not empty
    assert SCHEMAS
    empty.check_event({"type": "E"})
    empty.check_context(3)
    assert empty.event_schema("E") is UNDEFINED


@pytest.mark.parametrize(
    ("event", "pointers"),
    [
        ({"type": "audit"}, ["/by"]),
        ({"type": "audit.x"}, ["/by"]),
        ({"type": "audit.deep.x"}, ["/why"]),
        ({"type": "auditor", "a": 1, "b": 2, "c": 3}, [""]),
    ],
)
def test_wildcards_longest_first(event: dict[str, Any], pointers: list[str]) -> None:
    assert [v[0] for v in violations(SCHEMAS.check_event, event)] == pointers


def test_own_events_of_xstate_pass_wildcards() -> None:
    SCHEMAS.check_event({"type": "xstate.done.actor.draft", "output": 1, "actorId": "draft", "x": 1})
    exact = Schemas.from_document({"events": {"xstate.route": {"required": ["to"]}}})
    assert violations(exact.check_event, {"type": "xstate.route"})[0][0] == "/to"


def test_an_event_schema_may_describe_the_type_or_not() -> None:
    without = {"properties": {"n": {"type": "number"}}, "additionalProperties": False}
    within = {"properties": {"type": {"const": "E"}, "n": {"type": "number"}}, "additionalProperties": False}
    behind = {"$ref": "#/$defs/e", "$defs": {"e": within | {"required": ["type"]}}}
    either = {"anyOf": [within, {"required": ["never"]}]}
    for schema in (without, within, behind, either):
        schemas = Schemas.from_document({"events": {"E": schema}})
        schemas.check_event({"type": "E", "n": 1})
        with pytest.raises(SchemaError):
            schemas.check_event({"type": "E", "n": "1"})
        with pytest.raises(SchemaError):
            schemas.check_event({"type": "E", "m": 1})
    assert Schemas.from_document({"events": {"E": True}}).event_schema("E") is True


def test_event_schema_is_readable_and_frozen() -> None:
    assert SCHEMAS.event_schema("START") == START
    assert SCHEMAS.event_schema("audit.x") == {"required": ["by"]}
    with pytest.raises(TypeError):
        SCHEMAS.event_schema("START")["x"] = 1


# --- what is said ------------------------------------------------------------------------------------


def test_everything_wrong_is_listed() -> None:
    found = violations(SCHEMAS.check_event, {"type": "START", "priority": "urgent", "extra/x": 1})
    assert found == [
        ("/extra~1x", "is not a member of it", "allowed are 'ticketRef', 'priority'"),
        ("/priority", 'is "urgent"', 'must be one of "low", "high"'),
        ("/ticketRef", "is missing", "add it (a string)"),
    ]


def test_the_message() -> None:
    with pytest.raises(SchemaError) as caught:
        SCHEMAS.check_event({"type": "START", "ticketRef": 7})
    assert str(caught.value) == (
        "event 'START' does not fit its schema:\n  /ticketRef: is 7; must be a string"
    )
    assert caught.value.subject == "event 'START'"
    assert isinstance(caught.value, ExecutionError)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.violations) == (str(caught.value), caught.value.violations)
    with pytest.raises(SchemaError, match="in 2 places"):
        SCHEMAS.check_event({"type": "START", "priority": 1})


@pytest.mark.parametrize(
    ("schema", "value", "message", "right"),
    [
        ({"type": "integer"}, 1.5, "is 1.5", "must be an integer"),
        ({"type": ["string", "null"]}, {}, "is {}", "must be a string or null"),
        ({"const": {"a": 1}}, 1, "is 1", 'must be {"a":1}'),
        ({"minimum": 3}, 2, "is 2", "must be at least 3"),
        ({"maximum": 1.5}, 2, "is 2", "must be at most 1.5"),
        ({"exclusiveMinimum": 3}, 3, "is 3", "must be more than 3"),
        ({"exclusiveMaximum": 3}, 3, "is 3", "must be less than 3"),
        ({"multipleOf": 2}, 3, "is 3", "must be a multiple of 2"),
        ({"minLength": 2}, "a", 'is "a"', "must have at least 2 characters"),
        ({"maxLength": 2}, "abc", 'is "abc"', "must have at most 2 characters"),
        ({"pattern": "^a"}, "b", 'is "b"', "must match ^a"),
        ({"minItems": 1}, [], "is []", "must have at least 1 items"),
        ({"maxItems": 1}, [1, 2], "is [1,2]", "must have at most 1 items"),
        ({"minProperties": 1}, {}, "is {}", "must have at least 1 members"),
        ({"maxProperties": 0}, {"a": 1}, 'is {"a":1}', "must have at most 0 members"),
        ({"uniqueItems": True}, [1, 1], "is [1,1]", "its items must differ"),
        ({"enum": ["x" * 100]}, None, "is null", f'must be one of "{"x" * 58}…'),
        ({"not": {"type": "null"}}, None, "None should not be valid under {'type': 'null'}", 'the schema asks for {"not":{"type":"null"}}'),
        (False, 1, "is 1", "no value is allowed here"),
    ],
)  # fmt: skip
def test_sentences(schema: Any, value: Any, message: str, right: str) -> None:
    schemas = Schemas.from_document({"input": schema})
    assert violations(schemas.check_input, value) == [("", message, right)]


def test_pointers_go_deep() -> None:
    schemas = Schemas.from_document({"context": {"properties": {"a/b": {"items": {"required": ["~c"]}}}}})
    assert violations(schemas.check_context, {"a/b": [{"~c": 1}, {}]}) == [
        ("/a~1b/1/~0c", "is missing", "add it")
    ]
    assert str(Violation("", "is 1", "must be 2")) == "(whole value): is 1; must be 2"


def test_surplus_members_without_any_allowed() -> None:
    schemas = Schemas.from_document({"input": {"unevaluatedProperties": False}})
    assert violations(schemas.check_input, {"a": 1}) == [
        ("/a", "is not a member of it", "no members are allowed")
    ]


def test_alternatives_name_the_closest() -> None:
    schemas = Schemas.from_document(
        {"input": {"anyOf": [{"type": "string"}, {"properties": {"n": {"type": "number"}}, "required": ["n"], "type": "object"}]}}
    )  # fmt: skip
    ((pointer, message, right),) = violations(schemas.check_input, {"n": "x"})
    assert (pointer, message) == ("", 'is {"n":"x"}, which fits none of 2 alternatives')
    assert right == 'closest: /n is "x"; must be a number'
    both = Schemas.from_document({"input": {"oneOf": [{}, True]}})
    assert "valid under each of" in violations(both.check_input, 1)[0][1]


def test_an_absent_value() -> None:
    assert violations(SCHEMAS.check_input, UNDEFINED) == [("", "is missing", "must be an object")]


def test_what_is_no_json() -> None:
    ((_, message, right),) = violations(SCHEMAS.check_input, object())
    assert "not a JSON value" in message
    assert right == "a JSON value"


# --- bad schemas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        ([], [("schema-shape", "/schemas")]),
        ({"events": [], "actors": 3}, [("schema-shape", "/schemas/events"), ("schema-shape", "/schemas/actors")]),
        ({"actors": {"a/b": None}}, [("schema-shape", "/schemas/actors/a~1b")]),
        ({"context": "string"}, [("schema-shape", "/schemas/context")]),
        ({"input": {"type": "strng"}}, [("schema-invalid", "/schemas/input/type")]),
        ({"input": {"required": "a", "minLength": -1}},
         [("schema-invalid", "/schemas/input/minLength"), ("schema-invalid", "/schemas/input/required")]),
        ({"events": {"a/b": {"properties": {"x": 1}}}}, [("schema-invalid", "/schemas/events/a~1b/properties/x")]),
        ({"input": {"pattern": "(", "patternProperties": {"[": {}}}},
         [("schema-invalid", "/schemas/input/pattern"), ("schema-invalid", "/schemas/input/patternProperties/[")]),
        ({"input": {"allOf": [{"pattern": "("}]}}, [("schema-invalid", "/schemas/input/allOf/0/pattern")]),
        ({"input": {"$schema": "urn:mine"}}, [("schema-dialect", "/schemas/input/$schema")]),
        ({"input": {"$ref": "#/$defs/no"}}, [("schema-reference", "/schemas/input/$ref")]),
        ({"input": {"items": [{"$ref": "x.json"}]} | {"$schema": "http://json-schema.org/draft-07/schema#"}},
         [("schema-reference", "/schemas/input/items/0/$ref")]),
        ({"input": {"$dynamicRef": "https://example.com/s"}}, [("schema-reference", "/schemas/input/$dynamicRef")]),
    ],
)  # fmt: skip
def test_bad_schemas_are_problems_of_the_author(document: Any, problems: list[tuple[str, str]]) -> None:
    with pytest.raises(DefinitionError) as caught:
        Schemas.from_document(document, "/schemas")
    assert [(p.code, p.pointer) for p in caught.value.problems] == problems
    assert all(p.hint for p in caught.value.problems)


def test_references_inside_and_to_known_dialects() -> None:
    schemas = Schemas.from_document(
        {
            "input": {
                "$id": "https://example.com/root",
                "$defs": {"n": {"$id": "n", "type": "number"}, "const": {"$anchor": "here", "minimum": 2}},
                "allOf": [{"$ref": "n"}, {"$ref": "#here"}, {"$ref": "https://example.com/n"}],
                "examples": [{"$ref": "nowhere", "pattern": "("}],
            },
            "output": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        }
    )
    schemas.check_input(3)
    assert violations(schemas.check_input, 1) == [("", "is 1", "must be at least 2")]
    schemas.check_output({"type": "string"})
    with pytest.raises(SchemaError):
        schemas.check_output({"type": "strng"})


def test_nothing_is_ever_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_args: Any) -> None:
        raise AssertionError("tried to reach the network")

    monkeypatch.setattr(socket, "socket", no_network)
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    with pytest.raises(DefinitionError, match="never fetched") as caught:
        Schemas.from_document({"input": {"$ref": "https://example.com/schema.json"}})
    assert "$defs" in str(caught.value.problems[0].hint)


def test_the_dialect_is_honoured() -> None:
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}
    assert violations(Schemas.from_document({"input": draft4}).check_input, 3)
    with pytest.raises(DefinitionError):
        Schemas.from_document({"input": {"minimum": 3, "exclusiveMinimum": True}})


def test_formats_only_when_asked() -> None:
    document = {"input": {"format": "date"}}
    Schemas.from_document(document).check_input("soon")
    strict = Schemas.from_document(document, formats=True)
    assert violations(strict.check_input, "soon") == [("", 'is "soon"', "must be a valid date")]
    assert violations(pickle.loads(pickle.dumps(strict)).check_input, "soon")


def test_pickle() -> None:
    copy = pickle.loads(pickle.dumps(SCHEMAS))
    assert copy.document == DOCUMENT
    assert violations(copy.check_input, 1) == violations(SCHEMAS.check_input, 1)


def test_importing_the_module_does_not_import_jsonschema() -> None:
    code = "import sys, statecharts.schemas; print('jsonschema' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@given(
    st.dictionaries(
        st.sampled_from(["type", "ticketRef", "priority", "x"]),
        st.one_of(st.none(), st.integers(), st.text(max_size=3), st.sampled_from(["low", "high"])),
    )
)
@settings(deadline=None)
def test_a_check_never_changes_or_half_reports(event: dict[str, Any]) -> None:
    event = event | {"type": "START"}
    before = dict(event)
    payload = {key: value for key, value in event.items() if key != "type"}
    right = (
        isinstance(payload.get("ticketRef"), str) and payload["ticketRef"] != ""
        and payload.get("priority", "low") in ("low", "high") and set(payload) <= {"ticketRef", "priority"}
    )  # fmt: skip
    if right:
        SCHEMAS.check_event(event)
    else:
        assert violations(SCHEMAS.check_event, event)
    assert event == before
