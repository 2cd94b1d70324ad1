"""Expressions, locations, scripts and system variables (SCXML §5.9, §5.10, B.2)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import pytest

from statecharts.adapters.datamodels.ecmascript import ecmascript
from statecharts.errors import ImplementationError, UsageError
from statecharts.interpreter.datamodel import DatamodelError, Session
from statecharts.values import UNDEFINED, FrozenDict, FrozenList, freeze

Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("source", "truth"),
    [
        ("a == 1", True), ("a === '1'", False), ("0", False), ("''", False), ("'0'", True), ("NaN", False), ("[]", True),
        ("({})", True), ("undefined", False), ("null", False), ("b.k[1] === 3", True), ("'k' in b", True),
        ("b.k instanceof Array", True), ("typeof nope === 'undefined'", True), ("", False), ("  ", False), ("a == 1;", True),
        ("a == 1 // yes", True), ("(function (s) { return s.slice(0, 1) === 'x' })('xy')", True),
    ],
)  # fmt: skip
def test_conditions_have_the_truth_of_javascript(bench: Make, source: str, truth: bool) -> None:
    assert bench(a=1, b={"k": [2, 3]}).test(source) is truth


@pytest.mark.parametrize("source", ["a++", "a = 2", "delete globalThis.a", "d = 1", "this.d = 1", "eval('a = 3')", "(0, eval)('var d = 1')"])
def test_a_condition_cannot_change_a_variable(bench: Make, source: str) -> None:
    session = bench(a=1)
    before = session.context
    session.test(source)
    assert session.context is before
    assert session.evaluate("[a, typeof d]") == [1, "undefined"]


@pytest.mark.parametrize("source", ["b.push(1)", "b.sort()", "b.length = 0, b.push(2)", "o.d.setHours(3)", "Object.assign(o, {z: 1})"])
def test_what_a_condition_changes_on_its_way_is_dropped(bench: Make, source: str) -> None:
    session = bench(b=[2, 1], o={})
    session.run("o.d = new Date(0)")
    before = session.context
    assert session.test(f"({source}, b.sort()[0] == 1)") or source.startswith("b.length")
    assert session.context is before
    assert session.evaluate("[b.join(), o.d.getTime(), o.z]") == ["2,1", 0, UNDEFINED]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("a + 1", 2), ("a / 2", 0.5), ("2 / 2", 1), ("'x' + a", "x1"), ("[a, 'b']", [1, "b"]), ("({k: a})", {"k": 1}),
        ("{k: a}", {"k": 1}), ("undefined", UNDEFINED), ("null", None), ("[,1]", [UNDEFINED, 1]), ("", UNDEFINED), ("a;", 1),
        ("1/0", math.inf), ("-1/0", -math.inf), ("2**53", 2**53), ("2**60", float(2**60)), ("1e21", 1e21), ("1e-7", 1e-7),
        ("'\\0\\u2028é😀'", "\0\u2028é😀"), ("'\\ud800'", "\ud800"), ("({b: 1, 2: 1, 1: 1})", {"1": 1, "2": 1, "b": 1}),
        ("({'__proto__': 1, ['__proto__']: 2})", {"__proto__": 2}), ("Object.create(null)", {}), ("'abc'.match(/b/)", ["b"]),
        ("new Proxy({a: 1}, {})", {"a": 1}), ("({get x() { return 1 }})", {"x": 1}), ("`t${a}`", "t1"), ("[3, 1, 2].sort()", [1, 2, 3]),
    ],
)  # fmt: skip
def test_values_come_out_frozen(bench: Make, source: str, value: Any) -> None:
    session = bench(a=1)
    before = session.context
    found = session.evaluate(source)
    assert found == value and type(found) is type(freeze(value))
    assert session.context is before
    if isinstance(found, dict):
        assert list(found) == list(value)


def test_nan_and_negative_zero_come_out(bench: Make) -> None:
    session = bench()
    nan, zero = session.evaluate("[NaN, -0]")
    assert math.isnan(nan) and zero == 0 and math.copysign(1, zero) < 0


@pytest.mark.parametrize(
    "value",
    [0, 1, -1, 2**31, -(2**31) - 1, 2**53, 0.5, 1e300, -0.0, math.inf, True, None, "", "\0", "\ud800", "é😀\u2028", [], {}, UNDEFINED,
     [UNDEFINED, [{"k": None}]], {"@js": "undefined"}, {"a": {"@js": {"@js": 1}}}, {"__proto__": 1}, {"10": 1, "9": 2, "x": 3}, "@js", {"k": "@js"}],
)  # fmt: skip
def test_what_goes_in_comes_out(bench: Make, value: Any) -> None:
    session = bench(v=value)
    found = session.evaluate("v")
    assert found == value and type(found) is type(freeze(value))
    assert session.evaluate("(0, [v])[0]") == value
    session.assign("v", 5)
    session.event = freeze({"name": "e", "data": value})
    assert session.evaluate("_event.data") == value
    session.run("w = _event.data")
    assert session.context["w"] == value


@pytest.mark.parametrize("source", ["return", "var x = 1", "1 +", "0); }), (function () { return (1", "nope", "null.x", "a.b.c", "throw 1", "}"])
def test_a_bad_expression_is_an_error_when_it_is_evaluated(bench: Make, source: str) -> None:
    session = bench(a=1)
    for _ in range(2):
        for ask in (session.test, session.evaluate, session.items):
            with pytest.raises(DatamodelError) as error:
                ask(source)
            assert source in str(error.value)


@pytest.mark.parametrize(
    ("thrown", "said"),
    [("new TypeError('no way')", "TypeError: no way"), ("'text'", 'it threw "text"'), ("{code: 7}", 'it threw {"code":7}'), ("null", "threw null"),
     ("Symbol('s')", "a symbol"), ("undefined", "undefined"), ("new (class Odd extends Error {})('x')", "Error: x")],
)  # fmt: skip
def test_what_a_document_throws_is_said(bench: Make, thrown: str, said: str) -> None:
    with pytest.raises(DatamodelError) as error:
        bench().evaluate(f"(function () {{ throw {thrown} }})()")
    assert said in str(error.value)


def test_changes_of_an_expression_stick(bench: Make) -> None:
    session = bench(queue=[1, 2, 3], n=0, o={})
    assert session.evaluate("queue.shift()") == 1
    assert session.evaluate("n++") == 0
    assert session.evaluate("o.k = queue") == [2, 3]
    assert session.evaluate("queue.push/* comment */(4)") == 3
    assert session.evaluate("queue['push'](5)") == 4
    assert session.evaluate("fresh = 7") == 7
    assert session.context == {"queue": [2, 3, 4, 5], "n": 1, "o": {"k": [2, 3]}, "fresh": 7}
    assert isinstance(session.context, FrozenDict) and isinstance(session.context["queue"], FrozenList)


def test_an_expression_that_fails_changes_nothing(bench: Make) -> None:
    session = bench(a=[1])
    before = session.context
    for source in ("(a.push(2), nope)", "(a = 5, b = 6, null.x)", "(a.push(a), 1)"):
        with pytest.raises(DatamodelError):
            session.evaluate(source)
        assert session.evaluate("[a, typeof b]") == [[1], "undefined"]
    with pytest.raises(DatamodelError, match="nope"):
        session.run("a.push(3); c = 1; nope()")
    assert session.context is before


def test_the_same_context_comes_back_when_nothing_changed(bench: Make) -> None:
    session = bench(a=[1, {"k": 0.5}], b="x", f=2**70, d={"@js": 1})
    session.run("a = a; d.x = 1")
    before = session.context
    session.run("a.push(1); a.pop(); b = b + ''; a = JSON.parse(JSON.stringify(a)); f = f; d.x = 1; var a; function g() {} g = undefined; delete g")
    assert {k: v for k, v in session.context.items() if k != "g"} == before
    session.run("b = b; d = d; f += 0")
    again = session.context
    session.evaluate("a.slice().concat(d.x)")
    session.run("a[0] = 1; d.x = 1")
    assert session.context is again


def test_variables_do_not_share(bench: Make) -> None:
    session = bench(a=[1], b=None)
    session.run("b = a; b.push(2)")
    assert session.context["a"] == session.context["b"] == [1, 2]
    session.run("b.push(3)")
    assert (session.context["a"], session.context["b"]) == ([1, 2], [1, 2, 3])
    session.assign("a", session.evaluate("b"))
    session.assign("a[0]", 9)
    assert (session.context["a"], session.context["b"]) == ([9, 2, 3], [1, 2, 3])


@pytest.mark.parametrize(
    ("location", "after"),
    [
        ("a", {"a": 5, "b": [1, {"k": 2}]}),
        (" a ; ", {"a": 5, "b": [1, {"k": 2}]}),
        ("b[1].k", {"a": 0, "b": [1, {"k": 5}]}),
        ("b[a]", {"a": 0, "b": [5, {"k": 2}]}),
        ("b[b.length]", {"a": 0, "b": [1, {"k": 2}, 5]}),
        ("b[1]['new key']", {"a": 0, "b": [1, {"k": 2, "new key": 5}]}),
        ("(b)[0]", {"a": 0, "b": [5, {"k": 2}]}),
        ("b.slice().x", {"a": 0, "b": [1, {"k": 2}]}),
    ],
)
def test_assign(bench: Make, location: str, after: Any) -> None:
    session = bench(a=0, b=[1, {"k": 2}])
    session.assign(location, 5)
    assert session.context == after


@pytest.mark.parametrize(
    "location",
    ["nope", "nope.x", "a.x", "'continue'", "continue", "", " ", "1", "a + 1", "f()", "[a]", "{a}", "a = 1", "a[", "a b", "let z", "b[0].x.y", "null",
     "_event", "_event.name", "_sessionid", "_name", "_ioprocessors", "_ioprocessors['scxml']", "_x", "_x.a", "(_event)", "(_event).name",
     "undefined", "NaN", "In", "Math.PI", "Array.prototype.x"],
)  # fmt: skip
def test_what_cannot_be_assigned_to(bench: Make, location: str) -> None:
    session = bench(a=0, b=[1])
    session.event = freeze({"name": "e"})
    before = session.context
    with pytest.raises(DatamodelError) as error:
        session.assign(location, 5)
    assert session.context is before
    assert location.strip() in str(error.value)
    assert session.evaluate("[a, b[0], _event.name]") == [0, 1, "e"]


def test_an_assigned_value_is_a_copy(bench: Make) -> None:
    session = bench(a={}, b=None)
    session.assign("a.list", [1])
    session.assign("b", session.context["a"]["list"])
    session.run("b.push(2)")
    assert session.context == {"a": {"list": [1]}, "b": [1, 2]}


def test_scripts_make_variables(bench: Make) -> None:
    session = bench(x=4)
    session.run(
        "'use strict'; var v = 1, w; let l = 2; const c = 3; i = x; function f() { return l + c } class K { m() { return f() } }\n"
        "for (let k = 0; k < 2; k++) { let inner = k; v += inner }"
    )
    assert {name: session.context.get(name, "absent") for name in ("v", "w", "l", "c", "i", "k", "inner")} == {
        "v": 2, "w": UNDEFINED, "l": 2, "c": 3, "i": 4, "k": "absent", "inner": "absent",
    }  # fmt: skip
    assert session.evaluate("new K().m()") == 5
    session.run("l = 10")
    assert session.evaluate("f()") == 13
    session.run("let l = 1; const c = 2; class K {}")
    assert session.evaluate("[l, c]") == [1, 2]


def test_a_script_keeps_a_variable_it_only_declares(bench: Make) -> None:
    session = bench(x=4)
    session.run("var x;")
    assert session.context == {"x": 4}
    session.run("function g() { var x = 9; y = x } g(); ")
    assert session.context["x"] == 4 and session.context["y"] == 9


def test_a_variable_may_hide_a_builtin(bench: Make) -> None:
    session = bench(performance=1, Map=[2], escape="x", toString=3)
    assert session.evaluate("[performance, Map, escape, toString]") == [1, [2], "x", 3]
    session.run("Map.push(3); var Set = 4")
    assert session.context["Map"] == [2, 3] and session.context["Set"] == 4
    assert bench().evaluate("typeof Map") == "function"


def test_names_beyond_ascii(bench: Make) -> None:
    session = bench(größe=1, नमस्ते=2, **{"$": 3, "a\u200db": 4})
    assert session.evaluate("größe + नमस्ते+$ + a\u200db") == 10
    assert session.evaluate("größe\u00a0== 1") is True
    assert session.evaluate("gr\\u00f6\\u00dfe") == 1


@pytest.mark.parametrize("name", ["continue", "'continue'", "1a", "", "a b", "a.b", "a-b", "this", "null", "undefined", "_event", "_x", "_sessionid"])
def test_what_cannot_be_declared(bench: Make, name: str) -> None:
    session = bench(a=1)
    assert session.datamodel.declare(session.context, name) is session.context
    assert not session.datamodel.is_declared(name, session.context)
    factory = ecmascript()
    assert factory(ids=[], variables=[name, "b"], scripts=[]).initial() == {"b": UNDEFINED}


def test_declare(bench: Make) -> None:
    session = bench(a=1)
    after = session.datamodel.declare(session.context, "item")
    assert after == {"a": 1, "item": UNDEFINED} and session.context == {"a": 1}
    assert session.datamodel.declare(after, "a") is after
    assert session.datamodel.is_declared("item", after) and not session.datamodel.is_declared("item", session.context)
    session.context = after
    assert session.test("item === undefined")
    session.assign("item", 2)
    assert session.test("item === 2")


def test_contexts_may_come_in_any_order(bench: Make) -> None:
    session = bench(a=1)
    contexts = [session.context]
    for _ in range(3):
        session.run("a += 1; this['v' + a] = a")
        contexts.append(session.context)
    for context in [*contexts, *reversed(contexts), contexts[2], contexts[0]]:
        session.context = context
        assert session.evaluate("[a, typeof v2, typeof v3, typeof v4]") == [
            context["a"], *("number" if f"v{n}" in context else "undefined" for n in (2, 3, 4)),
        ]  # fmt: skip


def test_the_event_is_unbound_before_the_first(bench: Make) -> None:
    session = bench()
    assert session.test("typeof _event === 'undefined'")
    with pytest.raises(DatamodelError, match="_event is not defined"):
        session.test("_event.name == 'e'")
    session.event = freeze({"name": "e", "sendid": UNDEFINED, "data": {"x": [1]}})
    assert session.test("_event.name == 'e' && _event.data.x[0] == 1 && 'sendid' in _event && _event.sendid === undefined")
    session.event = freeze({"name": "f"})
    assert session.evaluate("_event.name") == "f"
    session.event = None
    assert session.test("typeof _event === 'undefined'")


@pytest.mark.parametrize("source", ["_event = 1", "_sessionid = 1", "_name = 'x'", "_ioprocessors = {}", "_x = 1", "_event++"])
def test_system_variables_are_read_only_in_executable_content(bench: Make, source: str) -> None:
    session = bench()
    for event in (None, freeze({"name": "e"})):
        session.event = event
        for ask in (session.evaluate, session.run):
            with pytest.raises(DatamodelError, match="read-only|is not defined"):
                ask(source)
    assert session.evaluate("_event.name") == "e"


@pytest.mark.parametrize("source", ["_event.name = 1", "_event.data.x = 1", "delete _event.data", "_x.a = 1", "_ioprocessors.scxml = 1"])
def test_members_of_system_variables_never_change(bench: Make, source: str) -> None:
    session = bench()
    session.event = freeze({"name": "e", "data": {"x": 0}})
    session.evaluate(source)
    session.run(source)
    assert session.evaluate("[_event.name, _event.data.x, _x.a, _ioprocessors.scxml]") == ["e", 0, UNDEFINED, UNDEFINED]
    assert session.context == {}


def test_session_variables(bench: Make) -> None:
    session = bench()
    assert session.evaluate("[_sessionid, _name]") == ["session-1", "machine"]
    assert session.evaluate("_ioprocessors['http://www.w3.org/TR/scxml/#SCXMLEventProcessor'].location") == "#_scxml_session-1"
    assert session.evaluate("_x") == {}
    session.session = Session("session-2", UNDEFINED, ())
    assert session.evaluate("[_sessionid, _name, Object.keys(_ioprocessors).length]") == ["session-2", UNDEFINED, 0]
    session.context = FrozenDict({"_x": freeze({"host": [1]})})
    assert session.evaluate("_x.host[0]") == 1
    session.run("y = _x")
    assert session.context == {"_x": {"host": [1]}, "y": {"host": [1]}}
    assert session.datamodel.load(session.datamodel.dump(session.context)) == session.context
    assert not session.datamodel.is_declared("_x", session.context)
    session.context = FrozenDict()
    assert session.evaluate("_x") == {}


def test_in(bench: Make) -> None:
    session = bench(ids=["s", None, "t", "__proto__", "s.1"], state="t", scripts=["function here(s) { return In(s) }"])
    for active, states in ((0, set()), (1, {"s"}), (0b11100, {"t", "__proto__", "s.1"}), (2, set()), (1 << 80, set())):
        session.active = active
        for state in ("s", "t", "__proto__", "s.1", "nope", "null"):
            assert session.test(f"In('{state}')") is (state in states)
            assert session.test(f"here({state!r})") is (state in states)
        assert session.evaluate("In(state)") is ("t" in states)
    session.run("x = In('t')")
    assert session.context["x"] is False


@pytest.mark.parametrize(
    ("source", "members"),
    [("a", [1, {"k": 2}]), ("a.slice(1)", [{"k": 2}]), ("[]", []), ("new Set([1, 'x'])", [1, "x"]), ("[,undefined]", [UNDEFINED, UNDEFINED]),
     ("a.splice(0)", [1, {"k": 2}]), ("(function* () { yield 1; yield 2 })()", [1, 2])],
)  # fmt: skip
def test_items(bench: Make, source: str, members: list[Any]) -> None:
    session = bench(a=[1, {"k": 2}])
    assert session.items(source) == members
    assert session.evaluate("a.length") == 2


@pytest.mark.parametrize("source", ["", "5", "null", "undefined", "'abc'", "{}", "({length: 1})", "nope", "function () {}"])
def test_what_foreach_cannot_go_over(bench: Make, source: str) -> None:
    with pytest.raises(DatamodelError):
        bench().items(source)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("123", 123), (" [1, 2,\n 3] ", [1, 2, 3]), ('{ "productName" : "bar", "size" : 27 }', {"productName": "bar", "size": 27}), ("foo", "foo"),
        ("\nthis  is \na string \n", "this is a string"), ('"x  y"', "x  y"), ("true", True), ("null", None), ("1.0", 1), ("'abc'", "'abc'"),
        ("{a: 1}", "{a: 1}"), ("", ""), (" \n ", ""), ("[1,2", "[1,2"), ("NaN", "NaN"), ('{"@js": "undefined"}', {"@js": "undefined"}),
        ("a < b", "a < b"), ("<b", "<b"), ("[" * 100000, "[" * 100000),
    ],
)  # fmt: skip
def test_text_content(bench: Make, text: str, value: Any) -> None:
    found = bench().datamodel.content("text", text)
    assert found == value and type(found) is type(freeze(value))


def test_other_content_is_a_mistake_of_the_caller(bench: Make) -> None:
    with pytest.raises(UsageError, match="'text' or 'xml'"):
        bench().datamodel.content("json", "1")


def test_without_an_engine_the_factory_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", None)
    factory = ecmascript()
    with pytest.raises(ImplementationError, match=r"pip install 'statecharts\[scxml\]'"):
        factory(ids=[], variables=[], scripts=[])


def test_a_number_too_large_for_javascript_is_infinite(bench: Make) -> None:
    session = bench(a=10**400, b=[-(10**400)])
    assert session.test("a === Infinity && b[0] === -Infinity")
    assert session.datamodel.dump(session.context) == {"a": {"@js": "Infinity"}, "b": [{"@js": "-Infinity"}]}


def test_compiled_programs_are_bounded(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("statecharts.adapters.datamodels.ecmascript_engine._PROGRAMS", 3)
    session = bench(a=1)
    for _ in range(2):
        for number in range(8):
            assert session.evaluate(f"a + {number}") == 1 + number
            session.run(f"a = a + {number}; a = 1")
            assert session.test(f"(x => x + {number})(a) == {1 + number}")
    assert max(map(len, session.datamodel._engine()._programs)) <= 3


def test_python_values_that_are_no_data_are_refused(bench: Make) -> None:
    session = bench()
    session.event = freeze({"name": "e", "data": object()})
    with pytest.raises(DatamodelError, match="object is not a JavaScript value"):
        session.test("_event.name")
    assert session.test("1")
    session.event = freeze({"name": "e"})
    assert session.test("_event.name == 'e'")


@pytest.mark.parametrize("system", ["_event", "_ioprocessors"])
def test_a_system_variable_put_away_is_recognised(bench: Make, system: str) -> None:
    """Tests 326 and 329 of the W3C suite."""
    session = bench(a=None, b=None, c=[1], d=[1])
    session.event = freeze({"name": "e", "sendid": UNDEFINED, "data": {"x": 1}})
    for name in ("a", "b"):
        session.assign(name, session.evaluate(system))
    for _ in range(2):
        for source in (f"a == {system}", f"b === {system}", f"!(a !== {system})", f"a == b || '{system}' == '_event'"):
            assert session.test(source) and session.evaluate(source) is True
        session.context = session.datamodel.load(session.datamodel.dump(session.context))
    assert not session.test(f"c == {system} || c == d")
    session.run("a.extra = 1")
    assert not session.test(f"a == {system}") and session.test(f"b == {system}")
    assert session.evaluate("a.extra") == 1
    session.assign("a", session.evaluate(system))
    fresh = bench(a=None, b=None)
    fresh.context, fresh.event = session.context, session.event
    assert fresh.test("a == b") and fresh.test(f"a == {system} && b == a")
    session.event = freeze({"name": "f", "sendid": UNDEFINED, "data": {"x": 1}})
    assert session.test(f"b == {system}") is session.test("a == b") is (system == "_ioprocessors")


def test_an_event_object_made_anew_is_the_same_event(bench: Make) -> None:
    session = bench()
    data = freeze({"x": [1]})
    for members in ({"name": "e", "data": data}, {"name": "e", "data": data}, {"name": "f", "data": data}, {"name": "f", "data": 1},
                    {"name": "f", "data": True}, {"name": "f"}, {"data": "f"}):  # fmt: skip
        session.event = FrozenDict(members)
        assert session.evaluate("_event") == members and session.evaluate("typeof _event.data === 'boolean'") is (members.get("data") is True)
