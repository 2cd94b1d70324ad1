"""Every expression of the SCXML suites goes through the engine: alone, in a document that declares nothing."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from statecharts.adapters.datamodels.ecmascript import ecmascript
from statecharts.interpreter.datamodel import DatamodelError, Moment, Session
from statecharts.values import UNDEFINED, freeze

EXPRESSIONS = ("cond", "expr", "eventexpr", "targetexpr", "typeexpr", "delayexpr", "srcexpr", "sendidexpr", "array")
LOCATIONS = ("location", "idlocation", "item", "index")


@pytest.fixture(scope="module")
def documents() -> list[Path]:
    """The documents of the suites. Where they come from: tests/scxml_suite."""
    place = Path(__file__).parents[1] / "scxml_suite" / "suite.py"
    spec = importlib.util.spec_from_file_location("scxml_suite_of_the_datamodels", place)
    assert spec is not None and spec.loader is not None
    suite: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suite)
    try:
        return sorted(suite.suite_folder().rglob("*.scxml"))
    except suite.SuiteMissing as missing:
        pytest.skip(str(missing))


def pieces(document: Path) -> Iterator[tuple[str, str]]:
    """What is JavaScript in a document, as (method, source)."""
    for element in ElementTree.parse(document).iter():
        kind = element.tag.rpartition("}")[2]
        for name, text in element.attrib.items():
            if name in EXPRESSIONS:
                yield "test", text
                yield "evaluate", text
                yield "items", text
            elif name in LOCATIONS:
                yield "assign", text
        if kind == "script" and element.text:
            yield "run", element.text
        if kind in ("content", "data") and (element.text or "").strip():
            yield "content", element.text or ""


def test_every_expression_of_the_suites(documents: list[Path]) -> None:
    assert len(documents) >= 335
    model = ecmascript(time_limit=0.2)(ids=["s0", "s1"], variables=["Var1", "var1", "x"], scripts=[])
    model.run("1", Moment(model.initial(), None, 0, Session("s", UNDEFINED, ())))
    answered = refused = 0
    for document in documents:
        for event in (None, freeze({"name": "e", "data": {"aParam": 1}})):
            moment = Moment(model.initial(), event, 1, Session("s", UNDEFINED, ()))
            for method, source in pieces(document):
                arguments = {"assign": (source, freeze([1]), moment), "content": ("text", source)}.get(method, (source, moment))
                try:
                    getattr(model, method)(*arguments)
                    answered += 1
                except DatamodelError as error:
                    assert method == "content" or " ".join(source.split())[:100].strip("'\"") in str(error).replace("\\'", "'")
                    refused += 1
    assert answered > 1000 and refused > 1000
    assert model.evaluate("1 + 1", moment) == (2, model.initial())
