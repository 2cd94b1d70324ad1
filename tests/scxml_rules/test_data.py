"""Data, scripts and payloads of SCXML documents."""

from __future__ import annotations

import json
from typing import Any
from xml.sax.saxutils import escape

import pytest
from session_documents import document, leaves, log, logged, run

from statecharts import DefinitionError, ImplementationError, Machine, load_machine, simulate
from statecharts.scxml_definition import build_scxml_definition

FILES = {"list.json": "[1, 2]", "note.xml": "<note to='you'/>", "fun.js": "function twice(x) { return 2 * x }"}


def find(uri: str) -> str:
    return FILES[uri]


def test_data_and_scripts_may_come_from_elsewhere() -> None:
    body = """<datamodel><data id="xs" src="list.json"/><data id="x" src="note.xml"/><data id="none" src="gone"/></datamodel>
      <script src="fun.js"/>
      <state id="s"><onentry><log expr="xs.length"/><log expr="x.documentElement.getAttribute('to')"/><log expr="typeof none"/>
        <script src="fun.js"/><log expr="twice(4)"/></onentry>
        <transition event="error.execution"><log expr="_event.data.tagname + ': ' + _event.data.reason"/></transition></state>"""
    assert logged(run(body, resolver=find)) == [
        2, "you", "undefined", 8, "data: 'gone' cannot be resolved: 'gone'",
    ]  # fmt: skip


def test_a_source_must_be_a_text() -> None:
    body = '<script src="x"/><state id="s"/>'
    with pytest.raises(DefinitionError, match="resolves to dict, not to a text"):
        run(body, resolver=lambda _uri: {})
    with pytest.raises(DefinitionError, match="no resolver was given"):
        run(body)


def test_late_data_are_bound_at_the_first_entry_only() -> None:
    body = """<datamodel><data id="top" expr="1"/></datamodel>
      <state id="a"><onentry><log expr="typeof inner"/></onentry><transition event="e" target="b"/></state>
      <state id="b"><datamodel><data id="inner" expr="top"/></datamodel>
        <onentry><log expr="inner"/><assign location="inner" expr="inner + 1"/></onentry><transition event="e" target="a"/></state>"""
    sim = run(body, "e", "e", "e", attributes='binding="late"')
    assert logged(sim) == ["undefined", 1, "number", 2]
    again = simulate(sim.machine, snapshot=json.loads(json.dumps(sim.save())))
    again.send("e")
    again.send("e")
    assert logged(again) == ["number", 3]


def test_early_data_are_bound_at_the_start() -> None:
    body = """<state id="a"><onentry><log expr="inner"/></onentry></state>
      <state id="b"><datamodel><data id="inner" expr="5"/></datamodel></state>"""
    assert logged(run(body)) == [5]


def test_input_reaches_top_level_data_only() -> None:
    body = """<datamodel><data id="n" expr="nobody"/></datamodel>
      <state id="a"><datamodel><data id="m" expr="2"/></datamodel><onentry><log expr="n + m"/></onentry></state>"""
    sim = simulate(load_machine(document(body)), {"n": 40, "m": 1, "other": 1})
    assert (logged(sim), sim.snapshot.context) == ([42], {"n": 40, "m": 2})


def test_a_script_that_fails_is_an_error_event() -> None:
    body = """<script>nobody()</script><state id="s"><transition event="error.execution" target="t"/></state><state id="t"/>"""
    assert leaves(run(body)) == ["t"]


def test_assign_takes_content() -> None:
    body = """<datamodel><data id="x"/></datamodel>
      <state id="s"><onentry><assign location="x">{"k": [1]}</assign><log expr="x.k[0]"/><log label="only"/></onentry></state>"""
    sim = run(body)
    assert sim.logged[0][1] == 1
    assert sim.logged[1][0] == "only"


def test_foreach_declares_its_variables_and_copies_the_array() -> None:
    body = """<datamodel><data id="xs" expr="[1, 2]"/></datamodel>
      <state id="s"><onentry><foreach array="xs" item="it" index="at"><log expr="at + ':' + it"/><assign location="xs" expr="[]"/></foreach>
        <foreach array="xs" item="it"><log expr="'never'"/></foreach></onentry></state>"""
    sim = run(body)
    assert logged(sim) == ["0:1", "1:2"]
    assert sim.snapshot.context == {"xs": [], "it": 2, "at": 1}


def test_params_that_fail_are_left_out_and_reported() -> None:
    body = f"""<state id="s"><onentry><send event="x"><param name="a" expr="1"/><param name="b" expr="nobody"/></send></onentry>
      <transition event="error.execution" cond="_event.data.tagname == 'param'">{log('param')}</transition>
      <transition event="x" cond="_event.data.a == 1 &amp;&amp; !('b' in _event.data)">{log('x')}</transition></state>"""
    assert logged(run(body)) == ["param", "x"]


def test_done_data_may_be_content() -> None:
    body = """<state id="s"><final id="f"><donedata><content>hello</content></donedata></final>
      <transition event="done.state.s" cond="_event.data == 'hello'" target="t"/></state><state id="t"/>"""
    assert leaves(run(body)) == ["t"]


