"""RESULTS.md: the targets, then every figure of every run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .charts import all_charts
from .peers import COMPILED, COMPILED_NEWEST, PEERS, PURE, PURE_NEWEST, PYTHON_PEERS, TINYACTORS, XSTATE
from .plan import AGENT_MODES, SIX, SNAPSHOT_MODES, XSTATE_SNAPSHOT_MODES, key
from .targets import Run, Target, median_of, targets

Facts = dict[str, Any]
NOTHING = "–"
WORDS = {
    "cannot": "cannot express: ",
    "error": "error: ",
    "not_measured": "not measured: ",
    "passes": "",
}
"""What keeps a figure away, or has to be said of it, and the words for it."""


def report(facts: Facts, runs: list[Run]) -> str:
    """The whole page."""
    parts = [
        _head(facts),
        "## What was wanted, and what came out\n",
        target_table(runs),
        "## Events: µs of CPU each\n",
        _key_to_charts(),
        _table(runs, [("events", chart) for chart in all_charts()], _event_rows(), 2),
        "## Ratios: how many times our `simulate(...).send` (pure)\n",
        _ratio_table(runs),
        "## Python 3.13, beside tinyactors: µs of CPU an event\n",
        _table(runs, [("events", chart) for chart in SIX], _newest_rows(), 2),
        "## (g) The support agent's whole run: µs of CPU\n",
        _table(runs, [("agent", "g")], _agent_rows(), 0),
        "## Build from a dict: ms of CPU\n",
        _table(runs, BUILDS, _each("build"), 1),
        "The same, with the first snapshot:\n",
        _table(runs, BUILDS, _each("build"), 1, "ready"),
        "## Memory of an instance of (b): bytes, its context included\n",
        _table(runs, [("memory", "b")], _memory_rows(), 0),
        _memo_line(runs),
        "## Snapshot → JSON text → restored snapshot: µs of CPU\n",
        _table(runs, [("snapshot", "b"), ("snapshot", "d100")], _snapshot_rows(), 1),
        "## What is missing, and why\n",
        _gaps(runs),
    ]
    return "\n".join(parts)


def _head(facts: Facts) -> str:
    versions = "".join(f"| {name} | {version} |\n" for name, version in facts["versions"].items())
    return (
        "# Results\n\n"
        "Written by `make bench`; how to read it is in [README.md](README.md).\n\n"
        f"{facts['date']} · {facts['processor']} · {facts['cores']} cores · {facts['system']}\n\n"
        f"| peer | version |\n|---|---|\n{versions}"
    )


def target_table(runs: list[Run], *, measured_only: bool = False) -> str:
    """A line per target: wanted, each run's figure, and the verdict on the worst of them."""
    columns = " | ".join(f"run {number + 1}" for number in range(len(runs)))
    lines = [
        f"| | | wanted | {columns} | verdict |",
        "|---|---|---" + "|---" * len(runs) + "|---|",
    ]
    for target in targets():
        figures = " | ".join(_figure(target, run) for run in runs)
        verdict = target.verdict(runs)
        if measured_only and verdict == "not measured":
            continue
        shown = f"**{verdict}**" if verdict == "missed" else verdict
        lines.append(f"| {target.line} | {target.what} | {wanted(target)} | {figures} | {shown} |")
    return "\n".join(lines) + "\n"


def wanted(target: Target) -> str:
    """As ``≥ 15×``."""
    return f"{'≥' if target.at_least else '≤'} {target.wanted:,g}{target.unit}"


def _figure(target: Target, run: Run) -> str:
    figure = target.figure(run)
    return NOTHING if figure is None else shown_figure(target, figure)


def shown_figure(target: Target, figure: float) -> str:
    """With as many digits as say something."""
    return f"{figure:,.0f}{target.unit}" if abs(figure) >= 100 else f"{figure:.2f}{target.unit}"


def _key_to_charts() -> str:
    return "\n".join(f"- ({chart.name}) {chart.title}" for chart in all_charts().values()) + "\n"


