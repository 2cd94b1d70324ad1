"""Expressions in documents: spelling, errors, JSON's numbers in CEL, purity, threads."""

from __future__ import annotations

import builtins
import math
import operator
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecharts.errors import DefinitionError, ImplementationError
from statecharts.expressions import (
    DEFAULT_LANGUAGES,
    VARIABLES,
    Evaluate,
    EvaluationFault,
    Expression,
    SyntaxFault,
    compile_expression,
    compile_value,
    is_expression,
)
from statecharts.values import UNDEFINED, freeze

pytest.importorskip("cel_expr_python")


def value_of(source: str, **variables: Any) -> Any:
    return compile_expression(source, pointer="/x").evaluate(variables)


def fault_of(source: str, **variables: Any) -> str:
    with pytest.raises(ImplementationError) as caught:
        value_of(source, **variables)
    return str(caught.value)


def problem_of(value: Any, **kwargs: Any) -> Any:
    with pytest.raises(DefinitionError) as caught:
        compile_expression(value, pointer="/states/a/on/E/guard", **kwargs)
    (problem,) = caught.value.problems
    return problem


# --- spelling ---------------------------------------------------------------------------------------


def test_what_is_an_expression() -> None:
    assert is_expression({"@expr": "1"})
    assert is_expression({"@expr": 1, "@lang": "cel"})
    assert not is_expression("1")
    assert not is_expression({"expr": "1"})


def test_object_and_bare_source_are_the_same_expression() -> None:
    spelled = compile_expression({"@expr": "1 + 1", "@lang": "cel"}, pointer="/x")
    bare = compile_expression("1 + 1", pointer="/x")
    assert spelled == bare
    assert hash(spelled) == hash(bare)
    assert repr(bare) == "Expression(source='1 + 1', lang='cel', pointer='/x')"
    assert bare.evaluate({}) == 2


def test_pickle_compiles_again() -> None:
    copy = pickle.loads(pickle.dumps(compile_expression("context.a + 1", pointer="/x")))
    assert copy.evaluate({"context": {"a": 1}}) == 2


@pytest.mark.parametrize(
    ("value", "codes", "pointers"),
    [
        ({"@expr": 1}, ["expression-syntax"], ["/x/@expr"]),
        ({"@expr": "1", "@lang": None}, ["expression-language"], ["/x/@lang"]),
        ({"@expr": "1", "la/ng": "cel"}, ["expression-syntax"], ["/x/la~1ng"]),
        (
            {"@expr": [], "@lang": {}, "z": 1},
            ["expression-syntax", "expression-language", "expression-syntax"],
            None,
        ),
    ],
)
def test_malformed_objects(value: dict[str, Any], codes: list[str], pointers: list[str] | None) -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_expression(value, pointer="/x")
    assert [problem.code for problem in caught.value.problems] == codes
    if pointers:
        assert [problem.pointer for problem in caught.value.problems] == pointers


def test_unknown_language_names_the_known_ones() -> None:
    problem = problem_of({"@expr": "a", "@lang": "jsonata"})
    assert (problem.code, problem.pointer) == ("expression-language", "/states/a/on/E/guard")
    assert "`cel`" in problem.hint
    assert "none" in problem_of("a", languages={}).hint
    assert problem_of("a", default_lang="jmespath").code == "expression-language"


def test_languages_are_handed_in() -> None:
    def names_only(source: str) -> Evaluate:
        if not source.isidentifier():
            raise SyntaxFault("not a name", hint="write a name")

        def evaluate(variables: Mapping[str, Any]) -> Any:
            if source not in variables:
                raise EvaluationFault("nothing there")
            return variables[source]

        return evaluate

    languages = {"name": names_only}
    expression = compile_expression("event", pointer="/x", default_lang="name", languages=languages)
    assert expression.evaluate({"event": 3}) == 3
    with pytest.raises(ImplementationError, match="nothing there"):
        expression.evaluate({})
    problem = problem_of({"@expr": "1+1", "@lang": "name"}, languages=languages)
    assert problem.message == "cannot read the name expression `1+1`: not a name"
    assert problem.hint == "write a name"
    assert "name" not in DEFAULT_LANGUAGES


