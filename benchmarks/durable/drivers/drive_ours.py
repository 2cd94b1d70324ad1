"""Drives this library's durable runtime: ``Runtime.send``."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from chart import CHART, event_type
from sampling import Samples, Task, answer

from statecharts import Implementations, Machine, Runtime, load_machine
from statecharts.adapters.stores.sql_rows import DEFINITIONS, EFFECTS, INBOX, INSTANCES, LOG, TIMERS
from statecharts.durability.commits import Commit

RECORDED_AT = 500
"""How many events an instance has behind it whose rows are recorded, so that its numbers have their usual width."""


def machine() -> Machine[Any, Any]:
    """The chart with its Python."""

    async def call(input: Any) -> None:
        raise AssertionError("no worker runs here")

    impl = Implementations({"updates": {"count": lambda context: {"n": context["n"] + 1}}})
    impl.actor("call")(call)
    return load_machine(CHART, impl)


class Sender:
    """Sends to instances, each in its own order."""

    def __init__(self, runtime: Runtime, instances: int) -> None:
        self._runtime = runtime
        self._sent = dict.fromkeys((f"order-{number}" for number in range(instances)), 0)

    async def start(self) -> None:
        """Start them all."""
        await self._runtime.start_many("order", dict.fromkeys(self._sent))

    async def send(self, name: str, events: int) -> None:
        """Send one after the other, each when the one before is committed."""
        for _ in range(events):
            number = self._sent[name]
            self._sent[name] = number + 1
            event = {"type": event_type(number), "amount": 12.5}
            receipt = await self._runtime.send(name, event, event_id=f"{name}:{number}")
            assert receipt.outcome == "applied", receipt

    async def flood(self, in_flight: int, events: int) -> None:
        """Send ``events``, of which ``in_flight`` are on their way at any time."""
        names = list(self._sent)
        streams = (self.send(names[stream % len(names)], events // in_flight) for stream in range(in_flight))
        await asyncio.gather(*streams)

    async def count(self) -> int:
        """What the machines have counted."""
        states = [(await self._runtime.get(name)).state or "{}" for name in self._sent]
        return sum(json.loads(state)["snapshot"]["context"]["n"] for state in states)


async def timed(task: Task) -> dict[str, Any]:
    """Passes of events through a runtime."""
    samples = Samples(task)
    async with Runtime.open(task["url"], machines=[machine()], namespace=task["schema"]) as runtime:
        sender = Sender(runtime, task["instances"])
        await sender.start()
        for _ in samples:
            await sender.flood(task["in_flight"], task["events"])
        return samples.result(await sender.count())


async def recorded(task: Task) -> dict[str, Any]:
    """The rows that a start, a GO and a BACK write: what the floor writes over and over again."""
    found: list[Commit] = []
    async with Runtime.open(task["url"], machines=[machine()]) as runtime:
        remember = runtime._decider.remember

        def keep(commit: Commit) -> None:
            found.append(commit)
            remember(commit)

        runtime._decider.remember = keep  # type: ignore[method-assign]
        sender = Sender(runtime, 1)
        await sender.start()
        await sender.send("order-0", RECORDED_AT + 2)
    return {"start": rows(found[0]), "events": [rows(found[-2]), rows(found[-1])]}


def rows(commit: Commit) -> dict[str, Any]:
    """What a commit writes, by column."""
    assert commit.after is not None
    return {
        "definition": None if commit.definition is None else DEFINITIONS.write(commit.definition),
        "instance": INSTANCES.write(commit.after),
        "inbox": INBOX.write(commit.arrived[0]),
        "log": LOG.write(commit.log[0]),
        "effects": [EFFECTS.write(row) for row in commit.effects],
        "timers": [TIMERS.write(row) for row in commit.timers_set],
        "withdrawn": commit.withdrawn,
        "timers_gone": commit.timers_gone,
    }


def measure(task: Task) -> dict[str, Any]:
    """Events, or the rows that events write."""
    return asyncio.run(recorded(task) if task["kind"] == "record" else timed(task))


if __name__ == "__main__":
    answer(measure)
