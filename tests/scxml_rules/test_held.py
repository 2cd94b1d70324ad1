"""What a look at broken copies of the code found nobody to hold."""

from __future__ import annotations

from typing import Any

import pytest
from session_documents import document, leaves, log, logged, run

from statecharts import load_machine, simulate
from statecharts.interpreter import macrostep
from statecharts.interpreter.system_state import Begin, Fire, initial_system, step_system


def test_document_order_counts_across_descriptors() -> None:
    body = """<state id="s"><transition event="e.a" cond="false" target="t0"/><transition event="e" target="t1"/>
      <transition event="e.a" target="t2"/></state><state id="t0"/><state id="t1"/><state id="t2"/>"""
    assert leaves(run(body, "e.a")) == ["t1"]


def test_a_condition_is_reported_again_when_states_have_changed() -> None:
    body = f"""<state id="s"><transition cond="nobody" target="z"/>
        <state id="a"><transition event="error.execution" target="b">{log('one')}</transition></state>
        <state id="b"><transition event="error.execution">{log('two')}</transition></state></state><state id="z"/>"""
    sim = run(body)
    assert (leaves(sim), logged(sim)) == (["b"], ["one", "two"])


def test_xml_reaches_an_xstate_parent_as_text() -> None:
    child = document('<state id="c"><onentry><send target="#_parent" event="hi"><content><b xmlns=""/></content></send></onentry></state>')
    seen: list[Any] = []
    parent = {"initial": "a", "states": {"a": {"invoke": {"src": "kid"}, "on": {"hi": {"actions": "note"}}}}}
    bound = {"actors": {"kid": load_machine(child)}, "actions": {"note": lambda context, event: seen.append(event["data"])}}
    simulate(load_machine(parent, bound))
    assert [type(data) for data in seen] == [str]


def test_a_queue_that_only_grows_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(macrostep, "MAX_QUEUE", 500)
    body = """<datamodel><data id="n" expr="0"/></datamodel><state id="s"><onentry><raise event="e"/></onentry>
      <transition event="e"><assign location="n" expr="n + 1"/><script>if (n &gt; 3000) throw 'too late'</script><raise event="e"/><raise event="e"/></transition>
      <transition event="error" target="late"/></state><state id="late"/>"""
    assert run(body).snapshot.status == "error"


def test_a_thawed_system_still_translates_between_rule_books() -> None:
    child = document('<state id="c"><onentry><send target="#_parent" event="hi" delay="5ms"><param name="n" expr="1"/></send></onentry></state>')
    parent = {
        "initial": "a",
        "states": {"a": {"invoke": {"src": "kid"}, "on": {"hi": {"target": "b", "actions": "note"}}}, "b": {}},
        "context": {},
    }
    bound = {"actors": {"kid": load_machine(child)}, "updates": {"note": lambda context, event: {"seen": dict(event)}}}
    state, _ = step_system(initial_system(load_machine(parent, bound)), Begin())
    state, _ = step_system(state, Fire(state.timers[0].handle), now=5)
    assert (state.snapshot.value, state.snapshot.context) == ("b", {"seen": {"type": "hi", "n": 1}})


@pytest.mark.parametrize("kind", ["state", "parallel"])
def test_a_condition_that_fails_is_told_however_often_the_place_was_passed(kind: str) -> None:
    """What is known of a place must not skip that its conditions see the session and may raise (SCXML §5.9.1)."""
    regions = """<state id="x"><transition event="e" cond="no.one" target="x"/></state><state id="y"><transition event="e" cond="_event.name == 'e' &amp;&amp; _sessionid != ''"><log expr="'seen'"/></transition></state>"""
    body = f"""<{kind} id="s"><transition event="error.execution"><log expr="'told'"/></transition>{regions}</{kind}>"""
    sim = run(body, *["e"] * 20, attributes='datamodel="ecmascript"')
    assert logged(sim).count("told") == 20
    assert logged(sim).count("seen") == (20 if kind == "parallel" else 0)
