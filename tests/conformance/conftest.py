"""Makes the helpers of the differential tests importable; skips what cannot run here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))
sys.path.insert(0, str(Path(__file__).parent))

from engines import why_no_node, why_no_shared


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, reason in (("node", why_no_node()), ("shared", why_no_shared())):
        if reason and item.get_closest_marker(marker):
            pytest.skip(reason)
