"""Small documents about one clause each; every one has to end in ``pass``, whichever way it is run.

Outcomes are derived by hand from the Recommendation, which the comment at the
top of each file names.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from case_runs import CASES, WAYS

KNOWN: dict[str, str] = {}
"""What fails for now and why: the name without its number, and the way if it is one way only.

Strict: a case that passes has to leave this table.
"""


def _runs() -> list[object]:
    found: list[object] = []
    for path in sorted(CASES.glob("*.scxml")):
        name = path.stem.partition("-")[2]
        for way in WAYS:
            reason = KNOWN.get(name, KNOWN.get(f"{name} {way}"))
            marks = () if reason is None else (pytest.mark.xfail(reason=reason, strict=True),)
            found.append(pytest.param(path, way, id=f"{path.stem} {way}", marks=marks))
    return found


@pytest.mark.parametrize(("case", "way"), _runs())
def test_ends_in_pass(case: Path, way: str) -> None:
    assert WAYS[way](case) == "pass"


def test_what_is_known_to_fail_is_there() -> None:
    names = {path.stem.partition("-")[2] for path in CASES.glob("*.scxml")}
    assert {known.partition(" ")[0] for known in KNOWN} <= names
