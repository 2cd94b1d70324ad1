"""A result never depends on what an engine did before: each step on a fresh engine gives the same."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from statecharts.adapters.datamodels.ecmascript import EcmascriptDatamodel, ecmascript
from statecharts.adapters.datamodels.ecmascript_markers import XmlContent
from statecharts.interpreter.datamodel import DatamodelError, Moment, Session
from statecharts.values import FrozenDict, freeze

SCRIPT = """
function F(x) { this.x = x; this.list = [] }
F.prototype.get = function () { return this.x };
function put(o, k, v) { o[k] = v; return o }
function count() { n = n + 1; return n }
const LIMIT = 3;
let n = 0;
class P { constructor(v) { this.v = v } twice() { return this.v * 2 } }
var lib = { id: x => x, more() { a = [LIMIT] } };
"""
VARIABLES = ("a", "b", "c")
EVENT = freeze({"name": "e", "data": [1, {"k": 2}], "xml": XmlContent("<r><a k='1'>t</a><b/></r>")})
SESSION = Session("s", "m", (("scxml", "here"),))

names = st.sampled_from(["a", "b", "c", "d"])
literals = st.sampled_from(
    [
        "1", "-0", "1.5", "NaN", "1/0", "1e21", "'x'", "''", "'\\0\\ud83d'", "true", "null", "undefined", "[]", "{}", "[1,[2]]",
        "{k:1,'@js':2}", "{'@js':'undefined'}", "[,1]", "new F(1)", "new P([2])", "new Date(86400000)", "new Date(NaN)", "F",
        "lib.id", "lib", "{10:1,9:2,z:3}", "{__proto__:null,q:1}", "function(){ return a }", "x => [x]", "_event.data", "'abc'.match(/b/)", "_event.xml",
        "_event.xml.documentElement.firstChild",
    ]
)  # fmt: skip
operands = st.one_of(names, names.map(lambda n: f"{n}.k"), names.map(lambda n: f"{n}[0]"), literals.map("({})".format))
statements = st.one_of(
    st.builds("{} = {}".format, names, operands),
    st.builds("{}.push({})".format, names, operands),
    st.builds("{}.k = {}".format, names, operands),
    st.builds("{}[0] = {}".format, names, operands),
    st.builds("{}[0].k = {}".format, names, operands),
    st.builds("delete {}.k".format, names),
    st.builds("var d = {}".format, operands),
    st.builds("let e = {}; d = [e, e]".format, operands),
    st.builds("put({}, 'k', {})".format, names, operands),
    st.builds("{}.x = {}.list".format, names, names),
    st.builds("Object.freeze({})".format, names),
    st.builds("{}.length = 1".format, names),
    st.builds("Object.defineProperty({}, 'h', {{get() {{ return 1 }}, enumerable: true}})".format, names),
    st.builds("Object.setPrototypeOf({}, null)".format, names),
    st.builds("{}.setHours(5)".format, names),
    st.builds("Array.prototype.extra = {}".format, operands),
    st.builds("F.prototype.extra = {}".format, operands),
    st.builds("F.extra = {}".format, operands),
    st.builds("globalThis.g = {}".format, operands),
    st.builds("delete globalThis.{}".format, names),
    st.builds("function made() {{ return {} }}".format, names),
    st.builds("d = {}()".format, names),
    st.sampled_from(["count()", "lib.more()", "made()", "lib.q = 1", "throw 1", "_event.data.push(1)", "_event = 1", "Date = 1", "In = 2"]),
)
expressions = st.one_of(
    operands,
    statements.filter(lambda s: not s.startswith(("var ", "let ", "function ", "throw "))),
    st.builds("[{}, {}]".format, operands, operands),
    st.builds("typeof {}".format, names),
    st.builds("({0} = {1}, {0})".format, names, operands),
    st.builds("{} == {}".format, operands, operands),
    st.sampled_from(["[n, d, typeof g, typeof made]", "JSON.stringify([a, b, c])", "a.get()", "b.twice()", "F.extra", "[].extra", "a.h", "In('s')", "a.firstChild.tagName",
                     "b.getElementsByTagName('*').length"]),
)
locations = st.one_of(
    names, names.map(lambda n: f"{n}.k"), names.map(lambda n: f"{n}[0]"), names.map(lambda n: f"{n}[{n}.length]"),
    st.sampled_from(["put(a, 'z', b).y", "_event.data", "F.extra", "lib.q", "a[0].k", "globalThis.g"]),
)  # fmt: skip
values = st.sampled_from([1, -0.0, float("nan"), "x", [1, {"k": [2]}], {"k": {}}, {"@js": "NaN"}, None, True, 2**70, 0.5, XmlContent("<x><y/></x>")])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.lists(statements, min_size=1, max_size=4).map(";\n".join)),
        st.tuples(st.just("evaluate"), expressions),
        st.tuples(st.just("test"), expressions),
        st.tuples(st.just("items"), expressions),
        st.tuples(st.just("assign"), locations, values),
        st.tuples(st.just("declare"), names),
        st.tuples(st.just("back"), st.integers(0, 7)),
    ),
    max_size=8,
)


def datamodel() -> EcmascriptDatamodel:
    made = ecmascript()(ids=["s", "t"], variables=VARIABLES, scripts=[SCRIPT])
    assert isinstance(made, EcmascriptDatamodel)
    return made


def step(model: EcmascriptDatamodel, context: FrozenDict, what: tuple[Any, ...]) -> tuple[Any, FrozenDict]:
    """The answer, or the message of the error, and the context after it."""
    moment = Moment(context, EVENT, 1, SESSION)
    try:
        match what:
            case ("run", script):
                return None, model.run(script, moment)
            case ("evaluate", source):
                return model.evaluate(source, moment)
            case ("test", source):
                return model.test(source, moment), context
            case ("items", source):
                return list(model.items(source, moment)), context
            case ("assign", location, value):
                return None, model.assign(location, freeze(value), moment)
            case ("declare", name):
                return None, model.declare(context, name)
    except DatamodelError as error:
        return f"error: {error}", context
    raise AssertionError(what)


def written(model: EcmascriptDatamodel, context: Any) -> str:
    """Everything there is to see of a context: types, order and signs included."""
    return json.dumps(model.dump(context), allow_nan=False)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_a_warm_engine_answers_as_a_fresh_one(script: list[tuple[Any, ...]]) -> None:
    warm = datamodel()
    begin = Moment(warm.initial(), None, 0, SESSION)
    context = warm.run(SCRIPT, begin)
    history = [context]
    for what in script:
        if what[0] == "back":  # as an undo, another session or another machine of the same document would
            context = history[what[1] % len(history)]
            continue
        answer, after = step(warm, context, what)
        fresh = datamodel()
        same_answer, same_after = step(fresh, fresh.load(json.loads(written(warm, context))), what)
        assert written(warm, {"answer": freeze(answer)}) == written(fresh, {"answer": freeze(same_answer)}), what
        assert written(warm, after) == written(fresh, same_after), what
        context = after
        history.append(context)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, expressions)
def test_a_condition_changes_nothing(script: list[tuple[Any, ...]], condition: str) -> None:
    model = datamodel()
    context = model.run(SCRIPT, Moment(model.initial(), None, 0, SESSION))
    for what in script:
        if what[0] != "back":
            context = step(model, context, what)[1]
    before = written(model, context)
    first = step(model, context, ("test", condition))
    assert written(model, context) == before
    assert step(model, context, ("test", condition)) == first
    fresh = datamodel()
    for probe in ("[a, b, c]", "[typeof d, typeof g, typeof made]", "[F.extra, [].extra, n]"):
        assert written(model, {"v": freeze(step(model, context, ("evaluate", probe))[0])}) == written(
            fresh, {"v": freeze(step(fresh, context, ("evaluate", probe))[0])}
        )
