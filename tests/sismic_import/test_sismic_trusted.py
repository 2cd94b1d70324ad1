"""A trusted chart's Python runs as in sismic, on data that stays data."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sismic_beside import Ours, Sismic
from sismic_texts import chart, machine_of, one_state, run

from statecharts import ImplementationError, simulate
from statecharts.adapters.formats.sismic import read_definition
from statecharts.adapters.formats.sismic_python import Event
from statecharts.adapters.formats.sismic_values import NotData, changes_between, check_data, same_data
from statecharts.errors import DefinitionError
from statecharts.values import UNDEFINED, freeze


def after(action: str, preamble: str | None = "x = 0", **data: Any) -> dict[str, Any]:
    """The context after ``action`` has run for an event with ``data``."""
    sim = run(one_state(action, preamble))
    snapshot = sim.send("e", **data)
    assert snapshot.status == "active", snapshot.error
    return dict(snapshot.context)


def failure(action: str, preamble: str | None = "x = 0", **data: Any) -> ImplementationError:
    """What the machine dies of."""
    sim = run(one_state(action, preamble))
    snapshot = sim.send("e", **data)
    assert isinstance(snapshot.error, ImplementationError), snapshot.error
    return snapshot.error


# ------------------------------------------------------------------- context


CODE = {
    "assignment": ("x = x + 1\ny = [x]", {"x": 1, "y": [1]}),
    "in place": ("x.append(1)\nx[0:0] = [0]", {"x": [0, 1]}),
    "nested": ("x['a']['b'].append(1)", {"x": {"a": {"b": [1]}}}),
    "event": ("x = event.n + len(event.name)", {"x": 4}),
    "event data": ("x = sorted(event.data)", {"x": ["n"]}),
    "setdefault": ("setdefault('y', []).append(1)\nsetdefault('y', 5)", {"x": 0, "y": [1]}),
    "loop": ("for y in range(3):\n  x += y", {"x": 3, "y": 2}),
    "conditional": ("if x == 0:\n  x = 'none'\nelse:\n  x = 'some'", {"x": "none"}),
    "try": ("try:\n  x = 1 / 0\nexcept ZeroDivisionError:\n  x = None", {"x": None}),
    "unpacking": ("x, *y = [1, 2, 3]", {"x": 1, "y": [2, 3]}),
    "import for itself": ("import math\nx = math.floor(2.5)", {"x": 2}),
    "function for itself": ("def twice(n):\n  return 2 * n\nx = twice(4)", {"x": 8}),
    "comprehension": ("x = [n * 2 for n in [1, 2]]", {"x": [2, 4]}),
    "bool is not int": ("x = False", {"x": False}),
    "float is not int": ("x = 0.0", {"x": 0.0}),
}
START = {"in place": "x = []", "nested": "x = {'a': {'b': []}}"}


@pytest.mark.parametrize("case", CODE)
def test_actions_change_variables_as_in_sismic(case: str) -> None:
    action, expected = CODE[case]
    preamble = START.get(case, "x = 0")
    found = after(action, preamble, n=3)
    assert found == expected
    assert [type(value) for value in found.values()] == [type(freeze(value)) for value in expected.values()]
    theirs = Sismic(one_state(action, preamble))
    theirs.interpreter.queue("e", n=3).execute()
    context = {key: value for key, value in theirs.interpreter.context.items() if key not in ("math", "twice")}
    assert context == expected


def test_a_deleted_variable_is_gone_and_may_come_back() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n"
        "      - {event: drop, action: del x}\n      - {event: ask, guard: \"'x' in locals()\", action: y += 1}\n"
        "      - {event: back, action: x = y}",
        "x = 0\ny = 0",
    )
    sim = run(text)
    assert sim.send("ask").context == {"x": 0, "y": 1}
    assert sim.send("drop").context["x"] is UNDEFINED
    assert sim.send("ask").context["y"] == 1
    assert sim.save()["snapshot"]["context"] == {"y": 1}
    assert sim.send("back").context == {"x": 1, "y": 1}


def test_the_input_is_sismics_initial_context() -> None:
    text = chart("initial: a\nstates: [{name: a}]", "y = x * 2\nsetdefault('z', 5)")
    machine = machine_of(read_definition(text, trusted=True))
    assert simulate(machine, {"x": 4, "z": 1}).snapshot.context == {"x": 4, "z": 1, "y": 8}
    with pytest.raises(ImplementationError, match=r"NameError: name 'x' is not defined"):
        raise simulate(machine).snapshot.error
    with pytest.raises(ImplementationError, match="an object with a value for each variable"):
        raise simulate(machine, [1]).snapshot.error


def test_what_a_preamble_imports_and_defines_is_there_and_is_no_data() -> None:
    text = one_state(
        "x = floor(sqrt(16.5)) + double(1) + Pair.size",
        "from math import floor, sqrt\nimport os.path\nx = 0\ndef double(n):\n    return n * 2\nclass Pair:\n    size = 2",
    )
    imported = read_definition(text, trusted=True)
    assert set(imported.python.constants) == {"floor", "sqrt", "os", "double", "Pair"}  # type: ignore[union-attr]
    sim = simulate(machine_of(imported))
    assert sim.snapshot.context == {"x": 0}
    assert sim.send("e").context == {"x": 8}


def test_a_constant_may_become_a_variable() -> None:
    assert after("floor = floor(1.5)", "from math import floor\nx = 0") == {"x": 0, "floor": 1}


VALUES = {
    "a set": ("x = {1}", "x is a set, and a context holds JSON data; write a list"),
    "a tuple": ("x = (1, 2)", "x is a tuple"),
    "deep inside": ("x = {'a': [1, {2}]}", r"x\['a'\]\[1\] is a set"),
    "a key": ("x = {1: 2}", r"x has the key 1; keys are strings in JSON. Write '1'"),
    "an object": ("x = object()", "x is a object"),
    "a lambda": ("x = lambda: 1", "x is a function, and a context holds JSON data; define it in the preamble"),
    "infinity": ("x = float('inf')", "x is inf, which JSON does not have"),
    "itself": ("x = []\nx.append(x)", "x"),
    "shared": ("y = x = []", "x and y are the same list|y and x are the same list"),
    "shared inside": ("x = [[0]] * 2", r"x\[0\] and x\[1\] are the same list"),
}


@pytest.mark.parametrize(("action", "words"), VALUES.values(), ids=VALUES)
def test_what_is_no_data_ends_the_machine_with_its_name(action: str, words: str) -> None:
    error = failure(action)
    assert error.state == "a"
    with pytest.raises(ImplementationError, match=words):
        raise error
    assert "line 14" in str(error)


@pytest.mark.parametrize(("code", "words"), VALUES.values(), ids=VALUES)
def test_what_is_no_data_in_a_preamble_is_a_problem_of_the_file(code: str, words: str) -> None:
    if code.startswith("x = lambda"):
        return  # a preamble may define functions
    with pytest.raises(DefinitionError, match=words) as caught:
        read_definition(one_state("pass", code), trusted=True)
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == ("sismic-value", 4)


@pytest.mark.parametrize("code", ["import math", "def math():\n  pass", "class math:\n  pass"])
def test_what_other_code_needs_belongs_into_the_preamble(code: str) -> None:
    text = one_state(code, more="    on entry: x = math.pi\n")
    with pytest.raises(DefinitionError, match="Move the import or definition into the preamble") as caught:
        read_definition(text, trusted=True)
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == ("sismic-import", 14)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
variables = st.dictionaries(st.text("xyz", min_size=1, max_size=2), json_values, max_size=4)


@given(variables, variables)
def test_changes_lead_from_one_context_to_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    changes = changes_between(freeze(before), after, {})
    merged = {key: value for key, value in {**before, **changes}.items() if value is not UNDEFINED}
    assert same_data(dict(sorted(merged.items())), dict(sorted(after.items())))
    assert all(key not in before or not same_data(before[key], value) for key, value in changes.items())


@given(json_values)
def test_json_is_data_and_equals_itself_only(value: Any) -> None:
    check_data({"x": value})
    assert same_data(value, freeze(value))
    assert not same_data(value, [value])


def test_equal_numbers_of_two_types_differ() -> None:
    assert not same_data(1, True)
    assert not same_data([1], [1.0])
    with pytest.raises(NotData):
        check_data({"x": True, "y": b""})


# -------------------------------------------------------------------- guards


def guarded(guard: str, preamble: str = "x = 0", event: bool = True) -> str:
    given = "event: e, " if event else ""
    return chart(
        f"initial: a\nstates:\n  - name: a\n    transitions:\n      - {{{given}guard: \"{guard}\", target: b}}\n  - name: b\n"
        "    transitions: [{event: back, target: a}]",
        preamble,
    )


@pytest.mark.parametrize(
    ("guard", "passes"),
    [
        ("x == 0", True),
        ("event.n > 2", True),
        ("event.name == 'e' and event.n", True),
        ("[]", False),
        ("x", False),
        ("not x", True),
        ("'n' in dir(event)", True),
        ("active('a')", True),
        ("active('b')", False),
        ("active('root') and not active('nowhere')", True),
        ("x + active('a') + active('b') == 1", True),
        ("len([s for s in 'abc']) == 3", True),
        ("event == event and event != 1", True),
    ],
)
def test_guards_answer_as_in_sismic(guard: str, passes: bool) -> None:
    text = guarded(guard)
    sim = run(text)
    assert (sim.send("e", n=3).atomic_states == ("b",)) is passes
    theirs = Sismic(text)
    theirs.interpreter.queue("e", n=3).execute()
    assert ("b" in theirs.interpreter.configuration) is passes


def test_an_eventless_guard_and_action_see_no_event() -> None:
    sim = run(guarded("event is None", event=False))
    assert sim.snapshot.atomic_states == ("b",)
    text = chart(
        "initial: a\nstates:\n  - {name: a, transitions: [{guard: after(1), target: b, action: x = event}]}\n  - name: b"
    )
    sim = run(text)
    assert sim.advance(seconds=1).context == {"x": None}


def test_the_same_text_with_and_without_an_event_is_two_guards() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - {event: e, guard: event is None, target: c}\n"
        "      - {guard: event is None and x, target: c}\n      - {event: f, guard: event is None and x, target: c}\n  - name: c",
        "x = 1",
    )
    imported = read_definition(text, trusted=True)
    assert len([piece for piece in imported.code if piece.text == "event is None and x"]) == 2
    assert simulate(machine_of(imported)).snapshot.atomic_states == ("c",)


@pytest.mark.parametrize("guard", ["x.append(1)", "(y := 1)", "x.pop() or True"])
def test_a_guard_changes_nothing(guard: str) -> None:
    text = guarded(guard, "x = [1]")
    imported = read_definition(text, trusted=True)
    assert [problem.code for problem in imported.differences] == ["guard-mutates"]
    sim = simulate(machine_of(imported))
    assert sim.send("e").context == {"x": [1]}


def test_a_guard_that_fails_says_where() -> None:
    sim = run(guarded("y > 1"))
    error = sim.send("e").error
    assert "guard of a -> b on e, line 11: NameError: name 'y' is not defined" in str(error)


# --------------------------------------------------------------------- events


def test_changes_and_sends_keep_their_order() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - event: e\n        action: |\n"
        "          x += 1\n          send('i', n=x)\n          x += 1\n          send('i', n=x)\n"
        "      - {event: i, action: log.append(event.n * 10 + x)}",
        "x = 0\nlog = []",
    )
    assert run(text).send("e").context == {"x": 2, "log": [12, 22]}
    theirs = Sismic(text)
    theirs.step("e", 0)
    assert theirs.interpreter.context["log"] == [12, 22]


def test_a_list_in_an_event_is_as_it_is_when_the_code_ends() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - event: e\n        action: |\n"
        "          y = [1]\n          send('i', n=y)\n          y.append(2)\n"
        "      - {event: i, action: log.append(event.n)}",
        "log = []",
    )
    assert run(text).send("e").context["log"] == [[1, 2]]
    theirs = Sismic(text)
    theirs.step("e", 0)
    assert theirs.interpreter.context["log"] == [[1, 2]]


def test_delays_are_seconds() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - {event: e, action: \"send('i', delay=x)\"}\n      - {event: i, target: b}\n  - name: b",
        "x = 1.5",
    )
    sim = run(text)
    sim.send("e")
    assert sim.advance(1499).atomic_states == ("a",)
    assert sim.advance(1).atomic_states == ("b",)
    at_once = run(text.replace("x = 1.5", "x = 0"))
    assert at_once.send("e").atomic_states == ("b",)


SENDS = {
    "a parameter called type": ("send('i', type=x)", "has a parameter `type`"),
    "no name": ("send(x)", "an event's name is text, not 0"),
    "a set": ("send('i', n={x})", "n of the event 'i' is a set"),
    "back in time": ("send('i', delay=x - 1)", "cannot be negative"),
    "no time": ("send('i', delay='soon' + str(x))", "it is a number of seconds"),
    "two names": ("send('i', name=x)", "TypeError"),
}


@pytest.mark.parametrize(("action", "words"), SENDS.values(), ids=SENDS)
def test_an_event_that_cannot_be_sent_says_why(action: str, words: str) -> None:
    with pytest.raises(ImplementationError, match=words):
        raise failure(action)


def test_events_look_as_in_sismic() -> None:
    event = Event("e", {"n": 1})
    assert (event.n, event.name, event.data, dir(event)) == (1, "e", {"n": 1}, ["n", "name"])
    assert repr(event) == "Event('e', n=1)"
    assert event == Event("e", {"n": 1}) and event != Event("e", {}) and hash(event) == hash(Event("e", {}))
    with pytest.raises(AttributeError, match="has no attribute m"):
        event.m


def test_a_preamble_sends_nothing() -> None:
    sim = run(chart("initial: a\nstates: [{name: a}]", "x = 1 + 1\nsend('e')"))
    assert "the preamble of the chart sends events" in str(sim.snapshot.error)


# ------------------------------------------------------- active() in actions


def test_active_in_actions_is_sismics_moment() -> None:
    def ask(*names: str) -> str:
        return "log.append([" + ", ".join(f"active('{name}')" for name in names) + "])"

    text = chart(
        f"initial: a\non entry: {ask('root', 'a')}\nstates:\n  - name: a\n    initial: c\n    on exit: {ask('root', 'a', 'c', 'd', 'b')}\n"
        f"    transitions:\n      - {{event: stay, action: \"{ask('root', 'a', 'c', 'd', 'b')}\"}}\n"
        f"      - {{event: out, target: b, action: \"{ask('root', 'a', 'c', 'b')}\"}}\n"
        f"    states:\n      - {{name: c, on exit: \"{ask('c', 'a')}\", transitions: [{{event: next, target: d, action: \"{ask('a', 'c', 'd')}\"}}]}}\n"
        f"      - {{name: d, on entry: \"{ask('a', 'c', 'd')}\"}}\n"
        f"  - name: b\n    on entry: {ask('root', 'a', 'c', 'b', 'nowhere')}",
        "log = []",
    )
    imported = read_definition(text, trusted=True)
    assert imported.differences == ()
    theirs, ours = Sismic(text), Ours(imported)
    for event in ("stay", "next", "stay", "out"):
        assert theirs.step(event, 0) == ours.step(event, 0)
    assert len(ours.simulation.snapshot.context["log"]) == 9


def test_active_about_another_region_asks_the_machine() -> None:
    text = chart(
        "parallel states:\n  - name: r1\n    transitions: [{event: e, action: \"log.append([active(s) for s in ['a2', 'b2']])\"}]\n"
        "  - {name: r2, initial: a2, states: [{name: a2, transitions: [{event: f, target: b2}]}, {name: b2}]}",
        "log = []",
    )
    theirs, ours = Sismic(text), Ours(read_definition(text, trusted=True))
    for event in ("e", "f", "e"):
        assert theirs.step(event, 0) == ours.step(event, 0)
    assert ours.simulation.snapshot.context["log"] == [[True, False], [False, True]]


# -------------------------------------------------------------- refusals, faults


CLOCKS = {
    "computed": "after(x)",
    "by another name": "[after][0](5)",
    "two at once": "after(5, 6)",
    "time": "time > 5",
}


@pytest.mark.parametrize("guard", CLOCKS.values(), ids=CLOCKS)
def test_a_guard_that_needs_a_clock_is_refused_or_left_to_be_bound(guard: str) -> None:
    text = guarded(guard, event=False)
    with pytest.raises(DefinitionError, match=r"The guard of 'a' -> 'b' asks for") as caught:
        read_definition(text, trusted=True)
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == ("sismic-clock", 11)
    loose = read_definition(text, trusted=True, strict=False)
    assert [problem.code for problem in loose.differences] == ["clock-guard"]
    machine = machine_of(loose)
    assert [name.name for name in machine.missing] == [guard]
    bound = machine_of(loose, guards={guard: lambda: True})
    assert simulate(bound).snapshot.atomic_states == ("b",)


@pytest.mark.parametrize(
    "guard",
    ["after(2) and x", "x < 5 and not after(1.5)", "after(1 / 3) or x == 9", "idle(1) and after(2)", "(3 if after(1) else 1) == x", "after(0) and x", "after(1) and active('a')"],
)  # fmt: skip
@pytest.mark.parametrize("event", ["", "event: e, "])
def test_a_guard_may_ask_whether_a_constant_time_has_passed(guard: str, event: str) -> None:
    text = chart(
        f"initial: a\nstates:\n  - name: a\n    transitions:\n      - {{{event}guard: \"{guard}\", target: b, action: log.append('out')}}\n"
        "      - {event: up, target: a, action: x += 1}\n      - {event: quiet, target: a}\n"
        "  - {name: b, transitions: [{event: back, target: a}]}",
        "x = 0\nlog = []",
    )
    imported = read_definition(text, trusted=True)
    assert imported.differences == ()
    theirs, ours = Sismic(text), Ours(imported)
    for name, value in [("e", 0), ("wait", 1.0), ("e", 0), ("wait", 1.0), ("up", 0), ("e", 0), ("wait", 1.5), ("e", 0), ("wait", 1.0),
                        ("up", 0), ("up", 0), ("wait", 2.5), ("e", 0), ("back", 0), ("wait", 0.75), ("e", 0), ("quiet", 0), ("wait", 2.5), ("e", 0)]:  # fmt: skip
        assert theirs.step(name, value) == ours.step(name, value), (name, value)
    assert ours.simulation.snapshot.status == "active"


@pytest.mark.parametrize("what", ["on entry: x = time", "on exit: x = time", "transitions: [{event: e, action: x = time}]"])
def test_an_action_that_needs_a_clock_is_refused(what: str) -> None:
    text = chart(f"initial: a\nstates:\n  - name: a\n    {what}")
    with pytest.raises(DefinitionError, match="asks for `time`"):
        read_definition(text, trusted=True)
    variable = text.replace("x = 0", "time = 0")
    assert read_definition(variable, trusted=True).differences == ()


@pytest.mark.parametrize("guard", ["active(x)", "any(active(s) for s in ['a'])", "active('a') + active('b') + active('c') + active('d')"])
def test_computed_states_are_refused(guard: str) -> None:
    more = "\n  - name: c\n  - name: d"
    text = guarded(guard) .rstrip() + more.replace("\n", "\n    ") + "\n"
    with pytest.raises(DefinitionError, match="asks for computed or too many states") as caught:
        read_definition(text, trusted=True)
    assert caught.value.problems[0].code == "sismic-active"
    assert machine_of(read_definition(text, trusted=True, strict=False)).missing


SYNTAX = {
    "guard": (guarded("x = 1"), 11, "This is not an expression"),
    "action": (one_state("x = 1\nif x"), 15, "This is not Python"),
    "preamble": (one_state("pass", "x = 1\ny = ("), 5, "This is not Python"),
}


@pytest.mark.parametrize(("text", "line", "words"), SYNTAX.values(), ids=SYNTAX)
def test_code_that_is_not_python_names_the_line_of_the_file(text: str, line: int, words: str) -> None:
    with pytest.raises(DefinitionError, match=words) as caught:
        read_definition(text, trusted=True)
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == ("sismic-code-syntax", line)


def test_a_traceback_points_into_the_file() -> None:
    text = one_state("x = 1\ny = x / 0")
    sim = simulate(machine_of(read_definition(text, trusted=True, file="some/chart.yaml")))
    error = sim.send("e").error
    assert isinstance(error, ImplementationError)
    assert isinstance(error.__cause__, ZeroDivisionError)
    last = traceback.extract_tb(error.__cause__.__traceback__)[-1]
    assert (last.filename, last.lineno) == ("some/chart.yaml", 15)
    assert text.splitlines()[14].strip() == "y = x / 0"


def test_pure_mode_holds_a_chart_to_purity() -> None:
    quiet = run(one_state("x += 1\nsend('i', n=[x])\nnotify('seen')"), pure=True)
    assert quiet.send("e").context == {"x": 1}
    loud = run(one_state("import random\nx = random.random()"), pure=True)
    assert "random" in str(loud.send("e").error)


def test_a_run_can_be_saved_and_goes_on() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - {event: e, action: \"send('i', delay=2)\"}\n"
        "      - {event: i, target: b, action: x.append(1)}\n  - name: b",
        "x = []",
    )
    machine = machine_of(read_definition(text, trusted=True))
    first = simulate(machine)
    first.send("e")
    second = simulate(machine, snapshot=first.save())
    assert second.advance(seconds=2).context == {"x": [1]}
