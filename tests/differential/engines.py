"""The two programs that answer cases, XState's oracle and our protocol, and where their files are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from compare import Report, compare

REPO = Path(__file__).resolve().parents[2]
ORACLE = REPO / "tests" / "oracle"
SHARED = Path(os.environ.get("STATECHARTS_SHARED", REPO.parent / "shared"))
CHUNK = 250

Engine = Callable[[Sequence[str]], list[str]]


class EngineError(Exception):
    """A program ended badly."""


@cache
def why_no_node() -> str:
    """The reason for which the oracle cannot run here; empty if it can."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not (ORACLE / "node_modules" / "xstate").is_dir():
        return "no npm packages: run `npm ci` in tests/oracle"
    return ""


@cache
def why_no_shared() -> str:
    """The reason for which the reference material cannot be used; empty if it can."""
    return "" if (SHARED / "xstate" / "oracle").is_dir() else f"no reference material at {SHARED}"


def _run(command: Sequence[str], cases: Sequence[str], cwd: Path = REPO) -> list[str]:
    text = "".join(f"{case}\n" for case in cases)
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", cwd=cwd, check=False)
    lines = done.stdout.split("\n")[:-1]
    if done.returncode:
        last = f" after the line {lines[-1][:80]} …" if lines else ""
        raise EngineError(f"{' '.join(command)} ended with {done.returncode}{last}\n{done.stderr[-2000:]}")
    return lines


def node(cases: Sequence[str]) -> list[str]:
    """XState's answers."""
    return _run(["node", str(ORACLE / "oracle.mjs")], cases)


def python(cases: Sequence[str]) -> list[str]:
    """Our answers."""
    return _run([sys.executable, "-m", "statecharts.testing.protocol"], cases)


def python_strict(cases: Sequence[str]) -> list[str]:
    """Our answers under the strict reading, with our corrections."""
    return _run([sys.executable, "-m", "statecharts.testing.protocol", "--strict"], cases)


def reference_cases(count: int, seed: int, *options: str) -> list[str]:
    """Cases of the reference generator, which lies beside the checkout."""
    generator = SHARED / "xstate" / "oracle" / "gen.mjs"
    return _run(["node", str(generator), "--n", str(count), "--seed", str(seed), *options], [])


def chunks(cases: Sequence[str], size: int = CHUNK) -> list[Sequence[str]]:
    return [cases[at : at + size] for at in range(0, len(cases), size)]


def answers(engine: Engine, cases: Sequence[str]) -> list[str]:
    """All answers of one engine, made by two processes at a time."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return [line for lines in pool.map(engine, chunks(cases)) for line in lines]


def differences(cases: Sequence[str], expected: Engine = node, actual: Engine = python) -> Report:
    """Both engines over all cases, side by side; compared chunk by chunk to keep memory small."""
    report = Report()
    with ThreadPoolExecutor(max_workers=2) as pool:
        for chunk in chunks(cases):
            wanted, got = pool.submit(expected, chunk), pool.submit(actual, chunk)
            report.add(compare(wanted.result(), got.result()))
    return report
