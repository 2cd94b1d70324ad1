"""`support_agent` under random schedules: the number of runs, and what RESUME returns to."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts import load_machine, simulate

FOLDER = Path(__file__).parents[2] / "machines" / "support_agent"
spec = importlib.util.spec_from_file_location("support_agent_implementations", FOLDER / "implementations.py")
assert spec is not None and spec.loader is not None
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
MACHINE = load_machine(FOLDER / "machine.json", module.impl)

MOVES = (
    "draft done", "draft fails", "passed", "rejected", "check breaks", "sent", "sending fails", "tick", "long tick",
    "START", "HOLD", "RESUME", "APPROVE", "REJECT", "CANCEL",
)  # fmt: skip
# Failures, holds and time are drawn more often: they are what the properties are about.
moves = st.sampled_from((*MOVES, *("draft fails", "HOLD", "RESUME", "long tick") * 4))
DATA: dict[str, dict[str, str]] = {"START": {"ticketRef": "t"}, "REJECT": {"reviewFeedbackRef": "r"}}
SETTLE: dict[str, tuple[str, str, Any]] = {
    "draft done": ("draft", "resolve", {"draftRef": "d"}),
    "draft fails": ("draft", "reject", "overloaded"),
    "passed": ("compliance", "resolve", {"verdict": "passed"}),
    "rejected": ("compliance", "resolve", {"verdict": "rejected"}),
    "check breaks": ("compliance", "reject", "down"),
    "sent": ("send", "resolve", {"sendResultRef": "s"}),
    "sending fails": ("send", "reject", "refused"),
}


def make(sim: Any, move: str) -> bool:
    """Make a move if it is possible now."""
    if move in SETTLE:
        actor, verb, value = SETTLE[move]
        if sim.snapshot.status != "active" or actor not in sim.snapshot.children:
            return False
        getattr(sim, verb)(actor, value)
    elif move.endswith("tick"):
        sim.advance(700 if move == "tick" else 10_000)
    else:
        sim.send(move, **DATA.get(move, {}))
    return True


def is_in(sim: Any, state: str) -> bool:
    return bool(sim.snapshot.matches(state))


@given(st.integers(1, 4), st.lists(moves, max_size=60))
@settings(deadline=None, max_examples=200)
def test_at_most_max_attempts_runs(limit: int, schedule: list[str]) -> None:
    started: list[int] = []

    def counted(context: Any) -> Any:
        started.append(context["attempt"])
        return module.draft_input(context)

    machine = MACHINE.provide({"invoke_inputs": {"draft": counted}})
    sim = simulate(machine, input={"maxAttempts": limit})
    failed_runs = held_runs = 0
    for move in ["START", *schedule]:
        drafting, running = is_in(sim, "running.answer.drafting"), is_in(sim, "running")
        waiting = is_in(sim, "waiting_for_approval")
        if not make(sim, move):
            continue
        failed_runs += move == "draft fails"
        held_runs += move == "HOLD" and drafting
        if move == "REJECT" and waiting:
            failed_runs = held_runs = 0
            del started[:-1]  # a new round has just begun with its first run
        attempt = sim.snapshot.context["attempt"]
        assert attempt <= limit
        assert len(started) - held_runs <= limit
        assert failed_runs <= limit
        if is_in(sim, "running.answer.drafting"):
            assert attempt == failed_runs + 1
            assert started[-1] == attempt
        if is_in(sim, "running.answer.retry_wait"):
            assert attempt == failed_runs
        if failed_runs == limit and not is_in(sim, "review") and running:
            assert sim.snapshot.context["reason"] in ("retry_exhausted", "compliance_rejected")
    assert sim.snapshot.status != "error"


@given(
    st.lists(moves, max_size=25),
    st.lists(st.sampled_from(["HOLD", "START", "APPROVE", "REJECT", "CANCEL", "long tick"]), max_size=6),
)
@settings(deadline=None, max_examples=200)
def test_resume_returns_to_exactly_the_states_that_were_held(before: list[str], meanwhile: list[str]) -> None:
    sim = simulate(MACHINE)
    sim.send("START", ticketRef="t")
    for move in before:
        make(sim, move)
        if is_in(sim, "review"):
            sim.send("RESUME")
    if not is_in(sim, "running"):
        return
    states, context = sim.snapshot.atomic_states, sim.snapshot.context
    sim.send("HOLD")
    assert is_in(sim, "review")
    assert sim.snapshot.children == {}, "nothing runs while it is held"
    for move in meanwhile:
        make(sim, move)
        assert is_in(sim, "review")
    sim.send("RESUME")
    assert sim.snapshot.atomic_states == states
    assert sim.snapshot.context == context
    running = {name for name in ("draft", "compliance") if name in sim.snapshot.children}
    assert ("draft" in running) is is_in(sim, "running.answer.drafting")
    assert ("compliance" in running) is is_in(sim, "running.compliance.checking")


@given(st.lists(moves, max_size=40))
@settings(deadline=None, max_examples=200)
def test_nothing_is_sent_that_was_not_drafted_passed_and_approved(schedule: list[str]) -> None:
    sim = simulate(MACHINE)
    approved = 0
    for move in ["START", *schedule]:
        was_waiting = is_in(sim, "waiting_for_approval")
        make(sim, move)
        approved += move == "APPROVE" and was_waiting
        context = sim.snapshot.context
        if is_in(sim, "waiting_for_approval") or is_in(sim, "sending") or is_in(sim, "done"):
            assert context["draftRef"] is not None
            assert context["complianceVerdict"] == "passed"
        if is_in(sim, "sending") or is_in(sim, "done"):
            assert approved == 1
        assert is_in(sim, "failed") is (context["reason"] is not None)
        assert is_in(sim, "done") is (context["sendResultRef"] is not None)
        assert sim.snapshot.has_tag("retrying") is is_in(sim, "running.answer.retry_wait")
    assert sim.snapshot.status != "error"