def test_importing_expressions_does_not_import_the_runtime() -> None:
    code = "import sys, statecharts.expressions; print([m for m in sys.modules if m.startswith('cel_expr')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_missing_extra_is_named_when_an_expression_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def without_cel(name: str, *args: Any) -> Any:
        if name.startswith("cel_expr_python"):
            raise ImportError(name)
        return genuine(name, *args)

    from statecharts import expressions_cel_environment

    expressions_cel_environment.environment.cache_clear()
    try:
        monkeypatch.setattr(builtins, "__import__", without_cel)
        with pytest.raises(ImplementationError, match=r"pip install 'statecharts\[cel\]'"):
            compile_expression("'never seen before'", pointer="/x")
    finally:
        monkeypatch.undo()
        expressions_cel_environment.environment.cache_clear()


# --- syntax errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "place", "words"),
    [
        ("context.count +", "line 1, column 16", "mismatched input"),
        ("a / b / (", "line 1, column 10", "Syntax error"),
        ("1 +\n  zz", "line 2, column 3", "undeclared reference to 'zz'"),
        ("'é😀' + string(1) + zz", "line 1, column 20", "undeclared reference to 'zz'"),
        ("'a' + 1", "line 1, column 5", "`+` cannot be used on (string, int)"),
        ("string([1])", "line 1, column 7", "`string` cannot be used"),
        ("1 in 2", "line 1, column 3", "`in` cannot be used on (int, int)"),
        ("", "line 1, column 1", "Syntax error"),
    ],
)
def test_syntax_errors_name_the_position(source: str, place: str, words: str) -> None:
    problem = problem_of(source)
    assert problem.code == "expression-syntax"
    assert problem.pointer == "/states/a/on/E/guard"
    assert place in problem.message
    assert words in problem.message
    assert f"`{source}`" in problem.message


def test_hints() -> None:
    assert "an expression sees context, event" in problem_of("contxt.a").hint
    assert "none tells the time" in problem_of("now()").hint
    assert "`==`" in problem_of("context.a === 1").hint
    for endless in ("(" * 300 + "1" + ")" * 300, "1 + " * 50 + "1"):
        assert "nests too deeply" in problem_of(endless).message
    assert "not valid text" in problem_of("'\ud800'").message


@pytest.mark.parametrize(
    "name", ["now", "time", "random", "uuid", "today", "getenv", "rand", "timestamp.now"]
)
def test_no_function_reads_the_world(name: str) -> None:
    assert problem_of(f"{name}()").code == "expression-syntax"


# --- run-time errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "variables", "words"),
    [
        ("context.a", {"context": {}}, 'no member "a"'),
        ("context.a", {"context": {"a": UNDEFINED}}, 'no member "a"'),
        ("event.a.b", {"event": {"a": None}}, "not an object"),
        ("params.x", {}, "`params` has no value"),
        ("params.x", {"params": UNDEFINED}, "`params` has no value"),
        ("context.a + 1", {"context": {"a": "s"}}, "`+` cannot be used on (string, int)"),
        ("context.a < 1", {"context": {"a": "s"}}, "`<` cannot be used on (string, int)"),
        ("context.a ? 1 : 2", {"context": {"a": 1}}, "needs true or false"),
        ("!context.a", {"context": {"a": 1}}, "`!` cannot be used"),
        ("context.a && true", {"context": {"a": 1}}, "`&&` cannot be used"),
        ("string(context.a)", {"context": {"a": [1]}}, "`string` cannot be used on (list)"),
        ("[1, 2][0.5]", {}, "Index error"),
        ("[1, 2][2]", {}, "index=2 size=2"),
        ("5 % 0", {}, "modulus by zero"),
        ("context.a % 0", {"context": {"a": 5.5}}, "modulus by zero"),
        ("1 / 0", {}, "the result is Infinity"),
        ("0 / 0", {}, "the result is NaN"),
        ("context.a", {"context": {"a": math.inf}}, "the result is Infinity"),
        ("context.a", {"context": {"a": -(10**400)}}, "the result is -Infinity"),
        ("9223372036854775807 + 1", {}, "integer overflow"),
        ("timestamp('2020-01-01T00:00:00Z')", {}, "a timestamp, which JSON cannot hold"),
        ("[duration('1s')]", {}, "a duration, which JSON cannot hold"),
        ("b'a'", {}, "bytes, which JSON cannot hold"),
        ("type(1)", {}, "a type, which JSON cannot hold"),
        ("{1: 2}", {}, "keys of a JSON object are strings"),
        ("context.a", {"context": {"a": "x\0y"}}, "NUL character"),
        ("context", {"context": {"\ud800": 1}}, "lone surrogate"),
        ("context.a", {"context": {"a": object()}}, "not a JSON value"),
    ],
)
def test_run_time_errors_name_pointer_source_and_reason(
    source: str, variables: dict[str, Any], words: str
) -> None:
    message = fault_of(source, **variables)
    assert words in message
    assert f"`{source}` at /x" in message


