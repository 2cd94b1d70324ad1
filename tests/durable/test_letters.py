"""Dead letters that are tried again: what their senders and their machines are told."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from sample_agents import Open, World, mailer

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


def test_a_result_that_could_not_be_used_reaches_the_machine_as_an_error_that_says_so(opened: Open) -> None:
    async def main() -> None:
        async with opened(mailer(World(lambda: {1, 2}))) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            (letter,) = await runtime.inbox("m", statuses=("dead",))
            await runtime.revive("m", letter.event_id, **ORDER)
            await runtime.run_worker(until_idle=True)
            row = await runtime.get("m")
            failed = json.loads(row.state or "")["snapshot"]["context"]["failed"]
            assert failed["name"] == "Error" and "which is not JSON" in failed["message"]
            assert (await runtime.verify("m", replay=True)).is_clean

    asyncio.run(main())
