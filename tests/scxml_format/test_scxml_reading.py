"""What a strict reading refuses, what it warns about, and where it says it stands."""

from __future__ import annotations

import pytest
from scxml_texts import document, entry, problems, read, state

from statecharts import DefinitionError
from statecharts.adapters.formats.scxml import read_document
from statecharts.adapters.formats.scxml_codes import ScxmlCode

RULES = [
    # elements
    ("unknown-element", state("<onentri/>"), "Did you mean <onentry>?"),
    ("unknown-element", entry("<raisse/>"), "Did you mean <raise>?"),
    ("unknown-element", entry('<raise event="e"><zzz/></raise>'), "<raise> is empty"),
    ("unknown-element", state("<zzz/>"), "need a name space of their own"),
    ("misplaced-element", state("<send event='e'/>"), "It may stand in"),
    ("misplaced-element", document('<state id="s"/><history id="h"><transition target="s"/></history>'), "<state>, <parallel>"),
    ("misplaced-element", document('<parallel id="p"><final id="f"/></parallel>'), "<scxml>, <state>"),
    ("misplaced-element", document('<parallel id="p"><initial><transition target="q"/></initial><state id="q"/></parallel>'), "<state>"),
    ("misplaced-element", document('<final id="f"><transition event="e"/></final>'), None),
    ("misplaced-element", document('<final id="f"><state id="s"/></final>'), None),
    ("misplaced-element", state("<scxml/>"), "root of a document"),
    ("misplaced-element", state('<action xmlns="urn:statecharts" type="a"/>'), None),
    ("repeated-element", state("<datamodel/><datamodel/>"), None),
    ("repeated-element", document('<final id="f"><donedata/><donedata/></final>'), None),
    ("repeated-element", document("<script/><script/><state/>"), None),
    ("missing-element", state('<history id="h"/>'), None),
    ("missing-element", document('<state id="s"><initial/><state id="t"/></state>'), None),
    ("stray-text", state("hello"), None),
    ("stray-text", entry("<log>this is a text that is longer than forty characters</log>"), None),
    # attributes
    ("unknown-attribute", state("", 'id="s" initail="x"'), "Did you mean `initial`?"),
    ("unknown-attribute", state('<transition target="other" guard="x"/>'), '"event"'),
    ("unknown-attribute", state('<onentry name="x"/>'), "It has none"),
    ("missing-attribute", entry("<raise/>"), None),
    ("missing-attribute", entry("<if><log/></if>"), None),
    ("missing-attribute", entry('<foreach array="a"/>'), None),
    ("missing-attribute", entry('<assign expr="1"/>'), None),
    ("missing-attribute", entry('<assign location="x"/>'), None),
    ("missing-attribute", entry("<cancel/>"), None),
    ("missing-attribute", entry("<send/>"), None),
    ("missing-attribute", entry('<send type="scxml"/>'), None),
    ("missing-attribute", entry('<send event="e"><param expr="1"/></send>'), None),
    ("missing-attribute", entry('<send event="e"><param name="p"/></send>'), None),
    ("missing-attribute", document('<datamodel><data expr="1"/></datamodel><state/>'), None),
    ("missing-attribute", state('<history id="h"><transition/></history>'), None),
    ("missing-attribute", document('<state id="s"><initial><transition/></initial><state id="t"/></state>'), None),
    ("mutually-exclusive", entry('<send event="e" eventexpr="x"/>'), "`event` is read"),
    ("mutually-exclusive", entry('<send event="e" target="t" targetexpr="x"/>'), None),
    ("mutually-exclusive", entry('<send event="e" type="t" typeexpr="x"/>'), None),
    ("mutually-exclusive", entry('<send event="e" id="t" idlocation="x"/>'), None),
    ("mutually-exclusive", entry('<send event="e" delay="1s" delayexpr="x"/>'), None),
    ("mutually-exclusive", entry('<send event="e" namelist="a"><content/></send>'), None),
    ("mutually-exclusive", entry('<send event="e"><content/><param name="a" expr="1"/></send>'), None),
    ("mutually-exclusive", entry('<send event="e"><param name="a" expr="1" location="b"/></send>'), None),
    ("mutually-exclusive", entry('<send event="e"><content expr="1">x</content></send>'), None),
    ("mutually-exclusive", entry('<cancel sendid="a" sendidexpr="b"/>'), None),
    ("mutually-exclusive", entry('<assign location="a" expr="1">2</assign>'), "`expr` is read"),
    ("mutually-exclusive", entry('<script src="a">b</script>'), None),
    ("mutually-exclusive", document('<datamodel><data id="a" expr="1" src="b"/></datamodel><state/>'), None),
    ("mutually-exclusive", document('<datamodel><data id="a" src="b">c</data></datamodel><state/>'), None),
    ("mutually-exclusive", document('<final><donedata><content/><param name="a" expr="1"/></donedata></final>'), None),
    ("mutually-exclusive", state('<invoke src="a" srcexpr="b"/>'), None),
    ("mutually-exclusive", state('<invoke src="a"><content/></invoke>'), None),
    ("mutually-exclusive", state('<invoke namelist="a"><param name="a" expr="1"/></invoke>'), None),
    ("mutually-exclusive", state('<invoke id="a" idlocation="b"/>'), None),
    ("mutually-exclusive", document('<state id="s" initial="t"><initial><transition target="t"/></initial><state id="t"/></state>'), None),
    ("bad-value", state('<transition event="e" type="x"/>'), '"internal"'),
    ("bad-value", state('<transition event="e" type="internl"/>'), "Did you mean `internal`?"),
    ("bad-value", state('<history id="h" type="deeep"><transition target="t"/></history><state id="t"/>'), "Did you mean `deep`?"),
    ("bad-value", state('<invoke autoforward="yes"/>'), '"true", "false"'),
    ("bad-value", document("<state/>", 'version="1.0" binding="lazy"'), '"early", "late"'),
    ("unknown-datamodel", document("<state/>", 'version="1.0" datamodel="ecmascrip"'), "Did you mean 'ecmascript'?"),
    ("unknown-datamodel", document("<state/>", 'version="1.0" datamodel="python"'), '"null"'),
    ("scxml-version", document("<state/>", ""), 'version="1.0"'),
    ("scxml-version", document("<state/>", 'version="2.0"'), None),
    ("bad-id", state("", 'id="a b"'), "starts with a letter"),
    ("bad-id", state("", 'id="1"'), None),
    ("bad-id", state("", 'id="a:b"'), None),
    ("bad-delay", entry('<send event="e" delay="soon"/>'), "`delayexpr`"),
    ("bad-delay", entry('<send event="e" delay=""/>'), None),
    ("bad-delay", entry('<send event="e" delay="-1s"/>'), None),
    ("bad-delay", entry('<send event="e" delay="1 s"/>'), None),
    ("bare-delay", entry('<send event="e" delay="200"/>'), "`200ms`"),
    ("internal-delay", entry('<send event="e" target="#_internal" delay="1s"/>'), None),
    ("internal-delay", entry('<send event="e" target="#_internal" delayexpr="x"/>'), None),
    ("bad-event-name", entry('<raise event=""/>'), None),
    ("bad-event-name", entry('<send event="a b"/>'), None),
    ("bad-descriptor", state('<transition event="" target="other"/>'), "Leave `event` out"),
    ("bad-descriptor", state('<transition event="ok a..b" target="other"/>'), "parted by dots"),
    ("bad-descriptor", state('<transition event=".a" target="other"/>'), None),
    ("bad-action", entry('<action xmlns="urn:statecharts"/>'), None),
    ("bad-action", entry('<action xmlns="urn:statecharts" type="scxml.raise"/>'), None),
    ("bad-action", entry('<action xmlns="urn:statecharts" type="a">{</action>'), None),
    ("bad-action", entry('<action xmlns="urn:statecharts" type="a">NaN</action>'), None),
    ("bad-action", entry('<action xmlns="urn:statecharts" type="a"><b/></action>'), None),
    ("unknown-attribute", entry('<action xmlns="urn:statecharts" type="a" params="1"/>'), "JSON inside"),
    # states
    ("no-states", document(""), None),
    ("duplicate-id", document('<state id="a"/>\n<state id="a"/>'), "Rename"),
    ("duplicate-id", document('<state id="a"><history id="a"><transition target="b"/></history><state id="b"/></state>'), None),
    ("unknown-target", state('<transition target="othr"/>'), "Did you mean 'other'?"),
    ("unknown-target", state('<transition target="" event="e"/>'), "leave it out"),
    ("unknown-target", document('<state id="a"/>', 'version="1.0" initial="b"'), None),
    ("unknown-target", document('<state id="a"/>', 'version="1.0" initial=""'), None),
    ("unknown-initial", document('<state id="a" initial="c"><state id="b"/></state><state id="c"/>'), "Its children are 'b'"),
    ("unknown-initial", document('<state id="a" initial="a"><state id="b"/></state>'), None),
    ("unknown-initial", document('<state id="a"><initial><transition target="c"/></initial><state id="b"/></state><state id="c"/>'), None),
    ("initial-without-states", state("", 'id="s" initial="other"'), None),
    ("initial-without-states", state('<initial><transition target="other"/></initial>'), None),
    ("bad-initial", document('<state id="a"><initial><transition event="e" target="b"/></initial><state id="b"/></state>'), "Remove `event`"),
    ("history-condition", document('<state id="a"><history id="h"><transition cond="x" target="b"/></history><state id="b"/></state>'), "Remove `cond`"),
    ("bad-history", document('<state id="a"><history id="h"><transition target="c"/></history><state id="b"/></state><state id="c"/>'), None),
    ("bad-history", document('<state id="a"><history id="h"><transition target="h"/></history><state id="b"/></state>'), None),
    ("deep-default", document('<state id="a"><history id="h"><transition target="c"/></history><state id="b"><state id="c"/></state></state>'), 'type="deep"'),
    ("illegal-targets", document('<state id="s"><transition target="a b"/></state><state id="a"/><state id="b"/>'), "regions"),
    ("illegal-targets", document('<state id="s" initial="a b"><state id="a"/><state id="b"/></state>'), None),
    ("empty-transition", state("<transition/>"), None),
    ("root-transition", document('<state id="a"/><transition event="e"/>'), "Put a <state>"),
    ("branch-order", entry('<if cond="x"><else/><elseif cond="y"/></if>'), "last branch"),
    ("finalize-sends", state('<invoke><finalize><if cond="x"><send event="e"/></if></finalize></invoke>'), None),
    ("finalize-sends", state('<invoke><finalize><raise event="e"/></finalize></invoke>'), None),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "hint"), RULES)
