"""Compare both engines on many new random cases and say how to repeat what was found.

python tests/differential/fuzz.py --n 5000 [--seed 7] [--kind plain|actors|asides|own]
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from engines import differences, why_no_node, why_no_shared
from streams import STREAMS

ROUND = 1000


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--n", type=int, default=int(os.environ.get("STATECHARTS_FUZZ_N", "5000")), help="cases in all"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000, help="of the first round")
    parser.add_argument("--kind", choices=sorted(STREAMS), action="append", help="default: all kinds in turn")
    options = parser.parse_args()
    kinds = options.kind or list(STREAMS)
    if why_no_node():
        parser.error(why_no_node())
    if why_no_shared():
        kinds = [kind for kind in kinds if kind == "own"]
        print(f"{why_no_shared()}: only our own generator")
    left, seed, is_equal = options.n, options.seed, True
    while left > 0 and kinds:
        kind, count = kinds[(seed - options.seed) % len(kinds)], min(left, ROUND)
        is_equal &= _round(kind, count, seed)
        left, seed = left - count, seed + 1
    return 0 if is_equal else 1


def _round(kind: str, count: int, seed: int) -> bool:
    print(f"{kind} seed {seed} n {count}: ", end="", flush=True)
    report = differences(STREAMS[kind](count, seed))
    print(report.summary())
    if not report.is_equal:
        print(f"again: python tests/differential/fuzz.py --kind {kind} --seed {seed} --n {count}")
    return report.is_equal


if __name__ == "__main__":
    sys.exit(main())
