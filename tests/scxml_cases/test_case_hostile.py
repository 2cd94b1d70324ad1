"""Documents and inputs that mean harm: a clear refusal or an error event, soon, and nothing left behind."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from case_documents import again, load, whole

from statecharts import DefinitionError, StatechartError, UsageError, load_machine, simulate
from statecharts.interpreter.system import EventFlood

PATIENCE = 20.0
"""Seconds of CPU time: a guard against hanging, far above the one second that an evaluation may take."""

ERROR = '<transition event="error.execution" target="pass"/>'


def ends(body: str) -> tuple[str, ...]:
    """Where a document comes to rest; fails when it takes long."""
    begun = time.process_time()
    snapshot = simulate(load(body)).settle()
    assert time.process_time() - begun < PATIENCE + 1
    assert snapshot.error is None or snapshot.status != "error", snapshot.error
    return tuple(snapshot.atomic_states)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("".join(f'<state id="q{i}">' for i in range(100_000)) + "</state>" * 100_000, "nest"),
        (
            "<state id='s'><onentry>" + '<if cond="true">' * 5_000 + "</if>" * 5_000 + "</onentry></state>",
            "nest",
        ),
    ],
    ids=["states", "ifs"],
)
def test_endless_nesting_is_refused(text: str, word: str) -> None:
    with pytest.raises(DefinitionError, match=word):
        load_machine(whole(text))


def test_entities_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    with pytest.raises(DefinitionError, match="DOCTYPE"):
        load_machine(bomb + whole('<state id="s"><onentry><log label="&b;"/></onentry></state>'))


@pytest.mark.parametrize(
    "script",
    [
        "while (true) {}",
        "/^(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')",
        "var x = []; while (true) x.push(new Array(10000).join('y') + x.length);",
        "var x = 'ab'; while (true) x = x + x;",
        "var x = []; x[4294967290] = 1;",
        "(function f() { return f() + 1; })()",
        "throw null",
        "throw {toString() { while (true) {} }}",
        "throw new Proxy({}, {get() { throw 1; }})",
        "Object.defineProperty(globalThis, 'zz', {get() { throw 1; }, enumerable: true})",
    ],
)
def test_scripts_that_harm_are_error_events(script: str) -> None:
    assert ends(f'<state id="s"><onentry><script><![CDATA[{script}]]></script></onentry>{ERROR}</state>') == (
        "pass",
    )


@pytest.mark.parametrize(
    "expr",
    [
        "(function () { var x = {}; x.x = x; return x; })()",
        "(function () { var x = []; for (var i = 0; i &lt; 100000; i++) x = [x]; return x; })()",
        "(function () { while (true) {} })()",
    ],
)
def test_data_that_cannot_be_kept_are_error_events(expr: str) -> None:
    assert ends(f'<datamodel><data id="d" expr="{expr}"/></datamodel><state id="s">{ERROR}</state>') == (
        "pass",
    )


@pytest.mark.parametrize(
    "array", ["(function* () { while (true) yield 1; })()", "({length: 1e15})", "null", "undefined"]
)
def test_arrays_without_end_or_none_are_error_events(array: str) -> None:
    assert ends(f'<state id="s"><onentry><foreach array="{array}" item="x"/></onentry>{ERROR}</state>') == (
        "pass",
    )


def test_a_condition_without_end_is_false() -> None:
    body = f'<state id="s"><transition cond="(function () {{ while (true) {{}} }})()" target="fail"/>{ERROR}</state>'
    assert ends(body) == ("pass",)


def test_a_hundred_thousand_elements() -> None:
    body = """<datamodel><data id="a" expr="(function () { var x = []; for (var i = 0; i &lt; 100000; i++) x.push(i); return x; })()"/></datamodel>
      <state id="s"><onentry><assign location="a[5]" expr="-1"/></onentry><transition cond="a.length == 100000 &amp;&amp; a[5] == -1" target="pass"/></state>"""
    assert ends(body) == ("pass",)


def test_a_macrostep_without_end_is_the_end_of_the_session() -> None:
    loops = (
        '<state id="s"><transition target="t"/></state><state id="t"><transition target="s"/></state>',
        '<state id="s"><onentry><raise event="e"/></onentry><transition event="e" target="s"/></state>',
    )
    for body in loops:
        snapshot = simulate(load(body)).snapshot
        assert snapshot.status == "error"
        assert "Infinite loop" in str(snapshot.error)


def test_sessions_that_send_without_end_can_be_bounded() -> None:
    body = '<state id="s"><onentry><send event="e"/></onentry><transition event="e"><send event="e"/></transition></state>'
    with pytest.raises(EventFlood):
        simulate(load(body), max_events=1_000)


@pytest.mark.parametrize(
    "name",
    [
        "a." * 20_000 + "b",
        "a b\n\x00\"'<>&",
        "",
        ".",
        "..",
        "constructor",
        "__proto__",
        "größe.日本",
        "𝒳",
        "*",
    ],
)
def test_odd_event_names_are_names(name: str) -> None:
    machine = load(
        '<state id="s"><transition event="*" cond="_event.name.length == _event.data.n" target="pass"/></state>'
    )
    sim = simulate(machine)
    units = len(name.encode("utf-16-le")) // 2
    sim.send({"type": name, "n": units})
    assert sim.snapshot.atomic_states == ("pass",)


@pytest.mark.parametrize(
    "name", ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "eval", "JSON", "Object"]
)
def test_data_may_be_named_like_what_javascript_has(name: str) -> None:
    machine = load(
        f"""<datamodel><data id="{name}" expr="5"/></datamodel>
            <state id="s"><onentry><send event="e" delay="1ms"/></onentry><transition event="e" cond="{name} === 5" target="pass"/></state>"""
    )
    sim = again(machine, simulate(machine))
    assert sim.settle().atomic_states == ("pass",)
    other = simulate(
        load(
            '<state id="s"><transition cond="({}).constructor === Object &amp;&amp; JSON.stringify([1]) == \'[1]\'" target="pass"/></state>'
        )
    )
    assert other.snapshot.atomic_states == ("pass",)


@pytest.mark.parametrize(
    "script",
    [
        "Object.prototype.evil = 1",
        "Array.prototype.push = null",
        "In = function () { return true; }",
        "JSON.parse = null; JSON.stringify = null",
        "globalThis.evil = 1; delete globalThis.In",
        "this.constructor.constructor('return this')().evil = 1",
    ],
)
def test_nothing_leaks_into_another_session(script: str) -> None:
    machine = load(
        f"""<state id="s"><transition event="harm"><script>{script}</script></transition>
              <transition event="look" cond="typeof evil == 'undefined' &amp;&amp; !({{}}).evil &amp;&amp; !In('pass') &amp;&amp; JSON.stringify([].concat(1)) == '[1]'" target="pass"/></state>"""
    )
    one, two = simulate(machine), simulate(machine)
    one.send("harm")
    two.send("look")
    assert two.snapshot.atomic_states == ("pass",)


def test_a_payload_that_nests_too_deep_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    sim = simulate(load('<state id="s"><transition event="e" target="pass"/></state>'))
    with pytest.raises(UsageError):
        sim.send({"type": "e", "v": deep})
    assert sim.snapshot.atomic_states == ("s",)


@pytest.mark.parametrize(
    "content",
    ["new Map()", "5", "'&lt;scxml'", "'{'", "null", "undefined", "({semantics: 'scxml', states: {}})", "''"],
)
def test_content_that_is_no_document_is_an_error_event(content: str) -> None:
    body = f'<state id="s"><invoke type="scxml"><content expr="{content}"/></invoke><transition event="error" target="pass"/></state>'
    assert ends(body) == ("pass",)


def test_a_spoilt_snapshot_is_refused_or_runs() -> None:
    machine = load(
        '<datamodel><data id="n" expr="1"/></datamodel><state id="s"><onentry><send event="e" delay="5ms"/></onentry><transition event="e" target="pass"/></state>'
    )
    saved = simulate(machine).save()

    def places(value: Any, path: tuple[Any, ...] = ()) -> Any:
        if isinstance(value, dict):
            for key in value:
                yield from places(value[key], (*path, key))
        elif isinstance(value, list):
            for index, each in enumerate(value):
                yield from places(each, (*path, index))
        if path:
            yield path

    wrongs: tuple[Any, ...] = (None, "x", -1, [], {}, 1e308)
    for path in places(saved):
        for wrong in wrongs:
            spoilt = json.loads(json.dumps(saved))
            holder = spoilt
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = wrong
            try:
                simulate(machine, snapshot=spoilt).advance(1)
            except StatechartError:
                continue
