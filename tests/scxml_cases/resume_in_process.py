"""Run by tests in a process of its own: takes saved sessions to their ends and prints where those are.

Input: one JSON line ``{"path", "saved"}`` for each; output: one JSON list of final states.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from case_runs import ending, load_case

from statecharts import simulate

if __name__ == "__main__":
    given = [json.loads(line) for line in sys.stdin]
    machines = {path: load_case(Path(path)) for path in {each["path"] for each in given}}
    print(
        json.dumps(
            [ending(simulate(machines[each["path"]], snapshot=each["saved"]).settle()) for each in given]
        )
    )
