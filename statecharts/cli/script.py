"""Running a steps file: do each step, compare with what it expects, stop at the first difference."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import StatechartError, UsageError
from .expectations import mismatches
from .outputs import Output
from .session import Session
from .steps_file import Scenario, ScriptStep


def run_scenario(scenario: Scenario, session: Session, output: Output) -> bool:
    """Whether everything was as expected. A machine that fails unexpectedly is not."""
    output.step(session.first)
    for step in scenario.steps:
        if not _run_step(step, session, output):
            return False
    last = scenario.steps[-1].expect if scenario.steps else None
    if session.simulation.snapshot.status == "error" and (last or {}).get("status") != "error":
        output.error("the machine failed, and no step expected it")
        return False
    return True


def _run_step(step: ScriptStep, session: Session, output: Output) -> bool:
    if step.say:
        output.caption(step.say)
    try:
        report = session.do(step.doing)
    except StatechartError as error:
        raise UsageError(f"{step.place}: {error}") from error
    output.step(report)
    found = mismatches(step.expect, report)
    if found:
        output.failed(step.place, found)
    return not found


def run_all(
    scenarios: list[Scenario], start: Callable[[Scenario], Session], output: Output
) -> tuple[int, Session]:
    """All scenarios, each on a session of its own: how many failed, and the last session."""
    failed = 0
    session: Session | None = None
    for scenario in scenarios:
        if scenario.name:
            output.caption(f"{scenario.name}")
        session = start(scenario)
        failed += not run_scenario(scenario, session, output)
    if session is None:
        raise UsageError("there are no steps to run")
    return failed, session
