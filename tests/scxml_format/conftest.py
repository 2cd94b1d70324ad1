"""Makes the helpers beside these tests importable, and machines made elsewhere in the tests."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
for folder in (TESTS / "differential", TESTS / "properties", TESTS / "scxml_suite", TESTS / "scxml_format"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
