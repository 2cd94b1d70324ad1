"""The documents of the W3C's and SCION's suites are read strictly and come back from JSON unchanged.

``tests/scxml_suite`` knows where the suites are (STATECHARTS_SUITE names a folder that has them).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from suite import SuiteMissing, suite_folder

from statecharts.adapters.formats.scxml import read_document, write_document

COUNT = 335

WARNINGS = {
    "history/history2.scxml": ["deep-default"],  # a shallow history whose default is a grandchild
    "internal-transitions/test0.scxml": ["root-transition"],  # a transition in <scxml>, which SCION takes
    "targetless-transition/test0.scxml": ["empty-transition"],  # no event, condition or target, only actions
    "w3c-ecma/test311.txml.scxml": ["bad-descriptor"],  # event=".*", which is to match nothing
    "w3c-ecma/test312.txml.scxml": ["bad-descriptor"],
    "w3c-ecma/test313.txml.scxml": ["bad-descriptor"],
    "w3c-ecma/test314.txml.scxml": ["bad-descriptor"],
}
"""What the suites do against the letter of the Recommendation. Nothing in them is refused: the illegal documents
among them have illegal expressions, which are the datamodel's business."""


@pytest.fixture(scope="module")
def texts() -> Iterator[dict[str, str]]:
    try:
        folder = suite_folder()
    except SuiteMissing as missing:
        pytest.skip(f"the suites are not there: {missing}")
    paths = sorted(folder.rglob("*.scxml"))
    yield {str(path.relative_to(folder).as_posix()): path.read_text(encoding="utf-8") for path in paths}


def test_a_strict_reading_accepts_all_and_warns_about_seven(texts: dict[str, str]) -> None:
    assert len(texts) == COUNT
    found = {name: [problem.code for problem in read_document(text, name).warnings] for name, text in texts.items()}
    assert {name: codes for name, codes in found.items() if codes} == WARNINGS


def test_written_documents_read_back_equal_order_included(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        document = read_document(text, name).document
        again = read_document(write_document(document)).document
        assert json.dumps(again) == json.dumps(document), name


def test_writing_what_was_written_changes_nothing(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        written = write_document(read_document(text, name).document)
        assert write_document(read_document(written).document) == written, name


def test_every_part_of_every_document_has_a_line(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        found = read_document(text, name)
        last = text.count("\n") + 1
        for state in found.document["states"]:
            line = found.line_of(f"/states/{state}/transitions/0")
            assert line is not None, name
            assert 1 <= line <= last, name
