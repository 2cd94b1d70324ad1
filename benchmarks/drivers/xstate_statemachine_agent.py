"""(g) on xstate-statemachine: its asyncio engine, which alone has actors that answer later."""

from __future__ import annotations

import asyncio
from typing import Any

from measuring import Result, Task, chart_of, repeat
from xstate_statemachine import Interpreter, MachineLogic, SimulatedClock, create_machine

ACTORS = {"draft": "draftAnswer", "compliance": "checkCompliance", "send": "sendAnswer"}

Context = dict[str, Any]


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _verdict(event: Any) -> Any:
    return event.data.get("verdict") if isinstance(event.data, dict) else None


GUARDS: dict[str, Any] = {
    "hasTicketRef": lambda _, event: _is_reference(event.payload.get("ticketRef")),
    "hasReviewFeedback": lambda _, event: _is_reference(event.payload.get("reviewFeedbackRef")),
    "canRetry": lambda context, _: context["attempt"] < context["maxAttempts"],
    "verdictIsPassed": lambda _, event: _verdict(event) == "passed",
    "readyAndPassed": lambda c, _: c["draftRef"] is not None and c["complianceVerdict"] == "passed",
    "complianceRejected": lambda context, _: context["complianceVerdict"] == "rejected",
}


def take_ticket(_: Any, context: Context, event: Any, __: Any) -> None:
    context["ticketRef"] = event.payload["ticketRef"]


def count_attempt(_: Any, context: Context, __: Any, ___: Any) -> None:
    context["attempt"] += 1


def keep_draft(_: Any, context: Context, event: Any, __: Any) -> None:
    context["draftRef"] = event.data["draftRef"]


def keep_verdict(_: Any, context: Context, event: Any, __: Any) -> None:
    context["complianceVerdict"] = "passed" if _verdict(event) == "passed" else "rejected"
    context["complianceReportRef"] = event.data.get("reportRef")


def start_revision(_: Any, context: Context, event: Any, __: Any) -> None:
    context.update(attempt=1, draftRef=None, complianceVerdict=None, complianceReportRef=None)
    context["reviewFeedbackRef"] = event.payload["reviewFeedbackRef"]


def keep_send_result(_: Any, context: Context, event: Any, __: Any) -> None:
    context["sendResultRef"] = event.data["sendResultRef"]


def fail(_: Any, context: Context, __: Any, action: Any) -> None:
    context["reason"] = action.params["reason"]


def nothing(_: Any, __: Any, ___: Any, ____: Any) -> None:
    """Who is told is of no interest here."""


ACTIONS = {
    "takeTicket": take_ticket,
    "countAttempt": count_attempt,
    "keepDraft": keep_draft,
    "keepVerdict": keep_verdict,
    "startRevision": start_revision,
    "keepSendResult": keep_send_result,
    "fail": fail,
    "notifyReviewer": nothing,
    "notifyApprover": nothing,
    "reportFailure": nothing,
}
DELAYS = {
    "retryBackoff": lambda context, _: context["retryBackoffMs"] * 2 ** (context["attempt"] - 1),
    "approvalDeadline": lambda context, _: context["approvalDeadlineMs"],
}


class Desk:
    """The machine, the promises its services wait for, and one run after another."""

    def __init__(self, agent: dict[str, Any]) -> None:
        self.loop = asyncio.new_event_loop()
        self.steps = agent["steps"]
        self.pending: dict[str, asyncio.Future[Any]] = {}
        services = {source: self._service(name) for name, source in ACTORS.items()}
        logic = MachineLogic(guards=GUARDS, actions=ACTIONS, services=services, delays=DELAYS)
        self.machine = create_machine(agent["config"], logic=logic)
        self.context: Context = {}

    def _service(self, name: str) -> Any:
        async def wait(_interpreter: Any, _context: Context, _event: Any) -> Any:
            self.pending[name] = self.loop.create_future()
            return await self.pending[name]

        return wait

    async def play(self) -> None:
        """One ticket, from its first event to its end."""
        self.pending.clear()
        clock = SimulatedClock()
        interpreter = await Interpreter(self.machine, clock=clock).start()
        for how, *given in self.steps:
            if how == "send":
                event = dict(given[0])
                await interpreter.send(event.pop("type"), wait=interpreter.status == "running", **event)
            elif how == "advance":
                await clock.increment(given[0])
            else:
                await self._settle(interpreter, given[0], how, given[1])
        self.context = dict(interpreter.context)
        await interpreter.stop()

    async def _settle(self, interpreter: Any, name: str, how: str, value: Any) -> None:
        while name not in self.pending:
            await asyncio.sleep(0)
        future, before = self.pending.pop(name), set(interpreter.current_state_ids)
        if how == "resolve":
            future.set_result(value)
        else:
            future.set_exception(RuntimeError(value))
        while set(interpreter.current_state_ids) == before:
            await asyncio.sleep(0)

    def end(self) -> dict[str, Any]:
        """The machine's output, which its JSON leaves to a function."""
        reason = self.context["reason"]
        kept = {key: self.context[key] for key in ("ticketRef", "sendResultRef")}
        return {"outcome": "failed" if reason else "sent", "reason": reason, **kept}


def measure(task: Task) -> Result:
    """Microseconds a run; ``end`` is the machine's output."""
    desk = Desk(chart_of(task))

    def runs() -> None:
        for _ in range(task["trips"]):
            desk.loop.run_until_complete(desk.play())

    desk.loop.run_until_complete(desk.play())
    return {"samples": repeat(task, runs, task["trips"]), "end": desk.end()}
