"""The hand-written rules, their configurations said by SCION too (where SCION goes by the Recommendation)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "scxml_rules"))

from rules import RULES, Rule
from scion import MISSING, ask

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.fixture(scope="module")
def theirs() -> dict[str, list[list[str]]]:
    answers = ask([(rule.text, [step.event for step in rule.steps[1:]]) for rule in RULES])
    return dict(zip([rule.name for rule in RULES], answers, strict=True))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_configurations(rule: Rule, theirs: dict[str, list[list[str]]]) -> None:
    """Equal, or known to differ; should a release of SCION agree after all, this says so."""
    agrees = theirs[rule.name] == [sorted(step.leaves) for step in rule.steps]
    if rule.scion is None:
        assert theirs[rule.name] == [sorted(step.leaves) for step in rule.steps]
    else:
        assert not agrees, f"SCION agrees now; {rule.scion!r} is history"
