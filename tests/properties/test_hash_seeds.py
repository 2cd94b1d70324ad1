"""Nothing depends on the order of a set of strings: several hash seeds, one outcome."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("digest.py")


def digest(seed: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV_CORE")}
    run = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**environment, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def test_effects_and_ids_are_the_same_under_several_hash_seeds() -> None:
    digests = {seed: digest(seed) for seed in ("0", "1", "42", "4294967295")}
    assert len(set(digests.values())) == 1, digests
    size = int(digests["0"].split()[0])
    assert size > 100_000, "the machines did something"
