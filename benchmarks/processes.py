"""One driver in a process of its own, from its task to its result."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from statistics import median
from typing import Any

from .environments import HERE, clean_environment
from .peers import PEERS, Command
from .plan import Measurement

PATIENCE = 600.0
"""Seconds after which a driver is given up."""

Result = dict[str, Any]


def run_driver(command: Command, measurement: Measurement, charts: Path) -> Result:
    """The driver's result with the ``median`` of its samples.

    ``{"error": …}`` when the driver broke, ``{"not_measured": …}`` when it took too long.
    """
    task = measurement.task(charts)
    results = [run_once(command, one, charts.with_name("task.json")) for one in _spread(measurement, task)]
    result = results[-1]
    if all("samples" in one for one in results):
        result["samples"] = [sample for one in results for sample in one["samples"]]
        result["median"] = median(result["samples"])
    return result


def _spread(measurement: Measurement, task: dict[str, Any]) -> list[dict[str, Any]]:
    """The task, or a task for each process when the peer's repetitions are spread over several."""
    processes = min(PEERS[measurement.peer].processes, task.get("repetitions", 1))
    if "warmup" not in task or processes == 1:
        return [task]
    return [{**task, "repetitions": task["repetitions"] // processes}] * processes


def run_once(command: Command, task: dict[str, Any], file: Path) -> Result:
    """The result of one process that is given ``task`` in ``file``."""
    file.write_text(json.dumps(task), "utf-8")
    try:
        done = subprocess.run(
            [*command.arguments, str(file)],
            env=clean_environment(command.variables),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            cwd=HERE,
        )
    except subprocess.TimeoutExpired:
        return {"not_measured": f"not done after {PATIENCE:.0f} s"}
    if done.returncode != 0:
        return {"error": _said(done)}
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def _said(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line]
    return (errors or lines or [f"exit code {done.returncode}"])[-1]
