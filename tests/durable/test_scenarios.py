"""What went wrong for others (scenarios 3xx), and must not here. 306 and 309 are with the stores, 342 with the effects."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from clocks import TestClock
from sample_agents import Open, World, mailer

from statecharts import Implementations, Machine, Runtime, UsageError, load_machine
from statecharts.adapters.engines.durable.worker import Worker


def context_of(state: str | None) -> Any:
    return json.loads(state or "")["snapshot"]["context"]


def waiting(told: list[str]) -> Machine[Any, Any]:
    """Sends a mail on entry to a state that waits."""
    document = {
        "id": "waiting",
        "initial": "asked",
        "states": {"asked": {"entry": "mail", "on": {"YES": "agreed"}}, "agreed": {"entry": "mail"}},
    }
    impl = Implementations()
    impl.action("mail")(lambda: told.append("mail"))
    return load_machine(document, impl)


def test_301_a_restart_does_not_run_entry_again(opened: Open) -> None:
    told: list[str] = []

    async def main() -> None:
        async with opened(waiting(told)) as runtime:
            await runtime.start("waiting", "w")
            await runtime.run_worker(until_idle=True)
        for _ in range(3):
            async with opened(waiting(told)) as runtime:
                await runtime.run_worker(until_idle=True)
                assert len(await runtime.effects()) == 1 and told == ["mail"]
        async with opened(waiting(told)) as runtime:
            assert (await runtime.send("w", "YES")).outcome == "applied"
            await runtime.run_worker(until_idle=True)
            assert len(await runtime.effects()) == 2 and told == ["mail", "mail"]

    asyncio.run(main())


def approvals() -> Machine[Any, Any]:
    """Two children that each wait for an answer of the same name."""
    child = load_machine({"id": "ask", "initial": "open", "states": {"open": {"on": {"ANSWER": "closed"}}, "closed": {}}})
    document = {
        "id": "both",
        "type": "parallel",
        "states": {
            "legal": {"invoke": {"id": "legal", "src": "ask"}},
            "money": {"invoke": {"id": "money", "src": "ask"}},
        },
    }
    return load_machine(document, {"actors": {"ask": child}})


def test_302_an_answer_says_whom_it_is_for(opened: Open) -> None:
    async def main() -> None:
        async with opened(approvals()) as runtime:
            await runtime.start("both", "b")
            bare = await runtime.send("b", "ANSWER")
            assert bare.outcome == "refused"
            assert bare.reason is not None and "to='legal' (or 'money')" in bare.reason
            assert (await runtime.send("b", "ANSWER", to="money")).outcome == "applied"
            children = json.loads((await runtime.get("b")).state or "")["snapshot"]["children"]
            assert (children["legal"]["snapshot"]["value"], children["money"]["snapshot"]["value"]) == ("open", "closed")
            again = await runtime.send("b", "ANSWER", to="money")
            assert again.outcome == "refused" and "does not take 'ANSWER' now" in (again.reason or "")
            nobody = await runtime.send("b", "ANSWER", to="nobody")
            assert nobody.outcome == "refused" and "no active machine at 'nobody'" in (nobody.reason or "")
            assert (await runtime.verify("b", replay=True)).is_clean

    asyncio.run(main())


def counter() -> Machine[Any, Any]:
    document = {
        "id": "counter",
        "initial": "on",
        "context": {"n": 0, "got": []},
        "states": {"on": {"on": {"ADD": {"actions": "add"}, "BAD": {"actions": "bad"}}}},
    }
    impl = Implementations()

    @impl.update("add")
    def add(context: Any, event: Any) -> dict[str, Any]:
        return {"n": context["n"] + 1, "got": [*context["got"], event.get("value")]}

    @impl.update("bad")
    def bad() -> None:
        raise ValueError("poison")

    return load_machine(document, impl)


def test_304_the_same_delivery_twice(opened: Open) -> None:
    async def main() -> None:
        async with opened(counter()) as runtime:
            await runtime.start("counter", "c")
            first = await runtime.send("c", {"type": "ADD", "value": 1}, event_id="e1")
            second = await runtime.send("c", {"type": "ADD", "value": 1}, event_id="e1", actor="somebody else")
            other = await runtime.send("c", {"type": "ADD", "value": 2}, event_id="e1")
            assert (first.outcome, second.outcome, other.outcome) == ("applied", "duplicate", "refused")
            assert second.first == first
            assert context_of((await runtime.get("c")).state) == {"n": 1, "got": [1]}
            assert len(await runtime.inbox("c")) == 2

    asyncio.run(main())


def test_307_what_is_kept_is_what_was_decided(opened: Open) -> None:
    """Nobody can change a context between the decision and the write: it is text by then, and frozen before."""

    async def main() -> None:
        event = {"type": "ADD", "value": {"list": [1]}}
        async with opened(counter()) as runtime:
            await runtime.start("counter", "c")
            sending = asyncio.ensure_future(runtime.send("c", event))
            await asyncio.sleep(0)
            event["value"]["list"].append(2)  # type: ignore[index]
            await sending
            assert context_of((await runtime.get("c")).state)["got"] == [{"list": [1]}]

    asyncio.run(main())


def test_311_one_bad_event_does_not_stop_the_batch(opened: Open) -> None:
    async def main() -> None:
        async with opened(counter()) as runtime:
            await runtime.start("counter", "c")
            events = ["ADD", "BAD", "ADD", "NOBODY", "ADD"]
            receipts = await runtime.send_many([("c", event, f"e{n}") for n, event in enumerate(events)])
            assert [one.outcome for one in receipts] == ["applied", "dead", "applied", "refused", "applied"]  # type: ignore[union-attr]
            assert context_of((await runtime.get("c")).state)["n"] == 3
            (dead,) = await runtime.inbox("c", statuses=("dead",))
            assert "ValueError: poison" in (dead.error or "") and "def bad" not in (dead.receipt or "")
            assert not (await runtime.get("c")).needs_attention
            again = await runtime.send("c", "BAD", event_id="e1")
            assert again.outcome == "duplicate" and again.first is not None and again.first.outcome == "dead"

    asyncio.run(main())


def test_311_one_bad_effect_does_not_stop_the_others(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the second of five needs is not there: it fails with its reason, and the rest run."""
    found = Worker.function

    def lacking(worker: Worker, row: Any) -> Any:
        if row.instance == "m1":
            raise LookupError("no such actor in this release")
        return found(worker, row)

    monkeypatch.setattr(Worker, "function", lacking)
    world = World()

    async def main() -> None:
        async with opened(mailer(world)) as runtime:
            await runtime.start_many("mailer", {f"m{n}": None for n in range(5)})
            await asyncio.gather(*(runtime.send(f"m{n}", "GO") for n in range(5)))
            await runtime.run_worker(until_idle=True)
            (bad,) = await runtime.effects(instance="m1")
            assert bad.status == "FAILED" and "no such actor" in (bad.error or "") and bad.called_at is None
            assert "failed" in (await runtime.get("m1")).configuration
            assert sum(world.calls.values()) == 4

    asyncio.run(main())


