"""The JSON that a document becomes, element by element."""

from __future__ import annotations

from typing import Any

import pytest
from scxml_texts import document, entry, read, state


def actions(inside: str) -> Any:
    [block] = read(entry(inside)).document["states"]["s"]["entry"]
    return block


def first(inside: str) -> Any:
    return read(state(inside)).document["states"]["s"]


def test_the_root() -> None:
    assert read(document("<state/>")).document == {"semantics": "scxml", "id": "scxml", "states": {"state:1": {}}}
    text = document("<state id='a'/>", 'name="n" version="1.0" datamodel="null" binding="late" initial="a"')
    assert list(read(text).document.items()) == [
        ("semantics", "scxml"),
        ("id", "n"),
        ("name", "n"),
        ("datamodel", "null"),
        ("binding", "late"),
        ("initial", ["a"]),
        ("states", {"a": {}}),
    ]
    text = document('<datamodel><data id="a"/><data id="b" expr="1"/></datamodel><script>x</script><state/>')
    assert read(text).document["data"] == [{"id": "a"}, {"id": "b", "expr": "1"}]
    assert read(text).document["scripts"] == [{"text": "x"}]


def test_states_without_id_are_counted_in_document_order() -> None:
    inside = '<state><history><transition target="b"/></history><state id="b"/></state><parallel/><final/>'
    states = read(document(inside)).document["states"]
    assert list(states) == ["state:1", "state:3", "state:4"]
    assert list(states["state:1"]["states"]) == ["state:2", "b"]
    assert [state.get("type") for state in states.values()] == [None, "parallel", "final"]


def test_initial_and_history() -> None:
    def inside(text: str) -> Any:
        return read(document(f'<state id="s" {text}<state id="t"/></state>')).document["states"]["s"]

    assert inside('initial="t">')["initial"] == ["t"]
    assert inside('><initial><transition target="t"/></initial>')["initial"] == {"target": ["t"]}
    assert inside('><initial><transition target="t"><raise event="e"/></transition></initial>')["initial"] == {
        "target": ["t"],
        "actions": [{"type": "scxml.raise", "event": "e"}],
    }
    assert inside('><history id="h"><transition target="t"/></history>')["states"]["h"] == {
        "type": "history",
        "history": "shallow",
        "target": ["t"],
    }
    deep = inside('><history id="h" type="deep"><transition target="t"><log/></transition></history>')["states"]["h"]
    assert deep == {"type": "history", "history": "deep", "target": ["t"], "actions": [{"type": "scxml.log"}]}


def test_transitions() -> None:
    found = first(
        '<transition event="a  b.*" cond="x" target="other" type="internal"><log/></transition>'
        '<transition target="other" type="external"/><transition event="*"/>'
    )["transitions"]
    assert found == [
        {"event": ["a", "b.*"], "cond": "x", "target": ["other"], "type": "internal", "actions": [{"type": "scxml.log"}]},
        {"target": ["other"]},
        {"event": ["*"]},
    ]


def test_blocks_and_data() -> None:
    found = first(
        "<onentry><log/></onentry><onexit/><onentry/><datamodel><data id='d' src='u'/><data id='e'>[1]</data>"
        '<data id="f"> </data><data id="g"><x xmlns=""/></data></datamodel>'
    )
    assert found == {
        "data": [{"id": "d", "src": "u"}, {"id": "e", "content": {"text": "[1]"}}, {"id": "f"}, {"id": "g", "content": {"xml": '<x xmlns=""/>'}}],
        "entry": [[{"type": "scxml.log"}], []],
        "exit": [[]],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "json"),
    [
        ("<donedata/>", {"params": []}),
        ('<donedata><param name="a" expr="1"/><param name="a" location="b"/></donedata>',
         {"params": [{"name": "a", "expr": "1"}, {"name": "a", "location": "b"}]}),
        ('<donedata><content expr="x"/></donedata>', {"content": {"expr": "x"}}),
        ("<donedata><content> t </content></donedata>", {"content": {"text": " t "}}),
    ],
)  # fmt: skip
def test_donedata(text: str, json: Any) -> None:
    assert read(document(f'<final id="f">{text}</final>')).document["states"]["f"]["donedata"] == json


