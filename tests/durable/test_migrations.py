"""Migration: everything that names something is renamed or refused, and nothing is entered."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from typing import Any

import pytest
from sample_agents import Open

from statecharts import Implementations, Machine, Runtime, UsageError, load_machine
from statecharts.durability.migrations import Move
from statecharts.durability.moves import MovePlan

OLD: dict[str, Any] = {
    "id": "order",
    "version": "1",
    "initial": "cart",
    "context": {"items": 1},
    "states": {
        "cart": {"on": {"PAY": "paying", "PARK": "parked"}, "after": {"60000": "gone"}},
        "paying": {
            "initial": "card",
            "states": {
                "card": {"invoke": {"id": "pay", "src": "charge", "onDone": "#order.paid"}, "on": {"SLOW": "slow"}},
                "slow": {"entry": "tell"},
                "back": {"type": "history"},
            },
            "on": {"PARK": "parked"},
        },
        "parked": {"on": {"BACK": "paying.back"}},
        "paid": {"entry": "tell"},
        "gone": {"type": "final"},
    },
}


def implementations(told: list[str]) -> Implementations:
    impl = Implementations()

    @impl.actor("charge")
    async def charge(input: Any) -> str:
        return "charged"

    impl.actor("take")(charge)
    impl.action("tell")(lambda: told.append("entered"))
    return impl


def machine(document: dict[str, Any], told: list[str] | None = None) -> Machine[Any, Any]:
    impl = implementations([] if told is None else told)
    used = json.dumps(document)
    for name in ("charge", "take"):
        if f'"{name}"' not in used:
            del impl.actors[name]
    if '"tell"' not in used:
        del impl.actions["tell"]
    return load_machine(document, impl)


def new(**changes: Any) -> dict[str, Any]:
    made = copy.deepcopy(OLD)
    made["version"] = "2"
    return {**made, **changes}


def renamed() -> dict[str, Any]:
    """``paying`` is called ``checkout`` now, the invoke ``debit`` and its source ``take``."""
    made = new()
    states = made["states"]
    states["checkout"] = states.pop("paying")
    states["checkout"]["states"]["card"]["invoke"] = {"id": "debit", "src": "take", "onDone": "#order.paid"}
    states["cart"]["on"]["PAY"] = "checkout"
    states["parked"]["on"]["BACK"] = "checkout.back"
    return made


RENAMING = MovePlan(
    states={"paying": "checkout"},
    invokes={"pay": "debit"},
    sources={"charge": "take"},
    context=lambda context: {**context, "currency": "EUR"},
)


async def old_ones(opened: Open, *sends: str) -> None:
    async with opened(machine(OLD)) as runtime:
        await runtime.start("order", "o")
        for index, event in enumerate(sends):
            assert (await runtime.send("o", event, event_id=f"e{index}")).outcome == "applied"


async def moved(runtime: Runtime, plan: MovePlan | None = None, **options: Any) -> Move:
    source = (await runtime.get("o")).definition
    (move,) = await runtime.migrate("order", plan, source=source, actor="op", reason="release 2", **options)
    return move


def test_what_runs_goes_on_under_its_new_names(opened: Open) -> None:
    async def main() -> None:
        told: list[str] = []
        await old_ones(opened, "PAY")
        async with opened(machine(OLD), machine(renamed(), told)) as runtime:
            before = (await runtime.effects())[0]
            assert await moved(runtime, RENAMING, dry_run=True) == Move("o", (), ("order.checkout.card",))
            assert (await runtime.get("o")).version == 2
            assert await moved(runtime, RENAMING) == Move("o", (), ("order.checkout.card",))
            after = (await runtime.effects())[0]
            assert (after.id, after.key, after.status) == (before.id, before.key, "PENDING")
            assert json.loads(after.name) == ["take"]
            row = await runtime.get("o")
            assert json.loads(row.state or "")["snapshot"]["context"] == {"items": 1, "currency": "EUR"}
            assert (await runtime.send("o", "PAY", event_id="e0")).outcome == "duplicate"
            await runtime.run_worker(until_idle=True)
            assert "order.paid" in (await runtime.get("o")).configuration
            assert told == ["entered"]
            assert [one.kind for one in await runtime.log("o")] == ["start", "event", "migrate", "result"]
            report = await runtime.verify("o", replay=True)
            assert report.is_clean and report.replayed == 4

    asyncio.run(main())


def test_history_and_timers_move(opened: Open) -> None:
    async def main() -> None:
        await old_ones(opened, "PAY", "SLOW", "PARK")
        async with opened(machine(renamed())) as runtime:
            assert (await moved(runtime, RENAMING)).problems == ()
            receipt = await runtime.send("o", "BACK")
            assert receipt.states == ("order.checkout.slow",)

    asyncio.run(main())


def test_a_timer_keeps_its_time(opened: Open) -> None:
    changed = new()
    changed["states"]["basket"] = changed["states"].pop("cart")
    changed["initial"] = "basket"

    async def main() -> None:
        await old_ones(opened)
        async with opened(machine(changed)) as runtime:
            (before,) = await runtime.timers("o")
            assert (await moved(runtime, MovePlan(states={"order.cart": "order.basket"}))).problems == ()
            (after,) = await runtime.timers("o")
            assert (after.due_at, after.event_type) == (before.due_at, "xstate.after.60000.order.cart")
            state = json.loads((await runtime.get("o")).state or "")
            assert [timer["event"]["type"] for timer in state["timers"]] == ["xstate.after.60000.order.basket"]

    asyncio.run(main())


def without_parked() -> dict[str, Any]:
    made = new()
    del made["states"]["parked"], made["states"]["cart"]["on"]["PARK"], made["states"]["paying"]["on"]
    return made


def with_invoke() -> dict[str, Any]:
    made = new()
    made["states"]["cart"]["invoke"] = {"id": "look", "src": "take"}
    return made


def with_after() -> dict[str, Any]:
    made = new()
    made["states"]["cart"]["after"]["5000"] = "parked"
    return made


def with_regions() -> dict[str, Any]:
    made = new()
    made["states"]["parked"] = {
        "type": "parallel",
        "states": {"a": {"initial": "x", "states": {"x": {}}}, "b": {"initial": "y", "states": {"y": {}}}},
    }
    return made


def not_paying() -> dict[str, Any]:
    made = new()
    made["states"]["paying"]["states"]["card"] = {"on": {"SLOW": "slow"}}
    made["states"]["parked"]["invoke"] = {"id": "pay", "src": "charge"}
    return made


def no_timer() -> dict[str, Any]:
    made = new()
    del made["states"]["cart"]["after"]
    return made


REFUSED: dict[str, tuple[list[str], dict[str, Any], MovePlan, str]] = {
    "a state is gone": (["PARK"], without_parked(), MovePlan(), r"'order\.parked' is 'order\.parked' now, which does not exist"),
    "it has states inside": (["PARK"], with_regions(), MovePlan(), "has states inside now"),
    "a region is new": (["PARK"], with_regions(), MovePlan(states={"parked": "parked.a.x"}), r"region 'order\.parked\.b' is new"),
    "an invoke is new": ([], with_invoke(), MovePlan(), "invokes 'look' there, and a migration starts nothing"),
    "an after is new": ([], with_after(), MovePlan(), r"`after` 5000 .* does not run yet"),
    "an after is gone": ([], no_timer(), MovePlan(), "no active state of the new definition has"),
    "a history is gone": (["PAY", "SLOW", "PARK"], renamed(), MovePlan(), "history state 'order.paying.back'"),
    "the invoke is elsewhere": (["PAY"], not_paying(), MovePlan(), "belongs to a state that would not be active"),
    "a source is another": (["PAY"], renamed(), MovePlan(states={"paying": "checkout"}, invokes={"pay": "debit"}), "map it in `sources`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_and_nothing_changes(opened: Open, case: str) -> None:
    sends, document, plan, message = REFUSED[case]

    async def main() -> None:
        await old_ones(opened, *sends)
        async with opened(machine(document)) as runtime:
            before = await runtime.get("o")
            move = await moved(runtime, plan)
            assert any(re.search(message, problem) for problem in move.problems), move.problems
            assert await runtime.get("o") == before

    asyncio.run(main())


def test_new_regions_begin_where_the_plan_says_and_new_timers_run_if_it_says_so(opened: Open) -> None:
    async def main() -> None:
        await old_ones(opened, "PARK")
        async with opened(machine(with_regions())) as runtime:
            move = await moved(runtime, MovePlan(states={"parked": "parked.a.x"}, added=("parked.b.y",)))
            assert move == Move("o", (), ("order.parked.a.x", "order.parked.b.y"))

    asyncio.run(main())


def test_new_timers_run_if_the_plan_says_so(opened: Open) -> None:
    async def main() -> None:
        await old_ones(opened)
        async with opened(machine(with_after())) as runtime:
            assert (await moved(runtime, MovePlan(arm_timers=True))).problems == ()
            assert len(await runtime.timers("o")) == 2
            assert (await runtime.get("o")).next_due == (await runtime.timers("o"))[0].due_at
            assert (await runtime.verify("o")).is_clean

    asyncio.run(main())


def test_an_effect_of_which_nobody_knows_has_to_be_settled_first(opened: Open) -> None:
    async def main() -> None:
        failing = machine(OLD)

        async def broken(input: Any) -> None:
            raise RuntimeError("?")

        async with opened(failing.provide({"actors": {"charge": broken}})) as runtime:
            await runtime.start("order", "o")
            await runtime.send("o", "PAY")
            await runtime.run_worker(until_idle=True)
        async with opened(machine(renamed())) as runtime:
            move = await moved(runtime, RENAMING)
            assert "is UNKNOWN; settle it first" in move.problems[0]
            assert (await moved(runtime, MovePlan(**{**_members(RENAMING), "doubtful": True}))).problems == ()

    asyncio.run(main())


def _members(plan: MovePlan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in MovePlan.__dataclass_fields__}


def test_what_is_no_migration(opened: Open) -> None:
    async def main() -> None:
        await old_ones(opened)
        async with opened(machine(OLD)) as runtime:
            source = (await runtime.get("o")).definition
            with pytest.raises(UsageError, match="are the same"):
                await runtime.migrate("order", source=source, actor="op", reason="x")
            with pytest.raises(UsageError, match="0 stored definitions"):
                await runtime.migrate("order", source="nothing", actor="op", reason="x")

    asyncio.run(main())


def test_begun_again_it_does_what_is_left(opened: Open) -> None:
    async def main() -> None:
        async with opened(machine(OLD)) as runtime:
            await runtime.start_many("order", {f"o{n}": None for n in range(5)})
            source = (await runtime.get("o0")).definition
        async with opened(machine(new())) as runtime:
            some = await runtime.migrate("order", source=source, instances=["o1", "o3"], actor="op", reason="x")
            rest = await runtime.migrate("order", source=source, actor="op", reason="x")
            assert [one.instance for one in (*some, *rest)] == ["o1", "o3", "o0", "o2", "o4"]
            assert await runtime.migrate("order", source=source, actor="op", reason="x") == []

    asyncio.run(main())
