"""The simulation sees: each of these faults, planted into the production code, is caught within a few seeds."""

from __future__ import annotations

from collections.abc import Callable

import planted_runtime
import planted_store
import pytest
from sim_run import run

PLANTED = [*planted_store.PLANTED, *planted_runtime.PLANTED]
ENOUGH = 200
"""So many seeds must do."""


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_caught(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    for seed in range(ENOUGH):
        fault = run(seed).fault
        if fault is not None:
            print(f"seed {seed}: {fault!r}")
            return
    pytest.fail(f"{ENOUGH} seeds have seen nothing wrong")


def test_there_are_enough_of_them() -> None:
    assert len(PLANTED) >= 40
