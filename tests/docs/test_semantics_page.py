"""``docs/semantics.md`` names functions and tests; all of them exist."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "golden:" in line]
NAMES = sorted({name for row in ROWS for name in re.findall(r"`([a-z_.]+\.[A-Za-z_.]+)`", row.split("|")[2])})


def directed_names() -> set[str]:
    names = set()
    for path in (ROOT / "tests" / "golden" / "directed").glob("*.json"):
        for case in json.loads(path.read_text(encoding="utf-8")):
            names.add(case["id"] if isinstance(case, dict) else case)
    return names


@pytest.mark.parametrize("name", NAMES)
def test_function_exists(name: str) -> None:
    parts = ["statecharts", *name.split(".")]
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found: object = import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return
    pytest.fail(f"no module for {name}")


def test_every_row_names_tests_that_exist() -> None:
    known = {name.split("/", 1)[-1] for name in directed_names()}
    named = re.findall(r"golden:[a-z]+/([a-z0-9-]+)", PAGE)
    assert [name for name in named if name not in known] == []
    assert len(ROWS) > 35


def test_every_correction_has_its_test() -> None:
    numbers = re.findall(r"^\| (C\d+) \|", PAGE, re.MULTILINE)
    assert numbers == [f"C{i}" for i in range(1, len(numbers) + 1)]
    tests = (ROOT / "tests" / "semantics" / "test_corrections.py").read_text(encoding="utf-8")
    assert [number for number in numbers if f"def test_{number.lower()}_" not in tests] == []
