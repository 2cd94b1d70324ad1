"""The log: every version can be had again, a fork goes on from one, and what was changed afterwards shows."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sample_agents import Open, World, mailer

from statecharts import Runtime, UsageError, load_machine

COUNTER: dict[str, Any] = {
    "id": "counter",
    "initial": "on",
    "context": {"n": 0, "big": "x" * 5_000},
    "states": {"on": {"on": {"ADD": {"actions": "add"}}, "after": {"60000": "off"}}, "off": {}},
}


def counter(step: int = 1, version: str | None = None) -> Any:
    from statecharts import Implementations

    impl = Implementations({"updates": {"add": lambda context: {"n": context["n"] + step}}})
    impl.version = version
    return load_machine(COUNTER, impl)


async def counted(runtime: Runtime, times: int) -> None:
    await runtime.start("counter", "c")
    for index in range(times):
        await runtime.send("c", "ADD", event_id=f"e{index}")


def context_of(state: str | None) -> Any:
    return json.loads(state or "")["snapshot"]["context"]


def test_each_version_can_be_had_again(opened: Open) -> None:
    async def main() -> None:
        async with opened(counter()) as runtime:
            await counted(runtime, 5)
            for version in range(1, 7):
                assert context_of(await runtime.state_at("c", version))["n"] == version - 1
            assert await runtime.state_at("c", 6) == (await runtime.get("c")).state
            with pytest.raises(UsageError, match="versions 1 to 6, not 7"):
                await runtime.state_at("c", 7)

    asyncio.run(main())


def test_the_log_does_not_grow_with_the_state(opened: Open) -> None:
    async def main() -> None:
        async with opened(counter()) as runtime:
            await counted(runtime, 20)
            sizes = [len(row.payload or "") for row in await runtime.log("c", after=1)]
            assert max(sizes) < 400

    asyncio.run(main())


def test_a_fork_goes_on_from_a_version_and_sends_nothing_again(opened: Open) -> None:
    world = World()

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            receipt = await runtime.fork(
                "m", 2, "what-if", change=lambda context: {**context, "notes": 7}, actor="op", reason="a look"
            )
            assert (receipt.outcome, receipt.states, receipt.version) == ("applied", ("mailer.sending",), 1)
            row = await runtime.get("what-if")
            assert row.parent == "m@2" and context_of(row.state)["notes"] == 7
            await runtime.run_worker(until_idle=True)
            assert sum(world.calls.values()) == 1
            (effect,) = await runtime.effects(instance="what-if")
            assert effect.status == "UNKNOWN" and "m@2" in (effect.error or "")
            await runtime.settle(effect.id, result="other", actor="op", reason="a look")
            await runtime.send("what-if", "NOTE")
            await runtime.run_worker(until_idle=True)
            assert context_of((await runtime.get("what-if")).state)["sent"] == "other"
            assert (await runtime.verify("what-if", replay=True)).is_clean
            assert (await runtime.fork("m", 1, "what-if", actor="op", reason="x")).outcome == "refused"

    asyncio.run(main())


def test_a_fork_keeps_timers(opened: Open) -> None:
    async def main() -> None:
        async with opened(counter()) as runtime:
            await counted(runtime, 1)
            await runtime.fork("c", 2, "d", actor="op", reason="x")
            (one,), (other,) = await runtime.timers("c"), await runtime.timers("d")
            assert one.due_at == other.due_at

    asyncio.run(main())


# ------------------------------------------------------------------ tampering

FAULTS = {
    "payload": "UPDATE log SET payload = replace(payload, '\"ADD\"', '\"SUB\"') WHERE version = 3",
    "who": "UPDATE log SET actor = 'nobody' WHERE version = 3",
    "hash": "UPDATE log SET hash = 'x' WHERE version = 3",
    "gone": "DELETE FROM log WHERE version = 3",
    "end cut off": "DELETE FROM log WHERE version = 6",
    "state": "UPDATE instance SET state = replace(state, '\"n\":5', '\"n\":6')",
    "moved": "UPDATE log SET at = at + 1 WHERE version = 2",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_changed_shows(fault: str, tmp_path: Path) -> None:
    file = tmp_path / "log.db"

    async def main() -> None:
        async with Runtime.open(f"sqlite:///{file}", [counter()]) as runtime:
            await counted(runtime, 5)
            assert (await runtime.verify("c", replay=True)).is_clean
            connection = sqlite3.connect(file)
            connection.execute(FAULTS[fault])
            connection.commit()
            connection.close()
            report = await runtime.verify("c")
            assert not report.is_clean
            assert {finding.kind for finding in report.findings} == {"tampered"}

    asyncio.run(main())


def test_a_chain_that_was_written_anew_needs_a_hash_kept_elsewhere(opened: Open) -> None:
    async def main() -> None:
        async with opened(counter()) as runtime:
            await counted(runtime, 2)
            head = (await runtime.verify("c")).head
            await runtime.send("c", "ADD")
            assert (await runtime.verify("c", head=head)).is_clean
            report = await runtime.verify("c", head="0" * 64)
            assert "kept elsewhere" in report.findings[0].message

    asyncio.run(main())


def test_other_code_is_told_from_tampering(opened: Open) -> None:
    async def main() -> None:
        async with opened(counter(1, "v1")) as runtime:
            await counted(runtime, 3)
        async with opened(counter(2, "v2")) as runtime:
            report = await runtime.verify("c", replay=True)
            assert [(one.version, one.kind) for one in report.findings] == [(2, "implementation changed")]
            assert "made by v1, this is v2" in report.findings[0].message
        async with opened(counter(2, "v1")) as runtime:
            report = await runtime.verify("c", replay=True)
            assert [(one.version, one.kind) for one in report.findings] == [(2, "tampered")]

    asyncio.run(main())
