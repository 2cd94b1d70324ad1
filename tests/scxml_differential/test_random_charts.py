"""Random SCXML charts: the leaf configuration after every event is SCION's.

``CHARTS=5000 pytest tests/scxml_differential`` runs more of them.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from charts import Chart
from scion import MISSING, ask, difference, ours

TOTAL = int(os.environ.get("CHARTS", "1000"))
BLOCK = 125
FEATURES = {
    "parallel": "<parallel",
    "history": "<history",
    "deep history": 'type="deep"',
    "internal": 'type="internal"',
    "initial with content": "<initial><transition [^>]*><assign",
    "done events": "done.state",
    "raise": "<raise",
    "several targets": r'target="s\d+ s',
    "In()": r"In\(",
    "final": "<final",
    "eventless": "<transition cond",
}

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.mark.parametrize("first", range(0, TOTAL, BLOCK))
def test_configurations_are_those_of_scion(first: int) -> None:
    charts = {seed: Chart(seed) for seed in range(first, min(first + BLOCK, TOTAL))}
    answers = ask([(chart.text, chart.events) for chart in charts.values()])
    found = [
        f"seed {seed}: {differs}"
        for (seed, chart), theirs in zip(charts.items(), answers, strict=True)
        if (differs := difference(chart, theirs)) is not None
    ]
    assert not found, "\n".join(found)


def test_charts_have_all_features_and_are_followed_far() -> None:
    charts = [Chart(seed) for seed in range(100)]
    counted = Counter(
        name for chart in charts for name, pattern in FEATURES.items() if re.search(pattern, chart.text)
    )
    followed = sum(len(ours(chart)) for chart in charts)
    print(f"features in 100 charts: {dict(counted)}; configurations compared: {followed}")
    assert all(counted[feature] >= 25 for feature in FEATURES)
    assert followed > 600