def test_one_broken_rule_is_one_problem(code: str, text: str, hint: str | None) -> None:
    found = problems(text)
    assert [problem.code for problem in found] == [code]
    [problem] = found
    weight = next(each.weight for each in ScxmlCode if each.slug == code)
    assert problem.severity == ("warning" if weight == "warning" else "error")
    assert problem.line == (2 if "\n" in text else 1)
    if hint is not None:
        assert hint in (problem.hint or "")


@pytest.mark.parametrize(("code", "text", "_hint"), RULES)
def test_a_loose_reading_refuses_only_what_cannot_be_read_at_all(code: str, text: str, _hint: str | None) -> None:
    weight = next(each.weight for each in ScxmlCode if each.slug == code)
    if weight == "fatal":
        with pytest.raises(DefinitionError):
            read_document(text, strict=False)
    else:
        assert [problem.severity for problem in read_document(text, strict=False).warnings] == ["warning"]


def test_every_code_is_used() -> None:
    elsewhere = {"xml-syntax", "doctype", "too-large", "too-deep", "not-scxml", "wrong-namespace", "no-namespace",
                 "bad-extension", "not-xstate", "guard-from-cond", "edit-not-read"}  # fmt: skip
    assert {code for code, _, _ in RULES} | elsewhere == {code.slug for code in ScxmlCode}
    assert len({code.slug for code in ScxmlCode}) == len(ScxmlCode)


