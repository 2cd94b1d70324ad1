"""Closing, and other things that happen in the same moment as something else."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from loops import Play
from sample_machines import acting, invoking, toggle

from statecharts import (
    ExecutionError,
    Implementations,
    InvalidTransition,
    UsageError,
    load_machine,
    send_to,
    start,
)
from statecharts.adapters.engines import asyncio_pump
from statecharts.adapters.engines.asyncio_clock import ManualClock
from statecharts.schemas import SchemaError


def test_closing_twice_and_at_once(play: Play) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append("work")

    async def main() -> None:
        actor = start(invoking(work))
        await actor.__aenter__()
        await actor.send("GO")
        await asyncio.sleep(0)
        await asyncio.gather(actor.aclose(), actor.aclose())
        assert ended == ["work"]
        await actor.aclose()

    play(main)


def test_a_cancelled_close_still_waits(play: Play) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)
            ended.append("work")

    async def main() -> None:
        async def inner() -> None:
            async with start(invoking(work)) as actor:
                await actor.send("GO")
                await asyncio.sleep(0)

        closing = asyncio.create_task(inner())
        await asyncio.sleep(0.005)
        for _ in range(3):
            closing.cancel()
            await asyncio.sleep(0)
        assert not closing.done()
        await asyncio.wait({closing})
        assert closing.cancelled()
        assert ended == ["work"]

    play(main)


def test_closing_does_not_break_into_a_clean_up_that_is_on(play: Play) -> None:
    """The state was left just before: its promise is unwinding, and must not be cancelled a second time."""
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append("work")

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await asyncio.sleep(0)
            await actor.send("LEAVE")
            await asyncio.sleep(0)
        assert ended == ["work"]

    play(main)


def test_closing_undoes_the_step_whose_action_it_interrupts(play: Play) -> None:
    seen: list[str] = []

    async def act() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("interrupted")

    async def main() -> None:
        async with start(acting(act)) as actor:
            actor.post("GO")
            actor.post("COUNT")
            await asyncio.sleep(0.01)
        assert seen == ["interrupted"]
        assert (actor.snapshot.value, actor.snapshot.status) == ("idle", "stopped")
        assert actor.snapshot.context["count"] == 0

    play(main)


def test_closing_while_a_sender_is_being_interrupted(play: Play) -> None:
    ended: list[str] = []

    async def act() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append("act")

    async def main() -> None:
        async with start(acting(act)) as actor:
            sender = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            sender.cancel()
            await asyncio.sleep(0)
        assert ended == ["act"]
        await asyncio.wait({sender})

    play(main)


@pytest.mark.parametrize("made", ["coroutine", "task"])
def test_a_sender_cancelled_before_its_turn_s_task_begins(play: Play, made: str) -> None:
    begun: list[str] = []

    async def act() -> None:
        begun.append("begun")
        await asyncio.Event().wait()

    actions = {"coroutine": act, "task": lambda: asyncio.ensure_future(act())}

    async def main() -> None:
        async with start(acting(actions[made])) as actor:
            sender = asyncio.create_task(actor.send("GO"))
            asyncio.get_running_loop().call_soon(sender.cancel)
            await asyncio.wait({sender})
            assert sender.cancelled()
            assert actor.snapshot.value == "idle"
            assert (await actor.send("COUNT")).context["count"] == 1

    play(main)


def test_an_interrupt_in_a_clean_up_while_closing() -> None:
    seen: list[str] = []

    def listen(send_back: Any) -> Any:
        def clean_up() -> None:
            seen.append("listen")
            raise KeyboardInterrupt

        return clean_up

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("work")

    machine = load_machine(
        {"id": "m", "invoke": [{"src": "listen"}, {"src": "work"}], "initial": "a", "states": {"a": {}}},
        {"actors": {"listen": listen, "work": work}},
    )
    with asyncio.Runner() as runner:

        async def main() -> None:
            async with start(machine):
                await asyncio.sleep(0)

        with pytest.raises(KeyboardInterrupt):
            runner.run(main())
        runner.run(asyncio.sleep(0))
        assert sorted(seen) == ["listen", "work"]


def test_children_of_a_machine_that_died_are_ended_too(play: Play) -> None:
    """XState leaves them running when their parent throws; the block's end does not."""
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("work")

    def listen(send_back: Any) -> Any:
        return lambda: seen.append("listen")

    def boom() -> None:
        raise ValueError("boom")

    machine = load_machine(
        {
            "id": "m",
            "invoke": [{"src": "listen"}, {"src": "work"}],
            "initial": "a",
            "states": {"a": {"on": {"GO": {"actions": "boom"}}}},
        },
        {"actors": {"listen": listen, "work": work}, "actions": {"boom": boom}},
        semantics="xstate-exact",
    )

    async def main() -> None:
        async with start(machine) as actor:
            await asyncio.sleep(0)
            assert (await actor.send("GO")).status == "error"
            assert seen == []
            with pytest.raises(ValueError):
                await actor.result()
        assert seen == ["listen", "work"]

    play(main)


