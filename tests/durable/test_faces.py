"""What a service sees of the runtime: both faces, who may do what, what is published and when."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from sample_agents import Open, World, mailer

from statecharts import (
    Implementations,
    Limits,
    PayloadError,
    Runtime,
    StoreError,
    UnknownInstance,
    UsageError,
    current_call,
    load_machine,
)


def radio() -> Any:
    from statecharts import emit, log

    impl = Implementations()
    impl.actions["say"] = emit(lambda event: {"type": "SAID", "text": event["text"]})
    impl.update("bad")(lambda: 1 / 0)
    told = {"SAY": {"actions": ["say", "note"]}, "BAD": {"actions": ["say", "bad"]}}
    document = {"id": "radio", "initial": "on", "states": {"on": {"on": told}}}
    impl.actions["note"] = log("said")
    return load_machine(document, impl)


def test_what_is_emitted_is_heard_after_its_commit_and_kept(opened: Open, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Any] = []

    async def main() -> None:
        async with opened(radio()) as runtime:
            end = runtime.on_emit(lambda instance, actor, event: heard.append((instance, actor, event["text"])))

            def broken(*_given: Any) -> None:
                raise RuntimeError("a listener's own fault")

            runtime.on_emit(broken)
            await runtime.start("radio", "r")
            with caplog.at_level(logging.INFO, "statecharts.durable"):
                assert (await runtime.send("r", {"type": "SAY", "text": "hello"})).outcome == "applied"
                assert (await runtime.send("r", {"type": "BAD", "text": "never"})).outcome == "dead"
            assert heard == [("r", "x:0", "hello")]
            assert any(line.getMessage() == "r x:0: said" for line in caplog.records)
            assert any("a listener failed" in line.getMessage() for line in caplog.records)
            end()
            await runtime.send("r", {"type": "SAY", "text": "again"})
            assert len(heard) == 1
            payloads = [row.payload or "" for row in await runtime.log("r")]
            assert '"emitted":[["x:0",{"type":"SAID","text":"hello"}]]' in payloads[1]

    asyncio.run(main())


def test_who_may_do_what(opened: Open) -> None:
    asked: list[tuple[str, str, str]] = []

    def authorize(actor: str, action: str, instance: str) -> bool:
        asked.append((actor, action, instance))
        return actor == "admin"

    async def main() -> None:
        async with opened(mailer(World()), authorize=authorize) as runtime:
            await runtime.start("mailer", "m")
            with pytest.raises(UsageError, match="'guest' may not suspend instance 'm'"):
                await runtime.suspend("m", actor="guest", reason="fun")
            assert not (await runtime.get("m")).is_suspended
            await runtime.suspend("m", actor="admin", reason="work")
            assert asked == [("guest", "suspend", "m"), ("admin", "suspend", "m")]
            with pytest.raises(UsageError, match="needs an actor"):
                await runtime.resume("m", actor="", reason="work")

    asyncio.run(main())


def test_a_suspended_instance_rests(opened: Open) -> None:
    world = World()

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await runtime.suspend("m", actor="op", reason="x")
            assert (await runtime.send("m", "NOTE")).outcome == "accepted"
            await runtime.run_worker(until_idle=True)
            assert not world.calls and (await runtime.get("m")).version == 3
            with pytest.raises(UsageError, match="suspended already"):
                await runtime.suspend("m", actor="op", reason="x")
            await runtime.resume("m", actor="op", reason="x")
            await runtime.run_worker(until_idle=True)
            assert "sent" in (await runtime.get("m")).configuration

    asyncio.run(main())


def test_names_and_namespaces(opened: Open) -> None:
    async def main() -> None:
        async with opened(mailer(World()), namespace="one") as one:
            await one.start("mailer", "m")
        async with opened(mailer(World()), namespace="two") as two:
            with pytest.raises(UnknownInstance, match="in namespace 'two'"):
                await two.get("m")
            assert (await two.start("mailer", "m")).outcome == "applied"
            assert len(await two.instances()) == 1

    asyncio.run(main())


def test_what_cannot_be_asked(opened: Open) -> None:
    async def main() -> None:
        runtime = opened(mailer(World()), limits=Limits(event=200, depth=5))
        with pytest.raises(UsageError, match="is not open"):
            await runtime.send("m", "GO")
        async with runtime:
            await runtime.start("mailer", "m")
            for event, message in (
                ({"type": "xstate.stop"}, "the machine's own"),
                ({"type": "GO", "x": float("nan")}, r"holds nan at '/x'"),
                ({"type": "GO", "x": "\ud800"}, r"not valid text"),
                ({"type": "GO", "x": {1, 2}}, r"holds set at '/x'|is not a JSON value"),
                ({"type": "GO", "x": "x" * 300}, r"bytes as JSON; 200 are allowed"),
                ({"type": "GO", "x": [[[[[[1]]]]]]}, r"nested too deeply"),
            ):
                with pytest.raises((PayloadError, UsageError), match=message):
                    await runtime.send("m", event)
            assert len(await runtime.inbox("m")) == 1
            with pytest.raises(UsageError, match="machine 'nobody' is not registered"):
                await runtime.start("nobody", "n")
            with pytest.raises(UsageError, match="there is no effect 'e'"):
                await runtime.retry("e", actor="op", reason="x")
            with pytest.raises(TimeoutError):
                await runtime.wait("m", lambda row: row.status == "done", timeout=0.05)

    asyncio.run(main())


def test_many_at_once(opened: Open) -> None:
    async def main() -> None:
        async with opened(mailer(World())) as runtime:
            receipts = await runtime.start_many("mailer", {f"m{n}": None for n in range(30)})
            assert {one.outcome for one in receipts.values()} == {"applied"}
            found = await runtime.send_many([(f"m{n}", "GO", f"e{n}") for n in range(30)] + [("nobody", "GO", "e")])
            assert [type(one).__name__ for one in found][-1] == "UnknownInstance"
            assert {one.outcome for one in found[:-1]} == {"applied"}  # type: ignore[union-attr]

    asyncio.run(main())


def test_the_blocking_face(tmp_path: Path) -> None:
    world = World()
    url = f"sqlite:///{tmp_path / 'b.db'}"
    with Runtime.blocking(url, [mailer(world)]) as runtime:
        runtime.start("mailer", "m")
        runtime.start_worker(poll=0.02)
        assert runtime.send("m", "GO", event_id="e").outcome == "applied"
        row = runtime.wait("m", lambda row: "sent" in row.configuration, timeout=20)
        assert row.version == 3 and runtime.namespace == "default"
        results: list[str] = []
        threads = [
            threading.Thread(target=lambda n=n: results.append(runtime.send("m", "AGAIN", event_id=f"x{n}").outcome))
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 4 and results.count("applied") >= 1
        assert runtime.verify("m", replay=True).is_clean
    with pytest.raises(StoreError, match="there is no directory"), Runtime.blocking(f"sqlite:///{tmp_path / 'no' / 'b.db'}"):
        raise AssertionError("it opened")


def test_sigterm_ends_a_worker_and_lets_calls_end(opened: Open) -> None:
    ended: list[bool] = []

    async def slow() -> str:
        call = current_call()
        assert call is not None
        os.kill(os.getpid(), signal.SIGTERM)
        while not call.is_cancelled:
            await asyncio.sleep(0.005)
        ended.append(True)
        return "ok"

    async def main() -> None:
        async with opened(mailer(World(slow))) as runtime:
            await runtime.start("mailer", "m")
            await runtime.send("m", "GO")
            await asyncio.wait_for(runtime.run_worker(handle_signals=True, poll=0.05), 20)
            assert ended and (await runtime.effects())[0].status == "DONE"

    asyncio.run(main())


@pytest.mark.parametrize("url", ["mysql://x", "sqlite://host/x.db", "sqlite://", "sqlite:///x.db?journal=off"])
def test_a_url_that_names_no_store(url: str) -> None:
    with pytest.raises(UsageError, match="a store is|a SQLite store"):
        Runtime.open(url)
