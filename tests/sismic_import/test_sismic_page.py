"""The how-to lists every code as the code itself describes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from statecharts.adapters.formats.sismic import SismicCode
from statecharts.adapters.formats.sismic_codes import Kind, codes_table
from statecharts.validation.codes import Code

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "sismic.md"


@pytest.mark.parametrize("kind", ["difference", "error"])
def test_the_page_has_the_table_of_codes(kind: Kind) -> None:
    assert codes_table(kind) in PAGE.read_text(encoding="utf-8")


def test_no_code_is_used_twice() -> None:
    slugs = [code.slug for code in SismicCode]
    assert len(set(slugs)) == len(slugs)
    assert not set(slugs) & {code.slug for code in Code}
    assert {code.severity for code in SismicCode if code.kind == "difference"} == {"warning"}
