"""Saving: never half a step, never without what was accepted, and as it is at that moment."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest
from loops import Play
from sample_machines import acting, invoking, toggle

from statecharts import Machine, UsageError, load_machine, start
from statecharts.adapters.engines.asyncio_clock import ManualClock
from statecharts.adapters.engines.asyncio_host import Actor
from statecharts.json_text import dumps


def noting(**more: Any) -> Machine[Any, Any]:
    """Keeps the numbers of the events it got, in order; a deadline counts as 0."""
    return load_machine(
        {
            "id": "noting",
            "initial": "on",
            "context": {"notes": []},
            "states": {"on": {"after": {"100": {"actions": {"type": "note", "params": {"n": 0}}}}}},
            "on": {"NOTE": {"actions": "note"}},
            **more,
        },
        {
            "updates": {
                "note": lambda context, event, params: {
                    "notes": [*context["notes"], params["n"] if params else event["n"]]
                }
            }
        },
    )


def test_what_waits_is_saved_in_its_order(play: Play) -> None:
    async def main() -> None:
        clock = ManualClock()
        async with start(noting(), clock=clock) as actor:
            actor.post("NOTE", n=1)
            actor.post("NOTE", n=2)
            clock.ring_next(100)
            actor.post("NOTE", n=3)
            saved = json.loads(json.dumps(actor.save()))
            assert actor.save_text() == dumps(saved)
            assert actor.to_xstate_text() == dumps(actor.to_xstate())
            assert actor.snapshot.context["notes"] == []
            assert saved["timers"] == []
            await actor.wait_for(lambda s: len(s.context["notes"]) == 4, 5)
            went_on = actor.save()
        again = ManualClock()
        async with start(noting(), snapshot=saved, clock=again) as actor:
            assert actor.snapshot.context["notes"] == [1, 2, 0, 3]
            assert actor.save() == went_on
            await again.advance(1000)
            assert actor.snapshot.context["notes"] == [1, 2, 0, 3]

    play(main)


def test_a_timer_that_rang_and_was_cancelled_is_not_saved(play: Play) -> None:
    machine = load_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {"a": {"after": {"10": "late"}, "on": {"GO": "b"}}, "b": {}, "late": {}},
        }
    )

    async def main() -> None:
        clock = ManualClock()
        async with start(machine, clock=clock) as actor:
            rung = next(iter(actor.system.timers.pending.values()))
            clock.ring_next(10)
            actor.system.timers.take(rung)
            saved = actor.save()
            assert saved["actors"][0]["mailbox"] == []
            assert saved["timers"] == []

    play(main)


def test_a_result_that_waits_is_saved_and_a_rejection_runs_again(play: Play) -> None:
    runs: list[str] = []
    fails = False

    async def work() -> str:
        runs.append("run")
        if fails:
            raise ValueError("no luck")
        return f"run {len(runs)}"

    async def caught() -> dict[str, Any]:
        """Saved in the moment between the end of the work and its delivery; under load that may be missed."""
        while True:
            runs.clear()
            async with start(invoking(work)) as actor:
                await actor.send("GO")
                for _ in range(1000):
                    if actor._arrivals:
                        return actor.save()
                    if actor.snapshot.status != "active" or actor.snapshot.value == "done":
                        break
                    await asyncio.sleep(0)

    async def main() -> None:
        nonlocal fails
        saved = await caught()
        async with start(invoking(work), snapshot=saved) as actor:
            assert actor.snapshot.context["got"] == "run 1"
            await asyncio.sleep(0.01)
            assert runs == ["run"]
        fails = True
        saved = await caught()
        fails = False
        async with start(invoking(work), snapshot=saved) as actor:
            await actor.wait_for(lambda s: s.value == "done", 5)

    play(main)


def test_what_is_saved_of_children_is_the_same_as_text(play: Play) -> None:
    async def main() -> None:
        async with start(invoking(asyncio.Event().wait), clock=ManualClock()) as actor:
            await actor.send("GO")
            assert actor.snapshot.children
            assert (actor.save_text(), actor.to_xstate_text()) == (dumps(actor.save()), dumps(actor.to_xstate()))

    play(main)


def test_saving_in_a_step_is_refused(play: Play) -> None:
    refused: list[str] = []
    actor: Actor[Any]

    def try_to_save() -> None:
        for save in (actor.save, actor.to_xstate, actor.save_text, actor.to_xstate_text):
            with pytest.raises(UsageError, match="in the middle of a step"):
                save()
            refused.append("refused")

    async def try_later() -> None:
        await asyncio.sleep(0)
        try_to_save()

    async def main() -> None:
        nonlocal actor
        for act in (try_to_save, try_later):
            async with start(acting(act)) as actor:
                actor.subscribe(lambda _snapshot: try_to_save())
                await actor.send("GO")
                assert actor.save()["snapshot"]["value"] == "gone"
        assert len(refused) == 16

    play(main)


def test_every_save_at_a_random_moment_is_of_a_whole_configuration(play: Play) -> None:
    dice = random.Random(1)

    async def pause() -> None:
        for _ in range(dice.randrange(4)):
            await asyncio.sleep(0)

    machine = load_machine(
        {
            "id": "m",
            "type": "parallel",
            "states": {
                name: {
                    "initial": "a",
                    "states": {
                        "a": {"entry": "pause", "exit": "pause", "on": {"T": "b"}},
                        "b": {"entry": "pause", "on": {"T": "a"}},
                    },
                }
                for name in ("x", "y", "z")
            },
        },
        {"actions": {"pause": pause}},
    )

    async def main() -> None:
        saved = refused = 0
        async with start(machine) as actor:

            async def drive() -> None:
                while True:
                    await actor.send("T")
                    if dice.random() < 0.5:
                        await asyncio.sleep(0)

            driver = asyncio.create_task(drive())
            while saved < 500:
                for _ in range(dice.randrange(3)):
                    await asyncio.sleep(0)
                try:
                    value = actor.save()["snapshot"]["value"]
                except UsageError:
                    refused += 1
                    await asyncio.sleep(0)
                    continue
                saved += 1
                assert len(set(value.values())) == 1, value
                assert list(value) == ["x", "y", "z"]
                assert len(actor.snapshot.atomic_states) == 3
            driver.cancel()
            await asyncio.wait({driver})
        assert refused

    play(main)


def test_what_is_saved_is_what_was_at_that_moment(play: Play) -> None:
    async def main() -> None:
        async with start(toggle()) as actor:
            await actor.send("TOGGLE")
            saved = actor.save()
            await actor.send("TOGGLE")
            assert saved["snapshot"]["context"] == {"count": 1}
        async with start(toggle(), snapshot=saved) as actor:
            assert (actor.snapshot.value, actor.snapshot.context) == ("on", {"count": 1})

    play(main)


def test_restoring_from_each_form(play: Play) -> None:
    async def main() -> None:
        async with start(toggle(), clock=ManualClock()) as actor:
            await actor.send("TOGGLE")
            forms = [actor.save(), actor.to_xstate(), actor.snapshot, actor.save_text(), actor.to_xstate_text()]
            assert forms[3:] == [dumps(form) for form in forms[:2]]
        for form in forms:
            async with start(toggle(), snapshot=form) as actor:
                assert (await actor.send("TOGGLE")).context == {"count": 2}

    play(main)


def test_saving_after_the_end(play: Play) -> None:
    async def main() -> None:
        async with start(acting(lambda: None)) as actor:
            await actor.send("END")
            saved = actor.save()
        async with start(acting(lambda: None), snapshot=saved) as actor:
            assert await actor.result() == {"said": "bye"}
        assert actor.save()["snapshot"]["status"] == "done"

    play(main)


def test_a_snapshot_that_does_not_fit_changes_nothing(play: Play) -> None:
    from statecharts import SnapshotError

    async def main() -> None:
        async with start(toggle()) as actor:
            saved = actor.save()
        with pytest.raises(SnapshotError):
            async with start(acting(lambda: None), snapshot=saved):
                pass
        saved["snapshot"]["value"] = "nowhere"
        broken = start(toggle(), snapshot=saved)
        with pytest.raises(SnapshotError, match="nowhere"):
            await broken.__aenter__()
        await broken.aclose()

    play(main)
