"""The face type-checks under ``mypy --strict``, contexts included, and wrong uses are found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FACE = '''
from __future__ import annotations

from typing import Any, TypedDict

from statecharts import (
    Implementations, Machine, Snapshot, and_, assign, initial_transition, load_machine, raise_, simulate, start, transition,
)


class Ticket(TypedDict):
    attempt: int


impl = Implementations()


@impl.guard("canRetry")
def can_retry(context: Ticket) -> bool:
    return context["attempt"] < 3


@impl.guard
def plain(context: Ticket, event: dict[str, Any]) -> bool:
    return can_retry(context)


@impl.update("countAttempt")
def count_attempt(context: Ticket) -> dict[str, Any]:
    return {"attempt": context["attempt"] + 1}


@impl.action()
def tell(event: dict[str, Any]) -> None: ...


@impl.actor("draft")
async def draft(input: Any) -> dict[str, str]:
    return {"ref": "x"}


@impl.delay("soon")
def soon(context: Ticket) -> int:
    return context["attempt"] * 10


@impl.invoke_input("draft")
def draft_input(context: Ticket) -> int:
    return context["attempt"]


@impl.output("ticket.done")
def output(context: Ticket) -> int:
    return context["attempt"]


@impl.context
def first(input: Any) -> Ticket:
    return {"attempt": 1}


machine: Machine[Ticket, Any] = load_machine("machine.json", impl)
more: Machine[Ticket, Any] = machine.provide({"guards": {"both": and_("canRetry", plain)}})
sim = simulate(machine, stubs=True)
snapshot: Snapshot[Ticket] = sim.send("START", ticketRef="x")
attempt: int = sim.snapshot.context["attempt"]
can: bool = snapshot.can("X") or snapshot.matches({"a": "b"}) or snapshot.has_tag("t")
leaves: tuple[str, ...] = snapshot.atomic_states
begun, effects = initial_transition(machine, {"x": 1})
after, _ = transition(machine, begun, {"type": "X"})
phases: list[str] = [effect.phase for effect in effects]
made = [raise_("X", delay=10), assign(attempt=lambda context: context["attempt"] + 1)]


async def main() -> None:
    async with start(machine, input={"x": 1}) as actor:
        await actor.send("START", ticketRef="x")
        inner: int = actor.snapshot.context["attempt"]
'''
WRONG = '''
from typing import TypedDict

from statecharts import Machine, load_machine, simulate


class Ticket(TypedDict):
    attempt: int


machine: Machine[Ticket, object] = load_machine("machine.json")
sim = simulate(machine)
sim.snapshot.context["atempt"]  # line 13
sim.snapshot.valeu  # line 14
load_machine("machine.json", strct=True)  # line 15
'''


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


def check(code: str, folder: Path, cache: Path) -> tuple[int, str]:
    file = folder / "use.py"
    file.write_text(code, encoding="utf-8")
    settings = folder / "mypy.ini"
    settings.write_text("[mypy]\n", encoding="utf-8")
    run = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-incremental", "--config-file", str(settings),
            "--cache-dir", str(cache), "--follow-imports", "silent", str(file),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    return run.returncode, run.stdout + run.stderr


def test_the_face_type_checks_strictly(tmp_path: Path, cache: Path) -> None:
    assert check(FACE, tmp_path, cache) == (0, "")


def test_a_misspelt_name_is_found(tmp_path: Path, cache: Path) -> None:
    code, output = check(WRONG, tmp_path, cache)
    assert code == 1
    assert [line.split(":")[1] for line in output.splitlines() if ": error:" in line] == ["13", "14", "15"]