def test_an_async_action_that_would_begin_while_closing(play: Play) -> None:
    """The child still has an event to go through; its async action cannot be waited for any more."""
    seen: list[str] = []

    async def slow() -> None:
        seen.append("begun")
        await asyncio.Event().wait()
        seen.append("ended")

    child = load_machine(
        {
            "id": "child",
            "initial": "a",
            "states": {"a": {"on": {"X": {"target": "b", "actions": "slow"}}}, "b": {}},
        },
        {"actions": {"slow": slow}},
    )
    machine = load_machine(
        {
            "id": "m",
            "invoke": {"id": "child", "src": "child"},
            "initial": "a",
            "states": {"a": {"on": {"GO": {"actions": ["tell", "tell"]}}}},
        },
        {"actors": {"child": child}, "actions": {"tell": send_to("child", {"type": "X"})}},
    )

    async def main() -> None:
        async with start(machine) as actor:
            sender = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0.01)
        await asyncio.wait({sender})
        assert "ended" not in seen
        assert actor.snapshot.status == "stopped"

    play(main)


def test_posting_and_sending_to_a_closed_actor(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            pass
        actor.post("COUNT")
        assert (await actor.send("COUNT")).context["count"] == 0
        assert (await actor.stop()).status == "stopped"
        with pytest.raises(ExecutionError, match="stopped"):
            await actor.result()

    play(main)


def test_a_machine_that_ends_while_senders_wait_for_room(play: Play) -> None:
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait), mailbox=1) as actor:
            first = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            rest = [asyncio.create_task(actor.send(event)) for event in ("END", "COUNT", "COUNT", "COUNT")]
            await asyncio.sleep(0)
            gate.set()
            await asyncio.wait([first, *rest])
            assert [task.result().status for task in rest] == ["done"] * 4

    play(main)


def test_a_place_handed_over_in_the_moment_of_a_cancellation(play: Play) -> None:
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait), mailbox=1) as actor:
            first = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            actor.post("COUNT")
            held = asyncio.create_task(actor.send("COUNT"))
            other = asyncio.create_task(actor.send("COUNT"))
            await asyncio.sleep(0)
            actor._inbox.free()  # a place is handed to `held` ...
            held.cancel()  # ... which gives up at the same moment
            gate.set()
            await asyncio.wait([first, held, other])
            assert held.cancelled()
            assert other.result().context["count"] == 3

    play(main)


class BrokenClock(ManualClock):
    """A clock that a host was given and that fails."""

    def call_at(self, due: float, callback: Any) -> Any:
        raise RuntimeError("the clock is broken")


def test_a_clock_that_fails(play: Play) -> None:
    """It is nobody's machine error: the sender is told, or the loop; the actor goes on."""
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {"a": {"on": {"GO": "b"}}, "b": {"after": {"10": "c"}, "on": {"BACK": "a"}}, "c": {}},
        }
    )

    async def main() -> None:
        async with start(machine, clock=BrokenClock()) as actor:
            with pytest.raises(RuntimeError, match="clock is broken"):
                await actor.send("GO")
            await asyncio.sleep(0)
            assert (await actor.send("BACK")).value == "a"
            actor.post("BACK")
            with pytest.raises(RuntimeError):
                await actor.send("GO")
            await actor.send("BACK")
            actor.post("GO")
            await actor.wait_for(lambda s: s.value == "b", 5)
            assert (await actor.send("BACK")).value == "a"

    play(main, reports=1)
    assert "could not be delivered" in play.messages[0]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, asyncio.CancelledError])
