"""The ready machine `support_agent`: its scenarios, its day, and its README's tables cell by cell."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from statecharts import load_machine, simulate
from statecharts.purity import pure_wrapper
from statecharts.values import UNDEFINED

FOLDER = Path(__file__).parents[2] / "machines" / "support_agent"
README = (FOLDER / "README.md").read_text("utf-8")
DOCUMENT = json.loads((FOLDER / "machine.json").read_text("utf-8"))
SCENARIOS = sorted((FOLDER / "scenarios").glob("*.json"))
DAY = json.loads((FOLDER / "day.json").read_text("utf-8"))
EVENTS = ("START", "HOLD", "RESUME", "APPROVE", "REJECT", "CANCEL")


def implementations() -> Any:
    spec = importlib.util.spec_from_file_location(
        "support_agent_implementations", FOLDER / "implementations.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULE = implementations()
MACHINE = load_machine(FOLDER / "machine.json", MODULE.impl)


def states(sim: Any) -> list[str]:
    return [state.removeprefix("support_agent.") for state in sim.snapshot.atomic_states]


def refused_by(snapshot: Any, event: dict[str, Any]) -> str | None:
    """The guard that refuses ``event`` now, ``"unhandled"``, or ``None`` when it is taken."""
    if snapshot.can(event):
        return None
    for option in snapshot.next_events():
        if option.type == event["type"] and option.refused_by:
            return str(option.refused_by[0])
    return "unhandled"


# --- scenarios --------------------------------------------------------------------------------------


def play(sim: Any, step: dict[str, Any]) -> None:
    """Do one step and check what it expects."""
    expect, before = step["expect"], sim.snapshot
    if "send" in step:
        assert refused_by(before, step["send"]) == expect.get("refused")
        sim.send(step["send"])
    elif "advance" in step:
        sim.advance(step["advance"])
    elif "resolve" in step:
        sim.resolve(step["resolve"], step["output"])
    else:
        sim.reject(step["reject"], step["error"])
    snapshot = sim.snapshot
    assert states(sim) == expect["states"]
    assert snapshot.status == expect.get("status", "active")
    context = expect.get("context", {})
    assert {key: snapshot.context[key] for key in context} == context
    if "output" in expect:
        assert snapshot.output == expect["output"]
    if "refused" in expect:
        assert (snapshot.value, snapshot.context) == (before.value, before.context)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario(path: Path) -> None:
    scenario = json.loads(path.read_text("utf-8"))
    assert path.stem == scenario["name"].replace(" ", "_")
    assert (path.parent / scenario["machine"]).resolve() == FOLDER / "machine.json"
    sim = simulate(MACHINE, input=scenario.get("input"))
    for step in scenario["steps"]:
        play(sim, step)


@pytest.mark.parametrize("ticket", DAY["tickets"], ids=lambda ticket: ticket["name"])
def test_day(ticket: dict[str, Any]) -> None:
    sim = simulate(MACHINE, input=ticket.get("input"))
    for step in ticket["steps"]:
        assert step["say"]
        play(sim, step)
    assert sim.snapshot.status == "done"


def test_the_day_shows_every_kind_of_thing() -> None:
    steps = [step for ticket in DAY["tickets"] for step in ticket["steps"]]
    sent = {step["send"]["type"] for step in steps if "send" in step}
    assert sent == set(EVENTS)
    reasons = {step["expect"]["output"]["reason"] for step in steps if "output" in step["expect"]}
    assert reasons == {None, "compliance_rejected", "approval_timeout", "retry_exhausted", "cancelled"}
    assert {step["expect"]["refused"] for step in steps if "refused" in step["expect"]} == {
        "hasTicketRef",
        "hasReviewFeedback",
        "unhandled",
    }


# --- the tables -------------------------------------------------------------------------------------

FEEDBACK = {"type": "REJECT", "reviewFeedbackRef": "artifact://feedback/1"}
COLUMNS = {
    "START with ticketRef": {"type": "START", "ticketRef": "ticket://1"},
    "START without": {"type": "START"},
    "HOLD": {"type": "HOLD"},
    "RESUME": {"type": "RESUME"},
    "APPROVE": {"type": "APPROVE"},
    "REJECT with reviewFeedbackRef": FEEDBACK,
    "REJECT without": {"type": "REJECT"},
    "CANCEL": {"type": "CANCEL"},
}
START = COLUMNS["START with ticketRef"]
PASSED, REJECTED = {"verdict": "passed"}, {"verdict": "rejected"}
REGION_STATES = {
    "answer": ("drafting", "retry_wait", "ready"),
    "compliance": ("checking", "passed", "rejected"),
}


def table(heading: str) -> dict[str, dict[str, str]]:
    """A table of the README: row → column → cell."""
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    header, _rule, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert all(len(row) == len(header) for row in rows)
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


ASKED = table("Every state, every event")
BY_ITSELF = table("What happens by itself")


def brought_to(row: str, *, attempts_left: bool = True) -> Any:
    """A simulation that stands in the state of a row. The fifth attempt of five is running when none is left."""
    sim = simulate(MACHINE, input={"maxAttempts": 5 if attempts_left else 1})
    if row == "idle":
        return sim
    sim.send(START)
    if row.startswith("running: "):
        answer, compliance = row.removeprefix("running: ").split(" + ")
        if compliance != "checking":
            sim.resolve("compliance", {"verdict": compliance})
        if answer == "retry_wait":
            sim.reject("draft", "overloaded")
        if answer == "ready":
            sim.resolve("draft", {"draftRef": "artifact://draft/1"})
        return sim
    if row == "review":
        sim.send("HOLD")
        return sim
    sim.resolve("draft", {"draftRef": "artifact://draft/1"})
    sim.resolve("compliance", PASSED)
    if row in ("sending", "done"):
        sim.send("APPROVE")
    if row == "done":
        sim.resolve("send", {"sendResultRef": "artifact://sent/1"})
    if row == "failed":
        sim.send("CANCEL")
    return sim


def leaves(row: str) -> list[str]:
    if not row.startswith("running: "):
        return [row]
    answer, compliance = row.removeprefix("running: ").split(" + ")
    return [f"running.answer.{answer}", f"running.compliance.{compliance}"]


def test_the_tables_are_complete() -> None:
    combinations = {
        f"running: {answer} + {compliance}"
        for answer in REGION_STATES["answer"]
        for compliance in REGION_STATES["compliance"]
        if answer != "ready" or compliance == "checking"
    }
    rows = combinations | (set(DOCUMENT["states"]) - {"running"})
    assert set(ASKED) == set(BY_ITSELF) == rows
    assert all(list(cells) == list(COLUMNS) for cells in ASKED.values())
    assert {column.split()[0] for column in COLUMNS} == set(EVENTS)
    for region, names in REGION_STATES.items():
        assert set(DOCUMENT["states"]["running"]["states"][region]["states"]) == set(names)
    named = set(re.findall(r'"([A-Z]+)": \{', json.dumps(DOCUMENT)))
    assert named == set(EVENTS)


@pytest.mark.parametrize("row", ASKED)
@pytest.mark.parametrize("column", COLUMNS)
def test_event_cell(row: str, column: str) -> None:
    event, cell = COLUMNS[column], ASKED[row][column]
    sim = brought_to(row)
    before = sim.snapshot
    assert states(sim) == leaves(row)
    refused = refused_by(before, event)
    sim.send(event)
    if cell.startswith("refused: "):
        guard = re.search(r"`(\w+)`", cell)
        assert refused == (guard[1] if guard else "unhandled")
        assert sim.snapshot == before
    else:
        assert refused is None
        reached = {
            "→ running": leaves("running: drafting + checking"),
            "→ running.held": leaves("running: drafting + checking"),  # where `brought_to` held it
        }.get(cell, [cell.removeprefix("→ ")])
        assert states(sim) == reached


def happen(sim: Any, column: str) -> bool:
    """Let the thing happen; false when it cannot, because nothing of the kind is under way."""
    actor, settle, value = {
        "draft done": ("draft", "resolve", {"draftRef": "artifact://draft/2"}),
        "draft fails, runs left": ("draft", "reject", "overloaded"),
        "draft fails, last run": ("draft", "reject", "overloaded"),
        "check passed": ("compliance", "resolve", PASSED),
        "check rejected": ("compliance", "resolve", REJECTED),
        "check breaks": ("compliance", "reject", "down"),
        "sent": ("send", "resolve", {"sendResultRef": "artifact://sent/1"}),
        "sending fails": ("send", "reject", "refused"),
    }[column]
    if actor not in sim.snapshot.children or sim.snapshot.status != "active":
        return False
    getattr(sim, settle)(actor, value)
    return True


@pytest.mark.parametrize("row", BY_ITSELF)
@pytest.mark.parametrize("column", BY_ITSELF["idle"])
def test_cell_of_what_happens_by_itself(row: str, column: str) -> None:
    cell = BY_ITSELF[row][column]
    last_run = column == "draft fails, last run"
    if last_run and "retry_wait" in row:
        assert cell == "—"  # a pause means that a run is left
        return
    sim = brought_to(row, attempts_left=not last_run)
    before = sim.snapshot
    if column.endswith(" over"):
        delay = {"retryBackoff over": 2000, "approvalDeadline over": 86_400_000}[column]
        if cell == "—" and delay > 2000 and "retry_wait" in row:
            delay = 1999  # the other timer would go off on the way
        if cell != "—":
            sim.advance(delay - 1)
            assert sim.snapshot == before
            delay = 1
        sim.advance(delay)
        assert (sim.snapshot == before) is (cell == "—")
    else:
        assert happen(sim, column) is (cell != "—")
    if cell == "—":
        assert sim.snapshot == before
        return
    target, _, reason = cell.removeprefix("→ ").partition(": ")
    if target == "failed":
        assert (states(sim), sim.snapshot.context["reason"]) == (["failed"], reason)
        assert sim.snapshot.output["reason"] == reason
    else:
        assert states(sim) == leaves(cell.removeprefix("→ "))


def test_every_reason_is_listed() -> None:
    reasons = set(re.findall(r'"reason": "(\w+)"', json.dumps(DOCUMENT)))
    section = README.split("Reasons in `failed`:")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", section)) == reasons


# --- the rest ---------------------------------------------------------------------------------------


def test_nothing_is_missing_and_nothing_is_left_over() -> None:
    assert not MACHINE.missing
    assert not MACHINE.surplus


def test_the_document_is_plain_v5() -> None:
    known = {
        "id", "version", "description", "context", "initial", "states", "on", "onDone", "onError", "entry", "type",
        "target", "guard", "actions", "params", "invoke", "src", "after", "tags", "history",
    }  # fmt: skip

    def check(node: Any, inside: str) -> None:
        if isinstance(node, list):
            for member in node:
                check(member, inside)
        if isinstance(node, dict):
            for key, member in node.items():
                assert inside in ("states", "on", "after", "context", "params") or key in known, (inside, key)
                check(member, key if inside not in ("states", "on", "after") else "")

    check(DOCUMENT, "")


def test_settings_come_as_input() -> None:
    context = simulate(MACHINE).snapshot.context
    assert context == DOCUMENT["context"]
    given = {"maxAttempts": 7, "approvalDeadlineMs": 5, "reason": "not mine to set"}
    assert simulate(MACHINE, input=given).snapshot.context == context | {
        "maxAttempts": 7,
        "approvalDeadlineMs": 5,
    }


def test_what_the_actors_are_given() -> None:
    sim = brought_to("sending")
    inputs = {started.path: started.input for started in sim.waiting}
    assert inputs["send"] == {
        "ticketRef": "ticket://1",
        "draftRef": "artifact://draft/1",
        "requestKey": "ticket://1#artifact://draft/1",
    }
    sim = brought_to("waiting_for_approval")
    sim.send(FEEDBACK)
    inputs = {started.path: started.input for started in sim.waiting}
    assert inputs["draft"] == {
        "ticketRef": "ticket://1",
        "attempt": 1,
        "reviewFeedbackRef": "artifact://feedback/1",
    }
    assert inputs["compliance"] == {"ticketRef": "ticket://1"}


def test_the_stand_ins_answer_what_the_machine_expects() -> None:
    actors = MODULE.impl.actors
    sim = brought_to("running: drafting + checking")
    for path, name in (("draft", "draftAnswer"), ("compliance", "checkCompliance"), ("send", "sendAnswer")):
        if path == "send":
            sim.send("APPROVE")
        given = next(started.input for started in sim.waiting if started.path == path)
        sim.resolve(path, asyncio.run(actors[name](given)))
    assert sim.snapshot.output == {
        "outcome": "sent",
        "reason": None,
        "ticketRef": "ticket://1",
        "sendResultRef": "sent://ticket://1#draft://ticket://1/1",
    }


def test_guards_updates_and_delays_are_pure() -> None:
    context = DOCUMENT["context"] | {"ticketRef": "ticket://1"}
    event = {
        "type": "x",
        "ticketRef": "t",
        "reviewFeedbackRef": "r",
        "output": {"draftRef": "d", "sendResultRef": "s"},
    }
    for function in (
        MODULE.has_ticket_ref, MODULE.has_review_feedback, MODULE.verdict_is_passed, MODULE.take_ticket,
        MODULE.keep_draft, MODULE.keep_verdict, MODULE.start_revision, MODULE.keep_send_result,
    ):  # fmt: skip
        pure_wrapper(function, function.__name__)(event)
    for function in (
        MODULE.can_retry, MODULE.ready_and_passed, MODULE.compliance_rejected, MODULE.count_attempt, MODULE.result,
        MODULE.retry_backoff, MODULE.approval_deadline, MODULE.draft_input, MODULE.compliance_input, MODULE.send_input,
        MODULE.initial_context,
    ):  # fmt: skip
        pure_wrapper(function, function.__name__)(context)
    assert pure_wrapper(MODULE.initial_context, "context")(UNDEFINED) == DOCUMENT["context"]


def test_waiting_for_a_person_is_tagged() -> None:
    for row in ASKED:
        assert brought_to(row).snapshot.has_tag("waiting") is (row in ("review", "waiting_for_approval"))
