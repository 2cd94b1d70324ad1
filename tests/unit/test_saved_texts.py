"""Snapshots as JSON text: the calls, envelopes without a host, the order of states, and what is kept for it."""

from __future__ import annotations

import gc
import json
import threading
import tracemalloc
from typing import Any

import pytest

from statecharts import (
    Snapshot,
    SnapshotError,
    UsageError,
    initial_transition,
    load_machine,
    memo_of,
    restore_snapshot,
    simulate,
    transition,
)
from statecharts.interpreter.program import program_of
from statecharts.json_text import dumps
from statecharts.values import UNDEFINED

TOGGLE: dict[str, Any] = {"id": "t", "initial": "off", "context": {"n": 0}, "states": {"off": {"on": {"T": "on"}}, "on": {"on": {"T": "off"}}}}


def regions(names: str = "abc") -> dict[str, Any]:
    """Regions that move by their name, and all by ``GO``; their tags show the order of the states."""
    return {
        "id": "p",
        "type": "parallel",
        "states": {
            name: {
                "initial": "1",
                "states": {"1": {"tags": f"{name}1", "on": {name: "2", "GO": "2"}}, "2": {"tags": f"{name}2", "on": {name: "1", "GO": "1"}}},
            }
            for name in names
        },
    }


TIMED: dict[str, Any] = {"id": "m", "initial": "a", "states": {"a": {"after": {"50": "b"}}, "b": {}}}


