"""Values that are not JSON: what is kept, how, and what is refused."""

from __future__ import annotations

import copy
import gc
import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from statecharts.adapters.datamodels.ecmascript import EcmascriptDatamodel, ecmascript
from statecharts.adapters.datamodels.ecmascript_markers import (
    DateValue,
    DeclaredFunction,
    FunctionSource,
    Instance,
    Opaque,
    XmlContent,
)
from statecharts.adapters.datamodels.ecmascript_values import same
from statecharts.errors import SnapshotError
from statecharts.interpreter.datamodel import DatamodelError, Moment, Session
from statecharts.json_text import dumps
from statecharts.values import UNDEFINED, FrozenDict, freeze, plain

Make = Callable[..., Any]

SCRIPT = """
const STEP = 2;
function Point(x, y) { this.x = x; this.y = y; this.path = [] }
Point.prototype.move = function (d) { this.x += d; return this };
Point.prototype.toString = function () { return 'P' + this.x };
class Animal { constructor(n) { this.name = n } speak() { return this.name + '!' } }
class Dog extends Animal { constructor(n) { super(n); this.legs = 4 } get tail() { return 1 } }
class Secret { #hidden = 1; reveal() { return this.#hidden } }
var scale = function (v) { return v * STEP }, half = v => v / STEP;
var tools = { triple(v) { return v * 3 }, nested: [v => v + 1, async () => 1, function* () { yield STEP }] };
var counter = (function () { let n = 0; return function () { return ++n } })();
"""


@pytest.fixture
def zoo(bench: Make) -> Any:
    return bench(scripts=[SCRIPT], a=None, b=None)


def reopened(session: Any) -> Any:
    """The same context in a datamodel made afresh, by way of JSON."""
    variables = [name for name in ("a", "b") if name in session.context]
    kept = FrozenDict({k: v for k, v in session.context.items() if not isinstance(v, Opaque)})
    made = ecmascript()(ids=[], variables=variables, scripts=[SCRIPT])
    assert isinstance(made, EcmascriptDatamodel)
    saved = json.loads(json.dumps(session.datamodel.dump(kept), allow_nan=False))
    other = copy.copy(session)
    other.datamodel, other.context = made, made.load(saved)
    assert other.context == kept
    return other


def test_functions_of_the_top_level_are_kept_by_name_or_source(zoo: Any) -> None:
    assert zoo.context["Point"] == DeclaredFunction("Point")
    assert zoo.context["Dog"] == DeclaredFunction("Dog")
    assert zoo.context["half"] == DeclaredFunction("half")
    assert zoo.context["tools"]["triple"] == FunctionSource("triple(v) { return v * 3 }")
    assert isinstance(zoo.context["counter"], Opaque)
    zoo.run("a = scale; b = function (v) { return half(v) + a(1) }")
    assert zoo.context["a"] == DeclaredFunction("scale")
    other = reopened(zoo)
    assert other.evaluate("[a(4), b(4), tools.triple(2), tools.nested[0](1), tools.nested[2]().next().value]") == [8, 4, 6, 2, 2]
    assert other.evaluate("a === scale && scale.name === 'scale'")
    other.run("b = tools.triple")
    assert other.context["b"] == other.context["tools"]["triple"]


def test_a_function_in_an_expression_is_kept_with_the_names_it_mentions(bench: Make) -> None:
    session = bench(f=None, y=3)
    session.assign("f", session.evaluate("function (x) { return x + y }"))
    assert session.test("f(1) == 4")
    session.assign("y", 10)
    assert session.test("f(1) == 11")
    fresh = bench(f=None, y=None)
    fresh.context = fresh.datamodel.load(session.datamodel.dump(session.context))
    assert fresh.test("f(1) == 11")
    assert fresh.evaluate("f.toString()") == "function (x) { return x + y }"


def test_functions_with_the_same_text_keep_their_names(bench: Make) -> None:
    session = bench(scripts=["var half = v => v / 2, other = v => v / 2; var third = half"], a=None)
    assert session.context["half"] == session.context["third"] == DeclaredFunction("half")
    assert session.context["other"] == DeclaredFunction("other")
    assert session.evaluate("half.name + other.name + third.name") == "halfotherhalf"


def test_a_function_that_was_loaded_can_be_passed_on(bench: Make) -> None:
    session = bench(f=None, g=None)
    session.context = FrozenDict({"f": FunctionSource("x => x + 1"), "g": None})
    session.run("g = [f]")
    assert session.context["g"] == [FunctionSource("x => x + 1")]
    session.context = FrozenDict({"f": FunctionSource("1 + 1"), "g": FunctionSource("} syntax {")})
    for name in ("f", "g"):
        with pytest.raises(DatamodelError, match="not the source of a function|SyntaxError"):
            session.evaluate(name)