GOOD = [
    document('<state id="s"><transition target="p1 q1"/></state><parallel id="p"><state id="p1"/><state id="q1"/></parallel>'),
    document('<state id="s"><transition target="s t"/><state id="t"/></state>'),
    document('<parallel id="p"><state id="a"><state id="a1"/></state><state id="b"/><history id="h"><transition target="a1 b"/></history></parallel>').replace('id="h"', 'id="h" type="deep"'),
    document('<parallel id="p"><transition target="h b"/><state id="a"/><state id="b"/><history id="h"><transition target="a"/></history></parallel>'),
    document('<state id="a" initial="c"><state id="b"><state id="c"/></state></state>'),
    document('<state id="a"/>', 'version="1.0" initial="a" name="n" datamodel="null" binding="early"'),
    state('<transition event="*" target="other"/><transition event="a.* b. c.d" target="other"/><transition event="a"/>'),
    entry('<send event="e" delay=".5s"/><send event="e" delay="1.5s"/><send event="e" delay="1.m"/><send event="e" delay="2d"/>'),
    entry('<send type="http://www.w3.org/TR/scxml/#BasicHTTPEventProcessor" target="t"/><send typeexpr="x"/>'),
    entry('<send event="e"><content>x</content></send>'),
    state('<invoke src="x"><param name="a" expr="1"/></invoke><invoke id="i" type="t" autoforward="true"/>'),
    entry('<if cond="x"><log/><elseif cond="y"/><elseif cond="z"/><else/><log/></if>'),
    document('<final id="f"><donedata/><onentry/><onexit/></final>'),
    entry('<script/><log label="" expr=""/>'),
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_what_the_recommendation_allows_is_no_problem(text: str) -> None:
    read(text)


def test_all_problems_come_at_once_errors_first_in_the_order_of_the_text() -> None:
    text = document('\n<state id="a">\n<transition target="x"/>\n<onentry><raise/></onentry>\n<transition/></state>', "")
    with pytest.raises(DefinitionError) as caught:
        read_document(text, "chart.scxml")
    found = [(problem.code, problem.line, problem.severity) for problem in caught.value.problems]
    assert found == [
        ("unknown-target", 3, "error"),
        ("missing-attribute", 4, "error"),
        ("scxml-version", 1, "warning"),
        ("empty-transition", 5, "warning"),
    ]
    assert all(problem.file == "chart.scxml" for problem in caught.value.problems)
    assert "chart.scxml:3 /states/a/transitions/0" in str(caught.value)


def test_problems_of_a_document_in_place_have_its_line_and_pointer() -> None:
    inner = '<scxml version="1.0">\n<state id="x"><transition target="s"/></state></scxml>'
    [problem] = problems(state(f"<invoke><content>{inner}</content></invoke>"))
    assert problem.code == "unknown-target"  # the ids of the outer document mean nothing inside
    assert problem.pointer == "/states/s/invoke/0/content/document/states/x/transitions/0/target"
    assert problem.line == 2


def test_only_the_first_unknown_names_get_a_suggestion() -> None:
    targets = "".join('<transition target="othr"/>' + "\n" for _ in range(40))
    hints = [problem.hint for problem in problems(state(targets))]
    assert hints == ["Did you mean 'other'?"] * 25 + [None] * 15


def test_lines() -> None:
    text = document(
        """
<datamodel>
 <data id="d"/>
</datamodel>
<state id="a/b"/>
<state id="a">
 <onentry>
  <if cond="x">
   <log/>
  <else/>
   <raise event="e"/>
  </if>
 </onentry>
 <transition event="e">
  <send event="e">
   <param name="p" expr="1"/>
  </send>
 </transition>
 <invoke>
  <content>
   <scxml version="1.0">
    <state id="x"/>
   </scxml>
  </content>
 </invoke>
</state>"""
    )
    found = read_document(text, strict=False)
    expected = {
        "": 1,
        "/data/0": 3,
        "/data/0/id": 3,
        "/states/a~1b": 5,
        "/states/a": 6,
        "/states/a/entry/0": 7,
        "/states/a/entry/0/0": 8,
        "/states/a/entry/0/0/branches/0": 8,
        "/states/a/entry/0/0/branches/0/actions/0": 9,
        "/states/a/entry/0/0/branches/1": 10,
        "/states/a/entry/0/0/branches/1/actions/0": 11,
        "/states/a/transitions/0/actions/0/params/0/expr": 16,
        "/states/a/transitions/0/event": 14,
        "/states/a/invoke/0/content": 20,
        "/states/a/invoke/0/content/document": 21,
        "/states/a/invoke/0/content/document/states/x/whatever": 22,
    }
    assert {pointer: found.line_of(pointer) for pointer in expected} == expected