def parent() -> Any:
    kid = load_machine({"id": "kid", "initial": "a", "states": {"a": {}}})
    return load_machine({"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "kid", "id": "kid"}}}}, {"actors": {"kid": kid}})


# ------------------------------------------------------------------- texts


def test_the_texts_are_those_of_the_objects() -> None:
    for machine in (load_machine(TOGGLE), load_machine(regions()), load_machine(TIMED), parent()):
        sim = simulate(machine)
        for event in ("T", "a", "GO"):
            sim.send(event)
            assert sim.to_xstate_text() == dumps(sim.to_xstate())
            assert sim.save_text() == dumps(sim.save())
            assert simulate(machine, snapshot=sim.save_text()).save() == sim.save()
            assert simulate(machine, snapshot=sim.to_xstate_text()).to_xstate() == sim.to_xstate()


def test_a_text_is_short() -> None:
    sim = simulate(load_machine(TOGGLE))
    sim.send("T")
    assert sim.to_xstate_text() == '{"status":"active","value":"on","historyValue":{},"context":{"n":0},"children":{}}'
    actors, following = sim.save_text().split('"children":{}},')[1].split(',"timers":[],')
    assert actors == '"actors":[{"path":[],"session":0,"status":"running","mailbox":[],"sequence":1}]'
    assert following == '"next":{"session":1,"timer":0}}'


def test_a_watched_numbered_named_or_strict_simulation_is_restored_from_text_too() -> None:
    machine = load_machine(TOGGLE)
    sim = simulate(machine)
    sim.send("T")
    events: list[Any] = []
    for text in (sim.to_xstate_text(), sim.save_text()):
        assert simulate(machine, snapshot=text, inspect=events.append).snapshot == sim.snapshot
        assert simulate(machine, snapshot=text, system_id="s").snapshot == sim.snapshot
        assert simulate(machine, snapshot=text, on_unhandled="raise").snapshot == sim.snapshot
        assert simulate(machine, snapshot=text, pure=True).snapshot.value == "on"
    assert events
    assert simulate(machine, snapshot=sim.to_xstate_text(), system_id="s").system.registry
    again = simulate(machine, snapshot=simulate(machine, first_session=7).save_text(), first_session=7)
    assert (again.system.root.ref.session, again.system.next_session) == (7, 8)


def test_time_and_numbers_go_on_from_a_text() -> None:
    machine = load_machine(TIMED)
    sim = simulate(machine)
    sim.advance(60)
    again = simulate(machine, snapshot=sim.save_text())
    assert (again.now, again.system.now, again.system.next_session) == (60, 60, sim.system.next_session)
    assert again.system.timers.next_handle == sim.system.timers.next_handle == 1
    assert again.save() == sim.save()


def test_a_restored_simulation_handles_events() -> None:
    machine = load_machine(TOGGLE)
    sim = simulate(machine, snapshot=simulate(machine).to_xstate_text())
    assert sim.send("T").value == "on"
    sim.stop()
    assert simulate(machine, snapshot=sim.save_text()).snapshot.status == "stopped"


def test_a_stranger_saves_nothing() -> None:
    sim = simulate(load_machine(TOGGLE))
    told: list[str] = []

    def save() -> None:
        for call in (sim.to_xstate_text, sim.save_text):
            with pytest.raises(UsageError) as caught:
                call()
            told.append(str(caught.value))

    thread = threading.Thread(target=save)
    thread.start()
    thread.join()
    assert len(told) == 2 and "belongs to the thread that made it" in told[0]


def test_half_a_step_has_no_text() -> None:
    def act() -> None:
        for call in (sim.to_xstate_text, sim.save_text):
            with pytest.raises(UsageError, match=rf"{call.__name__}\(\) in the middle of a step"):
                call()
        ran.append(True)

    ran: list[bool] = []
    sim = simulate(load_machine({"id": "m", "initial": "a", "on": {"GO": {"actions": "act"}}, "states": {"a": {}}}, {"actions": {"act": act}}))
    sim.send("GO")
    assert ran


# ----------------------------------------------------- envelopes without a host


@pytest.mark.parametrize("text", [True, False])
def test_an_envelope_keeps_what_xstates_form_does_not(text: bool) -> None:
    machine = load_machine(regions())
    snapshot, _ = initial_transition(machine)
    for event in ("b", "a", "GO"):
        saved: Any = snapshot.save_text() if text else snapshot.save()
        restored = restore_snapshot(machine, saved)
        assert (restored, restored.tags, restored.sequence) == (snapshot, snapshot.tags, snapshot.sequence)
        snapshot, _ = transition(machine, restored, event)
    assert snapshot.tags == ("b1", "a1", "c2") or snapshot.value == {"a": "1", "b": "1", "c": "2"}


def test_a_hosts_envelope_is_read_without_one_and_the_other_way_round() -> None:
    machine = load_machine(TOGGLE)
    sim = simulate(machine)
    sim.send("T")
    assert sim.save() == sim.snapshot.save()
    assert restore_snapshot(machine, sim.save()) == restore_snapshot(machine, sim.save_text()) == sim.snapshot
    assert simulate(machine, snapshot=sim.snapshot.save_text()).save() == sim.save()


def test_what_is_over_is_saved_without_a_host() -> None:
    def fail() -> None:
        raise ValueError("kaput")

    document = {
        "id": "m", "initial": "a", "output": {"x": 1},
        "states": {"a": {"on": {"END": "end", "FAIL": {"actions": "fail"}}}, "end": {"type": "final"}},
    }  # fmt: skip
    machine = load_machine(document, {"actions": {"fail": fail}})
    done = simulate(machine).send("END")
    saved = done.save()
    assert (saved["running"], saved["actors"][0]["status"]) == (False, "ended")
    assert (restore_snapshot(machine, saved).output, simulate(machine, snapshot=done.save_text()).snapshot.output) == ({"x": 1}, {"x": 1})
    failed = simulate(machine).send("FAIL")
    error = restore_snapshot(machine, failed.save_text()).error
    assert (error.type_name, str(error)) == ("ValueError", "kaput")


def test_what_only_a_host_can_keep_is_refused_without_one() -> None:
    family = simulate(parent())
    with pytest.raises(UsageError, match="use the host's save"):
        family.snapshot.save()
    with pytest.raises(UsageError, match="use the host's save"):
        family.snapshot.save_text()
    with pytest.raises(UsageError, match="use the host's to_xstate"):
        family.snapshot.to_xstate_text()
    for saved in (family.save(), family.save_text(), family.to_xstate_text()):
        with pytest.raises(UsageError, match="this snapshot has children, which only a host can run"):
            restore_snapshot(family.machine, saved)
    timed = simulate(load_machine(TIMED))
    waiting = timed.save()
    waiting["timers"] = []
    waiting["actors"][0]["mailbox"] = [{"type": "X"}]
    for saved in (timed.save(), timed.save_text(), waiting, dumps(waiting)):
        with pytest.raises(UsageError, match="this snapshot has timers or queued events, which only a host can keep"):
            restore_snapshot(timed.machine, saved)
    with pytest.raises(SnapshotError, match="belongs to machine 'm', not 't'"):
        restore_snapshot(load_machine(TOGGLE), timed.save_text())


def test_a_session_has_texts_and_an_envelope_too() -> None:
    states = '<state id="a"><transition event="go" target="b"/></state><state id="b"/>'
    machine = load_machine(f'<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="null">{states}</scxml>')
    snapshot, _ = initial_transition(machine)
    assert (snapshot.to_xstate_text(), snapshot.save_text()) == (dumps(snapshot.to_xstate()), dumps(snapshot.save()))
    for text in (snapshot.to_xstate_text(), snapshot.save_text()):
        assert transition(machine, restore_snapshot(machine, text), "go")[0].value == "b"
        assert simulate(machine, snapshot=text).send("go").value == "b"


# ----------------------------------------------------------- format and order


def test_envelopes_of_format_1_are_read() -> None:
    """As development versions wrote them: every member there, and the order of states as a list or not at all."""
    machine = load_machine(regions("ab"))
    actor = {"path": [], "session": 0, "status": "running", "open": True, "begun": False, "mailbox": [], "sequence": 3}
    saved: dict[str, Any] = {
        "format": "statecharts/snapshot",
        "formatVersion": 1,
        "machine": {"id": "p", "version": None, "hash": "of another time"},
        "semantics": "xstate",
        "now": 5,
        "running": True,
        "snapshot": {"status": "active", "value": {"a": "2", "b": "2"}, "historyValue": {}, "context": {}, "children": {}},
        "actors": [actor],
        "timers": [],
        "next": {"session": 1, "timer": 0},
    }
    sim = simulate(machine, snapshot=json.dumps(saved))
    assert (sim.now, sim.snapshot.sequence, sim.snapshot.order) == (5, 3, None)
    actor["order"] = ["p", "p.a", "p.b", "p.b.2", "p.a.2"]
    sim = simulate(machine, snapshot=json.dumps(saved))
    assert [node.id for node in sim.snapshot.nodes] == actor["order"]
    assert sim.save()["formatVersion"] == 2


def test_the_order_of_states_is_written_as_briefly_as_can_be() -> None:
    machine = load_machine(regions())
    sim = simulate(machine)
    said = []
    for event in ("", "b", "GO", "GO"):
        sim.send(event or "nothing")
        saved = sim.save()
        said.append(saved["actors"][0].get("order"))
        for form in (saved, sim.save_text()):
            again = simulate(machine, snapshot=form)
            assert (again.snapshot.nodes, again.snapshot.tags, again.save()) == (sim.snapshot.nodes, sim.snapshot.tags, saved)
    moved = ["p", "p.a", "p.a.1", "p.b", "p.c", "p.c.1", "p.b.2"]
    assert said == [None, moved, [], []]


@pytest.mark.parametrize("limit", [0, 2**20])
def test_the_order_of_states_whose_names_are_read_as_ids_is_written_out(limit: int) -> None:
    document = regions("ab")
    document["states"]["#nowhere"] = {}
    machine = load_machine(document)
    memo_of(machine).limit = limit
    sim = simulate(machine)
    sim.send("GO")
    assert len(sim.save()["actors"][0]["order"]) == len(sim.snapshot.nodes)
    assert sim.save_text() == dumps(sim.save())


def test_an_order_that_a_hand_made_snapshot_began_is_kept() -> None:
    """Its state value has its regions in an order of its own, and so have the states from then on."""
    machine = load_machine(regions())
    form = {"status": "active", "value": {"b": "1", "c": "2", "a": "1"}, "historyValue": {}, "context": {}, "children": {}}
    sim = simulate(machine, snapshot=form)
    for event in ("c", "a", "b"):
        sim.send(event)
        for saved in (sim.save(), sim.save_text()):
            again = simulate(machine, snapshot=saved)
            assert (again.snapshot.nodes, list(again.snapshot.value)) == (sim.snapshot.nodes, list(sim.snapshot.value))
        assert sim.save_text() == dumps(sim.save())


# ---------------------------------------------------------------- what is kept


def ring(size: int) -> dict[str, Any]:
    return {"id": "r", "initial": "s0", "context": {}, "states": {f"s{i}": {"on": {"NEXT": f"s{(i + 1) % size}"}} for i in range(size)}}


@pytest.mark.parametrize("document", [ring(600), ring(2), regions("abcdef")], ids=["600 states", "2 states", "regions"])
def test_texts_are_kept_within_what_is_said(document: dict[str, Any]) -> None:
    machine = load_machine(document)
    memo = memo_of(machine)
    names = [*document["states"]] if document["id"] == "p" else ["NEXT"]

    def run() -> None:
        snapshot, _ = initial_transition(machine)
        for index in range(1200):
            snapshot, _ = transition(machine, snapshot, names[index * index % len(names)])
            assert restore_snapshot(machine, snapshot.to_xstate_text()).value == snapshot.value
            assert restore_snapshot(machine, snapshot.save_text()) == snapshot

    run()
    memo.clear()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 0 < grown <= memo.bytes + 20_000


def test_texts_are_forgotten_with_all_else_and_made_again() -> None:
    machine = load_machine(TOGGLE)
    program, memo = program_of(machine), memo_of(machine)
    snapshot = simulate(machine).send("T")
    text = snapshot.to_xstate_text()
    assert restore_snapshot(machine, text) == snapshot
    assert snapshot._configuration.text and program.texts
    memo.clear()
    assert not snapshot._configuration.text and not program.texts
    assert snapshot.to_xstate_text() == text
    assert program.own(snapshot._configuration).text == snapshot.to_xstate_text()[: len('{"status":"active","value":"on"')]
    assert restore_snapshot(machine, text) == snapshot
    memo.limit = 0
    assert snapshot.to_xstate_text() == text and restore_snapshot(machine, text) == snapshot
    assert not program.texts and memo.bytes == 0


def test_only_a_whole_state_value_is_taken_for_one() -> None:
    """A region may be called as the member that follows the value."""
    machine = load_machine({"id": "m", "type": "parallel", "context": {}, "states": {"a": {"initial": "x", "states": {"x": {}}}, "historyValue": {}}})
    snapshot: Snapshot[Any] = initial_transition(machine)[0]
    text = snapshot.to_xstate_text()
    assert text.count(',"historyValue":') == 2
    for _ in range(2):
        assert restore_snapshot(machine, text) == restore_snapshot(machine, snapshot.to_xstate())
        assert restore_snapshot(machine, snapshot.save_text()) == snapshot
        assert restore_snapshot(machine, text + " ").value == snapshot.value
    for broken in (text[:-1], text + "}", text.replace(',"context":{}', ',"context":{"a":}'), text.replace("{},", "[],")):
        with pytest.raises((SnapshotError, json.JSONDecodeError)):
            restore_snapshot(machine, broken)
    sealed = snapshot.save_text()
    for now, read in (("5", True), ("1.5", True), ("x", False), ("", False), ('"0"', True), ("1e300", True), ("[]", False)):
        changed = sealed.replace('"now":0', f'"now":{now}')
        if read:
            assert restore_snapshot(machine, changed) == snapshot
        else:
            with pytest.raises((SnapshotError, json.JSONDecodeError)):
                restore_snapshot(machine, changed)


def test_what_stands_behind_a_text_is_not_overlooked() -> None:
    machine = load_machine(TOGGLE)
    sim = simulate(machine)
    text = sim.to_xstate_text()
    assert restore_snapshot(machine, f"{text} \n") == sim.snapshot
    for behind in ("x", "{}", ",", text, "\x00"):
        for read in (restore_snapshot, lambda machine, given: simulate(machine, snapshot=given)):
            with pytest.raises(ValueError, match="Extra data"):
                read(machine, text + behind)


def test_a_context_is_no_reference_to_an_actor_whatever_its_members_are_called() -> None:
    """XState looks for references among the members (``reviveContext``)."""
    machine = load_machine({"id": "m", "context": {}, "initial": "a", "states": {"a": {}}})
    for context in ({"xstate$$type": 1, "id": "k"}, {"xstate$$type": 1, "id": "k", "more": [{"n": 1}]}):
        saved = {"status": "active", "value": "a", "historyValue": {}, "context": context, "children": {}}
        for form in (saved, dumps(saved)):
            assert restore_snapshot(machine, form).context == context
            assert simulate(machine, snapshot=form).snapshot.context == context
        gone = simulate(machine, snapshot={**saved, "context": {"kid": context, "all": [context]}}).snapshot.context
        assert gone == {"kid": UNDEFINED, "all": [UNDEFINED]}
