"""Inline XML: a read-only document (SCXML B.2.8.1; tests 557 and 561 of the W3C suite)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from statecharts.adapters.datamodels.ecmascript import ecmascript
from statecharts.adapters.datamodels.ecmascript_markers import Opaque, XmlContent
from statecharts.interpreter.datamodel import DatamodelError, Moment, Session
from statecharts.values import UNDEFINED, FrozenDict, freeze

Make = Callable[..., Any]

BOOKS = """
<books xmlns="" xmlns:p="urn:p">
  <book title="title1">One &amp; only<!-- no --><![CDATA[<x>]]></book>
  <shelf><book title="title2" p:n="&quot;2&quot;"/></shelf><p:end/>
</books>"""


@pytest.fixture
def library(bench: Make) -> Any:
    session = bench(doc=None, a=None)
    session.assign("doc", session.datamodel.content("xml", BOOKS))
    return session


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("doc.getElementsByTagName('book')[1].getAttribute('title')", "title2"), ("doc.getElementsByTagName('book').length", 2),
        ("doc.documentElement.getElementsByTagName('*').length", 4), ("doc.getElementsByTagName('books').length", 1),
        ("doc.documentElement.getElementsByTagName('books').length", 0), ("doc.documentElement.tagName", "books"),
        ("doc.nodeType + doc.nodeName + doc.documentElement.nodeType", "9#document1"), ("doc.getElementsByTagName('book')[0].textContent", "One & only<x>"),
        ("doc.getElementsByTagName('shelf')[0].textContent", ""), ("doc.documentElement.children.length", 3), ("doc.textContent", None),
        ("doc.getElementsByTagName('book').item(0).nodeName + doc.getElementsByTagName('book').item(7)", "booknull"),
        ("doc.getElementsByTagName('book')[0].firstChild.nodeValue", "One & only<x>"), ("doc.getElementsByTagName('book')[0].firstChild.nodeName", "#text"),
        ("doc.getElementsByTagName('book')[1].getAttribute('nope')", None), ("doc.getElementsByTagName('book')[1].hasAttribute('title')", True),
        ("doc.getElementsByTagName('book')[1].attributes.length", 2), ("doc.getElementsByTagName('book')[1].attributes[1].value", '"2"'),
        ("doc.getElementsByTagName('book')[1].getAttributeNode('p:n').name", "p:n"), ("doc.getElementsByTagName('book')[1].parentNode.tagName", "shelf"),
        ("doc.documentElement.parentNode === doc && doc.documentElement.ownerDocument === doc", True), ("doc.firstChild === doc.documentElement", True),
        ("doc.documentElement.lastChild.nodeValue", "\n"), ("doc.documentElement.lastChild.previousSibling.localName", "end"),
        ("doc.documentElement.lastChild.previousSibling.prefix", "p"), ("doc.documentElement.firstChild.nextSibling.tagName", "book"),
        ("doc.documentElement.firstChild.previousSibling", None), ("doc.nextSibling", None), ("doc.documentElement.hasChildNodes()", True),
        ("String(doc) + doc.documentElement", "[object Document][object Element]"), ("Array.isArray(doc.childNodes)", True),
        ("Array.from(doc.getElementsByTagName('book'), b => b.getAttribute('title')).join()", "title1,title2"),
    ],
)  # fmt: skip
def test_what_a_document_answers(library: Any, source: str, value: Any) -> None:
    assert library.evaluate(source) == value
    library.event = freeze({"name": "e", "data": library.context["doc"]})
    assert library.evaluate(f"(function (doc) {{ return {source} }})(_event.data)") == value


@pytest.mark.parametrize("change", ["doc.documentElement.tagName = 'x'", "doc.extra = 1", "doc.documentElement.attributes.length = 0", "delete doc.nodeType"])
def test_a_document_cannot_be_changed(library: Any, change: str) -> None:
    before = library.context
    for ask in (library.evaluate, library.run, library.test):
        ask(change)
    assert library.context is before
    assert library.evaluate("[doc.documentElement.tagName, doc.extra, doc.nodeType]") == ["books", UNDEFINED, 9]
    with pytest.raises(DatamodelError):
        library.assign("doc.documentElement.tagName", 1)


def test_nodes_in_variables(library: Any) -> None:
    library.run("a = [doc, doc.getElementsByTagName('book')[1], doc.documentElement.firstChild]")
    document, element, text = library.context["a"]
    assert document == library.context["doc"] == XmlContent(BOOKS)
    assert element == XmlContent('<book title="title2" p:n="&quot;2&quot;"/>', element=True)
    assert isinstance(text, Opaque)
    assert library.evaluate("[a[1].tagName, a[1].getAttribute('p:n'), a[0].documentElement.tagName]") == ["book", '"2"', "books"]
    library.run("a = a[1]")
    assert library.datamodel.load(library.datamodel.dump(library.context)) == library.context


@pytest.mark.parametrize(
    ("source", "message"),
    [("<a", "line 1"), ("", "no element"), ("text", "line 1"), ("<a>&x;</a>", "undefined entity"), ("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "document type"),
     ("<a/><b>", "not well-formed"), ("<a>" * 300 + "</a>" * 300, "200 elements"), ("<a/>text<b", "not well-formed"), ("<a b='1' b='2'/>", "duplicate attribute")],
)  # fmt: skip
def test_bad_xml_is_an_error(bench: Make, source: str, message: str) -> None:
    with pytest.raises(DatamodelError, match=message):
        bench().datamodel.content("xml", source)


def test_several_elements_make_one_document(bench: Make) -> None:
    session = bench(doc=None)
    session.assign("doc", session.datamodel.content("xml", "<?xml version='1.0'?>\n<a k='1'/>  <b/> <!-- c -->"))
    assert session.evaluate("[doc.childNodes.length, doc.documentElement.tagName, doc.getElementsByTagName('b').length]") == [2, "a", 1]


def test_text_that_is_xml_becomes_a_document(bench: Make) -> None:
    model = bench().datamodel
    assert model.content("text", " <books xmlns=''>\n<book/></books> \n") == XmlContent(" <books xmlns=''>\n<book/></books> \n")
    assert model.content("text", "<books>\n <book>") == "<books> <book>"
    assert model.content("text", "<!DOCTYPE a><a/>") == "<!DOCTYPE a><a/>"


MODEL = ecmascript()(ids=[], variables=["v"], scripts=[])
texts = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t"), max_size=8)
trees = st.recursive(
    st.tuples(st.sampled_from(["a", "b", "p:c"]), st.dictionaries(st.sampled_from(["k", "q:l"]), texts, max_size=2), st.just([])),
    lambda inner: st.tuples(st.sampled_from(["a", "b"]), st.just({}), st.lists(inner | texts, max_size=4)),
    max_leaves=6,
)


def _source(tree: Any) -> str:
    def escape(text: str) -> str:
        for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\n", "&#10;"), ("\t", "&#9;")):
            text = text.replace(sign, name)
        return text

    if isinstance(tree, str):
        return escape(tree)
    name, attributes, members = tree
    written = "".join([f' {key}="{escape(value)}"' for key, value in attributes.items()])
    return f"<{name}{written}>{''.join(map(_source, members))}</{name}>"


@given(trees)
def test_an_element_taken_out_says_the_same(tree: Any) -> None:
    session = Session("s", UNDEFINED, ())
    context = FrozenDict({"v": MODEL.content("xml", f"<r>{_source(tree)}</r>")})
    element, _ = MODEL.evaluate("v.documentElement.firstChild", Moment(context, None, 0, session))
    assert element == XmlContent(element.source, element=True)
    both = FrozenDict({"v": context["v"], "w": element})
    shape = """(function shape(n) { return n.nodeType === 3 ? n.data
        : [n.tagName, Array.from(n.attributes, a => [a.name, a.value]), Array.from(n.childNodes, shape)] })"""
    assert MODEL.test(
        f"JSON.stringify({shape}(v.documentElement.firstChild)) === JSON.stringify({shape}(w))", Moment(both, None, 0, session)
    )
