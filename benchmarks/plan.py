"""What is measured: the list of measurements, in the order in which they run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .agent_run import agent_run
from .charts import Chart, all_charts, built_configs, toggling_regions
from .peers import (
    COMPILED,
    COMPILED_NEWEST,
    PEERS,
    PURE,
    PURE_NEWEST,
    PYTHON_PEERS,
    TINYACTORS,
    XSTATE,
)
from .scxml_twins import twin_of

EVENTS = 6_000
"""Events of one pass over a chart; two and three of them in a cycle come out even."""
TRAIL = 40
"""After so many events the active states are compared one event at a time."""
LONGEST = 12.0
"""Seconds of CPU a pass may take; a slower peer gets fewer events."""
SIX = "abcdef"
EFFECTS = "jk"
AGENT_MODES = {"xstate-statemachine": "asyncio"}
"""How a peer plays (g) where that is another way than it handles events."""
SNAPSHOT_MODES = ("xstate", "envelope", "xstate-simulate", "envelope-simulate")
"""What we save: XState's form or our envelope, of a snapshot by itself or of a simulation."""
XSTATE_SNAPSHOT_MODES = ("restored", "started", "bare")
GROUPS = (*"abcdefghijk", "build", "memory", "snapshot")


@dataclass(frozen=True)
class Depth:
    """How thoroughly: repetitions, CPU seconds of warm-up, instances whose memory is taken."""

    repetitions: int = 5
    warmup: float = 1.5
    instances: int = 100_000
    few_instances: int = 2_000
    trips: int = 300
    builds: int = 21


FULL = Depth()
QUICK = Depth(repetitions=3, warmup=0.8, instances=5_000, few_instances=500, trips=100, builds=7)


@dataclass(frozen=True)
class Measurement:
    """One figure of one peer. ``key`` names it in the results."""

    peer: str
    kind: str
    chart: str
    mode: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def key(self) -> str:
        """As ``xstate/events/a/send``."""
        return key(self.peer, self.kind, self.chart, self.mode)

    def task(self, charts: Path) -> dict[str, Any]:
        """What the driver is told."""
        told = {"kind": self.kind, "chart": self.chart, "mode": self.mode, "charts": str(charts)}
        return {**told, **self.options}


def key(peer: str, kind: str, chart: str, mode: str) -> str:
    """The name of a measurement."""
    return f"{peer}/{kind}/{chart}/{mode}"


def pass_length(chart: Chart) -> int:
    """How many events a pass over the chart has: whole cycles."""
    return max(EVENTS // len(chart.cycle), 1) * len(chart.cycle)


def write_charts(folder: Path) -> Path:
    """One file with all that drivers are given: config, events, and the SCXML twins."""
    written: dict[str, Any] = {"g": agent_run()}
    for name, chart in all_charts().items():
        written[name] = {
            "config": chart.config,
            "events": chart.events(pass_length(chart)),
        }
        if name in EFFECTS:  # for peers that read the JSON
            continue
        written[name]["scxml"] = twin_of(chart.config)
        if "context" not in chart.config:
            written[name]["scxml_null"] = twin_of(chart.config, "null")
    for name, config in built_configs().items():
        written[f"build-{name}"] = {"config": config}
    written["d100"] = {"config": toggling_regions("d100", 100)}
    file = folder / "charts.json"
    file.write_text(json.dumps(written), "utf-8")
    return file


def measurements(depth: Depth) -> Iterator[tuple[str, Measurement]]:
    """Each with the group it belongs to; what is compared stands close together in time."""
    for chart in "abcdefhijk":
        for peer in PEERS:
            for mode in PEERS[peer].modes if takes_part(peer, chart) else ():
                yield chart, Measurement(peer, "events", chart, mode, _events(depth))
        if chart == "f":
            for one in _agent(depth):
                yield "g", one
        if chart == "i":
            for peer in (PURE, COMPILED):
                yield chart, Measurement(peer, "memo", "i", "memo")
    for group, made in (("build", _build), ("memory", _memory), ("snapshot", _snapshots)):
        for one in made(depth):
            yield group, one


def takes_part(peer: str, chart: str) -> bool:
    """The newest Python is there for tinyactors' sake, and that for (a) to (f); effects are compared with XState's."""
    if chart in EFFECTS:
        return peer in (PURE, COMPILED, XSTATE)
    return chart in SIX or peer not in (TINYACTORS, PURE_NEWEST, COMPILED_NEWEST)


def _events(depth: Depth) -> dict[str, Any]:
    return {"trail": TRAIL, "longest": LONGEST, "warmup": depth.warmup, "repetitions": depth.repetitions}


def _agent(depth: Depth) -> Iterator[Measurement]:
    options = {"warmup": depth.warmup, "repetitions": depth.repetitions, "trips": depth.trips}
    for peer in (PURE, COMPILED, XSTATE):
        for mode in PEERS[peer].modes:
            yield Measurement(peer, "agent", "g", mode, options)
    for peer in PYTHON_PEERS:
        yield Measurement(peer, "agent", "g", AGENT_MODES.get(peer, "send"), options)


def _build(depth: Depth) -> Iterator[Measurement]:
    for size in built_configs():
        builds = depth.builds if size == "1010" else max(5, depth.builds // 3)
        for peer in (PURE, COMPILED, XSTATE):
            yield Measurement(peer, "build", f"build-{size}", "build", {"repetitions": builds})


def _memory(depth: Depth) -> Iterator[Measurement]:
    for peer in (PURE, COMPILED):
        for mode in ("snapshot", "simulate", "asyncio"):
            yield Measurement(peer, "memory", "b", mode, {"instances": depth.instances})
    yield Measurement(XSTATE, "memory", "b", "send", {"instances": depth.instances})
    for peer in PYTHON_PEERS:
        yield Measurement(peer, "memory", "b", "send", {"instances": depth.few_instances})


def _snapshots(depth: Depth) -> Iterator[Measurement]:
    for chart in ("b", "d100"):
        trips = depth.trips if chart == "b" else max(20, depth.trips // 10)
        options = {"warmup": depth.warmup, "repetitions": depth.repetitions, "trips": trips}
        for peer in (PURE, COMPILED):
            for mode in SNAPSHOT_MODES:
                yield Measurement(peer, "snapshot", chart, mode, options)
        for mode in XSTATE_SNAPSHOT_MODES:
            yield Measurement(XSTATE, "snapshot", chart, mode, options)
