"""What becomes of each part of a chart, in the document."""

from __future__ import annotations

from typing import Any

import pytest
from sismic_beside import compare, events_of
from sismic_random import Dials, random_chart, random_steps

from statecharts import Machine, simulate
from statecharts.adapters.formats.sismic import SismicImport, read_definition
from statecharts.validation import check_document


def chart(body: str, preamble: str = "x = 0") -> str:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return f"statechart:\n  name: chart\n  preamble: {preamble}\n  root state:\n    name: root\n{lines}\n"


def read(body: str, **options: Any) -> SismicImport:
    return read_definition(chart(body), **options)


def state(body: str) -> Any:
    """The document of state ``a`` in a chart with states ``a`` (with ``body``) and ``b``."""
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    return read(f"initial: a\nstates:\n  - name: a\n{indented}\n  - name: b")


def test_states_keep_their_names_as_keys_and_ids() -> None:
    imported = read("initial: a.b\nstates:\n  - name: a.b\n    transitions:\n      - {event: e, target: '#c'}\n  - name: '#c'")
    assert imported.document["id"] == "chart"
    assert imported.document["states"]["a.b"]["id"] == "a.b"
    sim = simulate(Machine(imported.definition))
    assert sim.snapshot.atomic_states == ("a.b",)
    assert sim.send("e").atomic_states == ("#c",)


def test_the_machine_is_called_like_the_chart_or_like_its_root() -> None:
    text = chart("initial: chart\nstates: [{name: chart, transitions: [{event: e, target: root}]}]")
    imported = read_definition(text)
    assert imported.document["id"] == "root"
    assert imported.document["meta"]["sismic"]["statechart"] == "chart"
    sim = simulate(Machine(imported.definition))
    assert sim.send("e").configuration == ("root", "chart")


def test_every_target_leaves_its_source_and_none_stays() -> None:
    a = state("transitions:\n  - {event: in, target: a}\n  - {event: out, target: root}\n  - event: stay").document["states"]["a"]
    assert a["on"]["in"][0]["target"] == "#a"
    assert a["on"]["out"][0] == {"target": "#chart", "reenter": True, "meta": {"sismic": {"line": 11}}}
    assert a["on"]["stay"][0] == {"meta": {"sismic": {"line": 12}}}


def test_transitions_stand_by_priority_and_then_as_written() -> None:
    a = state(
        "transitions:\n"
        "  - {event: e, target: b, priority: low, guard: x == 1}\n"
        "  - {event: e, target: b, guard: x == 2}\n"
        "  - {event: e, target: b, priority: 7, guard: x == 3}\n"
        "  - {event: e, target: b, guard: x == 4}\n"
        "  - {event: e, target: b, priority: high, guard: x == 5}"
    ).document["states"]["a"]
    assert [t["guard"] for t in a["on"]["e"]] == ["x == 3", "x == 5", "x == 2", "x == 4", "x == 1"]


@pytest.mark.parametrize(
    ("guard", "key"),
    [
        ("after(5)", "5000"),
        ("after(0.2)", "200"),
        ("after( 3 * 60 )", "180000"),
        ("(after(1/4))", "250"),
        ("after(4.35)", "4350"),
        ("after(0.0015)", "1.5"),
        ("idle(2)", "2000"),
        ("after(+1)", "1000"),
    ],
)
def test_a_waiting_time_of_its_own_is_a_timer(guard: str, key: str) -> None:
    a = state(f"transitions:\n  - {{guard: '{guard}', target: b}}").document["states"]["a"]
    assert list(a["after"]) == [key]
    assert "guard" not in a["after"][key][0]


