"""Machines of our own generator, and proof that it makes what it is there for."""

from __future__ import annotations

import os
from collections import Counter

import generator
import pytest
from engines import differences
from streams import own

COUNT = int(os.environ.get("STATECHARTS_FUZZ_N", "10000")) // 5
SEEDS = (1, 2)
LEAST = 50


def _features(count: int) -> Counter[str]:
    made = [tags for seed in SEEDS for _, tags in generator.make_cases(count // len(SEEDS), seed)]
    return generator.feature_table(made)


def test_each_feature_is_in_enough_cases() -> None:
    counts = _features(2000)
    generator.print_table(counts)
    scarce = {name: count for name, count in counts.items() if count < LEAST}
    assert not scarce
    assert len(counts) > 90


def test_same_seed_makes_the_same_cases() -> None:
    assert own(200, 9) == own(200, 9)
    assert own(30, 9) == own(200, 9)[:30]
    assert own(30, 9) != own(30, 10)


@pytest.mark.node
@pytest.mark.parametrize("seed", SEEDS)
def test_own_machines_run_as_in_xstate(seed: int) -> None:
    cases = own(COUNT // len(SEEDS), seed)
    report = differences(cases)
    again = f"python tests/differential/fuzz.py --kind own --seed {seed} --n {len(cases)}"
    print(f"own seed {seed}: {report.summary(0)}")
    assert report.is_equal, f"{report.summary()}\nagain: {again}"
    assert report.overrun_share < 0.01