def test_an_interrupt_in_a_send_that_has_to_work_off_posts_first(interrupt: type[BaseException]) -> None:
    def boom() -> None:
        raise interrupt

    with asyncio.Runner() as runner:
        actor = start(acting(boom))
        runner.run(actor.__aenter__())

        async def main() -> None:
            actor.post("COUNT")
            await actor.send("GO")

        with pytest.raises(interrupt):
            runner.run(main())
        runner.run(asyncio.sleep(0))
        assert (actor.snapshot.value, actor.snapshot.context) == ("idle", {"count": 1})
        assert runner.run(actor.send("COUNT")).context["count"] == 2
        runner.run(actor.aclose())


def test_an_event_that_waits_while_the_machine_ends_is_refused_when_asked_for(play: Play) -> None:
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait), on_unhandled="raise") as actor:
            tasks = [asyncio.create_task(actor.send(event)) for event in ("GO", "END", "COUNT")]
            await asyncio.sleep(0)
            gate.set()
            await asyncio.wait(tasks)
            assert isinstance(tasks[2].exception(), InvalidTransition)

    play(main)


def test_a_post_of_an_action_that_needs_awaiting_does_not_hold_the_send(play: Play, no_breath: None) -> None:
    """The send is over when its own event is; what the listener posted goes on by itself."""
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait)) as actor:
            posted: list[str] = []

            def listener(snapshot: Any) -> None:
                if not posted:
                    posted.append("GO")
                    actor.post("GO")

            actor.subscribe(listener)
            assert (await actor.send("COUNT")).context["count"] == 1
            assert actor.snapshot.value == "idle"
            gate.set()
            await actor.wait_for(lambda s: s.value == "gone", 5)

    play(main)


def test_closing_while_the_loop_breathes(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio_pump, "SLICE", 0)

    async def main() -> None:
        async with start(acting(lambda: None)) as actor:
            sender = asyncio.create_task(actor.send("COUNT"))
            for _ in range(3):
                actor.post("COUNT")
            await asyncio.sleep(0)
        await asyncio.wait({sender})
        assert actor.snapshot.status == "stopped"
        async with start(acting(lambda: None)) as actor:
            await actor.send("COUNT")
            await actor.send("GO")
            assert actor.snapshot.context["count"] == 2

    play(main)


def test_reading_before_the_start() -> None:
    with pytest.raises(UsageError, match="not running"):
        _ = start(toggle()).snapshot


def test_a_start_that_fails_leaves_nothing(play: Play) -> None:
    def context() -> Any:
        raise KeyboardInterrupt

    machine = load_machine({"id": "m", "context": {}, "initial": "a", "states": {"a": {}}})
    impl = Implementations()
    impl.context(context)

    with asyncio.Runner() as runner:
        actor = start(machine.provide(impl), clock=ManualClock())
        with pytest.raises(KeyboardInterrupt):
            runner.run(actor.__aenter__())
        runner.run(actor.aclose())
    with pytest.raises(UsageError):
        _ = actor.snapshot


def test_restoring_from_text(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            await actor.send("TOGGLE")
            texts = [json.dumps(actor.save()), json.dumps(actor.to_xstate())]
        for text in texts:
            async with start(toggle(), snapshot=text) as actor:
                assert actor.snapshot.value == "on"

    play(main)


def test_schemas_are_checked_at_the_edges(play: Play) -> None:
    document = {
        "id": "m",
        "context": {"got": None},
        "schemas": {
            "events": {"ADD": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}},
            "input": {"type": "object", "required": ["who"]},
            "actors": {"work": {"output": {"type": "string"}}},
        },
        "initial": "idle",
        "states": {
            "idle": {"on": {"ADD": "busy"}},
            "busy": {"invoke": {"src": "work", "onDone": "done", "onError": "failed"}},
            "done": {},
            "failed": {},
        },
    }

    async def work() -> int:
        return 7

    machine = load_machine(document, {"actors": {"work": work}})

    async def main() -> None:
        with pytest.raises(SchemaError):
            start(machine, input={})
        async with start(machine, input={"who": "me"}) as actor:
            with pytest.raises(SchemaError):
                await actor.send("ADD", n="one")
            with pytest.raises(SchemaError):
                actor.post("ADD")
            await actor.send("ADD", n=1)
            await actor.wait_for(lambda s: s.value in ("done", "failed"), 5)
            assert actor.snapshot.value == "failed"

    play(main)