@pytest.mark.parametrize("guard", ["after(0)", "after(-1)", "after(1 - 1)"])
def test_no_time_to_wait_is_no_guard(guard: str) -> None:
    a = state(f"transitions:\n  - {{guard: {guard}, target: b}}").document["states"]["a"]
    assert "guard" not in a["always"][0]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("{guard: after(x), target: b}", "a computed time"),
        ("{guard: after(5) and after(x), target: b}", "also a computed time"),
        ("{guard: idle(5), target: b}\n  - {event: e, action: x = 1}", "idle beside an internal transition"),
        ("{guard: time > 5, target: b}", "the time itself"),
        ("{guard: 'any(map(after, [5]))', target: b}", "the function itself"),
    ],
)
def test_other_questions_about_time_are_names_and_differences(more: str, why: str) -> None:
    imported = state(f"transitions:\n  - {more}")
    (problem,) = imported.differences
    assert (problem.code, problem.line) == ("clock-guard", 10), why
    assert any(piece.kind == "guard" for piece in imported.code)


def test_a_waiting_time_among_other_things_is_noted_in_the_context() -> None:
    imported = state(
        "on entry: x = 1\ntransitions:\n  - {guard: after(5) and x, target: b}\n  - {event: e, guard: 'not idle(1/4)', action: x += 1}\n"
        "  - {guard: after(9), target: b, priority: low}"
    )
    a = imported.document["states"]["a"]
    assert [p.code for p in imported.differences] == ["clock-guard"]  # idle, beside an internal transition
    assert a["entry"] == [
        {"type": "@xstate.assign", "context": {"after 5 s in a": False}},
        {"type": "@xstate.assign", "context": {"after 9 s in a": False}},
        {"type": "@xstate.assign", "context": {"x": 1}},
    ]
    assert a["after"] == {
        "5000": {"actions": {"type": "@xstate.assign", "context": {"after 5 s in a": True}}},
        "9000": {"actions": {"type": "@xstate.assign", "context": {"after 9 s in a": True}}},
    }
    assert [t["guard"] for t in a["always"]] == ["after(5) and x", "after(9)"]


@pytest.mark.parametrize(
    ("guard", "written"),
    [
        ("active('b')", {"type": "@xstate.stateIn", "state": "#b"}),
        ("active('root')", {"type": "@xstate.stateIn", "state": "#chart"}),
        ("not active('b')", {"type": "@xstate.not", "guard": {"type": "@xstate.stateIn", "state": "#b"}}),
        (
            "x > 1 and active('b') and x < 5 and x != 3",
            {
                "type": "@xstate.and",
                "guards": ["x > 1", {"type": "@xstate.stateIn", "state": "#b"}, "x < 5 and x != 3"],
            },
        ),
        (
            "active('a') or x == 1",
            {"type": "@xstate.or", "guards": [{"type": "@xstate.stateIn", "state": "#a"}, "x == 1"]},
        ),
        ("x > 1", "x > 1"),
        ("x >  1", "x >  1"),
        ("active('nowhere')", "active('nowhere')"),
        ("active(x)", "active(x)"),
    ],
)
def test_active_is_a_question_of_the_machine(guard: str, written: Any) -> None:
    a = state(f"transitions:\n  - event: e\n    guard: |\n      {guard}\n    target: b").document["states"]["a"]
    assert a["on"]["e"][0]["guard"] == written


def test_active_inside_an_expression_is_asked_before_it() -> None:
    imported = state("transitions:\n  - {event: e, guard: x + active('b') > 1, target: b}")
    guard = imported.document["states"]["a"]["on"]["e"][0]["guard"]
    inside, outside = guard["guards"]
    assert inside["guards"][1] == "x + active('b') > 1 [b active]"
    assert outside["guards"][1] == "x + active('b') > 1 [b not active]"
    assert [dict(piece.facts) for piece in imported.code] == [{"b": True}, {"b": False}]


