"""``docs/scxml.md`` names functions, switches and tests; all of them exist, and no switch is left out."""

from __future__ import annotations

import dataclasses
import re
from importlib import import_module
from pathlib import Path

import pytest

from statecharts.interpreter.semantics import SCXML, XSTATE, Semantics

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "scxml.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(interpreter\.[A-Za-z_.]+)`", PAGE)))


@pytest.mark.parametrize("name", NAMES)
def test_function_exists(name: str) -> None:
    parts = ["statecharts", *name.split(".")]
    for cut in range(len(parts), 1, -1):
        try:
            found: object = import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return
    pytest.fail(f"no module for {name}")


def test_the_switches_are_those_that_differ() -> None:
    named = re.findall(r"^\| `(\w+_\w+)` \|", PAGE, re.MULTILINE)
    differ = [
        field.name
        for field in dataclasses.fields(Semantics)
        if field.name not in ("name", "stale_reports_are_dropped")
        and getattr(SCXML, field.name) != getattr(XSTATE, field.name)
    ]
    assert named == differ
    assert len(named) == 8


def test_tests_that_are_named_exist() -> None:
    rules = (ROOT / "tests" / "scxml_rules" / "rules.py").read_text(encoding="utf-8")
    table = (ROOT / "docs" / "reference" / "scxml-conformance.md").read_text(encoding="utf-8")
    assert [group for group in re.findall(r"rules:([A-Z]+)", PAGE) if f"{group} = (" not in rules] == []
    assert [number for number in re.findall(r"w3c:(\w+)", PAGE) if f"\n| {number} |" not in table] == []