def test_what_the_runtime_throws_is_an_evaluation_fault() -> None:
    from statecharts.expressions_cel import CelProgram
    from statecharts.expressions_cel_source import Source

    class Broken:
        def eval(self, **_kwargs: Any) -> Any:
            raise RuntimeError("INTERNAL: broken pipe in the engine")

    with pytest.raises(EvaluationFault, match=r"^broken pipe in the engine$"):
        CelProgram(Broken(), Source("1"))({})


def test_only_what_is_read_must_be_json() -> None:
    assert value_of("context.a", context={"a": 1, "ref": object(), "bad": "\0"}) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("1", "a number"), ("''", "a string"), ("null", "null"), ("[]", "a list"), ("{}", "an object")],
)
def test_guards_are_true_or_false(answer: str, kind: str) -> None:
    assert compile_expression("1 < 2", pointer="/x").test({}) is True
    assert compile_expression("1 > 2", pointer="/x").test({}) is False
    with pytest.raises(ImplementationError, match=f"this one is {kind}"):
        compile_expression(answer, pointer="/x").test({})


# --- values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "context", "expected"),
    [
        ("context.n + 1", {"n": 1}, 2),
        ("context.n + 1", {"n": 1.5}, 2.5),
        ("context.n + 1.0", {"n": 1}, 2),
        ("context.n * 2", {"n": 2.5}, 5),
        ("context.n / 2", {"n": 5}, 2.5),
        ("context.n / 2", {"n": 4}, 2),
        ("-context.n", {"n": 0}, 0),
        ("int(context.n / 2)", {"n": 5}, 2),
        ("8 / 2 / 2 * 3", {}, 6),
        ("1 - 8 / 2 % 3", {}, 0),
        ("context.n % 3", {"n": -7}, -1),
        ("context.n % 2.5", {"n": 7}, 2),
        ("1.5 + 1", {}, 2.5),
        ("1 / 0 > 5", {}, True),
        ("-1 / 0 < 5 && 0.0 / 0 != 1", {}, True),
        ("size(context.l) == 1.0", {"l": [7]}, True),
        ("size(context.l) > 0.5 && context.l.size() < 2", {"l": [7]}, True),
        ("context.l[0]", {"l": [7]}, 7),
        ("context.l[size(context.l) - 1]", {"l": [7, 8]}, 8),
        ("context.l[context.i / 2]", {"l": [7, 8], "i": 2}, 8),
        ("context.l[context.i]", {"l": [7, 8], "i": 1.0}, 8),
        ("context['a-b'] + context.`c d`", {"a-b": 1, "c d": 2}, 3),
        ("has(context.a) ? context.a : 1.5", {}, 1.5),
        ("has(context.a)", {"a": None}, True),
        ("context.a in context.l", {"a": 2.0, "l": [1, 2]}, True),
        ("'k' in context.o", {"o": {"k": 1}}, True),
        ("context.l.map(x, x / 2)", {"l": [1, 2]}, [0.5, 1]),
        ("context.l.filter(x, x > 1)", {"l": [1, 1.5, 2]}, [1.5, 2]),
        ("context.l.exists(x, x == 2)", {"l": [1, 2.0]}, True),
        ("context.l + [context]", {"l": [1]}, [1, {"l": [1]}]),
        ("{'n': context.n, 'l': [1.0, 'a', null, true]}", {"n": 2.0}, {"n": 2, "l": [1, "a", None, True]}),
        ("context.o == {'a': [1, 2.0]}", {"o": {"a": [1.0, 2]}}, True),
        ("context.s.startsWith('a') && context.s.matches('^a.c$')", {"s": "abc"}, True),
        ("context.s + '/' + string(1 / 2)", {"s": "a"}, "a/0.5"),
        ("string(2000000 / 2)", {}, "1000000"),
        ("string(context.n)", {"n": 1e21}, "1e+21"),
        ("string(true) + string('x') + string(b'y')", {}, "truexy"),
        ("string(timestamp('2020-01-01T00:00:00Z') + duration('90s'))", {}, "2020-01-01T00:01:30Z"),
        ("string(duration('1.5s'))", {}, "1.5s"),
        ("timestamp(context.at) < timestamp('2021-01-01T00:00:00Z')", {"at": "2020-06-01T00:00:00Z"}, True),
        ("context.n * context.n", {"n": 2**40}, 2.0**80),
        ("context.n + 1", {"n": 2**53}, 2**53),
        ("context.n", {"n": 2**63}, 2**63),
        ("context.b ? 'x' : null", {"b": False}, None),
        ("'héé😀'.size()", {}, 4),
        ("1 // a / comment\n + 1", {}, 2),
        (r"""r'a\d/' + '\'/' + '''b/''' + "/" """, {}, "a\\d/'/b//"),
        ("context", {"a": UNDEFINED, "b": [UNDEFINED, (1, 2.0)]}, {"b": [None, [1, 2]]}),
    ],
)
def test_values(source: str, context: dict[str, Any], expected: Any) -> None:
    for given_context in (context, freeze(context)):
        result = value_of(source, context=given_context)
        assert result == expected
        assert type(result) is type(expected) or isinstance(expected, float)
        assert not (isinstance(result, float) and result.is_integer() and abs(result) < 1e21)