@pytest.mark.parametrize(
    ("code", "actions"),
    [
        (
            "send('go')",
            [
                {"type": "@xstate.raise", "event": {"type": "go"}},
                {"type": "@xstate.emit", "event": {"type": "event sent", "event": {"type": "go"}}},
            ],
        ),
        (
            "send('go', n=-1, delay=1.5)",
            [
                {"type": "@xstate.raise", "event": {"type": "go", "n": -1, "delay": 1.5}, "delay": 1500},
                {
                    "type": "@xstate.emit",
                    "event": {"type": "event sent", "event": {"type": "go", "n": -1, "delay": 1.5}},
                },
            ],
        ),
        ("notify('seen', what=['x', {'y': None}])", [{"type": "@xstate.emit", "event": {"type": "seen", "what": ["x", {"y": None}]}}]),
        ("x = 1", [{"type": "@xstate.assign", "context": {"x": 1}}]),
        ("pass", None),
        ("'''only words'''", None),
        ("x += 1", ["x += 1"]),
        ("send(x)", ["send(x)"]),
        ("send('go', n=x)", ["send('go', n=x)"]),
        ("send('go', type=1)", ["send('go', type=1)"]),
        ("send('go', delay=-1)", ["send('go', delay=-1)"]),
        ("send('go', **x)", ["send('go', **x)"]),
        ("send('a.*')", ["send('a.*')"]),
        ("x = (1, 2)", ["x = (1, 2)"]),
        ("x = {'@expr': '1'}", ["x = {'@expr': '1'}"]),
        ("x: int = 1", ["x: int = 1"]),
        ("not python at all", ["not python at all"]),
    ],
)  # fmt: skip
def test_plain_actions_are_data_and_others_are_names(code: str, actions: Any) -> None:
    a = state(f"on entry: |\n  {code}").document["states"]["a"]
    assert a.get("entry") == actions


def test_a_name_that_the_chart_gives_a_value_is_no_function_of_sismic() -> None:
    text = chart("initial: a\non entry: send('x')\nstates: [{name: a, transitions: [{guard: after(5), action: active = 1}]}]", "send = after = print")
    document = read_definition(text).document
    assert document["entry"] == ["send('x')"]
    assert document["states"]["a"]["always"][0]["guard"] == "after(5)"


def test_histories_finals_and_regions() -> None:
    imported = read(
        "initial: c\nstates:\n"
        "  - name: c\n    initial: z\n    states:\n"
        "      - {name: z, transitions: [{event: e, target: h}]}\n      - {name: f, type: final}\n"
        "      - {name: h, type: shallow history, memory: z}\n      - {name: d, type: deep history, memory: f}\n"
        "  - name: p\n    parallel states: [{name: r2}, {name: r10}, {name: r1}]\n"
        "  - {name: done, type: final}"
    )
    states = imported.document["states"]
    assert states["c"]["states"]["f"]["type"] == "final"
    h, d = states["c"]["states"]["h"], states["c"]["states"]["d"]
    assert (h["type"], h["history"], h["target"]) == ("history", "shallow", "#z")
    assert (d["type"], d["history"], d["target"]) == ("history", "deep", "#f")
    assert states["p"]["type"] == "parallel"
    assert list(states["p"]["states"]) == ["r1", "r10", "r2"]
    assert states["done"]["type"] == "final"


def test_below_regions_of_the_root_a_final_state_ends_nothing() -> None:
    text = chart(
        "parallel states:\n"
        "  - {name: r1, initial: a1, states: [{name: a1, transitions: [{event: e, target: f1}]}, {name: f1, type: final}]}\n"
        "  - {name: r2, initial: f2, states: [{name: f2, type: final}]}"
    )
    imported = read_definition(text, trusted=True)
    assert "type" not in imported.document["states"]["r1"]["states"]["f1"]
    assert imported.document["states"]["r1"]["states"]["f1"]["meta"]["sismic"]["type"] == "final"
    sim = simulate(Machine(imported.definition))
    sim.send("e")
    assert sim.snapshot.status == "active"


def test_a_compound_that_is_never_entered_by_itself_needs_no_initial() -> None:
    imported = read("initial: a\nstates:\n  - {name: a, transitions: [{event: e, target: y}]}\n  - {name: c, states: [{name: h, type: deep history, memory: y}, {name: x}, {name: y}]}")
    assert imported.document["states"]["c"]["initial"] == "x"
    sim = simulate(Machine(imported.definition))
    assert sim.send("e").atomic_states == ("y",)


