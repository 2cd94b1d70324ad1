"""The envelope: everything a run needs to go on, and who is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from statecharts import SnapshotError, UsageError, assign, cancel, load_machine, raise_, send_to, simulate
from statecharts.events import to_event
from statecharts.interpreter import envelope
from statecharts.interpreter.envelope import SavedError, open_envelope, read_envelope, seal
from statecharts.interpreter.envelope_form import read_exactly
from statecharts.interpreter.envelope_model import read_leniently
from statecharts.interpreter.system import System

KID: dict[str, Any] = {
    "id": "kid",
    "initial": "x",
    "states": {"x": {"after": {"70": "y"}}, "y": {"entry": "ring", "on": {"RING": "z"}}, "z": {}},
}
DOCUMENT: dict[str, Any] = {
    "id": "m",
    "version": "3",
    "initial": "a",
    "context": {"ref": None, "n": 0},
    "states": {
        "a": {
            "invoke": [{"src": "kid", "id": "kid"}, {"src": "job", "id": "job"}],
            "entry": ["keep", "tick"],
            "on": {
                "TICK": {"actions": ["count", "tick"]},
                "LATE": {"actions": "count"},
                "SEND": {"actions": "late"},
                "OFF": {"actions": "off"},
                "DIE": {"actions": "die"},
            },
        }
    },
}


async def job() -> None:
    """Work that a test settles."""


def die() -> None:
    raise ValueError("kaput")


def machine(**changes: Any) -> Any:
    bound = {
        "actors": {"kid": load_machine(KID, {"actions": {"ring": raise_("RING", delay=30)}}), "job": job},
        "updates": {"count": lambda context: {"n": context["n"] + 1}},
        "actions": {
            "keep": assign(ref=lambda spawn: {"job": [spawn("job", id="mine", system_id="mine")]}),
            "tick": raise_("TICK", id="tick", delay=50),
            "late": send_to("#_internal", {"type": "LATE", "v": 1}, id="late", delay=20),
            "off": cancel("tick"),
            "die": die,
        },
    }
    return load_machine({**DOCUMENT, **changes}, bound)


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def facts(sim: Any) -> Any:
    return (
        sim.now,
        sim.snapshot.value,
        sim.snapshot.context,
        sim.snapshot.children,
        sim.child("kid").value,
        sim.child("kid").sequence,
        sim.snapshot.sequence,
        sim.clock.next_due(),
        list(sim.system.timers.pending.values()),
        sim.system.next_session,
        sim.system.registry,
    )


def test_a_run_goes_on_as_if_it_had_never_stopped() -> None:
    sim = simulate(machine())
    sim.advance(60)
    sim.send("SEND")
    again = simulate(machine(), snapshot=through_json(sim.save()))
    assert facts(again) == facts(sim)
    for step in (5, 5, 10, 50, 200):
        assert facts(again) == facts(sim)
        again.advance(step)
        sim.advance(step)
    assert again.child("kid").value == "z"
    again.send("OFF")
    sim.send("OFF")
    assert again.clock.next_due() is sim.clock.next_due() is None


def test_saving_twice_and_restoring_twice_changes_nothing() -> None:
    sim = simulate(machine())
    sim.advance(60)
    saved = sim.save()
    assert sim.save() == saved
    once = simulate(machine(), snapshot=saved)
    twice = simulate(machine(), snapshot=once.save())
    assert once.save() == twice.save() == saved
    assert through_json(saved) == saved


def test_the_snapshot_given_is_not_changed() -> None:
    saved = simulate(machine()).save()
    before = copy.deepcopy(saved)
    simulate(machine(), snapshot=saved).advance(500)
    assert saved == before


def test_actors_keep_their_addresses_and_names_and_references_point_at_them() -> None:
    sim = simulate(machine())
    sim.send("SEND")
    again = simulate(machine(), snapshot=sim.save())
    ref = again.snapshot.context["ref"]["job"][0]
    assert ref == sim.snapshot.context["ref"]["job"][0] == again.snapshot.children["mine"]
    assert again.system.view.get("mine") == ref
    assert again.system.root.ref.id == sim.system.root.ref.id
    again.resolve("mine", 7)
    assert again.child("mine").output == 7


def test_events_that_wait_are_kept_in_order() -> None:
    system = System(machine())
    system.boot()
    kid = next(cell for cell in system.cells.values() if cell.ref.id == "kid")
    system.send_all([(None, kid.ref, to_event("ONE", {"v": 1})), (None, kid.ref, to_event("TWO"))])
    while system.run():
        pass
    sealed = seal(system)
    waiting = [actor["mailbox"] for actor in sealed["actors"] if actor["path"] == ["kid"]]
    assert waiting == [[{"type": "ONE", "v": 1}, {"type": "TWO"}]]
    other = System(machine())
    open_envelope(other, sealed)
    assert seal(other) == sealed
    assert [actor["status"] for actor in sealed["actors"]] == ["not-started"] * 4


def test_an_ended_actor_stays_ended() -> None:
    sim = simulate(machine())
    sim.resolve("job", 1)
    sim.stop()
    saved = sim.save()
    assert [actor["status"] for actor in saved["actors"] if not actor["path"]] == ["ended"]
    again = simulate(machine(), snapshot=saved)
    assert again.snapshot.status == "stopped"
    again.send("TICK")
    assert again.snapshot.context["n"] == 0
    crashed = System(machine())
    crashed.boot()
    crashed.root.status = 2
    reopened = System(machine())
    open_envelope(reopened, seal(crashed))
    assert reopened.root.status == 2


def test_errors_are_kept_as_type_and_message() -> None:
    sim = simulate(machine())
    sim.send("DIE")
    sim2 = simulate(machine(), snapshot=through_json(sim.save()))
    error = sim2.snapshot.error
    assert isinstance(error, SavedError)
    assert (error.type_name, str(error), sim2.snapshot.status) == ("ValueError", "kaput", "error")
    rejected = simulate(machine())
    rejected.reject("job", ValueError("no"))
    saved = rejected.save()
    assert rejected.snapshot.status == "error"
    assert simulate(machine(), snapshot=saved).snapshot.error.type_name == "ValueError"


def test_an_error_of_a_child_is_kept_too() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "job", "id": "job", "onError": {"actions": []}}}}}
    sim = simulate(load_machine(document, {"actors": {"job": job}}))
    sim.reject("job", ValueError("no"))
    again = simulate(load_machine(document, {"actors": {"job": job}}), snapshot=sim.save())
    assert (again.child("job").error.type_name, str(again.child("job").error)) == ("ValueError", "no")


def test_virtual_time_goes_on() -> None:
    sim = simulate(machine())
    sim.advance(40)
    again = simulate(machine(), snapshot=sim.save())
    assert again.now == 40
    assert again.advance(9).context["n"] == 0
    assert again.advance(1).context["n"] == 1


def test_python_in_a_document_does_not_stop_it_from_being_hashed() -> None:
    document = {"id": "m", "initial": "a", "states": {"a": {"entry": [lambda: None], "tags": ("x",)}}}
    sim = simulate(load_machine(document))
    assert simulate(load_machine(document), snapshot=sim.save()).snapshot.value == "a"
    other = {**document, "states": {"a": {"entry": [assign(n=1)], "tags": ("x",)}}}
    assert envelope.machine_hash(load_machine(other)) != envelope.machine_hash(load_machine(document))


# -------------------------------------------------------------------- refusals


def changed(**changes: Any) -> dict[str, Any]:
    return {**simulate(machine()).save(), **changes}


@pytest.mark.parametrize(
    ("saved", "messages"),
    [
        (lambda: changed(formatVersion=99), ["the snapshot has format 99; this release reads up to 2. Use a newer release"]),
        (lambda: changed(machine={"id": "other", "hash": ""}), ["belongs to machine 'other', not 'm'"]),
        (lambda: changed(now="noon", extra=1), ["/now: ", "/extra: "]),
        (lambda: changed(actors=[{"path": 3}]), ["/actors/0/path: ", "/actors/0/session: "]),
        (lambda: changed(snapshot={"status": "active", "value": "zzz", "children": {}}), ["/value: State 'zzz'"]),
        (lambda: changed(actors=[{"path": ["ghost"], "session": 9, "status": "running"}]), ["saves an actor at 'ghost' that is not among its children"]),
    ],
)  # fmt: skip
def test_a_bad_envelope_is_refused_with_the_place(saved: Any, messages: list[str]) -> None:
    with pytest.raises(SnapshotError) as caught:
        simulate(machine(), snapshot=saved())
    for message in messages:
        assert message in str(caught.value)


def test_what_is_no_envelope_at_all() -> None:
    assert not envelope.is_envelope(7) and not envelope.is_envelope({"status": "active"})
    with pytest.raises(SnapshotError, match="this is not a saved snapshot of ours"):
        read_envelope({"format": envelope.FORMAT})


def test_a_changed_machine_is_refused_only_when_asked_to() -> None:
    saved = simulate(machine()).save()
    newer = machine(version="4")
    assert simulate(newer, snapshot=saved).snapshot.value == "a"
    with pytest.raises(SnapshotError, match="machine 'm' has changed since the snapshot was saved"):
        open_envelope(System(newer), saved, any_hash=False)
    open_envelope(System(machine()), saved, any_hash=False)


def test_timers_of_actors_that_are_gone_are_dropped() -> None:
    saved = simulate(machine()).save()
    [timer] = [timer for timer in saved["timers"] if timer["id"] == "tick"]
    for change in ({"source": 99}, {"target": 99}, {"target": None}):
        only = {**saved, "timers": [{**timer, **change}]}
        assert simulate(machine(), snapshot=only).clock.next_due() is None
    assert simulate(machine(), snapshot={**saved, "timers": [timer]}).clock.next_due() == 50


def test_an_order_of_states_that_does_not_fit_is_rebuilt() -> None:
    document = {"id": "p", "type": "parallel", "states": {name: {"initial": "1", "states": {"1": {"tags": name, "on": {name: "2"}}, "2": {"tags": name}}} for name in "ab"}}
    sim = simulate(load_machine(document))
    sim.send("a")
    saved = sim.save()
    assert simulate(load_machine(document), snapshot=saved).snapshot.tags == ("b", "a")
    saved["actors"][0]["order"] = ["p", "p.zzz"]
    assert simulate(load_machine(document), snapshot=saved).snapshot.tags == ("a", "b")


def test_half_a_step_cannot_be_saved() -> None:
    system = System(machine())
    system.boot()
    system.start()
    with pytest.raises(UsageError, match="only at rest"):
        seal(system)


def test_work_whose_result_waits_is_not_begun_again() -> None:
    async def work() -> None:
        """Settled by what was saved."""

    document = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"id": "w", "src": "work", "onDone": "b"}}, "b": {}}}
    machine = load_machine(document, {"actors": {"work": work}})
    saved = simulate(machine).save()
    [child] = [actor for actor in saved["actors"] if actor["path"] == ["w"]]
    child["mailbox"] = [{"type": "xstate.promise.resolve", "data": 1}]
    again = simulate(machine, snapshot=saved)
    assert (again.snapshot.value, again.starts) == ("b", [])


def test_actors_get_their_addresses_and_names_back() -> None:
    async def work() -> None: ...

    document = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "work", "id": "w", "systemId": "worker"}}}}
    loaded = load_machine(document, {"actors": {"work": work}})
    sim = simulate(loaded, first_session=7)
    again = simulate(loaded, snapshot=sim.save())
    assert again.snapshot.children["w"].session == sim.snapshot.children["w"].session == 8
    assert again.system.registry["worker"].session == 8
    assert again.save() == sim.save()


def test_the_hash_of_a_machine_is_taken_once() -> None:
    loaded = machine()
    assert envelope.machine_hash(loaded) is envelope.machine_hash(loaded)
    assert envelope.machine_hash(loaded) == envelope.machine_hash(machine())


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("", None), ("/machine/version", 3), ("/next/timer", 1.0), ("/next/more", 1), ("/snapshot/1", 1), ("/now", "7"), ("/now", 1e300),
        ("/actors/0/more", 1), ("/actors/0/sequence", True), ("/actors/0/order", "a"), ("/actors/0/order", [1]), ("/actors/0/path", ("kid",)),
        ("/actors/0/mailbox", [1]), ("/actors/0/error", []), ("/timers/0/target", "1"), ("/timers/0/due", True), ("/timers/0/more", 1),
    ],
)  # fmt: skip
def test_what_is_not_as_it_is_written_is_left_to_the_model(place: str, value: Any) -> None:
    saved: Any = copy.deepcopy(simulate(machine()).save())
    assert read_exactly(saved) == read_leniently(saved)
    holder = saved
    *way, last = place.split("/")
    for key in way[1:]:
        holder = holder[int(key) if isinstance(holder, list) else key]
    if place:
        holder[int(last) if last.isdigit() else last] = value
    assert read_exactly(saved if place else value) is None
