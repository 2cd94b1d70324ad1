"""Run as a script: everything a fixed set of machines does, as one digest. Run under several hash seeds.

The machines are the directed golden cases (effects, inspection events, ids
and persisted snapshots are in their lines), each under both behaviours, and
one run that is saved again and again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def lines() -> list[str]:
    from statecharts.testing.protocol import run_lines

    cases: list[str] = []
    for path in sorted((ROOT / "tests" / "golden" / "directed").glob("*.json")):
        cases += [json.dumps(case) for case in json.loads(path.read_text(encoding="utf-8"))]
    return [line for strict in (False, True) for line in run_lines(cases, strict=strict)]


def saved_run() -> list[str]:
    from statecharts import emit, load_machine, log, raise_, simulate, spawn_child

    async def job() -> None:
        """Work that nobody settles."""

    regions = {
        name: {
            "initial": "x",
            "states": {
                "x": {"entry": ["say", "tell"], "tags": [name, "x"], "on": {"GO": "y"}},
                "y": {"entry": "later", "invoke": {"src": "job", "id": f"job of {name}"}, "on": {"GO": "x", "TICK": {"actions": "spawn"}}},
            },
        }
        for name in ("north", "east", "south", "west")
    }
    bound: dict[str, Any] = {
        "actions": {
            "say": log(lambda context, event: [context, event["type"]]),
            "tell": emit({"type": "TOLD"}),
            "later": raise_("TICK", delay=10),
            "spawn": spawn_child("job"),
        },
        "actors": {"job": job},
    }
    machine = load_machine({"id": "m", "type": "parallel", "context": {"b": 1, "a": 2, "10": 3, "9": 4}, "states": regions}, bound, strict=False, semantics="xstate")
    sim = simulate(machine)
    found = []
    for _ in range(6):
        sim.send("GO")
        sim.advance(10)
        sim = simulate(machine, snapshot=sim.save())
        found += [json.dumps(sim.save()), repr(sim.snapshot.tags), repr(sim.snapshot.next_events()), repr(sim.emitted_events)]
    return found


if __name__ == "__main__":
    text = "\n".join([*lines(), *saved_run()])
    sys.stdout.write(f"{len(text)} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}\n")
