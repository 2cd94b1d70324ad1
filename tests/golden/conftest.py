"""Makes the helpers of this folder and of the differential tests importable; skips what cannot run here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))
sys.path.insert(0, str(Path(__file__).parent))

from engines import why_no_node


def pytest_runtest_setup(item: pytest.Item) -> None:
    if why_no_node() and item.get_closest_marker("node"):
        pytest.skip(why_no_node())
