"""Makes the helper beside these tests importable, and gives every test a folder with the machines it names."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
MACHINES = HERE.parents[1] / "machines"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of ``files/`` and of the support agent, as the current folder; output 100 columns wide, no colours."""
    shutil.copytree(HERE / "files", tmp_path, dirs_exist_ok=True)
    shutil.copytree(
        MACHINES / "support_agent",
        tmp_path / "machines" / "support_agent",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("media_impl", "child_app"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
