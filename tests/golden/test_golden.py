"""What XState printed is what we print: hand-written cases by concept, and generated ones. Needs no Node."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from compare import compare
from engines import answers, node
from goldens import DIRECTED, Golden, directed_goldens, random_goldens

DIRECTED_GOLDENS = directed_goldens()
RANDOM_GOLDENS = random_goldens()


def _assert_printed(golden: Golden) -> None:
    from statecharts.testing.protocol import run_lines

    report = compare(golden.lines, list(run_lines([golden.case], strict=False)))
    assert report.is_equal, report.summary()


@pytest.mark.parametrize("golden", DIRECTED_GOLDENS, ids=lambda golden: golden.name)
def test_directed(golden: Golden) -> None:
    _assert_printed(golden)


@pytest.mark.parametrize("golden", RANDOM_GOLDENS, ids=lambda golden: golden.name)
def test_random(golden: Golden) -> None:
    _assert_printed(golden)


def test_there_is_a_golden_for_every_case() -> None:
    names = Counter(golden.name for golden in [*DIRECTED_GOLDENS, *RANDOM_GOLDENS])
    assert not [name for name, count in names.items() if count > 1]
    assert not [golden.name for golden in [*DIRECTED_GOLDENS, *RANDOM_GOLDENS] if not golden.lines]
    assert len(DIRECTED_GOLDENS) >= 150
    assert len(RANDOM_GOLDENS) >= 380


def test_directed_cases_say_why() -> None:
    written = [case for path in DIRECTED.glob("*.json") for case in json.loads(path.read_text("utf-8"))]
    assert all("why" in case for case in written)


@pytest.mark.node
def test_goldens_are_what_xstate_says_today() -> None:
    goldens = [*DIRECTED_GOLDENS, *RANDOM_GOLDENS]
    said = answers(node, [golden.case for golden in goldens])
    assert said == [line for golden in goldens for line in golden.lines], (
        "run tests/golden/record.py and read the difference"
    )
