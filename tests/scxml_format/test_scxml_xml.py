"""The XML reader: safe, exact about lines, and able to cut out sources that parse on their own."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scxml_texts import NAMESPACE, codes, document, problems, read, state

from statecharts import DefinitionError
from statecharts.adapters.formats.scxml_xml import Element, escaped, parse_xml


def refusal(text: str, **options: Any) -> Any:
    with pytest.raises(DefinitionError) as caught:
        parse_xml(text, "some.scxml", **options)
    [problem] = caught.value.problems
    assert problem.file == "some.scxml"
    return problem


BILLION = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;">]>
<scxml>&lol2;</scxml>"""
EXTERNAL = '<!DOCTYPE scxml SYSTEM "file:///etc/passwd"><scxml/>'


@pytest.mark.parametrize("text", [BILLION, EXTERNAL])
def test_a_doctype_is_refused_before_anything_in_it_counts(text: str) -> None:
    problem = refusal(text)
    assert problem.code == "doctype"
    assert problem.line in (1, 2)
    assert "Remove it" in problem.hint


def test_limits() -> None:
    assert refusal("<a>" + "x" * 200 + "</a>", max_bytes=100).code == "too-large"
    assert refusal("é" * 60, max_bytes=100).code == "too-large"
    problem = refusal("<a>\n" * 11 + "</a>" * 11, max_depth=10)
    assert (problem.code, problem.line) == ("too-deep", 11)
    assert "invoke" in problem.hint


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("", 1, "empty"),
        ("{}", 1, "looks like JSON"),
        ("<a>\n<b></a>", 2, "<b>, opened on line 2"),
        ("<a>\n<b>", 2, "ends too early: <b>"),
        ("<a", 1, "ends too early"),
        ("<a>&nbsp;</a>", 1, "&lt; &gt;"),
        ("\n<?xml version='1.0'?><a/>", 2, "Nothing may stand before"),
        ("<x:a/>", 1, "Declare the prefix"),
        ('<a b="1" b="2"/>', 1, "Remove one"),
        ("<a/><b/>", 1, "one root"),
        ('<a cond="x && y"/>', 1, "&amp;&amp;"),
        ('<a cond="x < y"/>', 1, "&lt;"),
    ],
)
def test_broken_text_is_explained(text: str, line: int, hint: str) -> None:
    problem = refusal(text)
    assert problem.code == "xml-syntax"
    assert problem.line == line
    assert f"line {line}, column" in problem.message
    assert hint in problem.hint


def test_the_encoding_in_the_declaration_does_not_matter_because_the_text_is_decoded() -> None:
    assert parse_xml('\ufeff<?xml version="1.0" encoding="UTF-16"?><a>é</a>').root.text == "é"


def test_lone_surrogates_are_no_xml() -> None:
    assert refusal("<a>\ud800</a>").code == "xml-syntax"


def test_names_prefixes_and_foreign_attributes() -> None:
    root = parse_xml('<p:a xmlns:p="urn:p" b="1" p:c="2" xml:lang="en"><d xmlns="urn:d"/></p:a>').root
    assert (root.name, root.namespace, root.prefix) == ("a", "urn:p", "p")
    assert root.attributes == {"b": "1"}
    assert root.foreign == {("urn:p", "c"): "2", ("http://www.w3.org/XML/1998/namespace", "lang"): "en"}
    [child] = root.elements
    assert (child.name, child.namespace, child.prefix) == ("d", "urn:d", None)
    assert (child.namespace_of("p"), child.namespace_of(None), root.namespace_of(None)) == ("urn:p", "urn:d", "")


# ---------------------------------------------------------------- source text


def inner(text: str) -> str:
    xml = parse_xml(text)
    [holder] = [element for element in xml.root.walk() if element.name == "content"]
    return xml.inner_xml(holder)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("<r><content><a/></content></r>", '<a xmlns=""/>'),
        ('<r xmlns="urn:r"><content> <a/> </content></r>', '<a xmlns="urn:r"/>'),
        ('<r xmlns="urn:r"><content><a xmlns=""/></content></r>', '<a xmlns=""/>'),
        ('<r xmlns:p="urn:p"><content><p:a/></content></r>', '<p:a xmlns:p="urn:p"/>'),
        ('<r xmlns:p="urn:p"><content><p:a><b/></p:a></content></r>', '<p:a xmlns="" xmlns:p="urn:p"><b/></p:a>'),
        ('<r xmlns:p="urn:p" xmlns:q="urn:q"><content><a xmlns="" t="q:x"/></content></r>', '<a xmlns:q="urn:q" xmlns="" t="q:x"/>'),
        ('<r xmlns:p="urn:1"><content xmlns:p="urn:2"><p:a/></content></r>', '<p:a xmlns:p="urn:2"/>'),
        ('<r xmlns:p="a&amp;&quot;b"><content><p:a/></content></r>', '<p:a xmlns:p="a&amp;&quot;b"/>'),
        ('<content><a b=">">x<!--c--><![CDATA[<]]></a ></content>', '<a xmlns="" b=">">x<!--c--><![CDATA[<]]></a >'),
        ("<content><!-- c --><a/><?p i?><b/></content>", '<a xmlns=""/><b xmlns=""/>'),
        ("<content>x &lt; <a/> y<![CDATA[&]]></content>", 'x &lt; <a xmlns=""/> y&amp;'),
        ("<content><a></a><a><!-- only --></a></content>", '<a xmlns=""></a><a xmlns=""><!-- only --></a>'),
        ("<content><a\n  b='1'\r\n/></content>", "<a xmlns=\"\"\n  b='1'\n/>"),
        ("<content>é<é>ü</é></content>", 'é<é xmlns="">ü</é>'),
    ],
)
def test_the_source_of_child_elements_stands_on_its_own(text: str, source: str) -> None:
    assert inner(text) == source
    parse_xml(f"<content>{source}</content>")


