"""DURABLE.md: the targets, then every figure of both runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..report import NOTHING, shown_figure, wanted
from ..targets import Run, Target
from .peers import FEW, FLOOR, MANY, OURS, POSTGRES, SINGLE, SQLITE, Measurement, measurements
from .targets import cpu, targets

HOW = """
An event here is one transition that survives a crash: two states toggled by `GO` and `BACK`, an update that counts, a
timer that is set in one state and dropped when it is left, a promise actor that begins in the other and is withdrawn when it
is left, a context of some 200 bytes. Figures are µs of **CPU an event**, user and system, all threads of the process
(`process_time()`), run 1 / run 2; each is the median of five passes in a process of its own after one to warm up.
Events a second are of the wall clock, for information: they move with whatever else the machine does. A target is judged by the
worse of the two runs. A peer that has not counted all its events is an error, not a figure.

- **ours**: `Runtime.send` from an event loop, `synchronous=FULL`. "64 in flight" are 64 senders, each waiting for its receipt.
- **floor**: a program without this library that does the same statements (those of `statements.sql`, of PostgreSQL the same two
  functions), writes the same JSON and hashes it (event, payload, state and chain, SHA-256), and hops from an event loop to a writing
  thread that takes up to 64 at a time; its values are rows that ours has written. It decides nothing, checks nothing, keeps no
  cache, and gives out no receipts.
- **xstate-statemachine, safe mode**: `persisted()` under `PessimisticLock()` over `SQLiteStore`, `IdempotencyPlugin` over
  `SQLiteInbox` of the same store: snapshot and inbox row in one transaction. Its store opens the file with
  `synchronous = NORMAL`: it does not flush an event to disk, which ours and the floor do. It has no row for a call. With its log:
  `TransitionLogPlugin` over `SQLiteLog` as well, the nearest to what ours writes.
- **DBOS**: an event is a workflow under the event's id with one datasource transaction, which does our pure transition and
  writes state and a log row, without the call; SQLite file set to WAL beforehand. Its background threads are counted: they are its price.
- **LangGraph**: a loop of two nodes, `SqliteSaver`, `durability="sync"`; a superstep is what is counted. Another kind of work,
  beside it for information.
- PostgreSQL's own CPU is not in the figures: the server is another process.
"""


def page(facts: dict[str, Any], runs: list[Run]) -> str:
    """The whole page."""
    versions = "".join(f"| {name} | {version} |\n" for name, version in facts["versions"].items())
    head = (
        "# What a durable event costs\n\nWritten by `make bench-durable`.\n\n"
        f"{facts['date']} · {facts['processor']} · {facts['cores']} cores · {facts['system']} · SQLite {facts['sqlite']}\n\n"
        f"| peer | version |\n|---|---|\n{versions}"
    )
    parts = [
        head,
        "## What was wanted, and what came out\n",
        target_table(runs),
        "## Figures\n",
        figure_table(runs),
        "## Ratios to the floor, and to ours\n",
        ratio_table(runs),
        "## How it is measured\n" + HOW,
        "## What is missing, and why\n",
        "\n".join(f"- {line}" for line in dict.fromkeys(_gaps(runs))) or "Nothing.",
    ]
    return "\n".join(parts).rstrip() + "\n"


def target_table(runs: list[Run]) -> str:
    """A line per target."""
    columns = " | ".join(f"run {number + 1}" for number in range(len(runs)))
    lines = [f"| | wanted | {columns} | verdict |", "|---|---" + "|---" * len(runs) + "|---|"]
    for target in targets():
        figures = " | ".join(_figure(target, run) for run in runs)
        verdict = target.verdict(runs)
        shown = f"**{verdict}**" if verdict == "missed" else verdict
        lines.append(f"| {target.what} | {wanted(target)} | {figures} | {shown} |")
    return "\n".join(lines) + "\n"


def _figure(target: Target, run: Run) -> str:
    figure = target.figure(run)
    return NOTHING if figure is None else shown_figure(target, figure)


def figure_table(runs: list[Run]) -> str:
    """Every measurement."""
    lines = ["| peer | store | load | µs of CPU an event | events/s (wall) |", "|---|---|---|--:|--:|"]
    for one in measurements():
        figures = _cell(runs, one, "median", 0), _cell(runs, one, "rate", 0)
        lines.append(f"| {one.peer} | {one.store} | {one.load} | {figures[0]} | {figures[1]} |")
    return "\n".join(lines) + "\n"


def _cell(runs: list[Run], one: Measurement, fact: str, digits: int) -> str:
    found = [run.get(one.key, {}) for run in runs]
    if any("error" in result for result in found):
        return "error"
    if not all(fact in result for result in found):
        return NOTHING
    return " / ".join(f"{result[fact]:,.{digits}f}" for result in found)


def ratio_table(runs: list[Run]) -> str:
    """How many times the floor's CPU, and how many times that of ours under the same load (single stream for others)."""
    lines = ["| peer | store | load | × floor | × ours |", "|---|---|---|--:|--:|"]
    for one in measurements():
        if all(cpu(run, one.peer, one.store, one.load) is None for run in runs):
            continue
        to_floor, to_ours = (_times(runs, one, peer) for peer in (FLOOR, OURS))
        lines.append(f"| {one.peer} | {one.store} | {one.load} | {to_floor} | {to_ours} |")
    return "\n".join(lines) + "\n"


def _times(runs: list[Run], one: Measurement, other: str) -> str:
    store = POSTGRES if one.store == POSTGRES else SQLITE
    known = [load for load in (one.load, SINGLE) if cpu(runs[0], other, store, load) is not None]
    load = MANY if one.load == FEW and other == FLOOR else [*known, SINGLE][0]  # the floor does the same for 8
    figures = [(cpu(run, one.peer, one.store, one.load), cpu(run, other, store, load)) for run in runs]
    if any(not mine or not theirs for mine, theirs in figures):
        return NOTHING
    return " / ".join(f"{mine / theirs:.2f}" for mine, theirs in figures if mine and theirs)


def _gaps(runs: list[Run]) -> Iterator[str]:
    for run in runs:
        for name, result in run.items():
            if "not_measured" in result:
                yield f"`{name}`: not measured: {result['not_measured']}"
            if "error" in result:
                yield f"`{name}`: error: {result['error']}"
