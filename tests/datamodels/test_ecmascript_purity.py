"""Nothing reads a clock, draws a number or depends on the computer; limits hold; threads do not meet."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from statecharts.adapters.datamodels.ecmascript import ecmascript
from statecharts.errors import UsageError
from statecharts.interpreter.datamodel import DatamodelError, Moment, Session
from statecharts.values import UNDEFINED, FrozenDict

Make = Callable[..., Any]

ENDLESS = "(function () { while (true); })()"
GREEDY = "(function () { let all = []; while (true) all.push(new Array(10000).fill(1)) })()"
LIMITS = {"time_limit": 0.05, "memory_limit": 8 << 20}


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("Math.random()", "_event.data.random"), ("Date.now()", "_event.data.now"), ("new Date()", "_event.data.now"), ("Date()", "_event.data.now"),
        ("Date(0)", "_event.data.now"), ("performance.now()", "_event.data.now"), ("Reflect.construct(Date, [])", "_event.data.now"),
        ("new (class D extends Date {})()", "_event.data.now"), ("new (new Date(0)).constructor()", "_event.data.now"),
        ("[1].map(Math.random)", "_event.data.random"),
    ],
)  # fmt: skip
def test_clocks_and_chance_are_refused_with_advice(bench: Make, source: str, advice: str) -> None:
    session = bench()
    for ask in (session.test, session.evaluate, session.run):
        with pytest.raises(DatamodelError) as error:
            ask(source)
        assert "nothing in a machine reads a clock or draws a number" in str(error.value) and advice in str(error.value)


@pytest.mark.parametrize(
    "name",
    ["setTimeout", "setInterval", "queueMicrotask", "WeakRef", "FinalizationRegistry", "Atomics", "SharedArrayBuffer", "std", "os", "require", "process",
     "fetch", "print", "scriptArgs", "gc", "Worker", "navigator", "crypto"],
)  # fmt: skip
def test_what_reaches_out_is_not_there(bench: Make, name: str) -> None:
    assert bench().test(f"typeof {name} === 'undefined'")


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("new Date(2020, 0, 31, 12).toISOString()", "2020-01-31T12:00:00.000Z"), ("new Date('2020-07-01T12:00').getTime()", 1593604800000),
        ("new Date('2020-07-01').getTime()", 1593561600000), ("new Date('2020-07-01T12:00Z').getHours()", 12),
        ("new Date('2020-07-01T12:00:00+02:00').toISOString()", "2020-07-01T10:00:00.000Z"), ("Date.parse('Jul 1 2020 12:00')", 1593604800000),
        ("new Date('Wed, 01 Jul 2020 12:00:00 GMT').getHours()", 12), ("new Date(0).getTimezoneOffset()", 0), ("new Date(0).getDay()", 4),
        ("new Date('Wed Jul 01 2020 12:00:00 GMT+0200 (CEST)').getHours()", 10), ("'' + new Date(0)", "Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)"),
        ("new Date(0).toDateString()", "Thu Jan 01 1970"), ("new Date(0).toTimeString()", "00:00:00 GMT+0000 (UTC)"),
        ("new Date(NaN).toLocaleString()", "Invalid Date"), ("new Date(NaN).getTimezoneOffset()", 0), ("new Date(99, 0).getFullYear()", 1999),
        ("(d => (d.setHours(25, 61), d.toISOString()))(new Date(0))", "1970-01-02T02:01:00.000Z"), ("Date.UTC(2020, 1)", 1580515200000),
        ("new Date(new Date(5)).getTime()", 5), ("new Date({valueOf() { return 7 }}).getTime()", 7), ("new Date(null).getTime()", 0),
        ("new Date(true).getTime()", 1), ("JSON.stringify(new Date(0))", '"1970-01-01T00:00:00.000Z"'), ("new Date(0) - 0", 0),
        ("new Date(0) instanceof Date && Date.name + Date.length", "Date7"), ("new (class D extends Date { two() { return 2 } })(5).two()", 2),
        ("Object.prototype.toString.call(new Date(0))", "[object Date]"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_dates_know_utc_only(bench: Make, monkeypatch: pytest.MonkeyPatch, zone: str, source: str, value: Any) -> None:
    monkeypatch.setenv("TZ", zone)
    try:
        time.tzset()
        assert bench().evaluate(source) == value
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_endless_expression_is_stopped(bench: Make) -> None:
    session = bench(limits=LIMITS, a=[1])
    for ask in (session.test, session.evaluate, session.run, session.items):
        with pytest.raises(DatamodelError, match=r"longer than the limit of 0\.05 s"):
            ask(f"(a.x = 1, b = 2, {ENDLESS})")
    with pytest.raises(DatamodelError, match=r"longer than the limit"):
        session.evaluate("(function () { try { while (true); } catch (e) { } finally { c = 1 } })()")
    with pytest.raises(DatamodelError, match=r"longer than the limit"):
        session.evaluate("/(a+)+b/.test('a'.repeat(40))")
    assert session.evaluate("[a, typeof b, typeof c]") == [[1], "undefined", "undefined"]
    with pytest.raises(DatamodelError, match="longer"):
        session.assign(f"a[{ENDLESS}]", 1)


def test_an_expression_that_needs_too_much_memory_is_stopped_and_the_next_one_works(bench: Make) -> None:
    session = bench(limits={"memory_limit": 8 << 20}, a=[1])
    for ask in (session.test, session.evaluate, session.run, session.items):
        engine = session.datamodel._engine()
        with pytest.raises(DatamodelError, match="more memory than the limit of 8 MB"):
            ask(f"(b = 2, {GREEDY})")
        assert session.datamodel._engine() is not engine  # the old one may hold half an object
        assert session.evaluate("[a, typeof b]") == [[1], "undefined"]
    with pytest.raises(DatamodelError, match="memory"):
        session.evaluate("'x'.repeat(1e8)")
    session.assign("a", "x" * (9 << 20))
    with pytest.raises(DatamodelError, match="memory"):
        session.test("a.length")
    session.assign("a", 1)
    assert session.test("a == 1")
    with pytest.raises(DatamodelError, match="memory"):
        session.test("'" + "x" * (9 << 20) + "'")
    assert session.test("a == 1")


def test_endless_recursion_is_an_error(bench: Make) -> None:
    session = bench(a=1)
    with pytest.raises(DatamodelError, match="call stack"):
        session.evaluate("(function f() { return f() })()")
    assert session.evaluate("a") == 1


def test_a_top_level_script_that_never_ends_fails_where_it_runs(bench: Make) -> None:
    factory = ecmascript(time_limit=0.05)
    model = factory(ids=[], variables=["a"], scripts=[f"function f() {{ }} {ENDLESS}"])
    moment = Moment(model.initial(), None, 0, Session("s", UNDEFINED, ()))
    assert model.evaluate("1 + 1", moment)[0] == 2
    with pytest.raises(DatamodelError, match="longer than the limit"):
        model.run(f"function f() {{ }} {ENDLESS}", moment)


@pytest.mark.parametrize("limits", [{"time_limit": 0}, {"memory_limit": 1000}, {"stack_limit": 10}, {"time_limit": -1}])
def test_limits_must_make_sense(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="time_limit above 0"):
        ecmascript(**limits)


@pytest.mark.parametrize(
    "source",
    ["Object.freeze(globalThis)", "Object.defineProperty(globalThis, 'z', {value: 1})", "Object.preventExtensions(globalThis)"],
)  # fmt: skip
def test_a_damaged_global_object_is_replaced(bench: Make, source: str) -> None:
    session = bench(a=[1])
    for ask in (session.test, session.evaluate, session.run):
        with pytest.raises(DatamodelError, match="cannot be cleaned"):
            ask(source)
        session.run("n = a.concat(2)")
        assert session.evaluate("[n, typeof z]") == [[1, 2], "undefined"]


@pytest.mark.parametrize(
    ("source", "value"),
    [("Object.getPrototypeOf(globalThis)", None), ("Reflect.getPrototypeOf(globalThis)", None), ("globalThis.__proto__", None), ("__proto__", None),
     ("Reflect.setPrototypeOf(globalThis, {})", False), ("Object.getPrototypeOf([]) === Array.prototype", True), ("({}).__proto__ === Object.prototype", True),
     ("Object.getPrototypeOf(Object.setPrototypeOf({}, null))", None), ("a.b.c", 1)],
)  # fmt: skip
def test_the_prototype_of_the_global_object_is_hidden(bench: Make, source: str, value: Any) -> None:
    session = bench(a={"b": {"c": 1}})
    assert session.evaluate(source) == value
    for attempt in ("globalThis.__proto__ = {}", "Object.setPrototypeOf(globalThis, {})", "__proto__ = {}"):
        with pytest.raises(DatamodelError, match="keeps its prototype"):
            session.evaluate(attempt)
    assert session.evaluate("a.b.c") == 1


def test_one_datamodel_in_many_threads(bench: Make) -> None:
    model = bench(scripts=["function add(n) { total = total + n; return total }"], total=0).datamodel
    script = "function add(n) { total = total + n; return total }"
    faults: list[BaseException] = []

    def work(step: int) -> None:
        try:
            session = Session(f"s{step}", UNDEFINED, ())
            context = model.run(script, Moment(FrozenDict({"total": 0}), None, 0, session))
            for count in range(150):
                value, context = model.evaluate(f"add({step})", Moment(context, None, 0, session))
                assert value == step * (count + 1)
                context = model.run("m = new Map([[1, total]])", Moment(context, None, 0, session))
                assert model.test(f"m.get(1) == total && _sessionid == 's{step}'", Moment(context, None, 0, session))
                if count % 50 == 0:
                    model.evaluate("(function () { let n = 0; while (n < 1e5) n++; return n })()", Moment(context, None, 0, session))
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(step,)) for step in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_an_opaque_value_may_be_collected_in_any_thread(bench: Make) -> None:
    session = bench(a=None)
    held: list[Any] = []
    stop = threading.Event()

    def collect() -> None:
        while not stop.is_set():
            if held:
                held.pop()
            gc.collect(0)

    thread = threading.Thread(target=collect)
    thread.start()
    try:
        for _ in range(1500):
            held.append(session.evaluate("new Map([[1, [1, 2, 3]]])"))
    finally:
        stop.set()
        thread.join()
    held.clear()
    assert session.evaluate("1 + 1") == 2


def test_an_engine_goes_with_its_datamodel() -> None:
    gc.collect()
    gc.disable()
    try:
        model = ecmascript()(ids=["s"], variables=["a"], scripts=["function f() { return 1 }"])
        moment = Moment(model.initial(), None, 1, Session("s", "n", ()))
        opaque, context = model.evaluate("a = [new Map(), function () { return a }]", moment)
        with pytest.raises(DatamodelError):
            model.test("nope", moment._replace(context=context))
        engine = weakref.ref(model._engine())  # type: ignore[attr-defined]
        assert sys.getrefcount(model) == 2
        del model
        assert engine() is None
        assert "Map" in opaque[0].description
    finally:
        gc.enable()


def test_functions_of_other_threads_are_there_by_name(bench: Make) -> None:
    script = "const K = 3; function f(x) { return x * K }; var g = x => f(x);"
    session = bench(scripts=[script], a=None)
    session.run("a = g")
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(session.evaluate("a(2) + f(1)")))
    thread.start()
    thread.join()
    assert found == [9]
