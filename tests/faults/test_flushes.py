"""SIGKILL cannot see a missing flush: so flushes are counted, in a process whose calls of ``fdatasync`` and ``fsync`` go through us."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

CODE = """
import asyncio, sys
from statecharts import Runtime, load_machine
url, mode = sys.argv[1:]
machine = load_machine({"id": "m", "initial": "a", "states": {"a": {"on": {"E": "b"}}, "b": {"on": {"E": "a"}}}})
async def main():
    async with Runtime.open(url, [machine]) as runtime:
        await runtime.start("m", "m")
        if mode == "one":
            for n in range(50):
                await runtime.send("m", "E", event_id=f"e{n}")
        else:
            await asyncio.gather(*(runtime.send("m", "E", event_id=f"e{n}") for n in range(64)))
asyncio.run(main())
"""


@cache
def counter(folder: Path) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("flushes are counted with a C compiler on Linux, and there is none here")
    made = folder / "count_flushes.so"
    source = Path(__file__).with_name("count_flushes.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"], check=True)
    return made


def flushes(folder: Path, options: str, mode: str) -> int:
    """How often a run of 51 commits (or of one batch of 64) flushes."""
    told = folder / "flushes"
    environment = {**os.environ, "LD_PRELOAD": str(counter(folder)), "FLUSHES": str(told)}
    url = f"sqlite:///{folder / 'f.db'}{options}"
    subprocess.run([sys.executable, "-c", CODE, url, mode], env=environment, check=True, timeout=60)
    return int(told.read_text())


def test_every_commit_in_full_is_flushed(tmp_path: Path) -> None:
    assert flushes(tmp_path, "", "one") >= 51


def test_commits_in_normal_are_not(tmp_path: Path) -> None:
    assert flushes(tmp_path, "?synchronous=NORMAL", "one") < 25


def test_a_batch_is_flushed_once(tmp_path: Path) -> None:
    """64 events in flight: at least 16 of them share a flush."""
    assert flushes(tmp_path, "", "many") < 20
