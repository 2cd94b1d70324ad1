"""The Python blocks of the documentation run, in order, each page in one namespace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/tutorial.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "how-to").glob("*.md"))]


def blocks(page: str) -> list[tuple[int, str]]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(text[: m.start()].count("\n") + 2, m[1]) for m in re.finditer(r"```python\n(.*?)```", text, re.DOTALL)]


@pytest.mark.parametrize("page", PAGES)
def test_page_runs(page: str) -> None:
    found = blocks(page)
    assert found
    namespace: dict[str, Any] = {"__name__": page}
    for line, code in found:
        exec(compile("\n" * (line - 1) + code, str(ROOT / page), "exec"), namespace)