def test_a_prototype_without_a_constructor_of_its_own(bench: Make) -> None:
    script = "function A() {} A.prototype.who = function () { return 'A' }; function B() {} B.prototype = Object.create(A.prototype)"
    session = bench(scripts=[script], a=None)
    session.run("a = new B()")
    assert session.context["a"] == Instance("B", FrozenDict())
    assert session.evaluate("a.who() + (a instanceof A) + (a instanceof B)") == "Atruetrue"


@pytest.mark.parametrize("owner", ["Object", "Array"])
def test_a_json_form_that_a_script_defines_does_not_reach_variables(bench: Make, owner: str) -> None:
    session = bench(scripts=[f"{owner}.prototype.toJSON = function () {{ return 'mine' }}"], a=None)
    session.run("a = [{k: ['x', 1, true]}]")
    assert session.context["a"] == [{"k": ["x", 1, True]}]
    assert "mine" in session.evaluate("JSON.stringify(a)")


def test_instances_keep_their_prototype(zoo: Any) -> None:
    zoo.run("a = [new Point(1, 2), new Dog('Rex')]; b = {deep: new Animal(new Point(0, undefined))}")
    assert zoo.context["a"] == [
        Instance("Point", freeze({"x": 1, "y": 2, "path": []})), Instance("Dog", freeze({"name": "Rex", "legs": 4})),
    ]  # fmt: skip
    for session in (zoo, reopened(zoo)):
        assert session.evaluate("[a[0].move(2).x, a[1].speak(), a[1].tail, b.deep.name instanceof Point]") == [3, "Rex!", 1, True]
        assert session.evaluate("'' + a[0] + (a[1] instanceof Animal) + (a[1].constructor === Dog)") == "P3truetrue"
        session.assign("a[0].path[0]", 7)
        assert session.context["a"][0].data["path"] == [7]
        assert session.test("(a[0].x = 99) && a[0].x == 99")  # on a copy
        assert session.evaluate("a[0].x") == 3


def test_an_instance_made_by_the_script_that_declares(bench: Make) -> None:
    script = "function Account(n) { this.n = n } Account.prototype.twice = function () { return this.n * 2 }; var a = new Account(4);"
    session = bench(scripts=[script], a=None)
    assert session.context["a"] == Instance("Account", freeze({"n": 4}))
    assert session.evaluate("a.twice()") == 8


def test_an_instance_may_override_what_its_prototype_has(bench: Make) -> None:
    script = "function T() { this.v = 1; this.toString = 2 } T.prototype.v = 0; T.prototype.constructor = T"
    session = bench(scripts=[script], a=None)
    session.run("a = new T(); a.v = 5; var e = new Error('x'); e.name = e.message = 'mine'; b = e.name + e.message; o = {}; o.constructor = 3")
    assert session.context["a"] == Instance("T", freeze({"v": 5, "toString": 2}))
    assert session.context["b"] == "minemine" and session.context["o"] == {"constructor": 3}


def test_prototypes_and_functions_hold_no_state(zoo: Any) -> None:
    zoo.run("Point.prototype.extra = 1; Point.calls = 1; Array.prototype.extra = 1; Math.extra = 1; String.prototype.trim = null")
    assert zoo.evaluate("[new Point().extra, Point.calls, [].extra, Math.extra, ' x '.trim()]") == [UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, "x"]


def test_top_level_scripts_may_extend_builtins(bench: Make) -> None:
    session = bench(scripts=["Array.prototype.last = function () { return this[this.length - 1] }"], a=[1, 2])
    assert session.test("a.last() == 2")


