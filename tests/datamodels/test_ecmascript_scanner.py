"""What is told from the text of a script or an expression."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from statecharts.adapters.datamodels.ecmascript import EcmascriptDatamodel, ecmascript
from statecharts.adapters.datamodels.ecmascript_scanner import globalised, open_starts
from statecharts.adapters.datamodels.ecmascript_source import is_identifier, traits
from statecharts.adapters.datamodels.ecmascript_values import same
from statecharts.interpreter.datamodel import DatamodelError, Moment, Session
from statecharts.values import FrozenDict, freeze


@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("let x = 1; const y = 2", "var x = 1; var y = 2"),
        ("let x\nconst {a, b} = c\nlet [d] = e", "var x\nvar {a, b} = c\nvar [d] = e"),
        ("class A { m() { let x } }\nclass B extends f({}) { }\n(1)", "var A = class A { m() { let x } };\nvar B = class B extends f({}) { };\n(1)"),
        ("f()\nclass A {}\n[1].map(f)", "f()\nvar A = class A {};\n[1].map(f)"),
        ("let f = x => x\nlet g = (a, b) => { let c }\nlet h = async x => [x]", "var f = x => x\nvar g = (a, b) => { let c }\nvar h = async x => [x]"),
        ("'use strict'; let a", '"use sloppy"; var a'),
        ("'a'; \"use strict\"\nlet a", "'a'; \"use sloppy\"\nvar a"),
        ("var a; 'use strict'; let b", "var a; 'use strict'; var b"),
        ("for (let i = 0; ; ) { const j = 1 } if (x) { let y } { class C {} }", None),
        ("x.let = 1; x.const = 2; x?.class; let = 5; y = {let: 1, const: 2}; z = class K {}", None),
        ("`let x`; `${`}${'let'}`}`; /[/]let{/.test('let'); // let\n/* const */ a / b / c", None),
        ("if (a) /let x/g.exec(c); x.\nlet\n++y\nlet z", "if (a) /let x/g.exec(c); x.\nlet\n++y\nvar z"),
        ("function f() { let x; class Y {} }", None),
        ("let a = `", None),
        ("let a = `${`${{k: '}'}}`}`; let b = `${{}}`", "var a = `${`${{k: '}'}}`}`; var b = `${{}}`"),
        ("let a = `\\``; let b = `${'", "let a = `\\``; let b = `${'"),
        ("let a = (", "var a = ("),
        ("let a = 'x", None),
        ("let a = )", None),
        ("let a = /x", None),
        ("let", None),
        ("", None),
    ],
)
def test_top_level_declarations_become_variables(script: str, result: str | None) -> None:
    assert globalised(script) == (script if result is None else result)


@pytest.mark.parametrize(
    ("text", "opened", "closed"),
    [
        ("var A = function () { return B => 1 }", ["function"], ["B"]),
        ("A = { a: function () {}, B(x) {}, c: [D => 1] }", ["function", "B", "D"], []),
        ("f(A => B => 1, function C() {})", ["A", "function"], ["B"]),
        ("(function () { return A => 1 })(); B => 2", ["function", "B"], ["A"]),
        ("var x = A => A2 => 1\nvar B = () => 1", ["A", "B"], ["A2"]),
        ("var x = A => A2 => 1, B = () => 1", ["A", "B"], ["A2"]),
        ("if (x) { f = A => 1 } B => 2", ["B"], ["A"]),
        ("for (let i; ; g(A => i)) h; B => 1", ["B"], ["A"]),
        ("function F(a = A => 1) { } (b, c = B => 1) => D; E => 1", ["function", "E"], ["A", "B", "D"]),
        ("with (o) A => 1", [], ["A"]),
        ("class K { A() {} }", ["class"], ["A"]),
        ("try { A } catch (e) { B } finally { C } D => 1", ["D"], ["A", "B", "C"]),
        ("x = {a: {b: A => 1}}; return_({c: B => 2})", ["A", "B"], []),
        ("'😀'; A => 1", ["A"], []),
        ("A => 1; )", [], ["A"]),
    ],
)  # fmt: skip
def test_where_a_function_sees_global_variables_only(text: str, opened: list[str], closed: list[str]) -> None:
    units = text.encode("utf-16-le")
    starts = set(open_starts(text))
    places = {word: units.index(word.encode("utf-16-le")) // 2 for word in opened + closed}
    assert {word for word, place in places.items() if place in starts} == set(opened)


@given(st.text(st.sampled_from("(){}[]`'\"/\\$=>;,\n ab letconst class function\u2028😀"), max_size=30))
def test_any_text_can_be_scanned(text: str) -> None:
    assert all(0 <= start <= 2 * len(text) for start in open_starts(text))
    assert isinstance(globalised(text), str)
    assert isinstance(is_identifier(text), bool)
    traits(text)


@pytest.mark.parametrize(
    ("text", "assigns", "calls", "harmless"),
    [
        ("a == 1 && b !== 'x=1' || c <= 2 && d >= 3", False, False, True), ("a = 1", True, False, True), ("a += 1", True, False, True),
        ("a >>>= 1", True, False, True), ("a ??= 1", True, False, True), ("a++", True, False, True), ("delete a.b", True, False, True),
        ("(a + b) * c", False, False, True), ("f(a)", False, True, False), ("In('s')", False, True, True), ("a.concat(b).length", False, True, True),
        ("a['push'](1)", False, True, False), ("a.push/**/(1)", False, True, False), ("a?.(1)", False, True, False), ("new F", True, False, True),
        ("f`x`", True, False, True), ("this.a", True, False, True), ("a.slice(b.push(1))", False, True, False), ("(x => x)(1)", False, True, False),
        ("a.map(x => x)", False, True, False), ("typeof (a)", False, True, True), ("a => b", False, False, True), ("'it\\'s' + \"(\"", False, False, True),
    ],
)  # fmt: skip
def test_traits(text: str, assigns: bool, calls: bool, harmless: bool) -> None:
    found = traits(text)
    assert (found.assigns, found.calls, found.harmless) == (assigns, calls, harmless)


@pytest.mark.parametrize(
    ("name", "answer"),
    [("a", True), ("_a$1", True), ("größe", True), ("a\u200d", True), ("let", True), ("package", True), ("1a", False), ("a-b", False), ("", False), ("for", False),
     ("'a'", False), ("a b", False), ("undefined", False)],
)  # fmt: skip
def test_is_identifier(name: str, answer: bool) -> None:
    assert is_identifier(name) is answer


atoms = st.sampled_from(["a", "b", "a.k", "b[0]", "1", "'x'", "[1, 2]", "({k: [3]})", "undefined", "a.list", "_event.data", "'(=' "])
calls = st.sampled_from(
    ["{}.concat({})", "{}.slice(0)", "String({})", "JSON.stringify([{}, {}])", "{}.push({})", "{}.sort()", "{}.reverse()", "{}.indexOf({})",
     "Object.keys({})", "Object.assign({}, {})", "[{}].map(x => x)", "({})", "{} == {}", "{} + {}", "typeof {}", "{}, {}", "{} /* x */ .pop()",
     "{}['pop']()", "{}.splice(0, 1)", "{}.fill({})", "new Array({})", "isNaN({})", "`${{{}}}`", "{}.toString()", "a = {}", "b.k = {}", "delete {}.k"]
)  # fmt: skip


@st.composite
def _expressions(draw: st.DrawFn) -> str:
    text = draw(atoms)
    for _ in range(draw(st.integers(1, 3))):
        shape = draw(calls)
        fills = [text if index == 0 else draw(atoms) for index in range(shape.count("{}"))]
        text = shape.replace("`${{{}}}`", "`${({})}`").format(*fills) if "`" not in shape else f"`${{{text}}}`"
    return text


MODEL = ecmascript()(ids=[], variables=["a", "b"], scripts=[])
assert isinstance(MODEL, EcmascriptDatamodel)
CONTEXT = FrozenDict({"a": freeze({"k": [3, 1, 2], "list": [[2], [1]]}), "b": freeze([[2, 1], "x"])})
MOMENT = Moment(CONTEXT, freeze({"name": "e", "data": [2, 1]}), 0, Session("s", "m", ()))


@given(_expressions())
def test_the_fast_way_gives_what_the_slow_way_gives(source: str) -> None:
    """What is taken for harmless changes nothing when it could, and has the same value."""
    engine = MODEL._engine()
    program = engine.expression(source)
    if program.fault is not None or program.may_change:
        return
    try:
        value, after = engine.write(program, MOMENT)
    except DatamodelError as error:
        with pytest.raises(DatamodelError) as again:
            engine.read(program, MOMENT)
        assert str(again.value) == str(error)
        return
    assert after is CONTEXT
    assert same(engine.read(program, MOMENT), value)
