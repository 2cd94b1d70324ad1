"""The same chart in sismic's own interpreter and here: states, variables, order and end after every step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sismic_beside import Divergence, Ours, Sismic, compare, events_of
from sismic_random import Dials, random_chart, random_steps, without_differences

from statecharts.adapters.formats.sismic import read_definition

CHARTS = sorted((Path(__file__).parent / "charts").glob("*.yaml"))
BATCHES, BATCH = 12, 30

# what a difference in what is entered leads to cannot be told: an illegal configuration in sismic fails in its own ways
REACH = {
    "cross-region", "final-region", "history-code", "history-from-inside", "history-without-memory", "one-region-entry",
    "region-reentry",
}  # fmt: skip
ORDER = {"parallel-order", "region-entry-order", "region-exit-order", "timer-order"}
CHOICE = {"conflicting-regions", "equal-priority", "eventless-ancestor", "eventless-repeats"}
RIGHT = {
    "NonDeterminismError": REACH | {"equal-priority"},
    "ConflictingTransitionsError": REACH | {"conflicting-regions"},
    "StatechartError": REACH | {"equal-priority"},  # sismic looks for the state around the root to say so
    "AssertionError": REACH,
    "KeyError": REACH,
    "endless": REACH | {"eventless-repeats"},
    "failure": REACH | CHOICE | ORDER,
    "order": REACH | CHOICE - {"equal-priority"} | ORDER,
    "states": REACH | CHOICE | ORDER | {"active-in-action", "guard-mutates"},
}


@pytest.mark.parametrize("batch", range(BATCHES))
def test_charts_without_a_listed_difference_behave_alike(batch: int) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        text, imported = without_differences(random_chart(seed, Dials(careful=bool(seed % 2))))
        seen = compare(text, imported, random_steps(seed, events_of(text), 18))
        assert seen is None, f"chart {seed}: {seen}\n{text}"


@pytest.mark.parametrize("batch", range(6))
def test_what_differs_is_listed_under_the_right_code(batch: int) -> None:
    kinds: dict[str, int] = {}
    for seed in range(10_000 + batch * 40, 10_000 + (batch + 1) * 40):
        text = random_chart(seed, Dials(careful=bool(seed % 3), code=0.35))
        imported = read_definition(text, trusted=True)
        seen = compare(text, imported, random_steps(seed, events_of(text), 14))
        if seen is not None:
            kinds[seen.kind] = kinds.get(seen.kind, 0) + 1
            codes = {problem.code for problem in imported.differences}
            assert codes & RIGHT[seen.kind], f"chart {seed}: {seen}\n{sorted(codes)}\n{text}"
    assert sum(kinds.values()) > 5, "the charts are too tame to show anything"


def test_the_comparison_can_tell() -> None:
    """A machine that is not the chart's is caught, so that silence means something."""
    text, imported = without_differences(random_chart(3))
    other, _ = without_differences(random_chart(5))
    assert isinstance(compare(other, imported, random_steps(1, events_of(text))), Divergence)


# ------------------------------------------------------------- written charts


@pytest.mark.parametrize("path", CHARTS, ids=[path.stem for path in CHARTS])
@pytest.mark.parametrize("seed", range(8))
def test_written_charts(path: Path, seed: int) -> None:
    text = path.read_text(encoding="utf-8")
    imported = read_definition(text, trusted=True)
    assert [str(problem) for problem in imported.differences] == []
    events = [event for event in events_of(text) if event not in ("scrap", "leave")]
    steps: list[tuple[str, Any]] = []
    for number, step in enumerate(random_steps(seed, events, 60)):
        steps += [("wait", 10.25), step] if number % 20 == 19 else [step]
    steps += [(event, 0) for event in ("scrap", "leave", "leave", "tick")]
    theirs, ours = Sismic(text), Ours(imported)
    for event, value in steps:
        left, right = (side.step(event, value, **parameters(event, value)) for side in (theirs, ours))
        if left.failure is not None or right.failure is not None:
            assert (left.failure, right.failure) == ("CodeEvaluationError", "ImplementationError")
            return
        left.context = {key: kept for key, kept in (left.context or {}).items() if not callable(kept)}
        assert left == right, (event, value)


def parameters(event: str, value: Any) -> dict[str, Any]:
    """The data that the written charts ask for."""
    return {
        "choose": {"programme": ["short", "long", "none"][int(value) % 3]},
        "parcel": {"to": f"door {value}", **({"fast": True} if value == 2 else {})},
        "ring": {"door": "x"},
        "later": {"delay": 0},
    }.get(event, {})


def test_what_sismic_tells_its_listeners_is_emitted() -> None:
    text = (
        "statechart:\n  name: x\n  root state:\n    name: r\n    initial: a\n    states:\n      - name: a\n"
        "        transitions:\n          - event: e\n            target: b\n            action: |\n"
        "              send('i', n=1)\n              notify('seen', where='a')\n              send('j', n=x)\n"
        "      - name: b\n        transitions:\n          - {event: i, action: \"send('k')\"}\n  preamble: x = 2\n"
    )
    heard: list[Any] = []
    theirs = Sismic(text)
    theirs.interpreter.attach(lambda event: heard.append(event) if event.name in ("event sent", "seen") else None)
    theirs.step("e", 0)
    ours = Ours(read_definition(text, trusted=True))
    ours.step("e", 0)
    expected = [
        {"type": "event sent", "event": {"type": event.event.name, **event.event.data}}
        if event.name == "event sent"
        else {"type": event.name, **event.data}
        for event in heard
    ]
    assert ours.simulation.emitted_events == expected
    assert len(expected) == 4