def test_dates(bench: Make) -> None:
    session = bench(a=None)
    session.run("a = [new Date(86400000.7), new Date(NaN), new Date(-1e14)]")
    assert session.context["a"] == [DateValue("1970-01-02T00:00:00.000Z"), DateValue(None), DateValue("-001199-02-15T14:13:20.000Z")]
    saved = session.saved()
    session.context = session.datamodel.load(json.loads(saved))
    assert session.evaluate("a.map(Number)") == [86400000, pytest.approx(math.nan, nan_ok=True), -1e14]
    session.run("a[0].setUTCFullYear(2000)")
    assert session.context["a"][0] == DateValue("2000-01-02T00:00:00.000Z")


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("new Map([[1, 2]])", "an instance of Map"), ("new Set()", "an instance of Set"), ("Symbol('x')", "a symbol"), ("10n", "the BigInt 10n"),
        ("/x/g", "an instance of RegExp"), ("Promise.resolve(1)", "an instance of Promise"), ("new Error('x')", "an instance of Error"),
        ("Math.max", "the function max"), ("counter", "the function (anonymous)"), ("new Secret()", "an instance of Secret"),
        ("new (class Local { })()", "an instance of Local"), ("new Uint8Array(2)", "an instance of Uint8Array"), ("Object(1)", "an instance of Number"),
        ("(function () { return arguments })(1)", "an instance of Object"), ("new (class L extends Array {})()", "an instance of L"),
        ("scale.bind(null)", "the function bound scale"), ("Function('return 1')", "the function anonymous"),
        ("(x => () => x)(1)", "the function (anonymous)"), ("Object.create({a: 1})", "an instance of Object"), ("globalThis", "an instance of"),
    ],
)  # fmt: skip
def test_other_values_work_in_their_engine_and_are_refused_by_dump(zoo: Any, expression: str, what: str) -> None:
    zoo.run(f"b = {{list: [{expression}]}}; a = b")
    value = zoo.context["b"]["list"][0]
    assert isinstance(value, Opaque) and value.description.startswith(what)
    assert zoo.evaluate("a.list[0] === b.list[0]")
    assert zoo.context["a"] == zoo.context["b"]
    zoo.context = FrozenDict({"fine": 1, "b": zoo.context["b"]})
    with pytest.raises(SnapshotError) as error:
        zoo.datamodel.dump(zoo.context)
    assert "/b/list/0" in str(error.value) and what in str(error.value) and "top-level <script>" in str(error.value)


def test_an_opaque_value_keeps_its_state_and_its_identity(zoo: Any) -> None:
    zoo.run("a = new Map(); a.set('k', 1); b = counter")
    assert zoo.evaluate("a.get('k') + b() + counter()") == 4
    zoo.run("a.set('k', 5)")
    assert zoo.evaluate("a.get('k')") == 5


def test_members_of_an_array_may_be_opaque(bench: Make) -> None:
    session = bench(a=None, item=None)
    session.run("a = [new Map([[1, 2]])]")
    (member,) = session.items("a")
    session.assign("item", member)
    assert session.evaluate("item.get(1)") == 2


def test_an_opaque_value_fails_in_another_engine_only_where_it_is_used(zoo: Any, bench: Make) -> None:
    zoo.run("a = {m: new Map()}; b = 1")
    other = bench(scripts=[SCRIPT], a=None, b=None)
    other.context = zoo.context
    assert other.evaluate("b + 1") == 2
    for ask in (other.evaluate, other.run, other.test):
        with pytest.raises(DatamodelError, match="an instance of Map lives in another JavaScript engine"):
            ask("a.m.size")
    other.assign("a", 3)
    assert other.evaluate("a") == 3


def test_opaque_values_are_released(bench: Make) -> None:
    session = bench(a=None)
    session.run("let big = () => new Map([[0, 'x'.repeat(1 << 20)]]); delete globalThis.big; a = 0")
    for _ in range(200):  # 200 MB in all, the limit is 64
        session.run("a = new Map([[0, 'x'.repeat(1 << 20)]])")
    assert session.evaluate("a.get(0).length") == 1 << 20


def test_an_opaque_value_lives_as_long_as_any_of_its_markers(bench: Make) -> None:
    session = bench(a=None)
    session.run("a = new Map([[1, 2]])")
    session.evaluate("a")  # a second marker, gone at once
    gc.collect()
    with_map, session.context = session.context, FrozenDict({"a": 0})
    assert session.evaluate("a") == 0
    session.context = with_map
    assert session.evaluate("a.get(1)") == 2


def test_an_opaque_value_survives_copies_but_no_pickle(zoo: Any) -> None:
    value = zoo.evaluate("new Map()")
    assert copy.deepcopy([value])[0] is value and copy.copy(value) is value
    assert value != 1 and value in {value} and "Map" in repr(value)
    assert value != zoo.evaluate("new Map()")
    with pytest.raises(SnapshotError, match="cannot be kept"):
        pickle.dumps(value)


def test_markers_read_well_as_json(zoo: Any) -> None:
    zoo.run("a = [new Point(1), new Date(0), scale, tools.triple, new Map(), undefined]")
    zoo.assign("b", zoo.datamodel.content("xml", "<a/>"))
    assert plain(zoo.context["a"]) == [
        {"x": 1, "path": []}, "1970-01-01T00:00:00.000Z", "function scale", "triple(v) { return v * 3 }", "an instance of Map", None,
    ]  # fmt: skip
    assert dumps(zoo.context["b"]) == '"<a/>"'
    kept = [value for value in zoo.context["a"] if not isinstance(value, Opaque)]
    assert pickle.loads(pickle.dumps(kept)) == kept


