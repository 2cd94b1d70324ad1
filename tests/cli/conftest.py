"""Makes the helper beside these tests importable, and gives every test a folder with the machines it names."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from statecharts.adapters.engines.durable.entropy import SystemEntropy
from statecharts.cli import store_session

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
MACHINES = HERE.parents[1] / "machines"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of ``files/`` and of the support agent, as the current folder; output 100 columns wide, no colours.

    A store there has a clock that goes on by 10 s a command, ids that are counted, and the time zone is UTC.
    """
    shutil.copytree(HERE / "files", tmp_path, dirs_exist_ok=True)
    shutil.copytree(
        MACHINES / "support_agent",
        tmp_path / "machines" / "support_agent",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("media_impl", "child_app", "store_app"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STATECHARTS_URL", "sqlite:///support.db")
    clock, chance = StoreClock(), Counting()
    monkeypatch.setattr(store_session, "make_clock", clock.next_command)
    monkeypatch.setattr(store_session, "make_entropy", lambda: chance)
    with monkeypatch.context() as zone:
        zone.setenv("TZ", "UTC")
        set_zone()
        yield tmp_path
    set_zone()


def set_zone() -> None:
    """Take the time zone from the environment, where the system can."""
    if hasattr(time, "tzset"):
        time.tzset()


class StoreClock:
    """10 s later at each command, and standing still in between."""

    def __init__(self) -> None:
        self._now = 1_800_000_000_000

    def next_command(self) -> StoreClock:
        self._now += 10_000
        return self

    def now(self) -> int:
        return self._now

    def monotonic(self) -> float:
        return 0.0


class Counting(SystemEntropy):
    """Ids in their order."""

    def __init__(self) -> None:
        self._numbers = {"run": 0, "event": 0}

    def incarnation(self) -> str:
        return self._next("run")

    def salt(self) -> str:
        return "salt"

    def event_id(self) -> str:
        return self._next("event")

    def jitter(self) -> float:
        return 0.0

    def _next(self, what: str) -> str:
        self._numbers[what] += 1
        return f"{what}-{self._numbers[what]}"