@pytest.mark.parametrize("name", ["", " ", "a\n", " a", "a\0", "x" * 300, 7, None])
def test_314_odd_names_are_refused(opened: Open, name: Any) -> None:
    async def main() -> None:
        async with opened(counter()) as runtime:
            with pytest.raises(UsageError, match="an instance's name"):
                await runtime.start("counter", name)
            assert await runtime.instances() == []
            await runtime.start("counter", "c")
            with pytest.raises(UsageError, match="an event's id"):
                await runtime.send("c", "ADD", event_id=name if name is not None else "")

    asyncio.run(main())


DEADLINE: dict[str, Any] = {
    "id": "deadline",
    "initial": "waiting",
    "context": {"late": 0},
    "states": {
        "waiting": {"on": {"ANSWER": "answered"}, "after": {"1000": {"target": "late", "actions": "count"}}},
        "answered": {},
        "late": {"on": {"ANSWER": "answered_late"}},
        "answered_late": {},
    },
}


def deadline() -> Machine[Any, Any]:
    return load_machine(DEADLINE, {"updates": {"count": lambda context: {"late": context["late"] + 1}}})


@pytest.mark.parametrize("pumped", [False, True])
@pytest.mark.parametrize(("wait", "state"), [(999, "answered"), (1000, "answered_late"), (5000, "answered_late")])
def test_316_a_deadline_and_the_event_that_ends_it(opened: Open, wait: int, state: str, pumped: bool) -> None:
    clock = TestClock()

    async def main() -> None:
        async with opened(deadline(), clock=clock) as runtime:
            await runtime.start("deadline", "d")
            clock.advance(wait)
            if pumped:
                await runtime.run_worker(until_idle=True)
            receipt = await runtime.send("d", "ANSWER")
            assert receipt.states == (f"deadline.{state}",)
            assert await runtime.timers("d") == []
            clock.advance(10_000)
            await runtime.run_worker(until_idle=True)
            row = await runtime.get("d")
            assert context_of(row.state)["late"] == (wait >= 1000)
            assert (await runtime.verify("d", replay=True)).is_clean

    asyncio.run(main())


