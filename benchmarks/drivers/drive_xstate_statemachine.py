"""Drives xstate-statemachine, which reads the JSON itself: ``SyncInterpreter.send``."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from measuring import Driven, Result, Task, answer, chart_of, measure_peer
from xstate_statemachine import MachineLogic, SyncInterpreter, create_machine
from xstate_statemachine_agent import measure as measure_agent

logging.disable(logging.CRITICAL)


def is_open(context: dict[str, Any], _event: Any) -> bool:
    """The guard of chart (b)."""
    return bool(context["n"] >= 0)


def increment(_interpreter: Any, context: dict[str, Any], _event: Any, _action: Any) -> None:
    """The update of chart (b)."""
    context["n"] += 1


def machine_of(config: dict[str, Any]) -> Any:
    """The machine with the functions of chart (b), where it names them."""
    if "context" not in config:
        return create_machine(config)
    logic = MachineLogic(guards={"isOpen": is_open}, actions={"increment": increment})
    return create_machine(config, logic=logic)


def maker(task: Task) -> Callable[[], Driven]:
    """Interpreters of one machine."""
    config = chart_of(task)["config"]
    machine = machine_of(config)
    return lambda: make(machine, f"{config['id']}.")


def make(machine: Any, prefix: str) -> Driven:
    """A started interpreter; ids begin with ``prefix``."""
    interpreter = SyncInterpreter(machine).start()

    def leaves() -> list[str]:
        return [name.removeprefix(prefix) for name in interpreter.current_state_ids]

    return Driven(interpreter.send, leaves, lambda: dict(interpreter.context), instance=interpreter)


def measure(task: Task) -> Result:
    """Events and memory as of every peer; the support agent's run on its asyncio engine."""
    return measure_agent(task) if task["kind"] == "agent" else measure_peer(task, maker)


if __name__ == "__main__":
    answer(measure)
