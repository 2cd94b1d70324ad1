"""Runtimes for tests: over memory and over a SQLite file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from statecharts import Machine, Runtime
from statecharts.adapters.stores.clocks import SystemClock
from statecharts.runtime import store_at

Open = Callable[..., Runtime]


@pytest.fixture(params=["memory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Makes runtimes over one store: ``opened(machine, ...)``; a second one sees what the first has written."""
    kept: list[Any] = []

    def make(*machines: Machine[Any, Any], **options: Any) -> Runtime:
        if request.param == "sqlite":
            return Runtime.open(f"sqlite:///{tmp_path / 'store.db'}", machines, **options)
        if not kept:
            kept.append(store_at("memory:", options.get("clock")))
        return Runtime(kept[0], machines, **{"clock": SystemClock(), **options})

    return make
