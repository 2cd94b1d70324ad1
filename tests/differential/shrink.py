"""Make a case small that the two engines answer differently.

python tests/differential/shrink.py < case.json       # a case, or many: the first that differs is taken
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from compare import Difference
from engines import differences, node, python, python_strict

Path = tuple[str | int, ...]
Differ = Callable[[Sequence[str]], dict[str, Difference]]
BATCH = 400


def paths(value: Any, here: Path = ()) -> Iterator[tuple[int, Path]]:
    """Every part that may be left out, with its size."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield len(json.dumps(part)), (*here, key)
        yield from paths(part, (*here, key))


def without(value: Any, path: Path) -> Any:
    """A copy that lacks the part at the path."""
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        if not rest:
            return {name: part for name, part in value.items() if name != key}
        return {name: without(part, rest) if name == key else part for name, part in value.items()}
    if not rest:
        return [part for index, part in enumerate(value) if index != key]
    return [without(part, rest) if index == key else part for index, part in enumerate(value)]


def smaller(case: dict[str, Any], skip: int) -> list[dict[str, Any]]:
    """The case with one part left out, large parts first."""
    ranked = sorted(paths(case), key=lambda found: -found[0])
    kept = [path for _, path in ranked if path not in (("id",), ("machine",), ("steps",))]
    return [without(case, path) for path in kept[skip : skip + BATCH]]


def shrink(case: dict[str, Any], differing: Differ) -> dict[str, Any]:
    """Leave out whatever can go while the first differing field stays the same one."""
    wanted = next(iter(differing([json.dumps(case)]).values())).field
    skip = 0
    while batch := smaller(case, skip):
        lines = [json.dumps({**each, "id": index}) for index, each in enumerate(batch)]
        found = differing(lines)
        kept = next((i for i in range(len(batch)) if str(i) in found and found[str(i)].field == wanted), None)
        if kept is None:
            skip += BATCH
        else:
            case, skip = batch[kept], 0
    return case


def against(strict: bool) -> Differ:
    """The first difference of each differing case, by the text of its id."""

    def differing(cases: Sequence[str]) -> dict[str, Difference]:
        report = differences(cases, node, python_strict if strict else python)
        return {difference.case: difference for difference in reversed(report.differences)}

    return differing


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--strict", action="store_true", help="hold the strict reading against XState")
    options = parser.parse_args()
    cases = [line for line in sys.stdin.read().split("\n") if line.strip()]
    differing = against(options.strict)
    found = differing(cases)
    first = next((case for case in cases if json.dumps(json.loads(case).get("id")) in found), None)
    if first is None:
        print("all cases are answered alike")
        return 0
    small = shrink(json.loads(first), differing)
    print(json.dumps(small, indent=1))
    print(*differing([json.dumps(small)]).values(), sep="\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
