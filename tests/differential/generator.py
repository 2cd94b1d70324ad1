"""Seeded random cases for what the reference generator leaves out: children, spawning, errors, restores …

    python tests/differential/generator.py --n 2000 --seed 1 > cases.jsonl
    python tests/differential/generator.py --n 2000 --seed 1 --table   # the features instead of the cases

The same arguments give the same bytes on every Python from 3.11 on. Case `own-<seed>-<i>` depends on
nothing but these two numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from casegen import asides, children, failures, messages, structure, timing
from casegen.dice import Dice
from casegen.draft import Draft, Json, Node, Step, send
from casegen.tree import grow

Ingredient = Callable[[Draft], None]

INGREDIENTS: list[Ingredient] = [
    *structure.INGREDIENTS,
    *timing.INGREDIENTS,
    *children.INGREDIENTS,
    *messages.INGREDIENTS,
    *failures.INGREDIENTS,
    *asides.INGREDIENTS,
    # Those that never join another one, or have many variants, lead more often.
    *[structure.done_at_start, failures.start_fails, failures.start_fails] * 2,
    *[failures.unknown_source] * 6,
    *[structure.done_at_start, structure.initial_actions],
    *[structure.initial_actions, children.echo_and_fail, messages.spawn_into_context] * 2,
]
MAX_STEPS = 26


def make_case(seed: int, index: int) -> tuple[Json, frozenset[str]]:
    """One case and the features it has."""
    dice = Dice(seed * 1_000_003 + index)
    draft = Draft(dice)
    grow(draft)
    for ingredient in _recipe(dice, index):
        if draft.dies_at_start and ingredient in FATAL_AT_START:
            continue
        ingredient(draft)
    draft.case["clock"] = dice.pick(["exact", "simulated"])
    draft.tag(f"clock-{draft.case['clock']}")
    steps = _steps(draft)
    case = {key: value for key, value in draft.case.items() if not key.startswith("_")}
    return {"id": f"own-{seed}-{index}", **case, "machine": _document(draft), "steps": steps}, frozenset(
        draft.tags
    )


FATAL_AT_START: list[Ingredient] = [failures.start_fails, structure.done_at_start]


def _recipe(dice: Dice, index: int) -> list[Ingredient]:
    """Each ingredient leads in its turn; some others join. A few have to be mixed in first or last."""
    lead = INGREDIENTS[index % len(INGREDIENTS)]
    others = [one for one in dict.fromkeys(INGREDIENTS) if one is not lead and one not in FATAL_AT_START]
    chosen = [lead, *dice.some(others, 2 + dice.below(3))]
    order = {structure.done_at_start: -1, structure.parallel_done: 1, failures.nulls: 2}
    return sorted(chosen, key=lambda one: order.get(one, 0))


def _steps(draft: Draft) -> list[Step]:
    """The scripts, shuffled into one another, with random steps between; endings last."""
    dice = draft.dice
    waiting = [list(script) for script in draft.scripts if script]
    steps: list[Step] = []
    while waiting:
        script = dice.pick(waiting)
        steps.append(script.pop(0))
        waiting = [script for script in waiting if script]
        if dice.chance(0.2):
            steps.append(_random_step(draft))
    endings = [ending for ending in draft.endings if ending]
    for ending in dice.some(endings, len(endings)):
        steps.extend(ending)
    return [*(steps[-MAX_STEPS:]), *draft.case.get("_last", [])]


def _random_step(draft: Draft) -> Step:
    dice = draft.dice
    roll = dice.below(10)
    if roll < 6:
        return send(dice.pick(draft.events), v=dice.below(2))
    if roll < 8:
        return {"advance": dice.pick([5, 10, 20])}
    if roll < 9 and draft.case.get("_pure"):
        return {"pure": dice.pick(draft.events)}
    draft.tag("persist-restore")
    return {"persist": True} if dice.chance(0.5) else {"restore": True}


def _document(draft: Draft) -> Json:
    return {
        "id": draft.root.key,
        "context": draft.context,
        "options": {"maxIterations": 60},
        **draft.machine,
        **_node_document(draft.root),
    }


def _node_document(node: Node) -> Json:
    if not node.children:
        return node.json
    return {**node.json, "states": {child.key: _node_document(child) for child in node.children}}


def make_cases(count: int, seed: int) -> Iterator[tuple[Json, frozenset[str]]]:
    return (make_case(seed, index) for index in range(count))


def feature_table(tags: list[frozenset[str]]) -> Counter[str]:
    """How many cases have each feature."""
    return Counter(tag for each in tags for tag in each)


def as_line(case: Json) -> str:
    return json.dumps(case, ensure_ascii=True, separators=(",", ":"))


def print_table(counts: Counter[str], out: Any = sys.stdout) -> None:
    width = max(map(len, counts))
    for name, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        print(f"{name:{width}}  {count:5}", file=out)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="count the features, print no case")
    options = parser.parse_args()
    made = make_cases(options.n, options.seed)
    if options.table:
        print_table(feature_table([tags for _, tags in made]))
        return
    for case, _ in made:
        sys.stdout.write(as_line(case) + "\n")


if __name__ == "__main__":
    main()
