"""A snapshot written as text in one go is the text of its object, and reading that text is reading the object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from json_values import KEYS, stringified, values
from random_machines import Step, machines, steps, take

from statecharts import Machine, Snapshot, load_machine, memo_of, restore_snapshot, simulate
from statecharts.errors import StatechartError
from statecharts.interpreter.memo import DEFAULT_LIMIT
from statecharts.json_text import dumps, loads
from statecharts.values import freeze

LIMITS = st.sampled_from([DEFAULT_LIMIT, 0, 3_000])
ODD_NAME = 'x","historyValue":{},"context":{"n":1},"children":{}}'
REGIONS: dict[str, Any] = {
    "id": 'm",é',
    "version": "1",
    "type": "parallel",
    "context": {"n": 0},
    "states": {
        "historyValue": {
            "initial": "a",
            "on": {"OUT": ".out", "BACK": ".h"},
            "states": {
                "a": {"initial": "b", "on": {"B": ".c"}, "states": {"b": {}, "c": {}}},
                "h": {"type": "history", "history": "deep"},
                "out": {},
            },
        },
        "2": {"initial": ODD_NAME, "states": {ODD_NAME: {"on": {"C": "é\u2028"}}, "é\u2028": {"on": {"C": ODD_NAME}}}},
        "1": {"initial": "x", "states": {"x": {"after": {"10": "y"}}, "y": {}}},
    },
}  # fmt: skip
FLAT: dict[str, Any] = {"id": "f", "initial": "a", "context": {}, "states": {"a": {"on": {"C": "b"}}, "b": {"on": {"C": "a"}}, "end": {"type": "final"}}}  # fmt: skip
EVENTS = ("OUT", "BACK", "B", "C")


def outcome(made: Callable[[], Any]) -> Any:
    """All of a snapshot, numbers and orders of keys included, or what is told."""
    try:
        snapshot = made()
    except (StatechartError, ValueError, TypeError, AttributeError) as error:
        return type(error), str(error)
    if not isinstance(snapshot, Snapshot):
        return repr(snapshot)
    told = (snapshot.value, snapshot.context, snapshot.children, list(snapshot.history.items()), snapshot.output, str(snapshot.error))
    return repr(told), [node.id for node in snapshot.nodes], snapshot.order, snapshot.status, snapshot.sequence


def resumed(machine: Machine[Any, Any], saved: Any) -> Any:
    """All of a simulation that goes on from ``saved``."""

    def made() -> Any:
        sim = simulate(machine, snapshot=saved)
        facts.append((sim.now, sim.clock.next_due(), sim.save(), sim.to_xstate(), sim.emitted_events, sim.starts))
        facts.append((sim._is_quick, sim.system.at_rest, sim.system.now, sim.system.next_session))
        return sim.snapshot

    facts: list[Any] = []
    return outcome(made), facts


def check_reading(machine: Machine[Any, Any], text: str) -> None:
    """``text`` is read as what :func:`loads` makes of it is, the first time and from then on."""

    def read() -> Any:
        return loads(text)

    for _ in range(2):
        assert outcome(lambda: restore_snapshot(machine, text)) == outcome(lambda: restore_snapshot(machine, read()))
    try:
        document = read()
    except ValueError:
        return
    assert resumed(machine, text) == resumed(machine, document)


@given(machines(), steps(), LIMITS)
@settings(max_examples=120, deadline=None)
def test_the_text_of_a_run_is_that_of_its_objects(machine: Machine[Any, Any], happens: list[Step], limit: int) -> None:
    memo_of(machine).limit = limit
    sim = simulate(machine)
    for step in happens:
        take(sim, step)
        texts = [sim.to_xstate_text(), sim.save_text()]
        assert texts == [dumps(sim.to_xstate()), dumps(sim.save())]
        snapshot = sim.snapshot
        if isinstance(snapshot, Snapshot) and not snapshot.children:
            alone = [snapshot.to_xstate_text(), snapshot.save_text()]
            assert alone == [dumps(snapshot.to_xstate()), dumps(snapshot.save())]
            assert alone[0] == texts[0]
            texts += alone
            kept = restore_snapshot(machine, alone[1])
            assert (kept.nodes, kept.order, kept.status, kept.sequence) == (snapshot.nodes, snapshot.order, snapshot.status, snapshot.sequence)
        for text in texts:
            check_reading(machine, text)


contexts = st.dictionaries(st.sampled_from(KEYS) | st.text("ab1", max_size=3), values, max_size=6)


@given(contexts, LIMITS)
@example({"xstate$$type": 1, "id": "gone"}, DEFAULT_LIMIT)
@example({"a": [{"xstate$$type": 1, "id": "gone"}], "n": float("nan"), "z": -0.0, "big": 2**60}, DEFAULT_LIMIT)
@settings(max_examples=300, deadline=None)
def test_any_context_is_written_and_read_as_it_is_in_an_object(context: dict[str, Any], limit: int) -> None:
    machine = load_machine(FLAT)
    memo_of(machine).limit = limit
    snapshot = simulate(machine).snapshot.replace(context=freeze(context))
    for _ in range(2):
        text, sealed = snapshot.to_xstate_text(), snapshot.save_text()
        assert text == dumps(snapshot.to_xstate())
        assert text == f'{{"status":"active","value":"a","historyValue":{{}},"context":{stringified(context)},"children":{{}}}}'
        assert sealed == dumps(snapshot.save())
        check_reading(machine, text)
        check_reading(machine, sealed)


PIECES = (
    "", " ", ",", "}", "{", '"', "1", "0", "-1", "1.0", "1e2", "null", "true", "[]", "{}", "\\u0031", "NaN", "12345678901234567890", '"value":"a",',
    ',"historyValue":{}', ',"historyValue":{},"context":{},"children":{}}', ',"output":1', ',"order":[]', ',"order":["f"]', ',"context":{"2":1,"1":2}',
    '"n":{"2":1,"1":[{"b":1,"0":2}]}', '"historyValue":{"x":[]}', '"historyValue":[]', '"done"', '"b"', '"a"', '"xstate-exact"', "\ud800",
)  # fmt: skip


@st.composite
def changed_texts(draw: st.DrawFn) -> tuple[dict[str, Any], str, list[str]]:
    """A chart, a text that is perhaps a snapshot of it, and texts that its program has met before."""
    chart = draw(st.sampled_from([FLAT, REGIONS]))
    machine = load_machine(chart)
    sim = simulate(machine)
    met = []
    for event in draw(st.lists(st.sampled_from(EVENTS), max_size=4)):
        sim.send(event)
        met += [sim.to_xstate_text(), sim.snapshot.save_text(), sim.save_text()]
    snapshot = sim.snapshot
    forms = (snapshot.to_xstate_text, snapshot.save_text, sim.save_text)
    text = draw(st.sampled_from(forms))()
    marks = [index for index, sign in enumerate(text) if sign in '{}[],:"']
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.sampled_from(marks)) + draw(st.integers(0, 1))
        to = at if draw(st.booleans()) else draw(st.sampled_from([at + 1, *[mark for mark in marks if mark > at][:6]]))
        text = text[:at] + draw(st.sampled_from(PIECES)) + text[to:]
    return chart, text, met if draw(st.booleans()) else []


@given(changed_texts(), LIMITS)
@settings(max_examples=1200, deadline=None)
def test_a_text_that_is_a_little_different_is_read_as_its_object_is(drawn: tuple[dict[str, Any], str, list[str]], limit: int) -> None:
    chart, text, met = drawn
    machine = load_machine(chart)
    memo_of(machine).limit = limit
    for known in met:
        restore_snapshot(machine, known) if '"timers":[{' not in known else simulate(machine, snapshot=known)
    check_reading(machine, text)
