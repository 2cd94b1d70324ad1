"""Three levels of actors, SCXML and XState in turn, with timers, saved in between."""

from __future__ import annotations

from typing import Any

import pytest
from case_documents import again, inner, load, to_the_end, whole

from statecharts import load_machine, send_parent, simulate

SAVING = pytest.mark.parametrize("saving", [False, True], ids=["live", "saved"])


@SAVING
def test_session_over_xstate_over_session(saving: bool) -> None:
    leaf = load_machine(
        inner(
            """<datamodel><data id="n" expr="0"/></datamodel>
               <state id="s"><onentry><send event="t" delay="20ms"/></onentry><transition event="t" target="f"/></state>
               <final id="f"><donedata><param name="n" expr="n * 2"/></donedata></final>"""
        )
    )
    states: dict[str, Any] = {
        "wait": {"after": {"10": "work"}},
        "work": {"invoke": {"src": "leaf", "id": "leaf", "input": {"n": 7}, "onDone": "rest"}},
        "rest": {"after": {"5": "end"}},
        "end": {"type": "final"},
    }
    middle = load_machine(
        {"id": "middle", "initial": "wait", "states": states, "output": {"ok": 1}}, {"actors": {"leaf": leaf}}
    )
    top = load(
        """<state id="s"><onentry><send event="timeout" delay="1s"/></onentry><invoke type="middle" id="m"/>
             <transition event="done.invoke.m" cond="_event.data.ok == 1" target="pass"/><transition event="*" target="fail"/></state>""",
        implementations={"actors": {"middle": middle}},
    )
    sim = to_the_end(top, saving=saving)
    assert (sim.snapshot.atomic_states, sim.now) == (("pass",), 35)


@SAVING
def test_xstate_over_session_over_xstate(saving: bool) -> None:
    leaf = load_machine(
        {
            "id": "leaf",
            "initial": "a",
            "states": {"a": {"entry": "hey", "after": {"10": "b"}}, "b": {"type": "final"}},
            "output": {"v": 3},
        },
        {"actions": {"hey": send_parent({"type": "hey", "q": 1})}},
    )
    middle = load_machine(
        inner(
            """<datamodel><data id="q" expr="0"/></datamodel>
               <state id="s"><invoke type="leaf" id="l"/>
                 <transition event="hey"><assign location="q" expr="_event.data.q"/><send event="up" target="#_parent"/></transition>
                 <transition event="done.invoke.l" target="f"><assign location="q" expr="q + _event.data.v"/></transition></state>
               <final id="f"><donedata><param name="q" expr="q"/></donedata></final>"""
        ),
        implementations={"actors": {"leaf": leaf}},
    )
    top = load_machine(
        {
            "id": "top",
            "initial": "a",
            "context": {"q": 0},
            "states": {
                "a": {
                    "invoke": {"src": "middle", "id": "k", "onDone": {"target": "ok", "actions": "take"}},
                    "initial": "p",
                    "states": {"p": {"on": {"up": "q"}}, "q": {}},
                },
                "ok": {},
            },
        },
        {
            "actors": {"middle": middle},
            "updates": {"take": lambda context, event: {"q": event["output"]["q"]}},
        },
    )
    sim = to_the_end(top, saving=saving)
    assert (sim.snapshot.value, sim.snapshot.context) == ("ok", {"q": 4})


@SAVING
def test_a_child_that_is_cancelled_takes_its_timers_along(saving: bool) -> None:
    grandchild = inner(
        '<state id="s"><onentry><send event="t" delay="30ms"/></onentry><transition event="t" target="s"/></state>'
    )
    child = inner(
        f"""<state id="s"><onentry><send event="bad" target="#_parent" delay="30ms"/></onentry>
              <invoke type="scxml"><content>{grandchild}</content></invoke></state>"""
    )
    machine = load(
        f"""<state id="s"><onentry><send event="go" delay="10ms"/><send event="end" delay="90ms"/></onentry>
              <state id="m"><invoke id="k" type="scxml"><content>{child}</content></invoke><transition event="go" target="n"/></state>
              <state id="n"/><transition event="bad done" target="fail"/><transition event="end" target="pass"/></state>"""
    )
    sim = simulate(machine)
    sim.advance(10)
    if saving:
        sim = again(machine, sim)
    assert sim.clock.next_due() == 90
    assert sim.settle().atomic_states == ("pass",)


def test_session_ids_stay_unique_over_restores() -> None:
    child = inner(
        """<state id="s"><onentry><send event="id" target="#_parent"><param name="i" expr="_sessionid"/></send></onentry></state>"""
    )
    machine = load(
        f"""<datamodel><data id="ids" expr="[]"/><data id="n" expr="0"/></datamodel>
            <state id="s"><onentry><send event="again" delay="10ms"/></onentry>
              <invoke type="scxml"><content>{child}</content></invoke>
              <transition event="id"><script>ids.push(_event.data.i, _event.invokeid)</script></transition>
              <transition event="again" cond="n == 3" target="pass"/>
              <transition event="again" target="s"><assign location="n" expr="n + 1"/></transition></state>"""
    )
    live, saved = (to_the_end(machine, saving=saving).snapshot.context["ids"] for saving in (False, True))
    assert len(set(live)) == len(live) == 8
    assert saved == live


def test_an_event_forwarded_to_an_xstate_child_is_an_xstate_event() -> None:
    seen: list[dict[str, Any]] = []
    child = load_machine(
        {
            "id": "c",
            "initial": "a",
            "states": {"a": {"on": {"ping": {"actions": "note", "target": "b"}}}, "b": {"type": "final"}},
        },
        {"actions": {"note": lambda event: seen.append(dict(event))}},
    )
    machine = load(
        """<state id="s"><onentry><send event="ping" delay="5ms"><param name="a" expr="1"/></send></onentry>
             <invoke type="child" id="k" autoforward="true"/><transition event="done.invoke.k" target="pass"/></state>""",
        implementations={"actors": {"child": child}},
    )
    assert simulate(machine).settle().atomic_states == ("pass",)
    assert seen == [{"type": "ping", "a": 1}]


def test_a_child_of_another_kind_that_fails_is_an_event() -> None:
    def boom() -> None:
        raise ValueError("kaput")

    child = load_machine(
        {"id": "c", "initial": "a", "states": {"a": {"after": {"5": "b"}}, "b": {"entry": "boom"}}},
        {"actions": {"boom": boom}},
    )
    machine = load(
        """<state id="s"><invoke type="child" id="k"/>
             <transition event="error.communication" cond="_event.invokeid == 'k' &amp;&amp; _event.data.message == 'kaput'" target="pass"/></state>""",
        implementations={"actors": {"child": child}},
    )
    assert simulate(machine).settle().atomic_states == ("pass",)


def test_the_same_document_may_invoke_itself_to_a_depth() -> None:
    text = whole(
        """<datamodel><data id="n" expr="0"/><data id="doc"/></datamodel>
           <state id="s"><transition cond="n == 5" target="pass"/><transition cond="doc" target="go"/></state>
           <state id="go"><invoke id="k" type="deeper"><param name="n" expr="n + 1"/></invoke>
             <transition event="done.invoke.k" target="pass"/><transition event="error" target="fail"/></state>"""
    )
    machine: Any = None
    for _ in range(6):
        bound = {} if machine is None else {"deeper": machine}
        machine = load_machine(text, implementations={"actors": bound})
    assert simulate(machine, {"doc": "yes", "n": 5}).snapshot.atomic_states == ("pass",)
    assert simulate(machine, {"doc": "yes"}).snapshot.status == "active"