Row = tuple[str, str]
Column = tuple[str, str]
BUILDS: list[Column] = [("build", "build-1010"), ("build", "build-10000")]


def _event_rows() -> list[Row]:
    peers = (PURE, COMPILED, XSTATE, *PYTHON_PEERS)
    return [(peer, mode) for peer in peers for mode in PEERS[peer].modes]


def _newest_rows() -> list[Row]:
    return [(peer, mode) for peer in (TINYACTORS, PURE_NEWEST, COMPILED_NEWEST) for mode in PEERS[peer].modes]


def _agent_rows() -> list[Row]:
    own = [(peer, mode) for peer in (PURE, COMPILED, XSTATE) for mode in PEERS[peer].modes]
    return [*own, *((peer, AGENT_MODES.get(peer, "send")) for peer in PYTHON_PEERS)]


def _each(mode: str) -> list[Row]:
    return [(peer, mode) for peer in (PURE, COMPILED, XSTATE)]


def _memory_rows() -> list[Row]:
    own = [(peer, mode) for peer in (PURE, COMPILED) for mode in ("snapshot", "simulate", "asyncio")]
    return [*own, (XSTATE, "send"), *((peer, "send") for peer in PYTHON_PEERS)]


def _snapshot_rows() -> list[Row]:
    own = [(peer, mode) for peer in (PURE, COMPILED) for mode in SNAPSHOT_MODES]
    return [*own, *((XSTATE, mode) for mode in XSTATE_SNAPSHOT_MODES)]


def _table(runs: list[Run], columns: list[Column], rows: list[Row], digits: int, fact: str = "median") -> str:
    """A fact of all runs, one after the other in a cell."""
    lines = [
        "| | | " + " | ".join(chart for _, chart in columns) + " |",
        "|---|---" + "|--:" * len(columns) + "|",
    ]
    for peer, mode in rows:
        cells = [_cell(runs, key(peer, kind, chart, mode), digits, fact) for kind, chart in columns]
        lines.append(f"| {peer} | {mode} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(runs: list[Run], name: str, digits: int, fact: str) -> str:
    results = [run.get(name, {}) for run in runs]
    if any("cannot" in one for one in results):
        return "cannot"
    if any("error" in one for one in results):
        return "error"
    if not all(fact in one for one in results):
        return NOTHING
    return " / ".join(f"{one[fact]:,.{digits}f}" for one in results)


def _ratio_table(runs: list[Run]) -> str:
    charts = list(all_charts())
    lines = ["| | | " + " | ".join(charts) + " |", "|---|---" + "|--:" * len(charts) + "|"]
    for peer, mode in _event_rows():
        cells = []
        for chart in charts:
            found = [_times(run, peer, chart, mode) for run in runs]
            cells.append(
                NOTHING if None in found else " / ".join(f"{one:,.3g}" for one in found if one is not None)
            )
        lines.append(f"| {peer} | {mode} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _times(run: Run, peer: str, chart: str, mode: str) -> float | None:
    theirs, ours = median_of(run, peer, "events", chart, mode), median_of(run, PURE, "events", chart, "send")
    return None if theirs is None or not ours else theirs / ours


def _gaps(runs: list[Run]) -> str:
    told = dict.fromkeys(_gap_lines(runs))
    return "\n".join(f"- {line}" for line in told) + "\n" if told else "Nothing.\n"


def _gap_lines(runs: list[Run]) -> Iterator[str]:
    """A peer that is not here at all is one line."""
    for run in runs:
        for name, result in run.items():
            if "absent" in result:
                yield f"{name.split('/')[0]}: not measured: {result['absent']}"
            for reason, words in WORDS.items():
                if reason in result:
                    yield f"`{name}`: {words}{result[reason]}"


def _memo_line(runs: list[Run]) -> str:
    found = [run[name] for run in runs if "median" in run.get(name := key(PURE, "memo", "i", "memo"), {})]
    told = " / ".join(f"{one['median']:,.0f} of {one['limit']:,.0f}" for one in found)
    return f"Memo of (i), pure: {told or NOTHING} bytes.\n"
