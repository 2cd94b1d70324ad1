"""A machine saved by one engine goes on in the other as it would have gone on at home."""

from __future__ import annotations

import json
import re
from typing import Any

import generator
import pytest
from casegen.dice import Dice
from compare import compare
from engines import Engine, answers, node, python
from streams import with_actors

pytestmark = pytest.mark.node

SEED = 89
COUNT = 500
DRAWN = 640  # some cannot be saved
STEPS_AFTER = 5
# How a saved machine is handed over: as the start of a new case, or by a step of a case that already runs.
AS_START, AS_STEP = "start", "step"
# A promise that starts itself over without end goes on in the machine that a restore step leaves behind, and
# takes hold of the new machine's actors of the same name. The oracle lets it; no host of ours would.
ECHO = re.compile('"src":"echo"')


def _machines() -> list[dict[str, Any]]:
    """Cases of our own in which there are children, and an order of steps in which they may be alive."""
    cases: list[dict[str, Any]] = []
    index = 0
    while len(cases) < DRAWN:
        case, tags = generator.make_case(SEED, index)
        index += 1
        if tags & {"child-machine", "promise", "callback", "spawn-id", "transition-actor", "observable"}:
            if len(case["steps"]) > STEPS_AFTER:
                cases.append({**case, "inspect": False})
    return cases


def _cut(case: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The case up to a random step, and the steps that come after."""
    dice = Dice(SEED + int(str(case["id"]).rsplit("-", 1)[1]))
    steps = [step for step in case["steps"] if "persist" not in step and "restore" not in step]
    at = dice.below(max(1, len(steps) - STEPS_AFTER))
    rest = steps[at : at + STEPS_AFTER]
    rest += [
        {"event": {"type": dice.pick("ABC"), "v": dice.below(2)}} for _ in range(STEPS_AFTER - len(rest))
    ]
    return {**case, "steps": steps[:at], "report": {"lines": "last"}}, rest


def _saved(engine: Engine, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """What each machine looks like on paper; those that cannot be saved or were cut short are left out."""
    found: dict[str, Any] = {}
    for text in answers(engine, [generator.as_line(case) for case in cases]):
        line = json.loads(text)
        if "persisted" in line and "$error" not in line["persisted"] and "overrun" not in line:
            found[line["case"]] = line["persisted"]
    return found


def _continued(case: dict[str, Any], snapshot: Any, steps: list[dict[str, Any]], how: str) -> str:
    fresh = {key: value for key, value in case.items() if key != "report"}
    if how == AS_START:
        return generator.as_line({**fresh, "snapshot": snapshot, "steps": steps})
    return generator.as_line({**fresh, "steps": [{"restore": snapshot}, *steps]})


@pytest.mark.parametrize("how", [AS_START, AS_STEP])
@pytest.mark.parametrize(
    "home, abroad", [(node, python), (python, node)], ids=["saved-by-node", "saved-by-python"]
)
def test_restored_elsewhere_it_goes_on_alike(home: Engine, abroad: Engine, how: str) -> None:
    cut = [_cut(case) for case in _machines()]
    saved = _saved(home, [case for case, _ in cut])
    cases = [_continued(case, saved[case["id"]], rest, how) for case, rest in cut if case["id"] in saved]
    if how == AS_STEP:
        cases = [case for case in cases if not ECHO.search(case)]
    report = compare(answers(home, cases), answers(abroad, cases))
    with_children = sum(bool(snapshot.get("children")) for snapshot in saved.values())
    print(f"seed {SEED}: {report.summary(0)}; {with_children} with children at the time")
    assert report.is_equal, report.summary()
    assert report.cases >= COUNT
    assert with_children > 0.5 * COUNT


@pytest.mark.shared
def test_reference_machines_restored_elsewhere_go_on_alike() -> None:
    cut = [_cut(json.loads(case)) for case in with_actors(COUNT, SEED)]
    for home, abroad in ((node, python), (python, node)):
        saved = _saved(home, [case for case, _ in cut])
        cases = [
            _continued(case, saved[case["id"]], rest, AS_START) for case, rest in cut if case["id"] in saved
        ]
        report = compare(answers(home, cases), answers(abroad, cases))
        assert report.is_equal, report.summary()