def test_literal_preambles_are_the_context_and_others_are_not_run() -> None:
    assert read("initial: a\nstates: [{name: a}]").document["context"] == {"x": 0}
    text = chart("initial: a\nstates: [{name: a}]", "x = 1 + 1")
    imported = read_definition(text)
    assert "context" not in imported.document
    (problem,) = imported.differences
    assert (problem.code, problem.line) == ("preamble-not-run", 3)
    assert "x = 1 + 1" in str(problem.hint)


def test_code_and_contracts_stay_in_meta() -> None:
    imported = state(
        "on exit: x = 2\ncontract:\n  - before: x == 0\n  - always: x >= 0\n"
        "transitions:\n  - event: e\n    guard: x < 5\n    action: x += 1\n    priority: 2\n    contract: [{after: x > 0}]"
    )
    a = imported.document["states"]["a"]
    assert a["meta"]["sismic"] == {"line": 8, "on exit": "x = 2", "contract": [{"before": "x == 0"}, {"always": "x >= 0"}]}
    assert a["on"]["e"][0]["meta"]["sismic"] == {
        "line": 14,
        "guard": "x < 5",
        "action": "x += 1",
        "priority": 2,
        "contract": [{"after": "x > 0"}],
    }
    assert [(p.code, p.line) for p in imported.differences] == [("contracts-not-checked", 10)]


@pytest.mark.parametrize("seed", range(40))
def test_documents_of_random_charts_pass_the_strict_reading(seed: int) -> None:
    text = random_chart(seed, Dials(careful=False))
    imported = read_definition(text)
    assert not [p for p in check_document(imported.document) if p.severity == "error"]
    trusted = read_definition(text, trusted=True)
    assert trusted.document == imported.document
    assert not Machine(trusted.definition, trusted.implementations).missing
    assert not Machine(trusted.definition, trusted.implementations).surplus
    assert {(m.kind, m.name) for m in Machine(imported.definition).missing} == {
        (piece.kind, piece.name) for piece in imported.code
    }


def test_names_are_the_same_at_every_reading() -> None:
    text = random_chart(5, Dials(careful=False))
    first, second = read_definition(text), read_definition(text)
    assert [str(piece) for piece in first.code] == [str(piece) for piece in second.code]
    assert first.document == second.document


def test_long_code_is_named_by_its_place_and_beginning() -> None:
    long = "x = [n for n in range(100) if n % 3 == 0 and n % 5 == 0 and n % 7 == 0]"
    imported = state(f"on entry: |\n  {long}\n  send('e')\non exit: |\n  {long}\n  send('f')")
    assert [piece.name for piece in imported.code] == [
        "entry of a: x = [n for n in range(100) if n % 3 == 0…",
        "exit of a: x = [n for n in range(100) if n % 3 == 0…",
    ]
    assert [piece.line for piece in imported.code] == [10, 13]
    assert "send('f')" in str(imported.code[1])


def test_code_that_reads_the_same_and_is_not_gets_two_names() -> None:
    imported = state("on entry: |\n  for y in [x]:\n    x += 1\n  x += 1\non exit: |\n  for y in [x]:\n    x += 1\n    x += 1")
    assert len({piece.name for piece in imported.code}) == 2


@pytest.mark.parametrize("seed", range(6))
def test_restarting_a_region_in_place_is_what_sismic_does(seed: int) -> None:
    text = chart(
        "parallel states:\n"
        "  - name: r1\n    on entry: log.append('+r1')\n    on exit: log.append('-r1')\n"
        "    transitions:\n      - {event: again, target: r1, action: log.append('t')}\n      - {event: there, target: c1}\n"
        "    initial: a1\n    states:\n"
        "      - {name: a1, on entry: log.append('+a1'), on exit: log.append('-a1'), transitions: [{event: e, target: c1}]}\n"
        "      - {name: c1, on entry: log.append('+c1')}\n"
        "  - name: r2\n    initial: a2\n    states: [{name: a2, transitions: [{event: f, target: b2}]}, {name: b2}]",
        "log = []",
    )
    imported = read_definition(text, trusted=True)
    assert imported.differences == ()
    assert compare(text, imported, random_steps(seed, events_of(text), 25)) is None
