"""Machines of the reference generator: every field of every line is what XState prints."""

from __future__ import annotations

import os

import pytest
from engines import differences
from streams import plain, with_actors, with_asides

pytestmark = [pytest.mark.node, pytest.mark.shared]

COUNT = int(os.environ.get("STATECHARTS_FUZZ_N", "10000"))
PLAIN_SEEDS = (1, 2, 3, 5, 8)
ACTOR_SEEDS = (13, 21)
ASIDE_SEEDS = (34, 55)


def _assert_same(kind: str, seed: int, cases: list[str]) -> None:
    report = differences(cases)
    again = f"python tests/differential/fuzz.py --kind {kind} --seed {seed} --n {len(cases)}"
    print(f"{kind} seed {seed}: {report.summary(0)}")
    assert report.is_equal, f"{report.summary()}\nagain: {again}"
    assert report.overrun_share < 0.01


@pytest.mark.parametrize("seed", PLAIN_SEEDS)
def test_plain_machines_run_as_in_xstate(seed: int) -> None:
    _assert_same("plain", seed, plain(COUNT // len(PLAIN_SEEDS), seed))


@pytest.mark.parametrize("seed", ACTOR_SEEDS)
def test_machines_with_actors_run_as_in_xstate(seed: int) -> None:
    _assert_same("actors", seed, with_actors(COUNT // 5 // len(ACTOR_SEEDS), seed))


@pytest.mark.parametrize("seed", ASIDE_SEEDS)
def test_inspection_pure_steps_and_queries_are_those_of_xstate(seed: int) -> None:
    _assert_same("asides", seed, with_asides(COUNT // 10 // len(ASIDE_SEEDS), seed))
