"""Sending: inline when idle, in turn when busy, never to a deadlock."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from loops import Play
from sample_machines import acting, toggle

from statecharts import InvalidTransition, UsageError, load_machine, send_to, start
from statecharts.adapters.engines.asyncio_host import Actor, MailboxFull


def test_an_idle_actor_works_inside_send(play: Play, no_breath: None) -> None:
    async def main() -> None:
        turns = 0

        def turn() -> None:
            nonlocal turns
            turns += 1

        async with start(toggle()) as actor:
            asyncio.get_running_loop().call_soon(turn)
            for _ in range(10):
                before = asyncio.all_tasks()
                snapshot = await actor.send("TOGGLE")
                assert asyncio.all_tasks() == before
            assert snapshot is actor.snapshot
            assert turns == 0
            assert snapshot.context == {"count": 10}

    play(main)


def test_a_busy_actor_takes_events_in_turn(play: Play) -> None:
    gate = asyncio.Event()
    order: list[str] = []

    async def act(event: Any) -> None:
        order.append(f"begin {event['type']}")
        await gate.wait()
        order.append(f"end {event['type']}")

    async def main() -> None:
        async with start(acting(act)) as actor:
            first = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            second = asyncio.create_task(actor.send("COUNT"))
            await asyncio.sleep(0)
            assert actor.snapshot.value == "idle"
            assert not second.done()
            gate.set()
            assert (await second).context == {"count": 2}
            assert (await first).context == {"count": 1}
            assert order == ["begin GO", "end GO"]

    play(main)


def test_sends_of_many_tasks_are_all_processed(play: Play) -> None:
    async def act() -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        async with start(acting(act), mailbox=3) as actor:

            async def sender() -> None:
                for _ in range(10):
                    await actor.send("ACT")
                    await actor.send("COUNT")

            await asyncio.gather(*(sender() for _ in range(7)))
            assert actor.snapshot.context["count"] == 70

    play(main)


@pytest.mark.parametrize("how", ["await", "task", "gather", "wait_for", "made before"])
def test_an_action_that_sends_to_its_own_actor(play: Play, how: str) -> None:
    actor: Actor[Any]

    async def act() -> None:
        if how == "await":
            await actor.send("BACK")
        elif how == "task":
            await asyncio.create_task(actor.send("BACK"))
        elif how == "gather":
            await asyncio.gather(actor.send("BACK"), asyncio.sleep(0))
        else:
            await asyncio.wait_for(actor.send("BACK"), 5)
        assert actor.snapshot.value == "idle"  # the step's own snapshot is not there yet
        assert actor.snapshot.context == {"count": 0}

    def act_in_a_task() -> Any:
        return asyncio.ensure_future(act())

    async def main() -> None:
        nonlocal actor
        async with start(acting(act_in_a_task if how == "made before" else act)) as actor:
            values: list[Any] = []
            actor.subscribe(lambda snapshot: values.append(snapshot.value))
            await actor.send("GO")
            await actor.wait_for(lambda s: s.value == "idle" and s.context["count"] == 1, 5)
            assert values == ["gone", "idle"]

    play(main)


def test_a_task_that_an_action_left_behind_waits_like_anybody(play: Play) -> None:
    seen: list[Any] = []
    tasks: list[asyncio.Task[None]] = []
    actor: Actor[Any]

    async def later() -> None:
        await asyncio.sleep(0.01)
        seen.append((await actor.send("COUNT")).context["count"])

    async def act() -> None:
        if tasks:
            await asyncio.sleep(0.03)
        else:
            tasks.append(asyncio.create_task(later()))

    async def main() -> None:
        nonlocal actor
        async with start(acting(act)) as actor:
            await actor.send("GO")
            await actor.send("ACT")  # busy with this one when the first task sends
            await asyncio.gather(*tasks)
            assert seen == [2]

    play(main)


def test_two_actors_whose_actions_send_to_each_other(play: Play) -> None:
    one: Actor[Any]
    two: Actor[Any]

    async def to_two() -> None:
        await two.send("GO")

    async def to_one() -> None:
        await one.send("COUNT")

    async def main() -> None:
        nonlocal one, two
        async with start(acting(to_two)) as one, start(acting(to_one)) as two:
            await one.send("GO")
            await one.wait_for(lambda s: s.context["count"] == 2, 5)
            assert two.snapshot.value == "gone"

    play(main)


def test_two_busy_actors_whose_queued_actions_send_to_each_other(play: Play) -> None:
    one: Actor[Any]
    two: Actor[Any]
    gate = asyncio.Event()

    async def slow_then_to_one(event: Any) -> None:
        if event["type"] == "ACT":
            await gate.wait()
        else:
            await one.send("COUNT")

    async def to_two() -> None:
        gate.set()
        await two.send("GO")

    async def main() -> None:
        nonlocal one, two
        async with start(acting(to_two)) as one, start(acting(slow_then_to_one)) as two:
            busy = asyncio.create_task(two.send("ACT"))
            await asyncio.sleep(0)
            await one.send("GO")
            await busy
            await one.wait_for(lambda s: s.context["count"] == 2, 5)

    play(main)


def test_what_an_action_posts_is_processed_though_nobody_sends_again(play: Play) -> None:
    machine = load_machine(
        {"id": "m", "initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": "post"}}}, "b": {"on": {"NEXT": "c"}}, "c": {}}},
        {"actions": {"post": lambda: actors[0].post("NEXT")}},
    )
    actors: list[Any] = []

    async def main() -> None:
        async with start(machine) as actor:
            actors.append(actor)
            await actor.send("GO")
            await actor.wait_for(lambda snapshot: snapshot.value == "c", 5)

    play(main)
    actors.clear()


@pytest.mark.parametrize("how", ["posted", "rung", "settled"])
def test_an_async_action_of_a_step_that_came_in_its_turn(play: Play, how: str) -> None:
    """The turn waits for it, and what is left of the step follows."""
    order: list[str] = []

    async def slow() -> None:
        order.append("begins")
        await asyncio.sleep(0)
        order.append("ends")

    async def job() -> None:
        await asyncio.sleep(0)

    taking = {"target": "b", "actions": ["first", "slow", "last"]}
    document: dict[str, Any] = {"id": "m", "initial": "a", "states": {"a": {}, "b": {"after": {"1": "c"}}, "c": {}}}
    document["states"]["a"] |= {
        "posted": {"on": {"GO": taking}},
        "rung": {"after": {"1": taking}},
        "settled": {"invoke": {"src": "job", "id": "j", "onDone": taking}},
    }[how]
    machine = load_machine(
        document,
        {
            "actions": {"first": lambda: order.append("first"), "slow": slow, "last": lambda: order.append("last")},
            **({"actors": {"job": job}} if how == "settled" else {}),
        },
    )

    async def main() -> None:
        async with start(machine) as actor:
            actor.subscribe(lambda snapshot: order.append(snapshot.value))
            if how == "posted":
                actor.post("GO")
            await actor.wait_for(lambda snapshot: snapshot.value == "c", 5)

    play(main)
    assert order[-6:] == ["first", "begins", "ends", "last", "b", "c"]


def test_a_callback_that_an_action_sets_off_is_heard_before_what_the_step_sends(play: Play) -> None:
    """As in XState; the agenda takes over from the step that was taken in one go."""
    outside: list[Any] = []
    order: list[str] = []

    def listen(send_back: Any) -> None:
        outside.append(send_back)

    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "invoke": {"src": "listen", "id": "l"},
            "on": {name: {"actions": "note"} for name in ("POKED", "OWN")},
            "states": {"a": {"on": {"GO": {"target": "b", "actions": ["poke", "own", "note"]}}}, "b": {}},
        },
        {
            "actions": {
                "poke": lambda: outside[0]("POKED"),
                "own": send_to("#_internal", {"type": "OWN"}),
                "note": lambda event: order.append(event["type"]),
            },
            "actors": {"listen": listen},
        },
    )

    async def main() -> None:
        async with start(machine) as actor:
            await actor.send("GO")
            assert order == ["GO", "POKED", "OWN"]

    play(main)


def test_post_is_processed_in_order_with_sends(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            values: list[Any] = []
            actor.subscribe(lambda snapshot: values.append(snapshot.context["count"]))
            actor.post("TOGGLE")
            actor.post("COUNT")
            assert actor.snapshot.context["count"] == 0
            snapshot = await actor.send("TOGGLE")
            assert (snapshot.value, snapshot.context["count"]) == ("off", 3)
            actor.post({"type": "TOGGLE"})
            await actor.wait_for(lambda s: s.value == "on", 5)
            assert values == [1, 2, 3, 4]

    play(main)


def test_a_posted_event_wakes_an_idle_actor(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            actor.post("TOGGLE")
            await asyncio.sleep(0.01)
            assert actor.snapshot.value == "on"

    play(main)


def test_a_full_mailbox_refuses_posts_and_holds_senders(play: Play) -> None:
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait), mailbox=2) as actor:
            first = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            actor.post("COUNT")
            actor.post("COUNT")
            with pytest.raises(MailboxFull, match="2 events are waiting"):
                actor.post("COUNT")
            held = [asyncio.create_task(actor.send("COUNT", n=n)) for n in range(5)]
            await asyncio.sleep(0.01)
            assert not any(task.done() for task in held)
            gate.set()
            snapshots = await asyncio.gather(*held)
            assert [snapshot.context["count"] for snapshot in snapshots] == [4, 5, 6, 7, 8]
            await first

    play(main)


def test_a_sender_that_gives_up_waiting_for_room_leaves_its_place(play: Play) -> None:
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait), mailbox=1) as actor:
            first = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            actor.post("COUNT")
            held = [asyncio.create_task(actor.send("COUNT")) for _ in range(3)]
            await asyncio.sleep(0)
            held[0].cancel()
            held[2].cancel()
            gate.set()
            await asyncio.wait(held)
            await first
            assert actor.snapshot.context["count"] == 3
            assert [task.cancelled() for task in held] == [True, False, True]
            for _ in range(5):
                actor.post("COUNT")
                await actor.send("COUNT")  # no place was lost

    play(main)


def test_an_own_send_beyond_the_mailbox_is_an_error_and_no_deadlock(play: Play) -> None:
    actor: Actor[Any]

    async def act() -> None:
        for _ in range(3):
            await actor.send("COUNT")

    async def main() -> None:
        nonlocal actor
        async with start(acting(act), mailbox=2) as actor:
            await actor.send("GO")
            with pytest.raises(MailboxFull):
                await actor.result()

    play(main)


def test_a_finished_machine_ignores_events_at_once(play: Play, no_breath: None) -> None:
    async def main() -> None:
        async with start(acting(lambda: None)) as actor:
            await actor.send("END")
            turned: list[int] = []
            asyncio.get_running_loop().call_soon(turned.append, 1)
            assert (await actor.send("COUNT")).status == "done"
            assert not turned
            actor.post("COUNT")
            assert await actor.result() == {"said": "bye"}
        assert (await actor.send("COUNT")).status == "done"
        actor.post("COUNT")

    play(main)


def test_events_that_wait_when_the_machine_ends_are_ignored(play: Play) -> None:
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait), mailbox=2) as actor:
            tasks = [
                asyncio.create_task(actor.send(event)) for event in ("GO", "END", "COUNT", "COUNT", "COUNT")
            ]
            await asyncio.sleep(0.01)
            gate.set()
            assert [snapshot.status for snapshot in await asyncio.gather(*tasks)] == ["active", *["done"] * 4]

    play(main)


def test_closing_releases_whoever_waits(play: Play) -> None:
    async def main() -> None:
        async with start(acting(asyncio.Event().wait), mailbox=1) as actor:
            tasks = [asyncio.create_task(actor.send(event)) for event in ("GO", "COUNT", "COUNT")]
            await asyncio.sleep(0.01)
        done, _ = await asyncio.wait(tasks, timeout=5)
        assert len(done) == 3
        assert tasks[0].cancelled()  # its step was interrupted
        assert [task.result().status for task in tasks[1:]] == ["stopped", "stopped"]
        assert actor.snapshot.context["count"] == 0

    play(main)


def test_refusing_what_nobody_handles(play: Play) -> None:
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait), on_unhandled="raise") as actor:
            with pytest.raises(InvalidTransition, match=r"'BACK' is not handled in acting\.idle"):
                await actor.send("BACK")
            first = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            queued = asyncio.create_task(actor.send("GO"))  # handled now, not when its turn comes
            actor.post("NOBODY")
            await asyncio.sleep(0)
            gate.set()
            await first
            with pytest.raises(InvalidTransition, match="gone"):
                await queued
            await actor.send("END")
            with pytest.raises(InvalidTransition, match=r"\[done\]"):
                await actor.send("COUNT")

    play(main, reports=1)
    assert "not handled" in play.messages[0]


def test_wrong_options() -> None:
    with pytest.raises(UsageError, match="on_unhandled"):
        start(toggle(), on_unhandled="perhaps")
    with pytest.raises(UsageError, match="at least one event"):
        start(toggle(), mailbox=0)


def test_misuse_raises(play: Play) -> None:
    actor = start(toggle())

    async def main() -> None:
        with pytest.raises(UsageError, match="not running"):
            await actor.send("TOGGLE")
        with pytest.raises(UsageError, match="not running"):
            actor.save()
        await actor.aclose()
        async with actor:
            with pytest.raises(UsageError, match="started once"):
                await actor.__aenter__()
            caught: list[BaseException] = []

            def elsewhere() -> None:
                for call in (actor.save, lambda: actor.post("TOGGLE"), lambda: actor.on("*", print)):
                    try:
                        call()
                    except UsageError as error:
                        caught.append(error)
                try:
                    asyncio.run(actor.send("TOGGLE"))
                except UsageError as error:
                    caught.append(error)

            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
            assert len(caught) == 4
            assert all("call_soon_threadsafe" in str(error) for error in caught)
            assert actor.snapshot.value == "off"
            thread = threading.Thread(
                target=lambda loop: loop.call_soon_threadsafe(actor.post, "TOGGLE"),
                args=(asyncio.get_running_loop(),),
            )
            thread.start()
            await actor.wait_for(lambda s: s.value == "on", 5)
            thread.join()

    play(main)
    with pytest.raises(UsageError, match="belongs to the thread and loop"):
        actor.post("TOGGLE")
    with pytest.raises(UsageError, match="belongs to the thread and loop"):
        asyncio.run(actor.send("TOGGLE"))


def test_unbound_names_are_told_before_the_start() -> None:
    from statecharts import ImplementationError

    with pytest.raises(ImplementationError, match="nobody"):
        start(load_machine({"id": "m", "initial": "a", "states": {"a": {"entry": "nobody"}}}))
