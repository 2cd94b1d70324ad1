"""The null datamodel (SCXML B.1)."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from statecharts.adapters.datamodels.null import null
from statecharts.errors import SnapshotError
from statecharts.interpreter.datamodel import DatamodelError, Moment, Session

IDS = ["s", None, "t.1", "state:2", "it's"]
MODEL = null()(ids=IDS, variables=["a"], scripts=["a = 1"])


def moment(active: int) -> Moment:
    return Moment(MODEL.initial(), None, active, Session("x", "n", ()))


@pytest.mark.parametrize(
    ("source", "answer"),
    [("In('s')", True), ('In("s")', True), ("  In ( 's' )\n", True), ("In('t.1')", False), ("In('state:2')", True), ("In('nope')", False), ("In('')", False),
     ('In("it\'s")', False)],
)  # fmt: skip
def test_in(source: str, answer: bool) -> None:
    assert MODEL.test(source, moment(0b01001)) is answer
    assert MODEL.test(source, moment(0)) is False


@given(st.integers(0, 31), st.sampled_from([state for state in IDS if state]))
def test_in_follows_the_active_states(active: int, state: str) -> None:
    assert MODEL.test(f'In("{state}")', moment(active)) is bool(active >> IDS.index(state) & 1)


@pytest.mark.parametrize("source", ["true", "", "In(s)", "!In('s')", "In('s') && In('t.1')", "In('s'", "In('s\")", "in('s')", "1 == 1", "In('s');", "In('a'b')"])
def test_no_other_condition_is_legal(source: str) -> None:
    with pytest.raises(DatamodelError, match=r"the only condition there is In\('id'\)"):
        MODEL.test(source, moment(1))


def test_everything_else_is_refused() -> None:
    now = moment(1)
    attempts: list[tuple[Any, ...]] = [
        (MODEL.evaluate, "1", now), (MODEL.assign, "a", 1, now), (MODEL.run, "a = 1", now), (MODEL.items, "[]", now), (MODEL.content, "text", "x"),
    ]  # fmt: skip
    for attempt, *arguments in attempts:
        with pytest.raises(DatamodelError, match='datamodel="null".*use datamodel="ecmascript"'):
            attempt(*arguments)


def test_the_context_is_empty() -> None:
    context = MODEL.initial()
    assert context == {} and MODEL.declare(context, "a") is context and not MODEL.is_declared("a", context)
    assert MODEL.dump(context) == {} and MODEL.load({}) is context
    for saved in ({"a": 1}, [], None):
        with pytest.raises(SnapshotError, match="datamodel=\"null\""):
            MODEL.load(saved)
