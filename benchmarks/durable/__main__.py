"""``python -m benchmarks.durable``: makes the environments, measures everything twice, writes DURABLE.md."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from ..environments import CHECKOUT, HERE, NotMeasuredError, clean_environment
from ..peers import Command, processor
from ..processes import Result, run_once
from ..targets import Run
from .page import page, target_table
from .peers import DRIVERS, FLOOR, OURS, PEERS, POSTGRES, Measurement, measurements, server
from .targets import targets

PAGE = HERE / "DURABLE.md"
FIGURES = HERE / "durable.json"
SQL = CHECKOUT / "statecharts" / "adapters" / "stores" / "sql"
PASSES = {"warmup": 1, "repetitions": 5}


def main() -> int:
    """Measure; 0 also where targets are missed, 1 where a peer went astray."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.durable", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one run of two short passes, nothing written")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {','.join(PEERS)}")
    options = parser.parse_args()
    names = [name.strip() for name in options.peers.split(",")]
    commands, absent = _commands(names)
    runs = [_run(number, commands, absent, options.quick) for number in range(1 if options.quick else 2)]
    if not options.quick and set(names) >= {"ours", FLOOR}:
        facts = _facts(commands, absent)
        PAGE.write_text(page(facts, runs), "utf-8")
        FIGURES.write_text(json.dumps({**facts, "targets": _verdicts(runs), "runs": runs}, indent=1) + "\n", "utf-8")
        print(f"written: {PAGE.name}, {FIGURES.name}")
    print(target_table(runs))
    return 1 if any("error" in result for run in runs for result in run.values()) else 0


def _commands(names: list[str]) -> tuple[dict[str, Command], dict[str, str]]:
    commands, absent = {}, {}
    for name in names:
        print(f"environment: {name}", file=sys.stderr, flush=True)
        try:
            commands[name] = PEERS[name].prepare()
        except NotMeasuredError as reason:
            absent[name] = str(reason)
    return commands, absent


def _run(number: int, commands: dict[str, Command], absent: dict[str, str], quick: bool) -> Run:
    """One run; each peer has a file or a schema of its own."""
    run: Run = {}
    with tempfile.TemporaryDirectory() as folder, _server() as (url, why):
        place = Path(folder)
        _record(commands, place)
        for index, one in enumerate(one for one in measurements() if one.peer in {*commands, *absent}):
            reason = absent.get(one.peer) or (why if one.store == POSTGRES else None)
            if reason is None:
                task = {**_task(one, place, url, f"bench_{number}_{index}"), **({"repetitions": 2} if quick else {})}
                run[one.key] = _checked(run_once(commands[one.peer], task, place / "task.json"))
            else:
                run[one.key] = {"not_measured": reason}
            print(f"run {number + 1}: {one.key}: {_said(run[one.key])}", file=sys.stderr, flush=True)
    return run


def _record(commands: dict[str, Command], place: Path) -> None:
    """The rows that the floor writes."""
    if OURS in commands and FLOOR in commands:
        task = {"kind": "record", "url": f"sqlite:///{place / 'record.db'}"}
        (place / "recorded.json").write_text(json.dumps(run_once(commands[OURS], task, place / "task.json")), "utf-8")


def _task(one: Measurement, place: Path, url: str, name: str) -> dict[str, Any]:
    file = str(place / f"{name}.db")
    return {
        "kind": "events",
        "store": one.store,
        "file": file,
        "url": url if one.store == POSTGRES else f"sqlite:///{file}",
        "schema": name,
        "sql": str(SQL),
        "recorded": str(place / "recorded.json"),
        "events": one.events,
        **PASSES,
        **one.more,
    }


def _checked(result: Result) -> Result:
    """The result with its medians, or an error where events have been lost."""
    if "samples" not in result:
        return result
    if result["count"] != result["expected"]:
        return {"error": f"{result['count']} events have arrived of {result['expected']}"}
    return {**result, "median": median(result["samples"]), "rate": median(result["rates"])}


def _said(result: Result) -> str:
    if "median" in result:
        return f"{result['median']:.0f} µs, {result['rate']:.0f}/s"
    return "; ".join(f"{name}: {value}" for name, value in result.items())


@contextmanager
def _server() -> Iterator[tuple[str, str | None]]:
    """The address of a PostgreSQL server, or why there is none."""
    try:
        command = server()
    except NotMeasuredError as reason:
        yield "", str(reason)
        return
    with subprocess.Popen(
        command.arguments,
        env=clean_environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=DRIVERS,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        url = process.stdout.readline().strip()
        yield url, None if url else "the PostgreSQL server does not start"
        process.stdin.close()


def _verdicts(runs: list[Run]) -> list[dict[str, Any]]:
    return [
        {
            "what": one.what,
            "wanted": one.wanted,
            "at_least": one.at_least,
            "figures": [one.figure(run) for run in runs],
            "verdict": one.verdict(runs),
        }
        for one in targets()
    ]


def _facts(commands: dict[str, Command], absent: dict[str, str]) -> dict[str, Any]:
    versions = {name: _version(PEERS[name].package, command) for name, command in commands.items()}
    versions |= {name: f"not measured: {reason}" for name, reason in absent.items()}
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "sqlite": sqlite3.sqlite_version,
        "versions": versions,
    }


def _version(package: str, command: Command) -> str:
    code = f"import importlib.metadata as m, platform as p; print(m.version({package!r}), 'on Python', p.python_version())"
    run = subprocess.run([command.arguments[0], "-c", code], env=clean_environment({}), capture_output=True, text=True, check=True)
    return f"{package} {run.stdout.strip()}"


if __name__ == "__main__":
    sys.exit(main())
