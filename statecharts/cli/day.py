"""A scripted day: the tickets of a ``day.json``, each played on a machine and a virtual clock of its own."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import statecharts

from ..api import load_machine
from ..errors import UsageError
from ..machine import Machine
from .expectations import Mismatch, mismatches
from .files import read_json_file
from .session import Session
from .step_report import StepReport
from .steps_file import Scenario, ScriptStep, read_steps

DAY = Path("machines") / "support_agent" / "day.json"


@dataclass(frozen=True)
class Day:
    """What is played: a name, a machine, and the tickets."""

    name: str
    description: str
    machine: Machine[Any, Any]
    tickets: list[Scenario]


@dataclass
class Played:
    """One ticket, played: every step with its report and what was not as expected."""

    ticket: Scenario
    session: Session
    steps: list[tuple[ScriptStep, StepReport, list[Mismatch]]] = field(default_factory=list)

    @property
    def is_as_expected(self) -> bool:
        """Whether every expectation held."""
        return not any(wrong for _, _, wrong in self.steps)

    @property
    def refusals(self) -> int:
        """How many events were refused."""
        return sum(report.refusal is not None for _, report, _ in self.steps)


def find_day() -> Path:
    """``machines/support_agent/day.json`` here or above, in the checkout of this package, or as installed.

    Raises :class:`UsageError` when it is nowhere.
    """
    here = Path.cwd()
    checkout = Path(statecharts.__file__).resolve().parents[1]
    shared = Path(sysconfig.get_path("data")) / "share" / "statecharts"
    for folder in (here, *here.parents, checkout, shared):
        if (folder / DAY).is_file():
            return folder / DAY
    raise UsageError(f"{DAY} is neither here nor above, nor installed; name a day.json")


def load_day(path: Path) -> Day:
    """The day in a file, with the machine it names and the ``implementations.py`` beside that machine."""
    document = read_json_file(str(path))
    tickets = read_steps(document, str(path))
    if not isinstance(document, dict) or not isinstance(document.get("machine"), str):
        raise UsageError(f"{path}: `machine` says which machine is played")
    file = path.parent / document["machine"]
    machine = load_machine(file, implementations_beside(file))
    return Day(document.get("name", path.stem), document.get("description", ""), machine, tickets)


def implementations_beside(machine: Path) -> Any:
    """The ``impl`` of the ``implementations.py`` beside a machine, or ``None``."""
    path = machine.with_name("implementations.py")
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location(f"statecharts_day_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.impl


def play_step(played: Played, step: ScriptStep) -> tuple[StepReport, list[Mismatch]]:
    """Do one step and compare."""
    report = played.session.do(step.doing)
    wrong = mismatches(step.expect, report)
    played.steps.append((step, report, wrong))
    return report, wrong
