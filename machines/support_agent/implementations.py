"""Python behind the names in ``machine.json``.

The three actors are stand-ins that answer at once, so that the machine runs
as it is; a service binds its own::

    machine = load_machine("machines/support_agent/machine.json", impl).provide(
        {"actors": {"draftAnswer": my_drafter, "checkCompliance": my_checker, "sendAnswer": my_sender}}
    )

What they must return stands beside each of them.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from statecharts import Implementations

impl = Implementations()

log = logging.getLogger(__name__)

_DEFAULTS: dict[str, Any] = json.loads(Path(__file__).with_name("machine.json").read_text("utf-8"))["context"]
_SETTINGS = ("maxAttempts", "retryBackoffMs", "approvalDeadlineMs")

Context = dict[str, Any]
Event = dict[str, Any]


# --- initial context and outputs --------------------------------------------------------------------


@impl.context
def initial_context(input: Any) -> Context:
    """The document's context; ``maxAttempts``, ``retryBackoffMs`` and ``approvalDeadlineMs`` may come as input."""
    given = input if isinstance(input, dict) else {}
    return _DEFAULTS | {key: given[key] for key in _SETTINGS if key in given}


@impl.output("support_agent")
def result(context: Context) -> dict[str, Any]:
    """``outcome`` is ``"sent"`` or ``"failed"``; then ``reason`` says why."""
    return {
        "outcome": "failed" if context["reason"] else "sent",
        "reason": context["reason"],
        "ticketRef": context["ticketRef"],
        "sendResultRef": context["sendResultRef"],
    }


# --- guards -----------------------------------------------------------------------------------------


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and value != ""


@impl.guard("hasTicketRef")
def has_ticket_ref(event: Event) -> bool:
    return _is_reference(event.get("ticketRef"))


@impl.guard("hasReviewFeedback")
def has_review_feedback(event: Event) -> bool:
    return _is_reference(event.get("reviewFeedbackRef"))


@impl.guard("canRetry")
def can_retry(context: Context) -> bool:
    """``attempt`` is the number of the run that just failed, so with ``maxAttempts`` 3 the third is the last."""
    return bool(context["attempt"] < context["maxAttempts"])


@impl.guard("verdictIsPassed")
def verdict_is_passed(event: Event) -> bool:
    return bool(_verdict(event) == "passed")


@impl.guard("readyAndPassed")
def ready_and_passed(context: Context) -> bool:
    return bool(context["draftRef"] is not None and context["complianceVerdict"] == "passed")


@impl.guard("complianceRejected")
def compliance_rejected(context: Context) -> bool:
    return bool(context["complianceVerdict"] == "rejected")


# --- updates ----------------------------------------------------------------------------------------


@impl.update("takeTicket")
def take_ticket(event: Event) -> Context:
    return {"ticketRef": event["ticketRef"]}


@impl.update("countAttempt")
def count_attempt(context: Context) -> Context:
    return {"attempt": context["attempt"] + 1}


@impl.update("keepDraft")
def keep_draft(event: Event) -> Context:
    return {"draftRef": event["output"]["draftRef"]}


@impl.update("keepVerdict")
def keep_verdict(event: Event) -> Context:
    """Whatever is not ``"passed"`` counts as ``"rejected"``."""
    output = event.get("output")
    return {
        "complianceVerdict": "passed" if _verdict(event) == "passed" else "rejected",
        "complianceReportRef": output.get("reportRef") if isinstance(output, dict) else None,
    }


@impl.update("startRevision")
def start_revision(event: Event) -> Context:
    """A new round: what the last one found is gone, and counting starts again at 1."""
    return {
        "attempt": 1,
        "draftRef": None,
        "complianceVerdict": None,
        "complianceReportRef": None,
        "reviewFeedbackRef": event["reviewFeedbackRef"],
    }


@impl.update("keepSendResult")
def keep_send_result(event: Event) -> Context:
    return {"sendResultRef": event["output"]["sendResultRef"]}


@impl.update("fail")
def fail(params: dict[str, str]) -> Context:
    return {"reason": params["reason"]}


def _verdict(event: Event) -> Any:
    output = event.get("output")
    return output.get("verdict") if isinstance(output, dict) else None


# --- delays (milliseconds) --------------------------------------------------------------------------


@impl.delay("retryBackoff")
def retry_backoff(context: Context) -> int:
    """``retryBackoffMs`` after the first run, twice that after the second, and so on."""
    return int(context["retryBackoffMs"] * 2 ** (context["attempt"] - 1))


@impl.delay("approvalDeadline")
def approval_deadline(context: Context) -> int:
    return int(context["approvalDeadlineMs"])


# --- actions ----------------------------------------------------------------------------------------


@impl.action("notifyReviewer")
def notify_reviewer(context: Context) -> None:
    log.info("%s is held for review", context["ticketRef"])


@impl.action("notifyApprover")
def notify_approver(context: Context) -> None:
    log.info("%s: %s waits for approval", context["ticketRef"], context["draftRef"])


@impl.action("reportFailure")
def report_failure(context: Context) -> None:
    log.info("%s failed: %s", context["ticketRef"], context["reason"])


# --- actors and their inputs ------------------------------------------------------------------------


@impl.invoke_input("draft")
def draft_input(context: Context) -> dict[str, Any]:
    return {key: context[key] for key in ("ticketRef", "attempt", "reviewFeedbackRef")}


@impl.actor("draftAnswer")
async def draft_answer(input: dict[str, Any]) -> dict[str, Any]:
    """Draft an answer; returns ``{"draftRef": …}``. Raising asks for another run."""
    return {"draftRef": f"draft://{input['ticketRef']}/{input['attempt']}"}


@impl.invoke_input("compliance")
def compliance_input(context: Context) -> dict[str, Any]:
    return {"ticketRef": context["ticketRef"]}


@impl.actor("checkCompliance")
async def check_compliance(input: dict[str, Any]) -> dict[str, Any]:
    """Check the ticket; returns ``{"verdict": "passed" | "rejected", "reportRef": …}``."""
    return {"verdict": "passed", "reportRef": f"report://{input['ticketRef']}"}


@impl.invoke_input("send")
def send_input(context: Context) -> dict[str, Any]:
    """``requestKey`` is the same whenever this draft is sent: a sender can use it to send only once."""
    return {
        "ticketRef": context["ticketRef"],
        "draftRef": context["draftRef"],
        "requestKey": f"{context['ticketRef']}#{context['draftRef']}",
    }


@impl.actor("sendAnswer")
async def send_answer(input: dict[str, Any]) -> dict[str, Any]:
    """Send the approved draft; returns ``{"sendResultRef": …}``."""
    return {"sendResultRef": f"sent://{input['requestKey']}"}
