"""Dead letters that are tried again: what their senders and their machines are told."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sample_agents import Open, World, mailer

from statecharts import Implementations, UsageError, load_machine

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


def test_an_event_without_an_instance_to_go_to_cannot_be_tried_again(opened: Open) -> None:
    send = {"type": "statecharts.sendToInstance", "params": {"instance": "nobody", "event": {"type": "HELLO"}}}
    machine: Any = load_machine({"id": "herald", "on": {"CRY": {"actions": send}}})

    async def main() -> None:
        async with opened(machine) as runtime:
            await runtime.start("herald", "h")
            await runtime.send("h", "CRY")
            await runtime.run_worker(until_idle=True)
            (letter,) = await runtime.inbox("h", statuses=("dead",))
            with pytest.raises(UsageError, match="could not be delivered and is not sent again: retry the effect, or drop this"):
                await runtime.revive("h", letter.event_id, **ORDER)
            assert (await runtime.get("h")).needs_attention
            await runtime.drop("h", letter.event_id, **ORDER)
            assert not (await runtime.get("h")).needs_attention

    asyncio.run(main())


def test_an_event_for_an_instance_that_was_missing_can_be_retried(opened: Open) -> None:
    """As often as it takes: each failure is a letter of its own."""
    document = {
        "id": "a",
        "initial": "on",
        "states": {
            "on": {
                "on": {
                    "TELL": {
                        "actions": {
                            "type": "statecharts.sendToInstance",
                            "params": {"instance": "b", "event": {"type": "TOLD"}},
                        }
                    },
                    "TOLD": {},
                }
            }
        },
    }

    async def main() -> None:
        async with opened(load_machine(document)) as runtime:
            await runtime.start("a", "a")
            await runtime.send("a", "TELL")
            for _ in range(2):
                await runtime.run_worker(until_idle=True)
                (row,) = await runtime.effects()
                assert row.status == "FAILED"
                await runtime.retry(row.id, actor="op", reason="again")
            await runtime.start("a", "b")
            await runtime.run_worker(until_idle=True)
            assert len(await runtime.inbox("a", statuses=("dead",))) == 2
            assert [one.kind for one in await runtime.inbox("b")] == ["event", "relay"]

    asyncio.run(main())


def test_what_waits_for_a_suspended_instance_is_refused_when_it_is_cancelled(opened: Open) -> None:
    document = {"id": "a", "initial": "on", "states": {"on": {"on": {"E": "off"}}, "off": {}}}

    async def main() -> None:
        async with opened(load_machine(document)) as runtime:
            await runtime.start("a", "a")
            await runtime.suspend("a", actor="op", reason="x")
            assert (await runtime.send("a", "E", event_id="e")).outcome == "accepted"
            await runtime.cancel("a", actor="op", reason="x")
            await runtime.run_worker(until_idle=True)
            again = await runtime.send("a", "E", event_id="e")
            assert again.first is not None and (again.first.outcome, again.first.reason) == ("refused", "the instance is cancelled")

    asyncio.run(main())
