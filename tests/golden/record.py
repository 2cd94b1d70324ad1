"""Ask the oracle again and write down what it says.

python tests/golden/record.py             # the lines of all cases, hand-written and kept random ones
python tests/golden/record.py --redraw    # draw new random cases from our generator first
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))
sys.path.insert(0, str(Path(__file__).parent))

import generator
from engines import answers, node, why_no_node
from goldens import directed_cases, pair, random_goldens, sections, write_directed, write_random

SEED = 2718
COUNT = 400
PER_FEATURE = 16
LONGEST = 9000  # characters of a case


def draw() -> list[str]:
    """Small cases that together have each feature several times."""
    counts: Counter[str] = Counter()
    drawn: list[str] = []
    index = 0
    while len(drawn) < COUNT:
        case, tags = generator.make_case(SEED, index)
        index += 1
        line = generator.as_line(case)
        if len(line) <= LONGEST and any(counts[tag] < PER_FEATURE for tag in tags):
            counts.update(tags)
            drawn.append(line)
        if index > 20_000:
            raise SystemExit(f"only {len(drawn)} cases of {COUNT} are small enough and add something")
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--redraw", action="store_true", help="new random cases")
    options = parser.parse_args()
    if why_no_node():
        parser.error(why_no_node())
    for section in sections():
        write_directed(section, node(directed_cases(section)))
    cases = draw() if options.redraw else [golden.case for golden in random_goldens()]
    lines = answers(node, cases)
    write_random(
        golden for golden in pair(cases, lines) if not any('"overrun":true' in line for line in golden.lines)
    )
    print(f"{len(sections())} sections, {len(random_goldens())} random cases")


if __name__ == "__main__":
    main()
