"""Contracts are checked when asked for: the same conditions, at the same moments as in sismic."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from ruamel.yaml import YAML
from sismic.exceptions import ContractError as SismicContractError
from sismic_beside import Sismic, events_of
from sismic_random import Dials, random_chart, random_steps, to_yaml, without_differences
from sismic_texts import chart, machine_of

from statecharts import Machine, simulate
from statecharts.adapters.engines.clocks import ExactClock
from statecharts.adapters.engines.simulation import Simulation
from statecharts.adapters.formats.sismic import read_definition
from statecharts.adapters.formats.sismic_contract_checks import KEPT
from statecharts.adapters.formats.sismic_contracts import ContractError, with_contracts
from statecharts.errors import DefinitionError, ExecutionError
from statecharts.validation import check_document


def checked(text: str, **options: Any) -> Simulation[Any]:
    """A simulation with contracts on."""
    contracts = with_contracts(read_definition(text, trusted=True))
    machine: Machine[Any, Any] = Machine(contracts.definition, contracts.implementations)
    assert not machine.missing and not machine.surplus
    return simulate(machine, inspect=contracts, **options)


@dataclass(frozen=True)
class Broken:
    """A broken condition: after which step, and its text."""

    step: int
    condition: str


def in_sismic(text: str, steps: list[tuple[str, Any]]) -> Broken | str | None:
    """What sismic says, or the name of another exception."""
    theirs = Sismic(text, ignore_contract=False)
    for number in range(len(steps) + 1):
        if isinstance(theirs.error, SismicContractError):
            return Broken(number, theirs.error.condition)
        if theirs.failure is not None:
            return theirs.failure
        if number < len(steps):
            theirs.step(*steps[number])
    return None


def in_ours(text: str, steps: list[tuple[str, Any]]) -> Broken | str | None:
    done = 0
    try:
        sim = checked(text)
        for event, value in steps:
            done += 1
            if event == "wait":
                sim.advance(seconds=value)
            else:
                sim.send(event, v=value)
    except ContractError as error:
        return Broken(done, error.condition)
    return None if sim.snapshot.status != "error" else type(sim.snapshot.error).__name__


# ------------------------------------------------------------- beside sismic


def with_random_contracts(text: str, seed: int) -> str:
    """``text`` with conditions that now and then fail; each is written so that it can be told from the others."""
    draw = random.Random(seed)
    data = YAML(typ="safe", pure=True).load(text)
    count = 0

    def condition(kind: str, owner: str, names: list[str]) -> dict[str, str]:
        nonlocal count
        count += 1
        some = draw.choice(names)
        options = [
            f"x < {draw.randint(1, 5)}",
            f"len(log) < {draw.randint(3, 12)}",
            f"not active('{some}') or x < {draw.randint(1, 5)}",
            f"not received('{draw.choice('abcd')}') or x < {draw.randint(1, 5)}",
            f"event is None or event.name != '{draw.choice('abcd')}' or x != {draw.randint(0, 3)}",
        ]
        if kind != "before":
            options += [f"x <= __old__.x + {draw.randint(0, 2)}", f"len(log) - len(__old__['log']) < {draw.randint(1, 8)}"]
            if owner == "state" and kind == "always":
                options += [f"not sent('i') or x < {draw.randint(1, 4)}"]
        return {kind: f"{draw.choice(options)} or {count} < 0"}

    names = _names(data["statechart"]["root state"])

    def visit(state: dict[str, Any]) -> None:
        for owner, kind in [(state, "state"), *((t, "transition") for t in state.get("transitions", []))]:
            if "history" not in state.get("type", "") and draw.random() < 0.3:
                kinds = draw.choices(["before", "after", "always"], k=draw.randint(1, 2))
                owner["contract"] = [condition(each, kind, names) for each in kinds]
        for child in [*state.get("states", []), *state.get("parallel states", [])]:
            visit(child)

    visit(data["statechart"]["root state"])
    return to_yaml(data)


def _names(state: dict[str, Any]) -> list[str]:
    inner = [*state.get("states", []), *state.get("parallel states", [])]
    return [state["name"], *(name for child in inner for name in _names(child))]


@pytest.mark.parametrize("batch", range(8))
def test_the_same_conditions_break_at_the_same_step(batch: int) -> None:
    broken = kept = 0
    for seed in range(batch * 20, (batch + 1) * 20):
        dials = Dials(careful=bool(seed % 2), timers=0.05, regions=seed % 4 == 0)
        plain, _ = without_differences(random_chart(seed, dials))
        text = with_random_contracts(plain, seed)
        steps = random_steps(seed, events_of(text), 14)
        if with_contracts(read_definition(text, trusted=True)).differences:
            continue  # what conditions see can differ where code cannot tell
        theirs, ours = in_sismic(text, steps), in_ours(text, steps)
        if isinstance(theirs, str) or isinstance(ours, str):
            assert (theirs, ours) == ("endless", "EndlessLoopError"), f"chart {seed}: {theirs}, {ours}\n{text}"
            continue
        assert theirs == ours, f"chart {seed}: {theirs}, {ours}\n{text}"
        broken += theirs is not None
        kept += theirs is None
    assert broken and kept


def test_what_only_conditions_can_see_is_a_difference() -> None:
    text = chart(
        "parallel states:\n  - name: r1\n    initial: a1\n    states: [{name: a1, on entry: x = 1}]\n"
        "  - name: r2\n    contract: [{before: x == 0}]"
    )
    imported = read_definition(text, trusted=True)
    assert [problem.code for problem in imported.differences] == ["contracts-not-checked"]
    assert [problem.code for problem in with_contracts(imported).differences] == ["region-entry-order"]
    assert (in_sismic(text, []), in_ours(text, [])) == (None, Broken(0, "x == 0"))


# ------------------------------------------------------------------- messages


SWITCH = chart(
    "contract: [{always: x < 4}]\ninitial: off\nstates:\n"
    "  - name: off\n    contract:\n      - before: x != 3\n      - after: received('press') and x == __old__.x\n"
    "    transitions:\n      - event: press\n        target: on\n        action: x += event.by\n"
    "        contract:\n          - before: event.by > 0\n          - after: x > __old__.x\n          - always: x < 90\n"
    "  - name: on\n    on exit: x += 1\n    transitions:\n      - {event: press, target: off}\n      - {event: grow, action: x += 1}"
)


@pytest.mark.parametrize(
    ("events", "kind", "owner", "condition", "line"),
    [
        ([("press", 0)], "precondition", "the transition 'off' -> 'on' on 'press'", "event.by > 0", 19),
        ([("grow", 0), ("press", 1), ("grow", 0), ("press", 0)], "precondition", "state 'off'", "x != 3", 12),
        ([("grow", 1), ("press", 5)], "invariant", "state 'root'", "x < 4", 7),
    ],
)
def test_a_broken_contract_says_whose_it_is(
    events: list[tuple[str, int]], kind: str, owner: str, condition: str, line: int
) -> None:
    sim = checked(SWITCH)
    with pytest.raises(ContractError) as caught:
        for name, by in events:
            sim.send(name, by=by)
    error = caught.value
    assert isinstance(error, ExecutionError)
    assert (error.kind, error.owner, error.condition, error.line) == (kind, owner, condition, line)
    assert f"the {kind} of {owner} (line {line}) does not hold: {condition}" in str(error)
    if kind != "invariant":
        assert sim.snapshot.status == "error"
        assert sim.snapshot.error is error


MOMENTS = {
    "precondition of a state": ("contract: [{before: x == 1}]", "", "the precondition of state 'b' (line 18) does not hold: x == 1\n    with x = 0"),
    "invariant of a state": ("contract: [{always: x == 1}]", "", "the invariant of state 'b' (line 18) does not hold"),
    "invariant of a transition": ("", "contract: [{always: x == 1}]", "the invariant of the transition 'a' -> 'b' on 'e' (line 14) does not hold"),
    "precondition of a transition": ("", "contract: [{before: x == 1}]", "the precondition of the transition 'a' -> 'b' on 'e' (line 14)"),
    "postcondition of a transition": ("", "contract: [{after: x == 1}]", "the postcondition of the transition 'a' -> 'b' on 'e' (line 14)"),
    "a condition that fails": ("contract: [{before: y}]", "", "cannot be evaluated: NameError: name 'y' is not defined: y"),
}  # fmt: skip


@pytest.mark.parametrize(("of_state", "of_transition", "words"), MOMENTS.values(), ids=MOMENTS)
def test_each_kind_has_its_moment_and_words(of_state: str, of_transition: str, words: str) -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - event: e\n        target: b\n"
        f"        action: x = 0\n        {of_transition or 'priority: 0'}\n      - {{event: f, target: a}}\n  - name: b\n"
        f"    on entry: x = 0\n    {of_state or 'on exit: x = 0'}"
    )
    sim = checked(text)
    sim.send("f")
    with pytest.raises(ContractError) as caught:
        sim.send("e")
    assert words in str(caught.value)


def test_the_first_configuration_is_checked_too() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    contract: [{always: x == 1}]\n    transitions: [{guard: x == 0, target: b, action: x = 1}]\n"
        "  - {name: b, on entry: x = 0}"
    )
    with pytest.raises(ContractError, match="the invariant of state 'a'"):
        checked(text)
    assert in_sismic(text, []) == Broken(0, "x == 1")


def test_a_contract_at_the_start_is_checked() -> None:
    with pytest.raises(ContractError, match="the precondition of state 'root'"):
        checked(chart("contract: [{before: x == 1}]"))
    text = chart("contract: [{always: x < 1}]\ntransitions: [{event: e, action: x += 1}]")
    sim = checked(text)
    with pytest.raises(ContractError, match="the invariant of state 'root'"):
        sim.send("e")


# ------------------------------------------------------------------- switches


def test_contracts_are_off_unless_asked_for() -> None:
    imported = read_definition(SWITCH, trusted=True)
    sim = simulate(machine_of(imported))
    sim.send("press", by=-5)
    assert sim.snapshot.status == "active"
    assert sim.snapshot.context == {"x": -5}
    assert "contract" not in str(imported.implementations.actions)


def test_a_chart_without_contracts_is_the_same_document() -> None:
    text = random_chart(4)
    imported = read_definition(text, trusted=True)
    assert with_contracts(imported).document == imported.document


def test_with_contracts_the_document_is_still_a_good_one() -> None:
    contracts = with_contracts(read_definition(SWITCH, trusted=True))
    assert not [p for p in check_document(contracts.document) if p.severity == "error"]


def test_without_an_observer_a_broken_contract_ends_the_machine() -> None:
    contracts = with_contracts(read_definition(SWITCH, trusted=True))
    sim = simulate(Machine(contracts.definition, contracts.implementations))
    assert isinstance(sim.send("press", by=-5).error, ContractError)


def test_what_the_checks_remember_is_saved() -> None:
    contracts = with_contracts(read_definition(SWITCH, trusted=True))
    machine: Machine[Any, Any] = Machine(contracts.definition, contracts.implementations)
    first = simulate(machine, inspect=contracts)
    assert set(first.snapshot.context) == {"x", KEPT}
    again = with_contracts(read_definition(SWITCH, trusted=True))
    second = simulate(Machine(again.definition, again.implementations), snapshot=first.save(), inspect=again)
    second.send("press", by=1)
    assert second.snapshot.context["x"] == 1


def test_contracts_of_a_chart_may_ask_a_clock() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    contract: [{after: after(2) and idle(1) and time >= 2}]\n"
        "    transitions: [{event: e, target: b}, {event: touch}]\n  - {name: b, contract: [{before: time < 99}]}"
    )
    with pytest.raises(DefinitionError, match="Pass a clock"):
        with_contracts(read_definition(text, trusted=True))

    def played(*steps: Any) -> bool:
        clock = ExactClock()
        contracts = with_contracts(read_definition(text, trusted=True), clock=lambda: clock.now)
        sim = simulate(Machine(contracts.definition, contracts.implementations), clock=clock, inspect=contracts)
        theirs = Sismic(text, ignore_contract=False)
        try:
            for step in steps:
                if isinstance(step, str):
                    theirs.step(step, 0)
                    sim.send(step)
                else:
                    theirs.step("wait", step)
                    sim.advance(seconds=step)
        except ContractError:
            assert isinstance(theirs.error, SismicContractError)
            return False
        assert theirs.error is None
        return True

    assert played(2.0, "e")
    assert not played(1.5, "e")
    assert not played(1.5, "touch", 0.75, "e")
    assert played(1.5, "touch", 1.0, "e")


REFUSED = {
    "no expression": ("contract: [{before: x = 1}]", "sismic-code-syntax", "is not an expression"),
    "what was sent on the way": ("contract: [{before: \"sent('e')\"}]", "sismic-contract", "Make it an invariant"),
    "the time": ("contract: [{always: time < 5}]", "sismic-clock", "asks for the time"),
}


@pytest.mark.parametrize(("contract", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_conditions_that_cannot_be_checked_are_refused_with_their_line(contract: str, code: str, words: str) -> None:
    imported = read_definition(chart(f"initial: a\nstates:\n  - name: a\n    {contract}"), trusted=True)
    with pytest.raises(DefinitionError, match=words) as caught:
        with_contracts(imported)
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == (code, 10)