def test_an_empty_finalize_takes_what_came_back() -> None:
    child = '<scxml version="1.0"><state id="c"><onentry><send target="#_parent" event="x"><param name="n" expr="9"/><param name="p" expr="8"/></send></onentry></state></scxml>'
    body = f"""<datamodel><data id="n" expr="1"/><data id="here" expr="{{at: 2}}"/></datamodel>
      <state id="s"><invoke type="scxml" namelist="n"><param name="p" location="here.at"/><param name="q" location="here"/>
          <content>{child}</content><finalize/></invoke>
        <transition event="x"><log expr="n + here.at"/></transition><transition event="y"/></state>"""
    assert logged(run(body.replace(' namelist="n"', "").replace('<param name="p"', '<param name="n" location="n"/><param name="p"'))) == [17]


def test_autoforward_sends_the_event_on_as_it_is() -> None:
    child = f"""<scxml version="1.0"><state id="c"><transition event="ping" cond="_event.data.n == 3" target="f">{log('child')}</transition></state>
      <final id="f"/></scxml>"""
    body = f"""<state id="s"><invoke type="scxml" id="k" autoforward="true"><content>{child}</content></invoke>
        <transition event="done.invoke.k" target="t"/></state>
      <state id="t"><invoke type="scxml" id="l" autoforward="true"><content>{child}</content></invoke></state>"""
    sim = run(body)
    sim.send("ping", n=3)
    assert (leaves(sim), logged(sim)) == (["t"], ["child"])
    sim.send("ping", n=3)
    sim.send("ping", n=3)
    assert logged(sim) == ["child", "child"]


def test_events_carry_what_they_were_sent_with() -> None:
    body = "<state id='s'><transition event='*'><log expr='JSON.stringify(_event.data)'/></transition></state>"
    sim = run(body)
    for event in ({"type": "a"}, {"type": "a", "data": 1}, {"type": "a", "data": 1, "more": 2}, {"type": "a", "k": {"x": []}}):
        sim.send(event)
    assert logged(sim)[1:] == ["1", '{"data":1,"more":2}', '{"k":{"x":[]}}']


def test_a_definition_alone_cannot_run() -> None:
    definition = build_scxml_definition({"semantics": "scxml", "states": {"s": {}}})
    with pytest.raises(ImplementationError, match="known are none; load the document with load_machine"):
        simulate(Machine(definition))


def test_a_datamodel_can_be_given() -> None:
    from statecharts.adapters.datamodels.null import null

    body = "<state id='s'><transition event='e' cond=\"In('s')\" target='t'/></state><state id='t'/>"
    sim = run(body, "e", attributes='datamodel="mine"', datamodels={"mine": null()})
    assert leaves(sim) == ["t"]


def test_queries_say_why() -> None:
    body = """<datamodel><data id="n" expr="1"/></datamodel>
      <state id="s"><transition event="e" cond="n == 2" target="t"/><transition event="f" cond="_event.data.x" target="t"/>
        <transition event="done.state.s"/><transition event="error"/></state><state id="t"/>"""
    snapshot = run(body).snapshot
    options: Any = {option.type: option for option in snapshot.next_events()}
    assert set(options) == {"e", "f"}
    assert (options["e"].enabled, options["e"].refused_by) == (False, ("n == 2",))
    assert options["f"].enabled is None
    assert "guard needs the event's data" in options["f"].reason
    assert snapshot.can("f", x=True) and not snapshot.can("f")
    assert snapshot.option("f", x=True).enabled


def test_an_empty_finalize_takes_only_objects() -> None:
    child = '<scxml version="1.0"><state id="c"><onentry><send target="#_parent" event="x"><content>text</content></send></onentry></state></scxml>'
    body = f"""<datamodel><data id="n" expr="1"/></datamodel>
      <state id="s"><invoke type="scxml"><param name="n" location="n"/><content>{child}</content><finalize/></invoke>
        <transition event="x"><log expr="n"/></transition></state>"""
    assert logged(run(body)) == [1]


def test_an_if_may_have_no_branch_that_holds() -> None:
    assert logged(run(f"<state id='s'><onentry><if cond='false'>{log('if')}</if>{log('on')}</onentry></state>")) == ["on"]


@pytest.mark.parametrize(
    ("expr", "name"),
    [("1.5e-7", "1.5e-7"), ("1 > 0", "true"), ("1 < 0", "false"), ("2 + 1", "3"), ("0/0", "NaN"),
     ("null", "error.execution"), ("undefined", "error.execution"), ("[1]", "error.execution")],
)
def test_computed_names_are_spelled_as_javascript_does(expr: str, name: str) -> None:
    body = f"<state id='s'><onentry><send eventexpr='{escape(expr)}'/></onentry><transition event='*'><log expr='_event.name'/></transition></state>"
    assert logged(run(body)) == [name]


def test_done_data_that_fail_are_an_error_before_the_done_event() -> None:
    body = f"""<state id="s"><final id="f"><donedata><content expr="nobody"/></donedata></final>
      <transition event="error.execution" cond="_event.data.tagname == 'content'">{log('error')}</transition>
      <transition event="done.state.s" cond="typeof _event.data == 'undefined'">{log('done')}</transition></state>"""
    assert logged(run(body)) == ["error", "done"]


def test_an_eventless_condition_that_fails_is_reported_once() -> None:
    body = f"""<state id="s"><transition cond="nobody" target="t"/>
      <transition event="error.execution">{log('error')}</transition></state><state id="t"/>"""
    sim = run(body, "x")
    assert (sim.snapshot.status, leaves(sim)) == ("active", ["s"])
    assert logged(sim)[0] == "error"
