"""Drives xstate-statemachine's safe mode.

``persisted()`` under a ``PessimisticLock`` over a ``SQLiteStore``, with an
``IdempotencyPlugin`` over a ``SQLiteInbox`` of the same store: an event is
loaded, claimed, sent, and saved with its mark in one transaction. The store
opens its file with ``synchronous = NORMAL``, and this is left as it is. There
is no row for a call: its engine calls the service itself, here one that does
nothing, in the middle of the step. With ``"log"`` in the task each event also has a row
in a ``SQLiteLog`` of that store, in the same transaction.
"""

from __future__ import annotations

import logging
from typing import Any

from chart import CHART, event_type
from sampling import Samples, Task, answer
from xstate_statemachine import Event, MachineLogic, create_machine
from xstate_statemachine.persistence import (
    IdempotencyPlugin,
    PessimisticLock,
    SQLiteInbox,
    SQLiteLog,
    SQLiteStore,
    TransitionLogPlugin,
    persisted,
)

logging.disable(logging.CRITICAL)
KEY = "order:0"


def count(_interpreter: Any, context: dict[str, Any], _event: Any, _action: Any) -> None:
    """The update."""
    context["n"] += 1


def call(_interpreter: Any, _context: dict[str, Any], _event: Any) -> None:
    """The service; it does nothing."""


def measure(task: Task) -> dict[str, Any]:
    """One stream of events, each a load, a step and a save."""
    machine = create_machine(CHART, logic=MachineLogic(actions={"count": count}, services={"call": call}))
    store = SQLiteStore(task["file"])
    inbox = SQLiteInbox(store)
    log = SQLiteLog(store) if task["log"] else None
    number = 0

    def send() -> None:
        plugins: list[Any] = [IdempotencyPlugin(inbox, principal=lambda _event: "bench")]
        if log is not None:
            plugins.append(TransitionLogPlugin(log))
        with persisted(store, KEY, machine, lock=PessimisticLock(), plugins=plugins) as order:
            event = Event(event_type(number), {"id": f"e{number}", "amount": 12.5})
            receipt = order.send(event, wait=True)
            assert receipt.changed, receipt

    samples = Samples(task)
    for _ in samples:
        for _ in range(task["events"]):
            send()
            number += 1
    with persisted(store, KEY, machine) as order:
        return samples.result(order.context["n"])


if __name__ == "__main__":
    answer(measure)