ORDER = """
import asyncio, sys
sys.path[:0] = {path!r}
from clocks import TestClock
from statecharts import Runtime, load_machine
async def work(): ...
inside = {{"invoke": [{{"id": n, "src": "work"}} for n in "abc"], "after": {{"1000": "..x", "2000": "..x"}}}}
inside["after"] = {{"1000": "#m.x", "2000": "#m.x"}}
machine = load_machine(
    {{"id": "m", "initial": "p", "states": {{"p": {{"type": "parallel", "states": {{"r": inside, "s": {{"invoke": {{"id": "d", "src": "work"}}}}}},
      "on": {{"LEAVE": "x"}}}}, "x": {{}}}}}}, {{"actors": {{"work": work}}}})
class Dice:
    n = 0
    def incarnation(self): return "inc"
    def salt(self): Dice.n += 1; return str(Dice.n)
    event_id = salt
    def jitter(self): return 0.0
async def main():
    async with Runtime.open("memory:", [machine], clock=TestClock(), entropy=Dice()) as runtime:
        await runtime.start("m", "i")
        await runtime.send("i", "LEAVE", event_id="e")
        for row in [*await runtime.log("i"), *await runtime.effects(), *await runtime.timers("i")]:
            print(row)
asyncio.run(main())
"""


def test_317_what_is_withdrawn_has_an_order() -> None:
    code = ORDER.format(path=[str(Path(__file__).parent)])
    seen = {
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": str(seed), "PATH": ""}, capture_output=True, check=True).stdout
        for seed in (0, 1, 2, 77)
    }
    assert len(seen) == 1 and b"WITHDRAWN" in seen.pop()


def test_322_accepted_events_survive(opened: Open) -> None:
    async def main() -> None:
        async with opened(counter()) as runtime:
            await runtime.start("counter", "c")
        async with opened() as runtime:  # a process that cannot run the machine
            receipts = [await runtime.send("c", {"type": "ADD", "value": n}, event_id=f"e{n}") for n in range(3)]
            assert [one.outcome for one in receipts] == ["accepted"] * 3
            assert (await runtime.send("c", {"type": "ADD", "value": 1}, event_id="e1")).outcome == "duplicate"
        async with opened(counter()) as runtime:
            assert (await runtime.get("c")).pending == 3
            await runtime.run_worker(until_idle=True)
            assert context_of((await runtime.get("c")).state)["got"] == [0, 1, 2]
            first = (await runtime.send("c", {"type": "ADD", "value": 2}, event_id="e2")).first
            assert first is not None and (first.outcome, first.version) == ("applied", 4)

    asyncio.run(main())


def test_324_a_deadline_keeps_its_place_among_what_waits(opened: Open) -> None:
    """It was due before the second event came, and after the first."""
    document = {
        "id": "line",
        "initial": "on",
        "context": {"got": []},
        "states": {"on": {"on": {"E": {"actions": "note"}}, "after": {"1000": {"actions": "note"}}}},
    }
    machine = load_machine(
        document, {"updates": {"note": lambda context, event: {"got": [*context["got"], event.get("n", "timer")]}}}
    )
    clock = TestClock()

    async def main() -> None:
        async with opened(machine, clock=clock) as runtime:
            await runtime.start("line", "l")
        async with opened(clock=clock) as runtime:
            await runtime.send("l", {"type": "E", "n": 1})
            clock.advance(2000)
            await runtime.send("l", {"type": "E", "n": 2})
        async with opened(machine, clock=clock) as runtime:
            await runtime.run_worker(until_idle=True)
            assert context_of((await runtime.get("l")).state)["got"] == [1, "timer", 2]

    asyncio.run(main())