@pytest.mark.parametrize("script", ["a = []; a.push(a)", "a = {}; a.b = {c: a}", "a = new Point(); a.self = [a]", "a = {'@js': 1}; a.a = a"])
def test_a_value_that_contains_itself_is_an_error(zoo: Any, script: str) -> None:
    before = zoo.context
    with pytest.raises(DatamodelError, match="contains itself"):
        zoo.run(script)
    with pytest.raises(DatamodelError, match="contains itself"):
        zoo.evaluate(f"({script.replace('; ', ', ')}, a)")
    assert zoo.context is before


def test_a_value_that_is_shared_is_copied(bench: Make) -> None:
    session = bench(a=None)
    session.run("let x = [1]; a = [x, x, {k: x}]")
    session.run("a[0].push(2)")
    assert session.context["a"] == [[1, 2], [1], {"k": [1]}]


@pytest.mark.parametrize("depth", [200, 3000, 100000])
def test_deep_values_are_kept_or_refused(bench: Make, depth: int) -> None:
    session = bench(a=1, b=None)
    try:
        session.run(f"let x = []; for (let i = 0; i < {depth}; i++) x = [x]; a = x")
    except DatamodelError:
        assert session.context["a"] == 1
    assert session.evaluate("[typeof a, a.length]") in ([["object", 1]] if depth == 200 else [["number", UNDEFINED]])
    deep: Any = 1
    for _ in range(depth):
        deep = freeze([deep])
    session.context = FrozenDict({**session.context, "b": deep})
    try:
        assert session.evaluate("b.length") == 1
    except DatamodelError as error:
        assert depth > 200 and ("nests too deeply" in str(error) or "stack" in str(error))
    assert session.evaluate("typeof a") != "undefined"


@pytest.mark.parametrize("size", [10, 1000, 20000])
@pytest.mark.parametrize("member", ["'abcdefgh'", "undefined", "{'@js': 'x'}", "new Date(0)"])
def test_large_values(bench: Make, size: int, member: str) -> None:
    """The engine builds long texts as ropes, which its binding cannot hand over."""
    session = bench(a=None, b=None)
    build = f"Array.from({{length: {size}}}, () => ({member}))"
    session.run(f"a = {build}; t = 'x'; for (let i = 0; i < {size}; i++) t += 'abcdefgh'")
    assert len(session.context["a"]) == len(session.evaluate(build)) == len(session.items("a")) == size
    assert session.evaluate("t.length") == len(session.context["t"]) == 1 + 8 * size
    session.assign("a[a.length]", session.context["a"])
    assert len(session.context["a"][size]) == size
    assert session.test("t + t") and session.test("t + t === t.concat(t)")
    assert session.evaluate("t + t") == session.evaluate("(b = t + t)") == session.context["b"]
    for script in ("throw new Error(t + t)", "throw t + t"):
        with pytest.raises(DatamodelError, match="abcdefghabc") as error:
            session.run(script)
        assert len(str(error.value)) < 1100


