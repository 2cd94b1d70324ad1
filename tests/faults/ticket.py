"""The run that is disturbed: a ticket with two calls, a timer, an action, a child and duplicates; and its recovery."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from children import Say

from statecharts import Implementations, Machine, current_call, load_machine
from statecharts.adapters.engines.durable.runtime import DurableRuntime
from statecharts.adapters.stores.clocks import SystemClock

TICKET: dict[str, Any] = {
    "id": "ticket",
    "initial": "new",
    "context": {"drafts": 0, "pinged": 0},
    "states": {
        "new": {"on": {"START": "drafting"}},
        "drafting": {
            "type": "parallel",
            "states": {
                "draft": {
                    "initial": "working",
                    "states": {
                        "working": {"invoke": {"id": "draft", "src": "draft", "onDone": {"target": "ready", "actions": "count"}}},
                        "ready": {"type": "final"},
                    },
                },
                "watch": {
                    "initial": "on",
                    "states": {
                        "on": {"invoke": {"id": "watcher", "src": "watcher"}, "after": {"20": "off"}},
                        "off": {"type": "final"},
                    },
                },
            },
            "onDone": "asking",
        },
        "asking": {"entry": "tell", "on": {"YES": "sending", "PING": {"actions": "ping"}}, "after": {"3600000": "late"}},
        "sending": {"invoke": {"id": "send", "src": "send", "onDone": "sent", "onError": "late"}},
        "sent": {"entry": "tell", "type": "final"},
        "late": {"type": "final"},
    },
}
LEASE = 300
IDEMPOTENT = ("draft", "tell")
EVENTS: tuple[tuple[str, str], ...] = (("START", "e1"), ("PING", "e2"), ("NOBODY", "e3"), ("YES", "e4"))


class World:
    """What has been called, in a file that outlives the process."""

    def __init__(self, file: Path, trigger: Any = None) -> None:
        self._file = file
        self._trigger = trigger

    def called(self) -> None:
        """Write down the key of the call that is being made."""
        call = current_call()
        assert call is not None
        number = 0 if self._trigger is None else self._trigger.before()
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{call.key}\n".encode())
        os.close(descriptor)
        if self._trigger is not None:
            self._trigger.after(number)

    def calls(self) -> Counter[str]:
        """How often each key was called."""
        return Counter(self._file.read_text().split()) if self._file.exists() else Counter()


def ticket(world: World) -> Machine[Any, Any]:
    """The machine, whose calls go to ``world``."""
    impl = Implementations()
    watcher = load_machine({"id": "watcher", "initial": "a", "states": {"a": {"after": {"5": "b"}}, "b": {}}})
    impl.actors["watcher"] = watcher

    @impl.actor("draft")
    async def draft(input: Any) -> str:
        world.called()
        return "draft"

    @impl.actor("send")
    async def send(input: Any) -> str:
        world.called()
        return "sent"

    impl.action("tell")(lambda: world.called())
    impl.update("count")(lambda context: {"drafts": context["drafts"] + 1})
    impl.update("ping")(lambda context: {"pinged": context["pinged"] + 1})
    for name in IDEMPOTENT:
        impl.effect(name, idempotent=True, attempts=3, backoff=1, timeout=LEASE - 100)
    impl.effect("send", timeout=LEASE - 100)
    return load_machine(TICKET, impl)


Made = Callable[[], Any]


async def play(store: Any, world: World, say: Say) -> None:
    """Send the events of a ticket, each again and again until it is acknowledged as more than accepted; saying what was told."""
    async with DurableRuntime(store, [ticket(world)], clock=SystemClock(), lease=LEASE) as runtime:
        working = asyncio.create_task(runtime.run_worker(poll=0.01, grace=0.2))
        receipt = await runtime.start("ticket", "t", event_id="e0")
        say(json.dumps(["t", "e0", (receipt.first or receipt).outcome]))
        for event, event_id in EVENTS:
            if event in ("PING", "YES"):
                await _until(runtime, lambda row: "asking" in row.configuration or row.status != "active" or "sending" in row.configuration)
            receipt = await runtime.send("t", event, event_id=event_id)
            say(json.dumps(["t", event_id, (receipt.first or receipt).outcome]))
        await _until(runtime, lambda row: row.status != "active" or _is_stuck(store))
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def _until(runtime: Any, condition: Callable[[Any], bool]) -> None:
    await runtime.wait("t", condition, timeout=20, poll=0.02)


def _is_stuck(store: Any) -> bool:
    from statecharts.durability.store import EffectQuery

    return any(row.status == "UNKNOWN" for row in store.effects(EffectQuery(namespace="default", statuses=("UNKNOWN",))))


async def recover(store: Any, world: World, say: Say) -> None:
    """Play the rest, settle what nobody knows, and let everything come to rest."""
    await play(store, world, say)
    async with DurableRuntime(store, [ticket(world)], clock=SystemClock(), lease=LEASE) as runtime:
        for row in await runtime.effects(statuses=("UNKNOWN",)):
            say(json.dumps(["UNKNOWN", row.id, row.name]))
        working = asyncio.create_task(runtime.run_worker(poll=0.01, grace=0.2))
        end = time.monotonic() + 10
        while rows := await runtime.effects(statuses=("PENDING", "RUNNING")):
            if time.monotonic() > end:
                raise TimeoutError(f"never at rest: {rows}")
            await asyncio.sleep(0.02)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
