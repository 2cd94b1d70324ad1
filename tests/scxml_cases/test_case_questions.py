"""``can()``, ``next_events()`` and inspection of sessions."""

from __future__ import annotations

from typing import Any

from case_documents import inner, load

from statecharts import simulate

BODY = """<datamodel><data id="n" expr="1"/></datamodel><parallel id="s">
  <state id="a"><transition event="f" cond="In('b') &amp;&amp; _event.data.v == n" target="pass"/><transition event="bad" cond="no.such" target="fail"/></state>
  <state id="b"><transition event="g.*" target="pass"/><transition event="h i"><log expr="n"/></transition></state></parallel>"""


def test_can_asks_conditions_with_the_event() -> None:
    snapshot = simulate(load(BODY)).snapshot
    assert snapshot.can({"type": "f", "v": 1})
    assert not snapshot.can({"type": "f", "v": 2})
    assert not snapshot.can("f")
    assert snapshot.can("g.h.i")
    assert snapshot.can("i")
    assert not snapshot.can("gg")
    assert not snapshot.can("bad")


def test_asking_changes_nothing() -> None:
    sim = simulate(load(BODY))
    before = sim.save()
    for event in ("f", "bad", "g.x", "i"):
        sim.snapshot.can(event)
    sim.snapshot.next_events()
    assert sim.save() == before


def test_next_events_lists_each_name_once_with_what_is_known() -> None:
    options = {option.type: option.enabled for option in simulate(load(BODY)).snapshot.next_events()}
    assert options == {"f": None, "bad": None, "g": True, "h": True, "i": True}


def test_inspection_tells_of_sessions_and_their_children() -> None:
    seen: list[Any] = []
    child = inner('<state id="s"><transition target="f"/></state><final id="f"/>')
    machine = load(
        f"""<state id="s"><invoke id="k" type="scxml"><content>{child}</content></invoke>
              <transition event="done.invoke.k" target="pass"/></state>"""
    )
    assert simulate(machine, inspect=seen.append).snapshot.atomic_states == ("pass",)
    kinds = {event.type for event in seen}
    assert {"@xstate.actor", "@xstate.event", "@xstate.microstep", "@xstate.snapshot"} <= kinds
