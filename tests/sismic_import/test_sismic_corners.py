"""Rarer forms: what code names, delayed events that meet, files that only sismic refuses."""

from __future__ import annotations

import ast

import pytest
import sismic.io
from sismic.exceptions import StatechartError
from sismic_beside import Ours, Sismic, compare
from sismic_texts import chart, machine_of, one_state, run

from statecharts import Machine, simulate
from statecharts.adapters.formats.sismic import read_definition
from statecharts.adapters.formats.sismic_code import NOT_DATA, literal, names_in
from statecharts.adapters.formats.sismic_conditions import Old
from statecharts.adapters.formats.sismic_contracts import ContractError, with_contracts
from statecharts.errors import DefinitionError, ImplementationError


@pytest.mark.parametrize(
    ("code", "reads", "writes", "imports"),
    [
        ("x = y", "y", "x", ""),
        ("x += 1", "x", "x", ""),
        ("del x", "", "x", ""),
        ("import a.b as c, d.e", "", "c d", "c d"),
        ("from a import b as c, d", "", "c d", "c d"),
        ("def f(n): return n + y", "n y", "f", "f"),
        ("class C: pass", "", "C", "C"),
        ("for i, *j in k: pass", "k", "i j", ""),
        ("with a as b: pass", "a", "b", ""),
        ("try:\n  pass\nexcept E as e:\n  pass", "E", "e", ""),
        ("match m:\n  case [a, *b]: pass\n  case {'k': c, **d}: pass", "m", "a b c d", ""),
        ("(x := y)", "y", "x", ""),
        ("no python", "", "", ""),
    ],
)
def test_names_of_code(code: str, reads: str, writes: str, imports: str) -> None:
    found = names_in(code)
    assert (found.reads, found.writes, found.imports) == (set(reads.split()), set(writes.split()), set(imports.split()))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1.5", -1.5),
        ("+2", 2),
        ("[1, 'a', None, [True]]", [1, "a", None, [True]]),
        ("{'a': {'b': []}}", {"a": {"b": []}}),
        ("-True", NOT_DATA),
        ("1e999", NOT_DATA),
        ("-'a'", NOT_DATA),
        ("[x]", NOT_DATA),
        ("{1: 2}", NOT_DATA),
        ("{**x}", NOT_DATA),
        ("b''", NOT_DATA),
        ("1 + 1", NOT_DATA),
    ],
)
def test_literals(text: str, value: object) -> None:
    found = literal(ast.parse(text, mode="eval").body)
    assert found is value if value is NOT_DATA else (found, type(found)) == (value, type(value))


def test_what_only_sismic_refuses_is_told_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise StatechartError("mapping validation failed") from ValueError("Wrong key 'x'")

    monkeypatch.setattr(sismic.io, "import_from_yaml", refuse)
    with pytest.raises(DefinitionError, match="Sismic refuses the chart: Wrong key 'x'") as caught:
        read_definition(chart("initial: a\nstates: [{name: a}]"))
    assert caught.value.problems[0].code == "sismic-refused"


def test_a_file_is_trusted_or_not() -> None:
    text = chart("initial: a\nstates: [{name: a}]")
    assert not read_definition(text).trusted
    assert read_definition(text, trusted=True).trusted


def test_a_description_is_kept() -> None:
    text = chart("initial: a\nstates: [{name: a}]").replace("  name: chart\n", "  name: chart\n  description: What it is.\n")
    assert read_definition(text).document["description"] == "What it is."


def test_odd_shapes_inside_are_reported() -> None:
    text = "statechart: 5\n"
    with pytest.raises(DefinitionError, match="A statechart has keys and values; here is 5"):
        read_definition(text)
    text = chart("initial: a\nstates:\n  - just text\n  - name: a\n    transitions: [e]\n    contract: [x > 1]")
    with pytest.raises(DefinitionError) as caught:
        read_definition(text)
    assert [problem.line for problem in caught.value.problems] == [9, 11, 12]


# -------------------------------------------------------------- delayed events


DELAYED = (
    "initial: a\nstates:\n  - name: a\n    transitions:\n"
    "      - {event: e, action: \"send('i', delay=1)%s\"}\n      - {event: i, action: log.append('i')}\n%s  - name: b"
)


@pytest.mark.parametrize(
    ("sends", "more", "listed"),
    [
        ("", "", False),
        ("; send('j')", "", True),
        ("", "      - {guard: after(1), target: b}\n", True),
        ("; send('j', **{'delay': 1})", "", True),
    ],
)
def test_delayed_events_that_may_meet_others_are_a_difference(sends: str, more: str, listed: bool) -> None:
    text = chart(DELAYED % (sends, more), "log = []")
    codes = {problem.code for problem in read_definition(text, trusted=True).differences}
    assert codes == ({"timer-order"} if listed else set())


def test_a_delayed_event_that_sends_another_comes_before_the_next_one() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - {event: e, action: \"send('i', delay=1); send('i', delay=1)\"}\n"
        "      - {event: i, action: \"log.append('i'); send('j')\"}\n      - {event: j, action: log.append('j')}",
        "log = []",
    )
    imported = read_definition(text, trusted=True)
    assert {problem.code for problem in imported.differences} == {"timer-order"}
    seen = compare(text, imported, [("e", 0), ("wait", 1.0)])
    assert seen is not None
    assert (seen.theirs.context, seen.ours.context) == ({"log": ["i", "i", "j", "j"]}, {"log": ["i", "j", "i", "j"]})


