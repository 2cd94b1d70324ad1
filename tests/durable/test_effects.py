"""Effects: called once a key, retried only where that is safe, and UNKNOWN where nobody can know."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sample_agents import Open, World, mailer

from statecharts import EffectPolicy, ProbeAnswer, Runtime, UsageError


class NotSent(Exception):
    """Certainly nothing was done."""


async def status_of(runtime: Runtime) -> str:
    return (await runtime.effects())[0].status


def failing(*errors: Exception) -> Any:
    """Raises one after the other, then answers."""
    waiting = list(errors)

    def behave() -> str:
        if waiting:
            raise waiting.pop(0)
        return "ok"

    return behave


def test_a_result_comes_back_as_an_event(opened: Open) -> None:
    world = World()

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            row = await runtime.get("m")
            assert json.loads(row.configuration) == ["mailer.sent"]
            send, tell = await runtime.effects()
            assert (send.status, send.attempts, json.loads(send.result or "")) == ("DONE", 1, "ok")
            assert send.called_at is not None and send.settled_at is not None
            assert world.calls == {send.key: 1} and send.key == send.id
            assert tell.status == "DONE" and world.told == [(tell.key, "ok")]
            assert (await runtime.verify("m", replay=True)).is_clean

    asyncio.run(main())


def test_an_exception_after_the_call_began_is_unknown(opened: Open) -> None:
    world = World(failing(RuntimeError("connection reset")))

    async def main() -> None:
        async with opened(mailer(world, attempts=5)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            (row,) = await runtime.effects()
            assert (row.status, row.attempts) == ("UNKNOWN", 1)
            assert "connection reset" in (row.error or "")
            assert json.loads((await runtime.get("m")).configuration) == ["mailer.sending"]
            assert sum(world.calls.values()) == 1

    asyncio.run(main())


def test_an_idempotent_call_is_repeated_under_its_key(opened: Open) -> None:
    world = World(failing(RuntimeError("1"), RuntimeError("2")))

    async def main() -> None:
        async with opened(mailer(world, idempotent=True, attempts=3, backoff=1)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            worker = asyncio.create_task(runtime.run_worker(poll=0.01))
            await runtime.wait("m", lambda row: "sent" in row.configuration, timeout=20)
            worker.cancel()
            (row,) = [one for one in await runtime.effects() if "send" in one.name]
            assert (row.status, row.attempts) == ("DONE", 3)
            assert world.calls == {row.key: 3}

    asyncio.run(main())


def test_when_attempts_are_used_up_the_machine_hears_of_the_error(opened: Open) -> None:
    world = World(failing(*[RuntimeError(str(n)) for n in range(9)]))

    async def main() -> None:
        async with opened(mailer(world, idempotent=True, attempts=2, backoff=1)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            worker = asyncio.create_task(runtime.run_worker(poll=0.01))
            row = await runtime.wait("m", lambda row: "failed" in row.configuration, timeout=20)
            worker.cancel()
            assert json.loads(row.state or "")["snapshot"]["context"]["failed"] == {"name": "RuntimeError", "message": "1"}
            assert await status_of(runtime) == "FAILED"

    asyncio.run(main())


def test_an_error_that_says_nothing_was_done_is_retried_or_fails(opened: Open) -> None:
    world = World(failing(NotSent("busy"), NotSent("busy"), RuntimeError("?")))

    async def main() -> None:
        async with opened(mailer(world, not_done=(NotSent,), attempts=9, backoff=1)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            worker = asyncio.create_task(runtime.run_worker(poll=0.01))
            while await status_of(runtime) != "UNKNOWN":
                await asyncio.sleep(0.01)
            worker.cancel()
            (row,) = await runtime.effects()
            assert row.attempts == 3  # two were certainly not done, of the third nobody knows

    asyncio.run(main())


def test_a_timeout_is_unknown_and_a_retry_has_the_same_key(opened: Open) -> None:
    async def for_ever() -> None:
        await asyncio.sleep(60)

    async def main() -> None:
        world = World(for_ever)
        async with opened(mailer(world, timeout=30)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            (row,) = await runtime.effects()
            assert row.status == "UNKNOWN" and "CallTimeout" in (row.error or "")
            world.behaviour = lambda: "ok"
            with pytest.raises(UsageError, match="needs a reason"):
                await runtime.retry(row.id, actor="op", reason=" ")
            await runtime.retry(row.id, actor="op:1", reason="the receiver was down")
            await runtime.run_worker(until_idle=True)
            assert world.calls == {row.key: 2}
            assert json.loads((await runtime.get("m")).configuration) == ["mailer.sent"]
            kinds = [(one.kind, one.actor, one.reason) for one in await runtime.log("m")]
            assert ("effect-retry", "op:1", "the receiver was down") in kinds
            assert (await runtime.verify("m", replay=True)).is_clean

    asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "status", "state"),
    [
        (ProbeAnswer("done", "it was"), "DONE", "mailer.sent"),
        (ProbeAnswer("running"), "UNKNOWN", "mailer.sending"),
        (ProbeAnswer("unknown"), "UNKNOWN", "mailer.sending"),
        (ProbeAnswer("not_done"), "DONE", "mailer.sent"),
    ],
)
def test_a_probe_settles_what_is_unknown(opened: Open, answer: ProbeAnswer, status: str, state: str) -> None:
    world = World(failing(RuntimeError("?")))
    asked: list[str] = []

    async def probe(key: str) -> ProbeAnswer:
        asked.append(key)
        return answer

    async def main() -> None:
        async with opened(mailer(world, probe=probe)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            for _ in range(3):  # each begins with a look for what is doubtful
                await runtime.run_worker(until_idle=True)
            row = (await runtime.effects())[0]
            assert row.status == status
            assert json.loads((await runtime.get("m")).configuration) == [state]
            assert set(asked) == {row.key}
            assert world.calls[row.key] == (2 if answer.status == "not_done" else 1)

    asyncio.run(main())


def test_a_person_settles_what_nobody_else_can(opened: Open) -> None:
    world = World(failing(RuntimeError("?"), RuntimeError("?")))

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            for name in ("yes", "no"):
                await runtime.start("mailer", name)
                await runtime.send(name, "GO")
            await runtime.run_worker(until_idle=True)
            yes, no = await runtime.effects(statuses=("UNKNOWN",))
            await runtime.settle(yes.id, result="by hand", actor="op", reason="the log says so")
            await runtime.settle(no.id, error="never arrived", actor="op", reason="the log says so")
            with pytest.raises(UsageError, match="is FAILED, not UNKNOWN"):
                await runtime.settle(no.id, result=1, actor="op", reason="again")
            await runtime.run_worker(until_idle=True)
            assert "sent" in (await runtime.get("yes")).configuration
            assert "failed" in (await runtime.get("no")).configuration
            assert sum(world.calls.values()) == 2

    asyncio.run(main())


def test_leaving_the_state_withdraws_what_nobody_has_begun(opened: Open) -> None:
    world = World()

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.send("m", "LEAVE")
            await runtime.run_worker(until_idle=True)
            assert await status_of(runtime) == "WITHDRAWN" and not world.calls
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            assert "sent" in (await runtime.get("m")).configuration

    asyncio.run(main())


def test_the_late_result_of_an_earlier_entry_changes_nothing(opened: Open) -> None:
    """Scenario 342: the function ends after its state was left, and after it was entered again."""

    async def main() -> None:
        gates = [asyncio.Event(), asyncio.Event()]
        waiting = iter(gates)
        results = iter(["first", "second"])

        async def gated() -> str:
            gate, result = next(waiting), next(results)
            await gate.wait()
            return result

        world = World(gated)
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            worker = asyncio.create_task(runtime.run_worker(poll=0.01))
            while sum(world.calls.values()) < 1:
                await asyncio.sleep(0.01)
            await runtime.send("m", "LEAVE")
            await runtime.send("m", "GO")
            while sum(world.calls.values()) < 2:
                await asyncio.sleep(0.01)
            gates[0].set()
            while (await runtime.effects())[0].status != "DONE":
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            assert "sending" in (await runtime.get("m")).configuration
            gates[1].set()
            row = await runtime.wait("m", lambda row: "sent" in row.configuration, timeout=20)
            worker.cancel()
            assert json.loads(row.state or "")["snapshot"]["context"]["sent"] == "second"
            ignored = await runtime.inbox("m", statuses=("ignored",))
            assert [one.kind for one in ignored] == ["result"]

    asyncio.run(main())


def test_a_result_that_is_not_json_closes_the_row_and_asks_for_attention(opened: Open) -> None:
    world = World(lambda: {1, 2})

    async def main() -> None:
        async with opened(mailer(world, idempotent=True, attempts=5)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            (row,) = await runtime.effects()
            assert row.status == "DONE" and "set" in (row.error or "")
            assert sum(world.calls.values()) == 1
            (dead,) = await runtime.inbox("m", statuses=("dead",))
            assert "which is not JSON" in (dead.error or "")
            assert (await runtime.get("m")).needs_attention

    asyncio.run(main())


def test_a_business_key_is_called_once_though_two_effects_have_it(opened: Open) -> None:
    world = World()

    async def main() -> None:
        async with opened(mailer(world, key=lambda input: "send:77")) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.run_worker(until_idle=True)
            await runtime.send("m", "AGAIN")
            await runtime.run_worker(until_idle=True)
            assert "sent" in (await runtime.get("m")).configuration
            assert world.calls == {"send:77": 1}
            sends = [one for one in await runtime.effects() if "send" in one.name]
            assert [one.status for one in sends] == ["DONE", "DONE"] and len({one.id for one in sends}) == 2

    asyncio.run(main())


def test_a_timeout_must_be_shorter_than_the_lease(opened: Open) -> None:
    with pytest.raises(UsageError, match=r"not shorter than the lease of 1000 ms"):
        opened(mailer(World(), timeout=1_000), lease=1_000)


def test_a_policy_says_what_is_wrong_with_it() -> None:
    with pytest.raises(UsageError, match="has no 'retries'; it has key"):
        mailer(World(), retries=3)
    with pytest.raises(UsageError, match="attempts of an effect is a whole number"):
        EffectPolicy(attempts=0)
    with pytest.raises(UsageError, match="deadline of an effect"):
        EffectPolicy(deadline=-1)
    with pytest.raises(UsageError, match="a probe answers"):
        ProbeAnswer("perhaps")


def test_a_plain_function_runs_in_a_thread_and_may_still_report(opened: Open) -> None:
    """What cannot be stopped is not waited for; its late result settles its own row."""
    import time

    from statecharts import Implementations, load_machine

    impl = Implementations()
    document = {"id": "slow", "initial": "a", "states": {"a": {"invoke": {"src": "work", "onDone": "b"}}, "b": {}}}

    @impl.actor("work")
    def work() -> str:
        time.sleep(0.3)
        return "late"

    impl.effect("work", timeout=50)

    async def main() -> None:
        async with opened(load_machine(document, impl)) as runtime:
            await runtime.start("slow", "s")
            await runtime.run_worker(until_idle=True)
            assert await status_of(runtime) == "UNKNOWN"
            while await status_of(runtime) != "DONE":
                await asyncio.sleep(0.02)
            await runtime.run_worker(until_idle=True)
            assert "slow.b" in (await runtime.get("s")).configuration

    asyncio.run(main())
