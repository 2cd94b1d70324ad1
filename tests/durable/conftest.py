"""Runtimes for tests: over memory and over a SQLite file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from statecharts import Machine, Runtime

Open = Callable[..., Runtime]


@pytest.fixture(params=["memory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Makes runtimes over one store: ``opened(machine, ...)``; a second one sees what the first has written."""
    kept: list[Any] = []

    def make(*machines: Machine[Any, Any], **options: Any) -> Runtime:
        if request.param == "sqlite":
            return Runtime.open(f"sqlite:///{tmp_path / 'store.db'}", machines, **options)
        runtime = Runtime.open("memory:", machines, **options)
        if kept:
            runtime = Runtime(kept[0], machines, clock=kept[0]._clock, **options)
        else:
            kept.append(runtime.store)
        return runtime

    return make
