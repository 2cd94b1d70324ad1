"""(g): one ticket of the support agent's day, as every host that can run it plays it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "machines" / "support_agent"
TICKET = "ticket 77"
RETRY = "xstate.after.retryBackoff.support_agent.running.answer.retry_wait"


def agent_run() -> dict[str, Any]:
    """The machine, and the ticket's steps in two forms.

    ``steps`` are for hosts: ``["send", event]``, ``["resolve", actor, output]``,
    ``["reject", actor, error]``, ``["advance", milliseconds]``. ``events`` are what
    the machine itself gets to see of them, for ``transition()``. ``end`` is the
    context it ends with.
    """
    day = json.loads((FOLDER / "day.json").read_text("utf-8"))
    ticket = next(one for one in day["tickets"] if one["name"].startswith(TICKET))
    steps, events = [], []
    states: list[str] = []
    for step in ticket["steps"]:
        steps.append(host_step(step))
        events += pure_events(step, states)
        states = step["expect"]["states"]
    return {
        "config": json.loads((FOLDER / "machine.json").read_text("utf-8")),
        "implementations": str(FOLDER / "implementations.py"),
        "steps": steps,
        "events": events,
        "end": ticket["steps"][-2]["expect"]["output"],
    }


def host_step(step: dict[str, Any]) -> list[Any]:
    """A step of a day file as a host does it."""
    if "send" in step:
        return ["send", step["send"]]
    if "advance" in step:
        return ["advance", step["advance"]]
    if "resolve" in step:
        return ["resolve", step["resolve"], step["output"]]
    return ["reject", step["reject"], step["error"]]


def pure_events(step: dict[str, Any], states: list[str]) -> list[dict[str, Any]]:
    """What the machine sees of it: time alone is no event, a timer that rings is one."""
    if "send" in step:
        return [step["send"]]
    if "resolve" in step:
        name = step["resolve"]
        return [{"type": f"xstate.done.actor.{name}", "output": step["output"], "actorId": name}]
    if "reject" in step:
        name = step["reject"]
        return [{"type": f"xstate.error.actor.{name}", "error": step["error"], "actorId": name}]
    return [] if step["expect"]["states"] == states else [{"type": RETRY}]
