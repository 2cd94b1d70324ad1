"""Tell the story of a seed: ``python tests/durable_simulation/replay.py SEED``."""

from __future__ import annotations

import sys

from sim_run import run

if __name__ == "__main__":
    for seed in sys.argv[1:]:
        print(run(int(seed)).told())