def test_values_deeper_than_python_follows_are_refused(bench: Make) -> None:
    session = bench(limits={"stack_limit": 4 << 20}, a=[1], b=None)
    before = session.context
    for leaf in ("[1]", "undefined"):
        build = f"(function () {{ let x = {leaf}; for (let i = 0; i < 1100; i++) x = [x]; return x }})()"
        for ask in (session.evaluate, session.items):
            with pytest.raises(DatamodelError, match="nests too deeply"):
                ask(build)
        for ask in (session.run, session.evaluate):
            with pytest.raises(DatamodelError, match="nests too deeply"):
                ask(f"a = {build}, 1")
            assert session.context is before and session.evaluate("a") == [1]
    for leaf in (1, UNDEFINED, math.nan):
        deep: Any = leaf
        for _ in range(2000):
            deep = freeze([deep])
        session.event = FrozenDict({"name": "e", "data": deep})
        with pytest.raises(DatamodelError, match="nests too deeply"):
            session.evaluate("_event.name")
        session.event = FrozenDict({"name": "e"})
        assert session.evaluate("_event.name") == "e"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()) | st.sampled_from(["@js", "1", "__proto__"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
markers = st.one_of(
    st.just(UNDEFINED), st.floats(), st.builds(DateValue, st.none() | st.just("2020-01-01T00:00:00.000Z")), st.builds(DeclaredFunction, st.text(st.characters())),
    st.builds(FunctionSource, st.text(st.characters())), st.builds(XmlContent, st.just("<a/>"), st.booleans()),
)  # fmt: skip
context_values = st.recursive(
    json_values | markers,
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters()) | st.just("@js"), inner, max_size=4)
    | st.builds(lambda of, data: Instance(of, freeze(data)), st.text(), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=12,
)

MODEL = ecmascript()(ids=[], variables=["v"], scripts=[])


@given(st.dictionaries(st.text(st.characters()) | st.just("@js"), context_values, max_size=4))
def test_load_gives_what_dump_wrote(values: dict[str, Any]) -> None:
    context = freeze(values)
    loaded = MODEL.load(json.loads(json.dumps(MODEL.dump(context), allow_nan=False)))
    assert same(loaded, context)
    assert MODEL.dump(loaded) == MODEL.dump(context)


@given(json_values)
def test_javascript_sees_the_same_json_and_gives_it_back(value: Any) -> None:
    context = FrozenDict({"v": freeze(value), "text": json.dumps(value)})
    equal = """(function eq(a, b) {
        if (typeof a !== 'object' || a === null) return Object.is(a, b);
        if (Array.isArray(a) !== Array.isArray(b) || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
        const keys = Object.keys(a);
        return keys.join('\\0') === Object.keys(b).join('\\0') && keys.every(k => eq(a[k], b[k]));
    })(v, JSON.parse(text))"""
    moment = Moment(context, context, 0, Session("s", UNDEFINED, ()))
    assert MODEL.test(equal, moment)
    assert MODEL.test(equal.replace("(v,", "(_event.v,"), moment)
    found, after = MODEL.evaluate("v", moment)
    assert same(found, context["v"]) and after is context
    assert MODEL.evaluate("(v = v, text = text)", moment)[1] is context
    assert same(MODEL.evaluate("({v}).v", moment)[0], context["v"])


@pytest.mark.parametrize(
    ("saved", "place"),
    [
        (None, "(root)"), ([], "(root)"), ({"a": {"@js": "what"}}, "/a"), ({"a": [0, {"@js": "undefined", "x": 1}]}, "/a/1"),
        ({"a": {"@js": 1}}, "/a"), ({"a": {"b~/c": {"@js": "object"}}}, "/a/b~0~1c"), ({"a": {"@js": "object", "value": 3}}, "/a/value"),
        ({"a": {"@js": "instance", "of": 1, "data": {}}}, "/a"), ({"a": {"@js": "instance", "of": "F", "data": []}}, "/a/data"),
        ({"a": {"@js": "date"}}, "/a"), ({"a": {"@js": "opaque", "id": 1, "description": "x"}}, "/a"), ({"a": float("nan")}, "/a"),
        ({"a": {1: 2}}, "/a"), ({"a": {"@js": "function", "name": None}}, "/a"), ({"a": object()}, "/a"), ({"a": {"@js": ["undefined"]}}, "/a"),
        ({"a": {"@js": "xml", "source": "<a", "element": False}}, "/a"), ({"a": {"@js": "date", "iso": "yesterday"}}, "/a"),
        ({"a": {"@js": "xml", "source": "<a/>", "element": 1}}, "/a"),
    ],
)  # fmt: skip
def test_load_names_the_place_of_what_is_wrong(bench: Make, saved: Any, place: str) -> None:
    with pytest.raises(SnapshotError) as error:
        bench().datamodel.load(saved)
    assert f"saved context, {place}:" in str(error.value)


def test_dump_refuses_what_is_no_javascript_value(bench: Make) -> None:
    with pytest.raises(SnapshotError, match="/a/0.*set is not a JavaScript value"):
        bench().datamodel.dump(freeze({"a": [{1}]}))


def test_a_declared_function_that_is_gone_says_so(bench: Make) -> None:
    session = bench(a=None)
    session.context = FrozenDict({"a": DeclaredFunction("gone"), "b": 1})
    assert session.evaluate("b") == 1
    with pytest.raises(DatamodelError, match="declare no function 'gone'"):
        session.evaluate("a()")


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [(1, 1.0, True), (1, True, False), (0, -0.0, False), (math.nan, math.nan, True), ([1], [1], True), ([1], [2], False), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
     ({"a": 1}, {"a": True}, False), ("1", 1, False), (None, UNDEFINED, False), (UNDEFINED, UNDEFINED, True), ([], {}, False),
     (Instance("F", freeze({"a": 0})), Instance("F", freeze({"a": -0.0})), False), (DateValue("x"), DateValue("x"), True), (DateValue("x"), "x", False),
     (0, False, False), ("a", "a", True)],
)  # fmt: skip
def test_same(old: Any, new: Any, answer: bool) -> None:
    assert same(freeze(old), freeze(new)) is answer
