"""Two thousand seeds: whatever happens, what has to hold holds, and once the faults stop everything comes to rest.

They run in four parts, so that several processes can share them. Each prints
a table of what was met (``-rP`` shows it), and wants its share of each edge
and each fault: fifty of each in two thousand seeds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from sim_run import run
from sim_stores import FAULTS, RACE
from sim_tracking import EDGES

SEEDS = int(os.environ.get("SIMULATED_SEEDS", "2000"))
PARTS = 4
OFTEN = -(-50 // PARTS) if SEEDS >= 2000 else 0
HERE = Path(__file__).parent

KINDS = [
    *(f"edge: {was or 'new'} → {is_}" for was, is_ in sorted(EDGES, key=str)),
    *(f"fault: {kind}" for kind in sorted({*FAULTS, RACE})),
    "fault: all is decided, nothing is written",
    "fault: killed",
    "fault: stopped for a while",
    "fault: a clock is set",
    *(f"operator: {what}" for what in ("suspend", "resume", "cancel", "settle", "give up", "retry", "revive", "drop")),
    "receiver answers",
    "receiver answers with what is no JSON",
    "receiver does it and fails",
    "receiver does it and is silent",
    "receiver fails before it does it",
    "receiver refuses, having done nothing",
    "receiver times out",
    "sent: a new event",
    "sent: a poisoned event",
    "sent: an event once more",
    "sent: an event that nobody takes",
    "sent: another event under a known id",
    "a process that lacks machines",
    *(f"a probe says {answer}" for answer in ("done", "not_done", "running", "unknown")),
]
"""What has to be met ``OFTEN`` times."""


@pytest.mark.parametrize("part", range(PARTS))
def test_what_has_to_hold_holds(part: int) -> None:
    seeds = range(part * SEEDS // PARTS, (part + 1) * SEEDS // PARTS)
    met: Counter[str] = Counter()
    for seed in seeds:
        story = run(seed)
        if story.fault is not None:
            pytest.fail(story.told(), pytrace=False)
        met += story.coverage
    print(f"seeds {seeds.start} to {seeds.stop - 1}")
    for kind, count in sorted(met.items()):
        print(f"{count:>7} {kind}")
    assert {kind: met[kind] for kind in KINDS if met[kind] < OFTEN} == {}


def test_a_seed_tells_the_same_story_in_every_process() -> None:
    """Else a failing seed could not be looked at."""
    told = set()
    for hash_seed in ("0", "7"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, str(HERE / "replay.py"), "3", "7", "49"]
        done = subprocess.run(command, env=environment, cwd=HERE.parent.parent, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        told.add(done.stdout)
    assert len(told) == 1
    assert "seed 49" in told.pop()