def test_every_variable_can_be_read() -> None:
    for name in VARIABLES:
        assert value_of(f"{name}.a", **{name: {"a": 1}}) == 1
        assert value_of(name, **{name: 3}) == 3


def test_values_with_a_json_form_are_converted() -> None:
    class Reference:
        def to_json(self) -> dict[str, Any]:
            return {"id": "kid"}

    assert value_of("context.ref.id", context={"ref": Reference()}) == "kid"
    assert value_of("context.f", context={"f": len}) is None


def test_results_are_fresh() -> None:
    context = freeze({"l": [1]})
    first = value_of("context.l", context=context)
    first.append(2)
    assert value_of("context.l", context=context) == [1]


def test_variables_that_are_not_objects() -> None:
    assert value_of("params", params=[1, 2]) == [1, 2]
    assert "not an object" in fault_of("params.a", params=3)


# --- templates --------------------------------------------------------------------------------------


def test_a_constant_comes_back_frozen_and_shared() -> None:
    template = compile_value({"a": [1, {"b": None}]}, pointer="/x")
    assert template.is_constant
    assert template.evaluate({}) is template.evaluate({})
    with pytest.raises(TypeError):
        template.evaluate({})["a"].append(1)


def test_expressions_at_any_depth() -> None:
    template = compile_value(
        {"n": {"@expr": "context.n + 1"}, "deep": [1, {"x": {"@expr": "event.x"}}], "k": "v"}, pointer="/x"
    )
    assert not template.is_constant
    variables = {"context": {"n": 1}, "event": {"x": [2]}}
    first = template.evaluate(variables)
    assert first == {"n": 2, "deep": [1, {"x": [2]}], "k": "v"}
    first["deep"].append(3)
    assert template.evaluate(variables) == {"n": 2, "deep": [1, {"x": [2]}], "k": "v"}
    assert compile_value({"@expr": "1"}, pointer="/x").evaluate({}) == 1


def test_all_problems_of_a_template_are_reported_with_their_pointers() -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_value(
            {"a": {"@expr": "1 +"}, "b/c": [0, {"@expr": "x", "@lang": "js"}], "d": {"@code": "() => 1"}},
            pointer="/p",
        )
    assert [(p.code, p.pointer) for p in caught.value.problems] == [
        ("expression-syntax", "/p/a"),
        ("expression-language", "/p/b~1c/1"),
        ("expression-language", "/p/d"),
    ]


# --- threads ----------------------------------------------------------------------------------------


def test_one_expression_in_many_threads() -> None:
    expression = compile_expression("context.l.map(y, y + 1).filter(y, y > context.low)", pointer="/x")
    wrong: list[Any] = []

    def work(low: int) -> None:
        for turn in range(200):
            result = expression.evaluate({"context": {"l": [low, low + 0.5, turn], "low": low}})
            if result != [v for v in (low + 1, low + 1.5, turn + 1) if v > low]:
                wrong.append(result)
            compile_expression(f"{low} + {turn}", pointer="/x")

    threads = [threading.Thread(target=work, args=(low,)) for low in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- properties -------------------------------------------------------------------------------------

Tree = Any  # ("lit", n) | ("var", name) | (operator, left, right)
NAMES = ("a", "b", "c")
numbers = st.one_of(st.integers(-50, 50), st.integers(-200, 200).map(lambda n: n / 4), st.floats(-50, 50))
literals = st.one_of(st.integers(0, 50), st.integers(0, 200).map(lambda n: n / 4))


def trees(operators: str, depth: int) -> st.SearchStrategy[Tree]:
    leaf = st.one_of(st.tuples(st.just("lit"), literals), st.tuples(st.just("var"), st.sampled_from(NAMES)))
    if depth == 0:
        return leaf
    below = trees(operators, depth - 1)
    return st.one_of(leaf, st.tuples(st.sampled_from(operators), below, below))


def written(tree: Tree) -> str:
    if tree[0] == "lit":
        return repr(tree[1])
    if tree[0] == "var":
        return f"context.{tree[1]}"
    return f"({written(tree[1])} {tree[0]} {written(tree[2])})"


def ieee_divide(left: float, right: float) -> float:
    if right == 0:
        return (
            math.nan
            if left == 0 or math.isnan(left)
            else math.copysign(math.inf, left) * math.copysign(1, right)
        )
    return left / right


REFERENCE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": ieee_divide,
}  # fmt: skip


