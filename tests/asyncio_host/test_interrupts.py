"""Interrupts and cancellation: no half step, no lost queue, nobody's onError (scenario 332)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from loops import Play
from sample_machines import acting, invoking

from statecharts import Machine, load_machine, start
from statecharts.adapters.engines import asyncio_pump
from statecharts.adapters.engines.asyncio_host import Actor

PLACES = ["entry", "exit", "action", "guard", "update", "async entry", "async exit", "async action"]
INTERRUPTS = [KeyboardInterrupt, SystemExit, asyncio.CancelledError]


def interrupted_at(place: str, interrupt: Callable[[], None]) -> Machine[Any, Any]:
    """``GO`` leads from a to b; at ``place`` ``interrupt`` is called. It spawns, sets a timer and frees a name on its way."""

    async def later() -> None:
        await asyncio.sleep(0)
        interrupt()

    def guard() -> bool:
        interrupt()
        return True

    def update() -> dict[str, Any]:
        interrupt()
        return {}

    act: Any = later if place.startswith("async") else interrupt
    where = place.removeprefix("async ")
    calm: Any = {"type": "nothing"}
    child = load_machine({"id": "child", "initial": "x", "states": {"x": {}}})
    guards: dict[str, Any] = {"fine": lambda: True}
    updates: dict[str, Any] = {"count": lambda context: {"n": context["n"] + 1}}
    actions: dict[str, Any] = {"nothing": lambda: None}
    if where == "guard":
        guards = {"boom": guard}
    elif where == "update":
        updates["boomUpdate"] = update
    else:
        actions["boom"] = act
    return load_machine(
        {
            "id": "m",
            "initial": "a",
            "context": {"n": 0},
            "states": {
                "a": {
                    "invoke": {"id": "old", "src": "child", "systemId": "name"},
                    "exit": ["count", "boom" if where == "exit" else calm],
                    "on": {
                        "GO": {
                            "target": "b",
                            "guard": "boom" if where == "guard" else "fine",
                            "actions": [
                                "count",
                                "boom" if where == "action" else calm,
                                "boomUpdate" if where == "update" else "count",
                            ],
                        }
                    },
                },
                "b": {
                    "invoke": {"id": "new", "src": "child", "systemId": "name"},
                    "entry": ["count", "boom" if where == "entry" else calm],
                    "after": {"1000000": "a"},
                    "on": {"BACK": "a"},
                },
            },
            "on": {"COUNT": {"actions": "count"}},
        },
        {"guards": guards, "updates": updates, "actions": actions, "actors": {"child": child}},
    )


def look(actor: Actor[Any]) -> tuple[Any, ...]:
    snapshot = actor.snapshot
    system = actor.system
    return (
        snapshot.value,
        snapshot.context,
        snapshot.status,
        list(snapshot.children),
        system.view.get("name"),
        sorted(system.cells),
        len(system.timers.pending),
        len(actor._alarms),
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_an_interrupt_leaves_no_half_step(place: str, interrupt: type[BaseException]) -> None:
    armed = True

    def boom() -> None:
        nonlocal armed
        if armed:
            armed = False
            raise interrupt("now")

    reported: list[Any] = []
    with asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(lambda _loop, context: reported.append(context))
        actor = start(interrupted_at(place, boom))
        runner.run(actor.__aenter__())
        runner.run(actor.send("COUNT"))
        before = look(actor)
        with pytest.raises(interrupt):
            runner.run(actor.send("GO"))
        runner.run(asyncio.sleep(0))
        assert look(actor) == before
        runner.run(actor.send("COUNT"))
        assert actor.save()
        snapshot = runner.run(actor.send("GO"))
        assert (snapshot.value, snapshot.status) == ("b", "active")
        assert list(snapshot.children) == ["new"]
        assert look(actor)[4].id == "new"
        runner.run(actor.aclose())
    assert not reported


@pytest.mark.parametrize("slice_", [asyncio_pump.SLICE, -1.0], ids=["", "breathless"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_an_interrupt_in_the_background_leaves_the_queue_usable(
    place: str, interrupt: type[BaseException], slice_: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio_pump, "SLICE", slice_)  # a slow machine has to breathe between any two tasks
    armed = True

    def boom() -> None:
        nonlocal armed
        if armed:
            armed = False
            raise interrupt("now")

    reported: list[Any] = []
    with asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(lambda _loop, context: reported.append(context))
        actor = start(interrupted_at(place, boom))
        runner.run(actor.__aenter__())

        async def post() -> None:
            actor.post("GO")
            actor.post("COUNT")
            await quiet()

        async def quiet() -> None:
            """All that was posted is done, however slow the machine is."""
            for _ in range(1000):
                await asyncio.sleep(0.002)
                if not (actor._is_busy() or actor._arrivals):
                    return

        try:
            runner.run(post())
        except interrupt:
            assert interrupt is not asyncio.CancelledError
            runner.run(quiet())
        assert actor.snapshot.value == "a"
        assert actor.snapshot.context["n"] == 1
        assert actor.snapshot.status == "active"
        assert runner.run(actor.send("GO")).value == "b"
        runner.run(actor.aclose())
    if interrupt is asyncio.CancelledError:  # nobody waited for it, so it is told
        assert len(reported) == 1
    else:
        assert not reported


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, asyncio.CancelledError])
def test_an_interrupt_while_others_wait(interrupt: type[BaseException]) -> None:
    async def act() -> None:
        await asyncio.sleep(0)
        raise interrupt

    with asyncio.Runner() as runner:
        actor = start(acting(act))
        runner.run(actor.__aenter__())
        counts: list[Any] = []

        async def main() -> None:
            async def count() -> None:
                counts.append((await actor.send("COUNT")).context["count"])

            tasks.extend(
                [
                    asyncio.ensure_future(actor.send("GO")),
                    asyncio.ensure_future(count()),
                    asyncio.ensure_future(count()),
                ]
            )
            await asyncio.wait(tasks)

        tasks: list[asyncio.Future[Any]] = []
        try:
            runner.run(main())
        except KeyboardInterrupt:
            runner.run(asyncio.sleep(0.01))
        assert tasks[0].cancelled()
        assert counts == [1, 2]
        runner.run(actor.aclose())


def test_a_send_that_is_timed_out_cancels_its_action(play: Play) -> None:
    ended: list[str] = []

    async def act() -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            ended.append("cancelled")
            raise

    async def main() -> None:
        async with start(acting(act)) as actor:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await actor.send("GO")
            assert ended == ["cancelled"]
            assert actor.snapshot.value == "idle"
            assert actor.snapshot.context["count"] == 0
            assert (await actor.send("COUNT")).context["count"] == 1

    play(main)


def test_an_action_that_resists_its_cancellation_finishes_its_step(play: Play) -> None:
    async def act() -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            await asyncio.sleep(0)

    async def main() -> None:
        async with start(acting(act)) as actor:
            sender = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0.01)
            sender.cancel()
            await asyncio.wait({sender})
            assert sender.cancelled()
            assert actor.snapshot.value == "gone"
            assert (await actor.send("COUNT")).context["count"] == 2

    play(main)


def test_a_send_cancelled_before_its_turn_is_withdrawn(play: Play) -> None:
    gate = asyncio.Event()

    async def main() -> None:
        async with start(acting(gate.wait)) as actor:
            first = asyncio.create_task(actor.send("GO"))
            await asyncio.sleep(0)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await actor.send("COUNT")
            second = asyncio.create_task(actor.send("COUNT"))
            gate.set()
            await first
            assert (await second).context["count"] == 2

    play(main)


def test_cancelling_a_send_leaves_steps_of_others_alone(play: Play) -> None:
    """The event's own step is over; what its child reports has an async action, which goes on."""
    gate = asyncio.Event()

    async def at_once() -> str:
        return "x"

    async def slow_exit() -> None:
        await gate.wait()

    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {
                "a": {"on": {"GO": "b"}},
                "b": {"invoke": {"src": "work", "onDone": {"target": "c", "actions": "slow"}}},
                "c": {},
            },
        },
        {"actors": {"work": at_once}, "actions": {"slow": slow_exit}},
    )

    async def main() -> None:
        async with start(machine) as actor:
            await actor.send("GO")
            await asyncio.sleep(0.01)
            sender = asyncio.create_task(actor.send("NOTHING"))
            await asyncio.sleep(0.01)
            sender.cancel()
            await asyncio.wait({sender})
            gate.set()
            await actor.wait_for(lambda s: s.value == "c", 5)

    play(main)


