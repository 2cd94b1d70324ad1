"""``python -m benchmarks``: makes the environments, measures everything twice, writes RESULTS.md."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .agreement import disagreement, wrong_end
from .charts import all_charts
from .environments import HERE, NotMeasuredError
from .peers import PEERS, PURE, Command, processor, version_of
from .plan import FULL, GROUPS, QUICK, Measurement, measurements, pass_length, write_charts
from .processes import Result, run_driver
from .report import report, shown_figure, target_table, wanted
from .targets import Run, targets

RESULTS = HERE / "RESULTS.md"
FIGURES = HERE / "results.json"


def main() -> int:
    """Measure as the command line says; 0 also where targets are missed, 1 where a peer went astray."""
    options = _options()
    commands, absent = _commands(options.peers)
    depth = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory() as folder:
        charts = write_charts(Path(folder))
        chosen = [
            one for group, one in measurements(depth) if group in options.only and one.peer in options.peers
        ]
        runs = [_one_run(number, chosen, commands, absent, charts) for number in range(options.runs)]
    facts = _facts(commands, absent)
    whole = set(options.only) == set(GROUPS) and set(options.peers) == set(PEERS)
    if options.write or (whole and not options.quick):
        RESULTS.write_text(report(facts, runs), "utf-8")
        FIGURES.write_text(json.dumps({**facts, "runs": _figures(runs)}, indent=1) + "\n", "utf-8")
        print(f"written: {RESULTS.name}, {FIGURES.name}")
    print(target_table(runs, measured_only=True))
    _print_missed(runs)
    return 1 if any("error" in result for run in runs for result in run.values()) else 0


def _options() -> argparse.Namespace:
    def names(known: Iterable[str]) -> Any:
        def read(text: str) -> list[str]:
            chosen = text.split(",")
            unknown = set(chosen) - set(known)
            if unknown:
                raise argparse.ArgumentTypeError(f"not known: {', '.join(sorted(unknown))}")
            return chosen

        return read

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", type=names(GROUPS), default=GROUPS, help=f"of {','.join(GROUPS)}")
    parser.add_argument("--peers", type=names(PEERS), default=list(PEERS), help=f"of {','.join(PEERS)}")
    parser.add_argument("--quick", action="store_true", help="few repetitions, one run, nothing written")
    parser.add_argument(
        "--write", action="store_true", help="write the results of a quick or partial run, too"
    )
    parser.add_argument("--runs", type=int, help="how often everything is measured (2, or 1 when quick)")
    options = parser.parse_args()
    if options.runs is None:
        options.runs = 1 if options.quick else 2
    return options


def _commands(names: list[str]) -> tuple[dict[str, Command], dict[str, str]]:
    """How each peer is started, and why those that cannot be are not."""
    commands, absent = {}, {}
    for name in names:
        print(f"environment: {name}", file=sys.stderr, flush=True)
        try:
            commands[name] = PEERS[name].prepare()
        except NotMeasuredError as reason:
            absent[name] = str(reason)
            print(f"  not measured: {reason}", file=sys.stderr)
    return commands, absent


def _one_run(
    number: int,
    chosen: list[Measurement],
    commands: dict[str, Command],
    absent: dict[str, str],
    charts: Path,
) -> Run:
    run: Run = {}
    for done, one in enumerate(chosen):
        if one.peer in absent:
            run[one.key] = {"absent": absent[one.peer]}
            continue
        result = run_driver(commands[one.peer], one, charts)
        run[one.key] = _checked(one, result, run)
        print(
            f"run {number + 1}, {done + 1}/{len(chosen)}: {one.key}: {_said(run[one.key])}",
            file=sys.stderr,
            flush=True,
        )
    return run


def _checked(one: Measurement, result: Result, run: Run) -> Result:
    """The result, or an error where the peer did not do what the chart says."""
    if one.kind == "agent":
        wrong = wrong_end(result)
    elif one.kind == "events":
        wrong = disagreement(result, _reference(one.chart, run, result), one.chart == "b")
        result = _noted(one.chart, result)
    else:
        wrong = None
    return {"error": wrong} if wrong else result


def _reference(chart: str, run: Run, result: Result) -> Result:
    """Where ours went; where ours does not take part, the first that did."""
    same = [one for name, one in run.items() if f"/events/{chart}/" in name and "trail" in one]
    ours = [one for name, one in run.items() if name.startswith(f"{PURE}/events/{chart}/") and "trail" in one]
    return (ours or same or [result])[0]


def _noted(chart: str, result: Result) -> Result:
    """Says so where a peer was given fewer events than the chart has."""
    whole = pass_length(all_charts()[chart])
    if "events" in result and result["events"] < whole:
        return {
            **result,
            "passes": f"driven with {result['events']} of {whole} events a pass, for being slow",
        }
    return result


def _said(result: Result) -> str:
    if "median" in result:
        return f"{result['median']:.3f}"
    return "; ".join(f"{name}: {value}" for name, value in result.items())


def _facts(commands: dict[str, Command], absent: dict[str, str]) -> dict[str, Any]:
    versions = {name: version_of(PEERS[name], command) for name, command in commands.items()}
    versions |= {name: f"not measured: {reason}" for name, reason in absent.items()}
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions,
    }


def _figures(runs: list[Run]) -> list[Run]:
    """The runs without the states that were compared."""
    return [
        {name: {k: v for k, v in result.items() if k != "trail"} for name, result in run.items()}
        for run in runs
    ]


def _print_missed(runs: list[Run]) -> None:
    missed = [target for target in targets() if target.verdict(runs) == "missed"]
    for target in missed:
        worst = target.worst(runs)
        assert worst is not None
        print(f"MISSED {target.line}: {target.what}: {shown_figure(target, worst)}, wanted {wanted(target)}")
    print(f"{len(missed)} of {len(targets())} targets missed")


if __name__ == "__main__":
    sys.exit(main())
