"""What is read quickly from a saved snapshot is what is read by XState's rules, and nothing else is accepted."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from random_machines import Step, machines, steps, take

from statecharts import Machine, load_machine, simulate
from statecharts.errors import ExecutionError, SnapshotError, StatechartError
from statecharts.interpreter.configuration import complete
from statecharts.interpreter.envelope_form import read_exactly
from statecharts.interpreter.envelope_model import read_leniently
from statecharts.interpreter.program import Program
from statecharts.interpreter.state_values import configuration_of, state_nodes
from statecharts.values import freeze

ODD = (
    None, True, False, 0, 1, -1, 1.0, 1.5, 2**53 + 1, float("nan"), float("inf"), 10**400, "", "a", "1", [], {}, ["a"], [1], [None],
    [{}], {"a": 1}, {"type": "E"}, [{"type": "E"}], {1: 2}, [{1: 2}], (), ("a",), b"a", {"a": {1: 2}},
)  # fmt: skip
JSON = (None, True, False, 0, -1, 1.5, "", "a", [], {}, ["a"], [None], [{}], {"a": 1}, {"a": {"b": []}})
VALUE: dict[str, Any] = {
    "id": "v",
    "type": "parallel",
    "states": {
        "a": {"initial": "x", "states": {"x": {}, "y": {"initial": "z", "states": {"z": {}, "w": {}, "h": {"type": "history"}}}}},
        "b": {"initial": "x", "states": {"x": {"id": "deep"}, "2": {"type": "final"}, "1": {"type": "parallel", "states": {"l": {}, "r": {}}}}},
        "c": {},
        "#odd": {},
        "h": {"type": "history", "history": "deep"},
    },
}  # fmt: skip
NAMES = ("a", "b", "c", "#odd", "h", "x", "y", "z", "w", "1", "2", "l", "r", "#deep", "nowhere")


# ------------------------------------------------------------- state values


def by_xstates_rules(program: Program, value: Any) -> Any:
    try:
        nodes = complete(dict.fromkeys(state_nodes(program, program.definition.root, value)))
        configuration = program.intern(nodes)
    except ExecutionError as error:
        return str(error)
    return [node.id for node in nodes], configuration.value, configuration.regular


def quickly(program: Program, value: Any) -> Any:
    try:
        configuration, order = configuration_of(program, value)
    except ExecutionError as error:
        return str(error)
    return [node.id for node in order or configuration.nodes], configuration.value, configuration.regular


def state_values() -> st.SearchStrategy[Any]:
    right = st.fixed_dictionaries(
        {
            "a": st.sampled_from(["x", {"y": "z"}, {"y": "w"}, "y", {"x": {}}]),
            "b": st.sampled_from(["x", "2", {"1": {"l": {}, "r": {}}}, {"1": {"r": {}, "l": {}}}, "1", {"1": {"l": {}}}]),
            "c": st.sampled_from([{}, {}, {}, "x", {"x": {}}]),
        },
        optional={"#odd": st.just({}), "h": st.just({})},
    )
    anything = st.recursive(
        st.sampled_from(NAMES) | st.just({}) | st.sampled_from([None, 1, []]),
        lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
        max_leaves=8,
    )
    return right | anything


@given(state_values(), st.booleans(), st.sampled_from([2**20, 0]))
@settings(max_examples=400)
def test_a_state_value_names_the_same_states_either_way(value: Any, without_odd: bool, limit: int) -> None:
    document = copy.deepcopy(VALUE)
    if without_odd:
        del document["states"]["#odd"]
    machine = load_machine(document)
    program = Program(machine, limit)
    expected = by_xstates_rules(Program(machine, limit), value)
    for each in (value, value, freeze(value)):
        assert quickly(program, each) == expected


def test_known_values_are_forgotten_with_all_else() -> None:
    document = copy.deepcopy(VALUE)
    del document["states"]["#odd"]
    machine = load_machine(document)
    program = Program(machine)
    value = {"a": "x", "b": "x", "c": {}}
    first = configuration_of(program, value)
    assert configuration_of(program, value) is first
    program.memo.limit = 1
    program.memo.limit = 2**20
    again = configuration_of(program, value)
    assert again is not first and again[0].mask == first[0].mask
    other = Program(machine)
    assert configuration_of(other, value)[0].program is other


# ---------------------------------------------------------- XState's form


def read(machine: Machine[Any, Any], document: Any) -> Any:
    """What comes of restoring ``document``: the snapshot with its order of states, or what is told."""
    try:
        sim = simulate(machine, snapshot=document)
        return sim.snapshot, sim.snapshot.nodes, sim.to_xstate(), sim.save()
    except (StatechartError, TypeError, AttributeError) as error:
        return type(error), str(error)


@given(machines(children=False), steps(children=False))
@settings(max_examples=60)
def test_a_snapshot_is_restored_the_same_either_way(machine: Machine[Any, Any], happens: list[Step]) -> None:
    """The quick way takes plain dicts only, so frozen ones go the other."""
    sim = simulate(machine)
    for step in happens:
        take(sim, step)
        document = json.loads(json.dumps(sim.to_xstate()))
        assert read(machine, document) == read(machine, freeze(document))


HISTORY: dict[str, Any] = {
    "id": "m",
    "initial": "a",
    "context": {"n": 1},
    "states": {
        "a": {"initial": "b", "on": {"OUT": "out"}, "states": {"b": {}, "c": {}, "h": {"type": "history"}}},
        "out": {"on": {"BACK": "a.h"}},
        "over": {"type": "final"},
    },
}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    sim = simulate(load_machine(HISTORY))
    for event in draw(st.lists(st.sampled_from(["OUT", "BACK"]), max_size=2)):
        sim.send(event)
    document = json.loads(json.dumps(sim.to_xstate()))
    key = draw(st.sampled_from([*document, "output", "error", "more"]))
    replaced = st.sampled_from(
        [*JSON, "active", "done", "error", "stopped", "out", {"a": "c"}, {"m.a.h": [{"id": "m.a.c"}]}, {"m.a.h": []}, {"m.a.h": [{"id": "m.z"}]},
         {"m.a.h": {"id": "m.a.c"}}, {"x": {"xstate$$type": 1, "id": "x"}}, {"xstate$$type": 1}, {"deep": [{"xstate$$type": 1, "id": "x"}]}, {"n": {"2": 1, "1": 2}}]
    )  # fmt: skip
    if draw(st.booleans()):
        document[key] = draw(replaced)
    else:
        document.pop(key, None)
    return document


@given(documents(), st.sampled_from(["xstate", "xstate-exact"]))
@settings(max_examples=400)
def test_odd_documents_are_judged_the_same_either_way(document: dict[str, Any], semantics: str) -> None:
    machine = load_machine(HISTORY, semantics=semantics)
    assert repr(read(machine, document)) == repr(read(machine, freeze(document)))


# --------------------------------------------------------------- envelopes


def holders(value: Any) -> list[Any]:
    found = [value] if isinstance(value, (dict, list)) else []
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found.extend(holders(member))
    return found


def saved() -> dict[str, Any]:
    document = {**HISTORY, "version": "1", "after": {"100": ".out"}}
    sim = simulate(load_machine(document))
    sim.send("OUT")
    envelope = json.loads(json.dumps(sim.save()))
    envelope["actors"][0]["order"] = ["m", "m.out"]
    envelope["actors"][0]["mailbox"] = [{"type": "OUT"}]
    return envelope  # type: ignore[no-any-return]


@st.composite
def envelopes(draw: st.DrawFn) -> Any:
    envelope = saved()
    for _ in range(draw(st.integers(0, 2))):
        holder = draw(st.sampled_from(holders(envelope)))
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        change = draw(st.sampled_from(["replace", "remove", "add"]))
        if change == "add" or not keys:
            odd = copy.deepcopy(draw(st.sampled_from(ODD)))
            if isinstance(holder, dict):
                holder[draw(st.sampled_from(["error", "order", "version", "format_version", "extra"]))] = odd
            else:
                holder.append(odd)
        elif change == "remove":
            del holder[draw(st.sampled_from(keys))]
        else:
            holder[draw(st.sampled_from(keys))] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return envelope


def test_what_is_written_is_read_exactly() -> None:
    assert read_exactly(saved()) == read_leniently(saved())


@given(envelopes() | st.sampled_from(ODD))
@settings(max_examples=800)
def test_an_envelope_that_is_read_exactly_is_read_the_same_by_the_model(envelope: Any) -> None:
    found = read_exactly(envelope)
    if found is not None:
        assert repr(found) == repr(read_leniently(envelope))
        return
    try:
        read_leniently(envelope)
    except SnapshotError as error:
        assert "this is not a saved snapshot of ours" in str(error)
