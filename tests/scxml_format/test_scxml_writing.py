"""SCXML-JSON to text: what is written is read back, and what has no form in SCXML is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scxml_documents import Json, documents, values
from scxml_texts import read

from statecharts import DefinitionError, UsageError
from statecharts.adapters.formats.scxml import read_document, write_document


@given(documents())
@settings(max_examples=200)
def test_any_document_is_written_and_read_back(document: Json) -> None:
    assume("?" not in json.dumps(document))
    text = write_document(document)
    again = read_document(text)
    assert json.dumps(again.document) == json.dumps(document)
    assert write_document(again.document) == text


def wrapped(action: Json) -> Json:
    return {"semantics": "scxml", "id": "scxml", "states": {"s": {"entry": [[action]]}}}


@given(values)
def test_params_of_named_actions_are_any_json(value: Any) -> None:
    document = wrapped({"type": "act", "params": value})
    assert json.dumps(read(write_document(document)).document) == json.dumps(document)


def test_the_text() -> None:
    document = {
        "semantics": "scxml",
        "id": "shop",
        "name": "shop",
        "initial": ["open"],
        "data": [{"id": "n", "expr": "1"}],
        "states": {
            "open": {
                "entry": [[{"type": "scxml.log", "expr": "'it' < \"x\""}, {"type": "notify", "params": {"to": "me"}}]],
                "transitions": [{"event": ["close"], "target": ["closed"]}],
            },
            "closed": {"type": "final"},
        },
    }
    assert write_document(document) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="shop" initial="open">\n'
        "  <datamodel>\n"
        '    <data id="n" expr="1"/>\n'
        "  </datamodel>\n"
        '  <state id="open">\n'
        "    <onentry>\n"
        "      <log expr=\"'it' &lt; &quot;x&quot;\"/>\n"
        '      <action xmlns="urn:statecharts" type="notify">{"to": "me"}</action>\n'
        "    </onentry>\n"
        '    <transition event="close" target="closed"/>\n'
        "  </state>\n"
        '  <final id="closed"/>\n'
        "</scxml>\n"
    )


def test_an_id_without_a_name_becomes_the_name() -> None:
    assert read(write_document({"semantics": "scxml", "id": "x", "states": {"s": {}}})).document["name"] == "x"


def test_markup_that_leans_on_nothing_stays_in_no_name_space() -> None:
    document = wrapped({"type": "scxml.assign", "location": "x", "content": {"xml": "<a/>"}})
    [[action]] = read(write_document(document)).document["states"]["s"]["entry"]
    assert action["content"] == {"xml": '<a xmlns=""/>'}


REFUSED: list[tuple[str, Json]] = [
    ("semantics", {"states": {}}),
    ("/states/s/on", {"semantics": "scxml", "states": {"s": {"on": {}}}}),
    ("/states/s", {"semantics": "scxml", "states": {"s": "t"}}),
    ("/states/a~1b/type", {"semantics": "scxml", "states": {"a/b": {"type": "compound"}}}),
    ("/states", {"semantics": "scxml", "states": ["s"]}),
    ("/initial/0", {"semantics": "scxml", "initial": ["state:1"], "states": {"state:1": {}}}),
    ("/states/s/transitions/0/target/0", {"semantics": "scxml", "states": {"s": {"transitions": [{"target": ["a b"]}]}}}),
    ("/states/s/transitions/0/event/0", {"semantics": "scxml", "states": {"s": {"transitions": [{"event": [""]}]}}}),
    ("/states/s/transitions/0/cond", {"semantics": "scxml", "states": {"s": {"transitions": [{"cond": 1}]}}}),
    ("/states/s/entry/0/0", wrapped({"type": "scxml.nothing"})),
    ("/states/s/entry/0/0", wrapped({"typ": "x"})),
    ("/states/s/entry/0/0/params", wrapped({"type": "a", "params": object()})),
    ("/states/s/entry/0/0/params", wrapped({"type": "a", "params": float("nan")})),
    ("/states/s/entry/0/0/other", wrapped({"type": "a", "other": 1})),
    ("/states/s/entry/0/0/expr", wrapped({"type": "scxml.log", "expr": "\x00"})),
    ("U+0001", wrapped({"type": "scxml.script", "text": "\x01"})),
    ("/states/s/entry/0/0/text", wrapped({"type": "scxml.script"})),
    ("/states/s/entry/0/0/content/xml", wrapped({"type": "scxml.assign", "location": "x", "content": {"xml": "</assign><script>"}})),
    ("/states/s/entry/0/0/content/xml", wrapped({"type": "scxml.assign", "location": "x", "content": {"xml": "<p:a/>"}})),
    ("/states/s/entry/0/0/content/xml", wrapped({"type": "scxml.assign", "location": "x", "content": {"xml": "text"}})),
    ("/states/s/entry/0/0/content/html", wrapped({"type": "scxml.assign", "location": "x", "content": {"html": "text"}})),
]  # fmt: skip


@pytest.mark.parametrize(("place", "document"), REFUSED)
def test_what_would_be_lost_is_refused(place: str, document: Json) -> None:
    with pytest.raises(UsageError) as caught:
        write_document(document)
    assert place in str(caught.value)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in ``value``."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, member in inner for each in places(member, (*path, key)))]


WRONG: list[Any] = [None, 1, True, "x y", "", [], {}, [1], {"a": 1}, {1: "a"}, [[]], [{}], "\x00"]


def read_or_refused_in_words(document: Json) -> None:
    try:
        read_document(write_document(document), strict=False)
    except UsageError as error:
        assert str(error).startswith(("/", "(document)", "an SCXML document"))
    except DefinitionError:
        pass  # well-formed, but against SCXML's rules


def put(document: Json, way: tuple[Any, ...], value: Any) -> None:
    holder: Any = document
    for key in way[:-1]:
        holder = holder[key]
    holder[way[-1]] = value


@given(documents(), st.data())
@settings(max_examples=200)
def test_a_document_with_one_wrong_value_is_refused_in_words(document: Json, data: st.DataObject) -> None:
    put(document, data.draw(st.sampled_from(places(document)[1:])), data.draw(st.sampled_from(WRONG)))
    read_or_refused_in_words(document)


EVERY_MEMBER: Json = {
    "semantics": "scxml", "id": "all", "name": "all", "datamodel": "cel", "binding": "late", "initial": ["p"],
    "data": [{"id": "n", "expr": "1"}, {"id": "m", "content": {"text": "2"}}, {"id": "o", "src": "file:o"}],
    "scripts": [{"text": "n"}, {"src": "file:s"}],
    "states": {
        "p": {"type": "parallel", "data": [], "states": {
            "h": {"type": "history", "history": "deep", "target": ["q"], "actions": [{"type": "scxml.log", "label": "l", "expr": "1"}]},
            "q": {"initial": {"target": ["r"], "actions": [{"type": "scxml.raise", "event": "e"}]}, "states": {"r": {"initial": ["t"], "states": {"t": {}}}}},
        }},
        "s": {
            "entry": [[{"type": "scxml.assign", "location": "n", "expr": "1"}, {"type": "scxml.assign", "location": "n", "content": {"xml": "<a/>"}}]],
            "exit": [[{"type": "scxml.if", "branches": [{"cond": "a", "actions": []}, {"cond": "b", "actions": [{"type": "own", "params": [1]}]}, {"actions": []}]}]],
            "transitions": [{"event": ["e", "f"], "cond": "n", "target": ["p"], "type": "internal", "actions": [
                {"type": "scxml.send", "event": "e", "target": "#_internal", "processor": "scxml", "id": "i", "delay": "1s", "namelist": ["n"], "params": [{"name": "a", "expr": "1"}, {"name": "b", "location": "n"}]},
                {"type": "scxml.send", "eventexpr": "e", "targetexpr": "t", "processorexpr": "p", "idlocation": "n", "delayexpr": "d", "content": {"expr": "1"}},
                {"type": "scxml.foreach", "array": "n", "item": "i", "index": "j", "actions": [{"type": "scxml.cancel", "sendid": "i"}, {"type": "scxml.cancel", "sendidexpr": "i"}]},
                {"type": "scxml.script", "text": "n"}, {"type": "scxml.script", "src": "file:s"},
            ]}],
            "invoke": [
                {"id": "i", "type": "scxml", "src": "file:m", "namelist": ["n"], "autoforward": True, "finalize": [{"type": "own"}]},
                {"idlocation": "n", "typeexpr": "t", "srcexpr": "s", "params": [{"name": "a", "expr": "1"}]},
                {"content": {"document": {"semantics": "scxml", "states": {"inner": {}}}}},
            ],
        },
        "d": {"type": "final", "donedata": {"content": {"text": "t"}}},
        "e": {"type": "final", "donedata": {"params": [{"name": "a", "expr": "1"}]}},
        "state:8": {"states": {"state:9": {}}},
    },
}  # fmt: skip


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_any_wrong_value_at_any_place_is_refused_in_words(value: Any) -> None:
    for way in places(EVERY_MEMBER)[1:]:
        document = copy.deepcopy(EVERY_MEMBER)
        put(document, way, value)
        read_or_refused_in_words(document)


def test_hostile_text_cannot_leave_its_place() -> None:
    evil = "]]></script><raise event='x'/><!--"
    document = wrapped({"type": "scxml.script", "text": evil})
    assert read(write_document(document)).document == document
    document = wrapped({"type": "scxml.log", "expr": "\"/><raise event='x'/><log expr='"})
    assert read(write_document(document)).document == document


def test_a_document_that_breaks_rules_can_be_written_and_is_refused_when_read() -> None:
    text = write_document({"semantics": "scxml", "states": {"s": {"transitions": [{"target": ["nowhere"]}]}}})
    with pytest.raises(DefinitionError, match="nowhere"):
        read_document(text)