def reference(tree: Tree, context: dict[str, float]) -> float:
    if tree[0] == "lit":
        return float(tree[1])
    if tree[0] == "var":
        return float(context[tree[1]])
    return float(REFERENCE[tree[0]](reference(tree[1], context), reference(tree[2], context)))


contexts = st.fixed_dictionaries(dict.fromkeys(NAMES, numbers))


@given(trees("+-*/", 3), contexts)
@settings(deadline=None, max_examples=300)
def test_arithmetic_is_that_of_ieee_doubles(tree: Tree, context: dict[str, float]) -> None:
    expected = reference(tree, context)
    if not math.isfinite(expected):
        assert "JSON cannot hold" in fault_of(written(tree), context=context)
    else:
        assert value_of(written(tree), context=context) == expected


@given(numbers, numbers)
@settings(deadline=None)
def test_remainder_is_that_of_javascript(left: float, right: float) -> None:
    context = {"a": left, "b": right}
    if right == 0:
        assert "modulus by zero" in fault_of("context.a % context.b", context=context)
    else:
        assert value_of("context.a % context.b", context=context) == math.fmod(left, right)


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


@given(trees("+-*", 2), trees("+-*", 2), st.sampled_from(sorted(COMPARE)), contexts)
@settings(deadline=None, max_examples=200)
def test_comparisons_look_at_the_number_not_its_kind(
    left: Tree, right: Tree, sign: str, context: dict[str, float]
) -> None:
    expected = COMPARE[sign](reference(left, context), reference(right, context))
    assert value_of(f"{written(left)} {sign} {written(right)}", context=context) is expected


@given(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8),
    st.text("abcé/'\"\\", max_size=6),
)
@settings(deadline=None)
def test_strings(left: str, right: str) -> None:
    context = {"a": left, "b": right}
    assert value_of("context.a + context.b", context=context) == left + right
    assert value_of("context.a.contains(context.b)", context=context) is (right in left)
    assert value_of("size(context.a)", context=context) == len(left)
    assert value_of("context.a == context.b", context=context) is (left == right)


@given(st.recursive(st.tuples(st.just("var"), st.sampled_from(NAMES)), lambda below: st.one_of(
    st.tuples(st.just("!"), below), st.tuples(st.sampled_from(("&&", "||")), below, below)), max_leaves=8),
    st.fixed_dictionaries(dict.fromkeys(NAMES, st.booleans())))  # fmt: skip
@settings(deadline=None)
def test_logic(tree: Tree, context: dict[str, bool]) -> None:
    def source(node: Tree) -> str:
        if node[0] == "var":
            return f"context.{node[1]}"
        return (
            f"!({source(node[1])})" if node[0] == "!" else f"({source(node[1])} {node[0]} {source(node[2])})"
        )

    def truth(node: Tree) -> bool:
        if node[0] == "var":
            return context[node[1]]
        if node[0] == "!":
            return not truth(node[1])
        both = (truth(node[1]), truth(node[2]))
        return all(both) if node[0] == "&&" else any(both)

    assert compile_expression(source(tree), pointer="/x").test({"context": context}) is truth(tree)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False),
              st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=5)),
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(
        st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=4), below, max_size=4)),
    max_leaves=12,
)  # fmt: skip


@given(json_values)
@settings(deadline=None)
def test_values_pass_through_unchanged(value: Any) -> None:
    assert value_of("event", event=value) == value
    assert value_of("event.a", event=freeze({"a": value, "b": 1})) == value


def test_an_expression_is_typed_and_closed() -> None:
    expression = compile_expression("1", pointer="/x")
    assert isinstance(expression, Expression)
    with pytest.raises(AttributeError):
        expression.source = "2"  # type: ignore[misc]
