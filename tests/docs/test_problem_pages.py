"""``docs/reference/problems-scxml.md`` lists every code; ``UPDATE_PAGES=1`` writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

from statecharts.adapters.formats.scxml_codes import ScxmlCode
from statecharts.adapters.formats.scxml_export_codes import ExportCode

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "problems-scxml.md"


def page() -> str:
    lines = [
        "# Problems of SCXML documents",
        "",
        "Each problem carries a code, a line, a JSON pointer into the document's [JSON form](scxml-json.md), a sentence",
        "and mostly a hint. Strict reading refuses errors; loose reading makes warnings of those it can read past, which",
        "are all but the fatal ones.",
        "",
        "| code | weight | meaning |",
        "|---|---|---|",
        *(f"| `{code.slug}` | {code.weight} | {code.meaning} |" for code in ScxmlCode),
        "",
        "## Warnings of an export",
        "",
        "`to_scxml()` and `statecharts convert` name each construct of an XState machine that another SCXML engine would",
        "run differently. Read again by this library, the machine is the same.",
        "",
        "| code | meaning |",
        "|---|---|",
        *(f"| `{code.slug}` | {code.meaning} |" for code in ExportCode),
    ]
    return "\n".join(lines) + "\n"


def test_the_page_lists_every_code() -> None:
    if os.environ.get("UPDATE_PAGES"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