def test_an_action_cancelled_from_inside_is_reported_when_nobody_waits(play: Play) -> None:
    async def act() -> None:
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    async def main() -> None:
        async with start(acting(act)) as actor:
            actor.post("GO")
            actor.post("COUNT")
            await actor.wait_for(lambda s: s.context["count"] == 1, 5)
            assert actor.snapshot.value == "idle"

    play(main, reports=1)
    assert "cancelled from inside" in play.messages[0]


def test_a_promise_cancelled_from_inside_is_no_error_of_the_machine(play: Play) -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    async def main() -> None:
        async with start(invoking(work)) as actor:
            await actor.send("GO")
            await asyncio.sleep(0.01)
            assert actor.snapshot.value == "busy"
            assert (await actor.send("LEAVE")).value == "idle"

    play(main, reports=1)
    assert "actor 'work' was cancelled from inside" in play.messages[0]


def test_an_interrupt_in_a_promise_goes_through_the_loop() -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise KeyboardInterrupt

    with asyncio.Runner() as runner:
        actor = start(invoking(work))
        runner.run(actor.__aenter__())
        runner.run(actor.send("GO"))
        with pytest.raises(KeyboardInterrupt):
            runner.run(asyncio.sleep(0.1))
        assert actor.snapshot.value == "busy"
        assert runner.run(actor.send("LEAVE")).value == "idle"
        runner.run(actor.aclose())


def test_an_interrupt_in_a_listener_finishes_the_step() -> None:
    def listener(_snapshot: Any) -> None:
        raise KeyboardInterrupt

    with asyncio.Runner() as runner:
        actor = start(acting(lambda: None))
        runner.run(actor.__aenter__())
        remove = actor.subscribe(listener)
        with pytest.raises(KeyboardInterrupt):
            runner.run(actor.send("GO"))
        remove()
        assert actor.snapshot.value == "gone"
        assert runner.run(actor.send("COUNT")).context["count"] == 2
        runner.run(actor.aclose())


def test_an_interrupt_at_the_start_leaves_nothing_behind(play: Play) -> None:
    stopped: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            stopped.append("work")

    async def boom() -> None:
        await asyncio.sleep(0.01)
        raise asyncio.CancelledError

    machine = load_machine(
        {"id": "m", "initial": "a", "invoke": {"src": "work"}, "states": {"a": {"entry": "boom"}}},
        {"actors": {"work": work}, "actions": {"boom": boom}},
    )

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.005):
                async with start(machine):
                    pass
        assert stopped == ["work"]

    play(main)