def test_delayed_events_of_one_kind_come_in_order() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - {event: e, action: \"send('i', delay=event.v, n=len(log))\"}\n"
        "      - {event: i, action: \"log.append([event.n, event.delay])\"}",
        "log = []",
    )
    theirs, ours = Sismic(text), Ours(read_definition(text, trusted=True))
    for event, value in [("e", 2), ("e", 1), ("wait", 0.5), ("e", 1), ("wait", 0.5), ("e", 1), ("wait", 2.0)]:
        assert theirs.step(event, value) == ours.step(event, value)
    assert len(ours.simulation.snapshot.context["log"]) == 4


def test_an_eventless_way_back_through_a_history_repeats() -> None:
    text = chart(
        "initial: a\nstates:\n  - {name: a, transitions: [{guard: x < 1, target: h}]}\n  - {name: b, on entry: x = 0}\n"
        "  - {name: h, type: shallow history, memory: a}",
        "x = 0\nlog = []",
    )
    imported = read_definition(text, trusted=True)
    assert [problem.code for problem in imported.differences] == ["eventless-repeats"]
    seen = compare(text, imported, [])
    assert seen is not None
    assert seen.kind == "endless"


def test_active_of_a_computed_name_beside_regions_is_a_difference() -> None:
    text = chart(
        "parallel states:\n  - {name: r1, on entry: \"log.append([active(s) for s in ['r2']])\"}\n  - name: r2", "log = []"
    )
    (problem,) = read_definition(text, trusted=True).differences
    assert problem.code == "active-in-action"
    assert "a state in another region" in problem.message


# ------------------------------------------------------------------ in place


@pytest.mark.parametrize(
    ("region", "why"),
    [
        ("initial: x, states: [{name: x}], transitions: [{event: e, target: r}, {guard: after(1), target: r}]", "a timer"),
        ("initial: x, states: [{name: x}, {name: h, type: deep history, memory: x}], transitions: [{event: e, target: r}]", "a history"),
        ("parallel states: [{name: x}, {name: y}], transitions: [{event: e, target: x}]", "one of its own regions"),
    ],
)  # fmt: skip
def test_a_region_that_cannot_restart_in_place_is_a_difference(region: str, why: str) -> None:
    text = chart(f"parallel states:\n  - {{name: r, {region}}}\n  - name: other")
    codes = {problem.code for problem in read_definition(text, trusted=True).differences}
    assert "region-reentry" in codes, why


def test_code_of_a_region_that_restarts_in_place_counts_as_an_action() -> None:
    text = chart(
        "parallel states:\n"
        "  - {name: r1, on entry: log.append('+r1'), initial: a1, states: [{name: a1}], transitions: [{event: e, target: a1}]}\n"
        "  - {name: r2, initial: a2, states: [{name: a2, transitions: [{event: e, action: log.append('t')}]}]}",
        "log = []",
    )
    imported = read_definition(text, trusted=True)
    assert [problem.code for problem in imported.differences] == ["parallel-order"]
    seen = compare(text, imported, [("e", 0)])
    assert seen is not None
    assert seen.kind == "order"


def test_a_region_without_states_may_restart_in_place() -> None:
    text = chart(
        "parallel states:\n  - {name: r, on exit: log.append('-'), on entry: log.append('+'), transitions: [{event: e, target: r}]}\n  - name: other",
        "log = []",
    )
    imported = read_definition(text, trusted=True)
    assert imported.differences == ()
    assert compare(text, imported, [("e", 0), ("e", 0)]) is None


# ------------------------------------------------------------------ trusted


def test_a_preamble_that_turns_out_bad_at_the_start_ends_the_machine() -> None:
    sim = run(chart("initial: a\nstates: [{name: a}]", "x = {y}"), input={"y": 1})
    with pytest.raises(ImplementationError, match="the preamble of the chart: x is a set"):
        raise sim.snapshot.error


def test_a_chart_without_a_preamble_takes_its_variables_as_input() -> None:
    text = one_state("x = x + 1", preamble=None)
    machine = machine_of(read_definition(text, trusted=True))
    sim = simulate(machine, {"x": 1})
    assert sim.send("e").context == {"x": 2}


# ------------------------------------------------------------------ contracts


def test_old_is_an_object_and_a_mapping() -> None:
    old = Old({"x": [1]})
    assert (old.x, old["x"], list(old), len(old)) == ([1], [1], ["x"], 1)
    with pytest.raises(AttributeError, match="there was no variable 'y' then"):
        old.y


def test_what_is_sent_on_the_way_in_is_known_at_the_first_check() -> None:
    text = chart(
        "initial: a\non entry: send('i')\ncontract: [{always: not sent('i')}]\nstates: [{name: a}]"
    )
    assert "InvariantError" in str(type(Sismic(text, ignore_contract=False).error))
    contracts = with_contracts(read_definition(text, trusted=True))
    with pytest.raises(ContractError, match=r"not sent\('i'\)"):
        simulate(Machine(contracts.definition, contracts.implementations), inspect=contracts)


def test_a_chart_that_starts_in_a_history_or_in_regions_is_checked_when_it_has_started() -> None:
    for body in (
        "initial: h\ncontract: [{always: x == 1}]\nstates:\n  - {name: h, type: deep history, memory: a}\n  - {name: a, on entry: x = 1}",
        "parallel states:\n  - {name: r1, contract: [{always: x == 1}]}\n  - {name: r2, initial: a, states: [{name: a, on entry: x = 1}]}",
    ):
        text = chart(body)
        assert Sismic(text, ignore_contract=False).error is None
        contracts = with_contracts(read_definition(text, trusted=True))
        sim = simulate(Machine(contracts.definition, contracts.implementations), inspect=contracts)
        assert sim.snapshot.status == "active"
