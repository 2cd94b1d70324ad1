"""SCION under Node, and the comparison with it: leaf configurations after every event."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from charts import Chart

from statecharts import load_machine, simulate

HERE = Path(__file__).parent
MISSING = (
    None
    if shutil.which("node") and (HERE / "node_modules" / "@scion-scxml" / "scxml").is_dir()
    else "Node.js or the npm packages of tests/scxml_differential are not here (make setup)"
)


def ask(documents: Sequence[tuple[str, Sequence[str]]]) -> list[list[list[str]]]:
    """SCION's leaf configurations for each document and its events: after the start and after each event."""
    lines = [
        json.dumps({"id": number, "document": document, "events": list(events)})
        for number, (document, events) in enumerate(documents)
    ]
    done = subprocess.run(
        ["node", "scion.cjs"], cwd=HERE, input="\n".join(lines), capture_output=True, text=True, timeout=300
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [answer for answer in answers if "error" in answer]
    if failed or len(answers) != len(lines):
        raise RuntimeError(f"SCION could not run a document: {failed[:1] or done.stderr[-500:]}")
    return [answer["steps"] for answer in answers]


def ours(chart: Chart) -> list[list[str]]:
    """Our leaf configurations, up to where SCION would take the session for over."""
    over: list[bool] = []

    def watch(event: Any) -> None:
        if event.type == "@xstate.microstep" and chart.is_over_for_scion(event.snapshot.atomic_states):
            over.append(True)

    sim = simulate(load_machine(chart.text), inspect=watch)
    seen = [sorted(sim.snapshot.atomic_states)] if not over else []
    for event in chart.events:
        if over or chart.is_over_for_scion(seen[-1]):
            break
        sim.send(event)
        assert sim.snapshot.status == "active", sim.snapshot.error
        if not over:
            seen.append(sorted(sim.snapshot.atomic_states))
    return seen


def difference(chart: Chart, theirs: list[list[str]]) -> str | None:
    """The first configuration that is not SCION's; ``None`` when all are."""
    for number, leaves in enumerate(ours(chart)):
        if leaves != theirs[number]:
            event = "the start" if number == 0 else f"event {number} ({chart.events[number - 1]})"
            return f"after {event}: {leaves}, SCION: {theirs[number]}"
    return None
