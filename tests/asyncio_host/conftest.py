"""Makes the helpers importable, and gives each test the event loops it has to hold under."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))

from engines import why_no_node, why_no_shared
from loops import KINDS, Play, why_no_uvloop

from statecharts.adapters.engines import asyncio_pump


@pytest.fixture(params=KINDS)
def play(request: pytest.FixtureRequest) -> Play:
    """Runs a coroutine function under an event loop, and looks that it leaves nothing behind."""
    if request.param == "uvloop" and why_no_uvloop():
        pytest.skip(why_no_uvloop())
    return Play(request.param)


@pytest.fixture
def no_breath(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop gets no turn because a machine that tests run on is slow."""
    monkeypatch.setattr(asyncio_pump, "SLICE", 1000)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, reason in (("node", why_no_node()), ("shared", why_no_shared())):
        if reason and item.get_closest_marker(marker):
            pytest.skip(reason)