@st.composite
def elements(draw: Any, depth: int = 3) -> str:
    """Markup with prefixes p and q, declared or not, and a default name space, declared or not."""
    name = draw(st.sampled_from(["a", "b", "p:a", "q:b"]))
    declared = "".join(
        f' xmlns{suffix}="{draw(st.sampled_from(["urn:1", "urn:2"]))}"'
        for suffix in ("", ":p", ":q")
        if draw(st.integers(0, 4)) == 0
    )
    attribute = draw(st.sampled_from(["", ' k="v"', ' p:k="&gt;"', ' k=">"']))
    if depth == 0 or draw(st.booleans()):
        return f"<{name}{declared}{attribute}/>"
    inside = "".join(
        draw(st.one_of(st.sampled_from([" ", "text", "&amp;", "<!--p:-->"]), elements(depth - 1)))
        for _ in range(draw(st.integers(0, 3)))
    )
    return f"<{name}{declared}{attribute}>{inside}</{name}>"


def meaning(element: Any) -> Any:
    return (element.tag, element.attrib, element.text or "", element.tail or "", [meaning(child) for child in element])


@given(st.lists(elements(), min_size=1, max_size=2), st.sampled_from(["", ' xmlns="urn:out"']))
def test_cut_out_markup_means_what_it_meant_in_place(markup: list[str], default: str) -> None:
    whole = f'<r xmlns:p="urn:p" xmlns:q="urn:q"{default}><content>{"".join(markup)}</content></r>'
    source = inner(whole)
    here = ElementTree.fromstring(whole)[0]
    alone = ElementTree.fromstring(f"<content>{source}</content>")
    assert [meaning(child) for child in alone] == [meaning(child) for child in here]
    assert inner(f"<content>{source}</content>") == source


@given(st.text())
def test_escaped_text_is_read_back(text: str) -> None:
    clean = "".join(c for c in text if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff")
    for quote in ('"', "'"):
        root = parse_xml(f"<a b={quote}{escaped(clean, quote=quote)}{quote}>{escaped(clean)}</a>").root
        assert root.attributes["b"] == clean
        assert root.text == clean


def test_every_element_knows_its_line_and_its_bytes() -> None:
    text = '<a>\n <b c="é>"/>\n\n <d>é</d></a>'
    xml = parse_xml(text)
    found: dict[str, Element] = {element.name: element for element in xml.root.walk()}
    assert {name: element.line for name, element in found.items()} == {"a": 1, "b": 2, "d": 4}
    assert xml.source[found["b"].start : found["b"].end].decode() == '<b c="é>"/>'
    assert xml.source[found["d"].start : found["d"].end].decode() == "<d>é</d>"


# ------------------------------------------------------------- the root element


def test_the_root_is_scxml_in_its_name_space() -> None:
    assert codes("<statechart/>") == ["not-scxml"]
    bare = '<scxml version="1.0"><state id="s"/></scxml>'
    [problem] = problems(bare)
    assert (problem.code, problem.severity) == ("no-namespace", "warning")
    assert NAMESPACE in (problem.hint or "")
    assert codes(bare, strict=False) == ["no-namespace"]
    other = bare.replace("<scxml", '<scxml xmlns="http://www.w3.org/2005/07/SCXML"')
    assert codes(other) == ["wrong-namespace"]
    assert "SCXML" in problems(other, strict=False)[0].message


def test_a_prefix_for_scxml_is_as_good_as_none() -> None:
    text = f'<s:scxml xmlns:s="{NAMESPACE}" version="1.0"><s:state id="a"><s:onentry><s:log expr="1"/></s:onentry></s:state></s:scxml>'
    assert read(text).document["states"]["a"]["entry"] == [[{"type": "scxml.log", "expr": "1"}]]


def test_foreign_elements_and_attributes_are_passed_over() -> None:
    inside = '<f:note xmlns:f="urn:f" a="b"><f:more/>text</f:note><onentry><f:do xmlns:f="urn:f"/></onentry>'
    found = read(state(inside, 'id="s" f:x="1" xmlns:f="urn:f" xml:lang="en"'))
    assert found.document["states"]["s"] == {"entry": [[]]}
    assert read(document('<none xmlns=""/><state id="s"/>')).document["states"] == {"s": {}}
