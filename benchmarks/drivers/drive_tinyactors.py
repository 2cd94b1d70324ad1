"""Drives tinyactors' C core on the charts' SCXML twins, with nothing traced.

``send``: one event, then ``run_until_idle()``, which is what one call of ours does.
``batch``: ``send_many`` of 100 events, then ``run_until_idle()``, its own way to
take events in bulk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tinyactors
from measuring import Driven, Task, answer, chart_of, measure_peer

BATCH = 100
CONFIG = {"systemID": "bench", "system": {"tracing": False}}


def maker(task: Task) -> Callable[[], Driven]:
    """Hosts with one actor each."""
    return lambda: make(task)


def make(task: Task) -> Driven:
    """A host with one actor in its initial states."""
    name = task["chart"]
    host = tinyactors.Host(CONFIG)
    with tinyactors.compile_charts([(f"{name}.scxml", chart_of(task)["scxml"])]) as compiled:
        host.add_image(compiled.image)
    session = host.spawn(host.chart(name))
    host.run_until_idle()

    def ask(method: Any) -> Any:
        told: list[Any] = []
        method(lambda _host, result: told.append(result), session=session)
        host.run_until_idle()
        return told[0]

    def one_by_one(events: list[str]) -> None:
        send, run = host.send, host.run_until_idle
        for event in events:
            send(session, event)
            run()

    def in_bulk(events: list[str]) -> None:
        send, run = host.send_many, host.run_until_idle
        items = [(session, event) for event in events]
        for start in range(0, len(items), BATCH):
            send(items[start : start + BATCH])
            run()

    drive = one_by_one if task["mode"] == "send" else in_bulk
    return Driven(
        send=lambda event: drive([event]),
        leaves=lambda: _leaves(ask(host.actor_state)["value"]),
        context=lambda: ask(host.actor_context)["variables"],
        drive=drive,
    )


def _leaves(value: Any) -> list[str]:
    """Ids of active leaves, which are paths with dashes."""
    if isinstance(value, str):
        return [value.replace("-", ".")]
    return [
        leaf
        for key, inner in value.items()
        for leaf in (_leaves(inner) if inner else [key.replace("-", ".")])
    ]


if __name__ == "__main__":
    answer(lambda task: measure_peer(task, maker))
