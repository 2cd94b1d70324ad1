"""Cases with actors, run by the asyncio host with real tasks, against XState under Node."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from typing import Any

import generator
import pytest
from compare import Report, by_case, compare
from engines import node, python, reference_cases
from host_session import run_lines
from loops import why_no_uvloop

FIELDS = (
    "case",
    "step",
    "value",
    "status",
    "context",
    "output",
    "error",
    "trace",
    "emitted",
    "children",
    "persisted",
)
COUNT = int(os.environ.get("STATECHARTS_HOST_N", "600"))


def exact(cases: Iterable[str]) -> list[str]:
    """The same cases on the clock that rings each timer at its own time."""
    return [generator.as_line({**json.loads(case), "clock": "exact"}) for case in cases]


def narrowed(lines: Iterable[str]) -> list[str]:
    """Only the fields that are compared."""
    kept = []
    for fields in (fields for case in by_case(lines).values() for fields in case):
        wanted = {key: text for key, text in fields.items() if key in (*FIELDS, "fatal", "overrun")}
        kept.append("{" + ",".join(f"{json.dumps(key)}:{text}" for key, text in wanted.items()) + "}")
    return kept


def host(cases: list[str], kind: str = "asyncio") -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run_lines(cases, kind)


def check(cases: list[str], expected: list[str], actual: list[str], name: str) -> Report:
    report = compare(narrowed(expected), narrowed(actual))
    print(f"{name}: {report.summary(0)}")
    assert report.is_equal, report.summary()
    assert report.overrun_share < 0.02
    return report


def own(count: int, seed: int) -> list[str]:
    return exact(generator.as_line(case) for case, _ in generator.make_cases(count, seed))


@pytest.mark.node
@pytest.mark.parametrize("seed", [11, 12])
def test_own_cases_against_node(seed: int) -> None:
    cases = own(COUNT // 2, seed)
    check(cases, node(cases), host(cases), f"own seed {seed}")


@pytest.mark.node
@pytest.mark.shared
@pytest.mark.parametrize("seed", [21, 22])
def test_reference_cases_with_actors_against_node(seed: int) -> None:
    cases = exact(reference_cases(COUNT // 2, seed, "--actors", "1"))
    check(cases, node(cases), host(cases), f"actors seed {seed}")


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_own_cases_against_the_simulation(kind: str) -> None:
    if kind == "uvloop" and why_no_uvloop():
        pytest.skip(why_no_uvloop())
    cases = own(150, 13)
    check(cases, python(cases), host(cases, kind), f"simulation, {kind}")


def test_the_cases_have_actors_of_every_kind() -> None:
    made: Any = [tags for _, tags in generator.make_cases(COUNT // 2, 11)]
    counts = generator.feature_table(made)
    assert sum(counts.values()) > COUNT
    text = "".join(own(COUNT // 2, 11))
    for source in ("manual", "echo", "fail", "callback", "observable", "eventObservable"):
        assert text.count(f'"src":"{source}"') > 10, source