@pytest.mark.parametrize(
    ("text", "json"),
    [
        ("<invoke/>", {}),
        ('<invoke type="t" id="i" src="s" namelist="a b" autoforward="true"/>',
         {"id": "i", "type": "t", "src": "s", "namelist": ["a", "b"], "autoforward": True}),
        ('<invoke typeexpr="t" idlocation="i" srcexpr="s" autoforward="false"><param name="p" expr="1"/><finalize/></invoke>',
         {"idlocation": "i", "typeexpr": "t", "srcexpr": "s", "params": [{"name": "p", "expr": "1"}], "finalize": []}),
        ('<invoke><finalize><assign location="x" expr="1"/></finalize></invoke>',
         {"finalize": [{"type": "scxml.assign", "location": "x", "expr": "1"}]}),
        ('<invoke><content expr="x"/></invoke>', {"content": {"expr": "x"}}),
        ("<invoke><content>x</content></invoke>", {"content": {"text": "x"}}),
        ('<invoke><content> <scxml version="1.0"><final/></scxml> </content></invoke>',
         {"content": {"document": {"semantics": "scxml", "id": "scxml", "states": {"state:1": {"type": "final"}}}}}),
        ('<invoke><content>x<scxml version="1.0"/></content></invoke>',
         {"content": {"xml": 'x<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0"/>'}}),
        ('<invoke><content><scxml xmlns=""/></content></invoke>', {"content": {"xml": '<scxml xmlns=""/>'}}),
    ],
)  # fmt: skip
def test_invoke(text: str, json: Any) -> None:
    assert first(text)["invoke"] == [json]


@pytest.mark.parametrize(
    ("text", "json"),
    [
        ('<raise event="e"/>', {"type": "scxml.raise", "event": "e"}),
        ('<send event="e" target="t" type="p" id="i" delay="1s" namelist="a b"/>',
         {"type": "scxml.send", "event": "e", "target": "t", "processor": "p", "id": "i", "delay": "1s", "namelist": ["a", "b"]}),
        ('<send eventexpr="e" targetexpr="t" typeexpr="p" idlocation="i" delayexpr="d"><param name="n" expr="x"/></send>',
         {"type": "scxml.send", "eventexpr": "e", "targetexpr": "t", "processorexpr": "p", "idlocation": "i", "delayexpr": "d",
          "params": [{"name": "n", "expr": "x"}]}),
        ('<send event="e"><content/></send>', {"type": "scxml.send", "event": "e", "content": {"text": ""}}),
        ('<send event="e" namelist=""/>', {"type": "scxml.send", "event": "e", "namelist": []}),
        ('<cancel sendid="a"/>', {"type": "scxml.cancel", "sendid": "a"}),
        ('<cancel sendidexpr="a"/>', {"type": "scxml.cancel", "sendidexpr": "a"}),
        ('<log label="" expr="x"/>', {"type": "scxml.log", "label": "", "expr": "x"}),
        ('<assign location="a.b" expr=""/>', {"type": "scxml.assign", "location": "a.b", "expr": ""}),
        ('<assign location="a"> t </assign>', {"type": "scxml.assign", "location": "a", "content": {"text": " t "}}),
        ("<script>a &lt; b <!-- c --> d<![CDATA[&]]></script>", {"type": "scxml.script", "text": "a < b  d&"}),
        ('<script src="u"/>', {"type": "scxml.script", "src": "u"}),
        ('<foreach array="a" item="i" index="j"><log/></foreach>',
         {"type": "scxml.foreach", "array": "a", "item": "i", "index": "j", "actions": [{"type": "scxml.log"}]}),
        ('<if cond="a"/>', {"type": "scxml.if", "branches": [{"cond": "a", "actions": []}]}),
        ('<if cond="a"><log/><elseif cond="b"/><else/><log/><log/></if>',
         {"type": "scxml.if", "branches": [{"cond": "a", "actions": [{"type": "scxml.log"}]}, {"cond": "b", "actions": []},
                                           {"actions": [{"type": "scxml.log"}, {"type": "scxml.log"}]}]}),
        ('<action xmlns="urn:statecharts" type="a"/>', {"type": "a"}),
        ('<action xmlns="urn:statecharts" type="a"> {"z": 1, "b": [null, "&lt;"]} </action>',
         {"type": "a", "params": {"z": 1, "b": [None, "<"]}}),
    ],
)  # fmt: skip
def test_actions(text: str, json: Any) -> None:
    assert actions(text) == [json]


def test_a_loose_reading_takes_the_first_of_what_excludes_each_other() -> None:
    from statecharts.adapters.formats.scxml import read_document

    text = entry('<send event="e" eventexpr="x"/><assign location="a" expr="1">2</assign>')
    [block] = read_document(text, strict=False).document["states"]["s"]["entry"]
    assert block == [{"type": "scxml.send", "event": "e"}, {"type": "scxml.assign", "location": "a", "expr": "1"}]
