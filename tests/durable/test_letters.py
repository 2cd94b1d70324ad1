"""Dead letters that are tried again: what their senders and their machines are told."""

from __future__ import annotations

import asyncio
from typing import Any

from sample_agents import Open

from statecharts import Implementations, load_machine

ORDER = {"actor": "ops:3", "reason": "the code is right now"}


def test_a_letter_that_waits_again_is_no_longer_dead_for_its_sender(opened: Open) -> None:
    impl = Implementations()

    @impl.update("add")
    def add(context: Any, event: Any) -> Any:
        return {"n": context["n"] + event["by"]}

    machine = load_machine({"id": "sum", "context": {"n": 0}, "on": {"ADD": {"actions": "add"}}}, impl)

    async def main() -> None:
        async with opened(machine) as runtime:
            await runtime.start("sum", "s")
            event = {"type": "ADD", "by": "two"}
            assert (await runtime.send("s", event, event_id="bad")).outcome == "dead"
            await runtime.revive("s", "bad", **ORDER)
            again = await runtime.send("s", event, event_id="bad")
            assert again.first is not None
            assert (again.outcome, again.first.outcome, again.first.reason) == ("duplicate", "accepted", None)
            (row,) = await runtime.inbox("s", event_id="bad")
            assert (row.status, row.error, row.handled_at) == ("accepted", None, None)

    asyncio.run(main())