def test_327_the_clock_that_was_given_fires_timers_after_a_restart(opened: Open) -> None:
    clock = TestClock()

    async def main() -> None:
        async with opened(deadline(), clock=clock) as runtime:
            await runtime.start("deadline", "d")
        clock.advance(1_000_000)
        async with opened(deadline(), clock=clock) as runtime:
            await runtime.run_worker(until_idle=True)
            await runtime.run_worker(until_idle=True)
            row = await runtime.get("d")
            assert (row.version, context_of(row.state)["late"]) == (2, 1)

    asyncio.run(main())


@pytest.mark.parametrize("how", ["cancelled", "done"])
def test_329_timers_go_with_the_instance(opened: Open, how: str) -> None:
    document: dict[str, Any] = {
        "id": "t",
        "initial": "a",
        "states": {"a": {"after": {"1000": "a"}, "on": {"END": "end"}}, "end": {"type": "final"}},
    }

    async def main() -> None:
        async with opened(load_machine(document)) as runtime:
            await runtime.start("t", "t")
            assert len(await runtime.timers("t")) == 1
            if how == "done":
                await runtime.send("t", "END")
            else:
                await runtime.cancel("t", actor="op", reason="not needed")
            row = await runtime.get("t")
            assert (row.status, row.next_due) == (how, None)
            assert await runtime.timers("t") == []
            assert (await runtime.send("t", "END")).outcome == "refused"
            assert (await runtime.verify("t", replay=True)).is_clean

    asyncio.run(main())


def test_331_a_report_does_not_cancel_itself(opened: Open) -> None:
    """The result leaves the state that invoked; what the next state starts is called all the same."""
    document = {
        "id": "two",
        "initial": "a",
        "states": {"a": {"invoke": {"src": "one", "onDone": "b"}}, "b": {"invoke": {"src": "two", "onDone": "c"}}, "c": {}},
    }
    ended: list[str] = []

    async def one() -> None:
        ended.append("one")

    async def two() -> None:
        await asyncio.sleep(0.02)
        ended.append("two")

    async def main() -> None:
        async with opened(load_machine(document, {"actors": {"one": one, "two": two}})) as runtime:
            await runtime.start("two", "t")
            await runtime.run_worker(until_idle=True)
            assert ended == ["one", "two"] and "two.c" in (await runtime.get("t")).configuration

    asyncio.run(main())


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_332_an_interrupt_leaves_no_half_step(kind: type[BaseException], tmp_path: Path) -> None:
    """It is raised in an update, in the thread that commits: the event did not happen, and may be sent again."""
    raises = [True]

    def interrupted(context: Any) -> dict[str, Any]:
        if raises:
            raises.pop()
            raise kind
        return {"n": context["n"] + 1}

    document = {"id": "m", "initial": "a", "context": {"n": 0}, "states": {"a": {"on": {"E": {"actions": "u"}}}}}
    machine = load_machine(document, {"updates": {"u": interrupted}})

    async def main() -> None:
        async with Runtime.open(f"sqlite:///{tmp_path / 'i.db'}", [machine]) as runtime:
            await runtime.start("m", "m")
            with pytest.raises(Exception, match=f"nothing was written: the machine's code raised {kind.__name__}"):
                await runtime.send("m", "E", event_id="e")
            assert (await runtime.get("m")).version == 1
            assert (await runtime.send("m", "E", event_id="e")).outcome == "applied"
            assert context_of((await runtime.get("m")).state)["n"] == 1

    asyncio.run(main())


def test_339_addresses_survive(opened: Open) -> None:
    child = load_machine({"id": "child", "initial": "a", "states": {"a": {"on": {"PING": "b"}}, "b": {}}})
    document = {
        "id": "parent",
        "initial": "on",
        "states": {
            "on": {
                "invoke": {"id": "c", "src": "child", "systemId": "desk"},
                "on": {"GO": {"actions": "ping"}},
            }
        },
    }
    from statecharts import send_to

    ping = send_to(lambda system: system.get("desk"), {"type": "PING"})
    machine = load_machine(document, {"actors": {"child": child}, "actions": {"ping": ping}})

    async def main() -> None:
        async with opened(machine) as runtime:
            await runtime.start("parent", "p")
        async with opened(machine) as runtime:
            assert (await runtime.send("p", "GO")).outcome == "applied"
            state = json.loads((await runtime.get("p")).state or "")
            assert state["snapshot"]["children"]["c"]["snapshot"]["value"] == "b"
            assert (await runtime.verify("p", replay=True)).is_clean

    asyncio.run(main())
