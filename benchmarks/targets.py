"""What has to be reached, and whether it was: the lines of the table in RESULTS.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .peers import COMPILED, COMPILED_NEWEST, PEERS, PURE, PYTHON_PEERS, TINYACTORS, XSTATE
from .plan import SIX, key

Run = dict[str, dict[str, Any]]
"""Results of one run by the key of their measurement."""

MEMORY_LIMIT = 1_200
"""Bytes of an instance beyond its context."""


@dataclass(frozen=True)
class Target:
    """One figure that has to be reached. ``figure`` is ``None`` where a run lacks what it takes."""

    line: str
    what: str
    wanted: float
    figure: Callable[[Run], float | None]
    at_least: bool = True
    unit: str = "×"

    def worst(self, runs: list[Run]) -> float | None:
        """The worst of the runs."""
        figures = [figure for run in runs if (figure := self.figure(run)) is not None]
        if len(figures) < len(runs):
            return None
        return min(figures) if self.at_least else max(figures)

    def verdict(self, runs: list[Run]) -> str:
        """``met``, ``missed`` or ``not measured``."""
        worst = self.worst(runs)
        if worst is None:
            return "not measured"
        return "met" if (worst >= self.wanted if self.at_least else worst <= self.wanted) else "missed"


def median_of(run: Run, *parts: str) -> float | None:
    """The median of a measurement, where there is one."""
    return run.get(key(*parts), {}).get("median")


def ratio(theirs: tuple[str, ...], ours: tuple[str, ...]) -> Callable[[Run], float | None]:
    """How many times our time theirs is."""

    def figure(run: Run) -> float | None:
        upper, lower = median_of(run, *theirs), median_of(run, *ours)
        return None if upper is None or not lower else upper / lower

    return figure


def nearest_peer(run: Run, chart: str) -> tuple[str, float] | None:
    """The fastest peer written in Python on a chart, and its time."""
    found = [
        (peer, value)
        for peer in PYTHON_PEERS
        for mode in PEERS[peer].modes
        if (value := median_of(run, peer, "events", chart, mode)) is not None
    ]
    return min(found, key=lambda one: one[1]) if found else None


def targets() -> list[Target]:
    """All of them, in the order of the issue's table."""
    made: list[Target] = []
    for lines in (_against_xstate, _against_python, _compiled, _growth, _memory, _snapshots):
        made += lines()
    return made


def _events(peer: str, chart: str, mode: str) -> tuple[str, ...]:
    return (peer, "events", chart, mode)


def _against_xstate() -> Iterator[Target]:
    line = "pure: `transition()` against XState `transition()`"
    for chart in SIX:
        theirs, ours = _events(XSTATE, chart, "transition"), _events(PURE, chart, "transition")
        yield Target(line, chart, 15, ratio(theirs, ours))
    line = "pure: `simulate(...).send` against XState `actor.send`"
    for charts, wanted in (("abcf", 3), ("ei", 5), ("d", 20)):
        for chart in charts:
            theirs, ours = _events(XSTATE, chart, "send"), _events(PURE, chart, "send")
            yield Target(line, chart, wanted, ratio(theirs, ours))


def _against_python() -> Iterator[Target]:
    line = "pure: `simulate(...).send` against the fastest peer in Python"
    for chart in "abcdefhi":

        def figure(run: Run, chart: str = chart) -> float | None:
            nearest, ours = nearest_peer(run, chart), median_of(run, *_events(PURE, chart, "send"))
            return None if nearest is None or not ours else nearest[1] / ours

        yield Target(line, chart, 5, figure)
    theirs, ours = ("xstate-statemachine", "agent", "g", "asyncio"), (PURE, "agent", "g", "asyncio")
    yield Target("pure: asyncio host against xstate-statemachine's", "g", 5, ratio(theirs, ours))
    line = "pure: `await actor.send` against XState `actor.send`"
    for chart in SIX:
        yield Target(line, chart, 1.5, ratio(_events(XSTATE, chart, "send"), _events(PURE, chart, "asyncio")))


def _compiled() -> Iterator[Target]:
    for mode, call in (("transition", "transition()"), ("send", "simulate(...).send")):
        line = f"compiled against pure: `{call}`"
        for chart in "acdef":
            yield Target(line, chart, 2.5, ratio(_events(PURE, chart, mode), _events(COMPILED, chart, mode)))
    for mode, call in (("send", "an event at a time"), ("batch", "its events in bulk")):
        line = f"compiled `simulate(...).send` against tinyactors' C core, {call}, Python 3.13"
        for chart in SIX:
            theirs, ours = _events(TINYACTORS, chart, mode), _events(COMPILED_NEWEST, chart, "send")
            yield Target(line, chart, 1, ratio(theirs, ours))


def _growth() -> Iterator[Target]:
    for mode in ("transition", "send"):
        small, large = _events(PURE, "a", mode), _events(PURE, "h", mode)
        yield Target("(h) against (a), per event, warm", f"pure `{mode}`", 0.7, ratio(small, large))
    small, large = (PURE, "build", "build-1010", "build"), (PURE, "build", "build-10000", "build")
    line = "build from a dict, strict, warm"
    theirs = (XSTATE, "build", "build-1010", "build")
    yield Target(line, "1,010 states, against XState `createMachine`", 1, ratio(theirs, small))
    yield Target(line, "the same with the first snapshot of each", 1, _ready)
    yield Target(line, "10,000 states against 1,010", 12, ratio(large, small), at_least=False)


def _ready(run: Run) -> float | None:
    theirs, ours = (
        run.get(key(peer, "build", "build-1010", "build"), {}).get("ready") for peer in (XSTATE, PURE)
    )
    return None if theirs is None or not ours else float(theirs / ours)


def _memory() -> Iterator[Target]:
    names = {"snapshot": "bare `Snapshot`", "simulate": "`simulate(machine)`", "asyncio": "asyncio actor"}
    for mode, name in names.items():

        def beyond(run: Run, mode: str = mode) -> float | None:
            found = run.get(key(PURE, "memory", "b", mode), {})
            return found["median"] - found["context"] if "median" in found else None

        line = "memory of an instance of (b) beyond its context"
        yield Target(line, name, MEMORY_LIMIT, beyond, at_least=False, unit=" B")

    def of_the_bound(run: Run) -> float | None:
        found = run.get(key(PURE, "memo", "i", "memo"), {})
        return 100 * found["median"] / found["limit"] if "median" in found else None

    yield Target("memo of (i)", "of its stated bound", 100, of_the_bound, at_least=False, unit=" %")


def _snapshots() -> Iterator[Target]:
    line = "snapshot → JSON → snapshot, against XState"
    for chart, name, mode, form, wanted in (
        ("b", "small", "xstate", "XState's form", 2),
        ("d100", "100 regions", "xstate", "XState's form", 3),
        ("b", "small", "envelope", "envelope", 1),
        ("d100", "100 regions", "envelope", "envelope", 1),
    ):
        theirs, ours = (XSTATE, "snapshot", chart, "restored"), (PURE, "snapshot", chart, mode)
        yield Target(line, f"{name}, {form}", wanted, ratio(theirs, ours))
