"""Ids that the runtime makes itself are nobody else's: an event under one of them would stand in the way of a result or a timer."""

from __future__ import annotations

import asyncio

import pytest
from sample_agents import Open, World, mailer

from statecharts import UsageError


@pytest.mark.parametrize("id", ["result:i:2:0", "timer:i:0", "send:i:2:0"])
def test_ids_that_are_made_here_are_refused(opened: Open, id: str) -> None:
    async def main() -> None:
        async with opened(mailer(World())) as runtime:
            await runtime.start("mailer", "m")
            with pytest.raises(UsageError, match="give your events ids of your own"):
                await runtime.send("m", "GO", event_id=id)
            with pytest.raises(UsageError, match="give your events ids of your own"):
                await runtime.start("mailer", "n", event_id=id)

    asyncio.run(main())


def test_a_result_finds_its_place(opened: Open) -> None:
    world = World()

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            (row,) = await runtime.effects(instance="m")
            with pytest.raises(UsageError):
                await runtime.send("m", "NOTE", event_id=f"result:{row.id}")
            await runtime.run_worker(until_idle=True)
            assert (await runtime.get("m")).configuration == '["mailer.sent"]'

    asyncio.run(main())
