"""Of a file that is not trusted nothing runs; everything that would is a name to bind."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sismic_random import Dials, random_chart
from sismic_texts import chart, machine_of, one_state

from statecharts import ImplementationError, Implementations, UsageError, enqueue, raise_, simulate
from statecharts.adapters.formats.sismic import read_definition
from statecharts.adapters.formats.sismic_contracts import with_contracts

WATCH = """
import sys
from statecharts import Machine, simulate
from statecharts.adapters.formats.sismic import read_definition

text = sys.stdin.read()
read_definition(text.replace("TELLTALE", "other"))  # every module that is going to be needed is loaded now
seen = []


def hook(name, args):
    if name == "exec" and "TELLTALE" in repr(args[0].co_consts) + repr(args[0].co_names):
        seen.append(args[0].co_filename)


sys.addaudithook(hook)
imported = read_definition(text, trusted=sys.argv[1] == "trusted")
sim = simulate(Machine(imported.definition, imported.implementations), stubs=True, guards=lambda *_: True)
sim.send("e")
sim.send("f")
assert sim.snapshot.status == "active", sim.snapshot.error
print(len(seen), len(imported.code))
"""


def test_no_code_of_the_file_is_run() -> None:
    """An audit hook sees every piece of Python that is executed, whoever executes it."""
    text = chart(
        "initial: a\non entry: TELLTALE = len('entry')\ncontract: [{always: TELLTALE}]\nstates:\n  - name: a\n    on exit: TELLTALE = len('exit')\n"
        "    transitions:\n      - {event: e, guard: TELLTALE > len('guard'), target: b, action: TELLTALE += len('action')}\n"
        "      - {event: f, guard: TELLTALE + active('b'), contract: [{before: TELLTALE}]}\n  - name: b\n    on entry: print('TELLTALE')",
        "TELLTALE = len('preamble')",
    )
    assert watched(text, "untrusted") == [0, 7]
    runs, pieces = watched(text, "trusted")
    assert (runs > 3, pieces) == (True, 7), "the hook sees nothing at all"


def watched(text: str, trust: str) -> list[int]:
    """How often code of the chart was executed, and how many pieces of code it has."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH, trust], input=text, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def test_names_are_missing_until_they_are_bound() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    transitions:\n      - {event: e, guard: x > limit, target: b}\n"
        "      - {event: e, action: x = x + 1}\n  - {name: b, on entry: \"print('at b')\"}"
    )
    imported = read_definition(text)
    assert not list(imported.implementations.names())
    machine = machine_of(imported)
    assert [(m.kind, m.name, m.places) for m in machine.missing] == [
        ("action", "print('at b')", ("/states/b/entry/0",)),
        ("guard", "x > limit", ("/states/a/on/e/0/guard",)),
        ("action", "x = x + 1", ("/states/a/on/e/1/actions/0",)),
    ]
    with pytest.raises(ImplementationError, match="guard 'x > limit', used at"):
        simulate(machine)

    impl = Implementations()
    arrived = []

    @impl.guard("x > limit")
    def above(context: dict[str, int]) -> bool:
        return context["x"] > 1

    @impl.update("x = x + 1")
    def count(context: dict[str, int]) -> dict[str, int]:
        return {"x": context["x"] + 1}

    @impl.action("print('at b')")
    def arrive() -> None:
        arrived.append("b")

    sim = simulate(machine.provide(impl))
    for _ in range(3):
        sim.send("e")
    assert (sim.snapshot.atomic_states, sim.snapshot.context, arrived) == (("b",), {"x": 2}, ["b"])


def test_a_name_may_be_bound_to_actions_of_the_machine() -> None:
    machine = machine_of(read_definition(one_state("x += 1\nsend('i', n=x)")))
    (missing,) = machine.missing
    assert missing.name == "x += 1; send('i', n=x)"
    bound = machine.provide({"actions": {missing.name: enqueue(lambda enqueue: enqueue(raise_("i")))}})
    assert simulate(bound).send("e").atomic_states == ("b",)


def test_the_code_behind_a_name_is_listed_with_place_and_line() -> None:
    imported = read_definition(one_state("if x:\n  x = 0\nelse:\n  x = [value for value in range(50) if value]"))
    (piece,) = imported.code
    assert piece.name == "a -> b on e: if x:; x = 0; else:; x = [value for valu…"
    assert (piece.kind, piece.line, piece.moment.place) == ("action", 14, "a -> b on e")
    assert str(piece).splitlines()[1:] == ["    if x:", "      x = 0", "    else:", "      x = [value for value in range(50) if value]"]


def test_code_that_is_no_python_is_a_name_too() -> None:
    text = chart(
        "initial: a\nstates:\n  - name: a\n    on entry: sound the bell!\n    transitions:\n"
        "      - {event: e, guard: the door is open, target: b}\n  - name: b"
    )
    machine = machine_of(read_definition(text))
    assert [missing.name for missing in machine.missing] == ["sound the bell!", "the door is open"]


def test_what_needs_no_python_runs_without_any() -> None:
    text = chart(
        "initial: a\nstates:\n"
        "  - {name: a, on entry: \"send('go', n=1)\", transitions: [{event: go, guard: not active('b'), target: b}]}\n"
        "  - {name: b, on entry: x = 5, transitions: [{guard: after(2), target: c}]}\n  - {name: c, type: final}"
    )
    imported = read_definition(text)
    assert imported.code == ()
    sim = simulate(machine_of(imported))
    assert (sim.snapshot.atomic_states, sim.snapshot.context) == (("b",), {"x": 5})
    assert sim.advance(seconds=2).status == "done"


def test_contracts_ask_for_trust() -> None:
    with pytest.raises(UsageError, match="trusted=True"):
        with_contracts(read_definition(chart("initial: a\nstates: [{name: a}]")))


@pytest.mark.parametrize("seed", range(20))
def test_differences_do_not_depend_on_trust(seed: int) -> None:
    text = random_chart(seed, Dials(careful=False))
    plain = [str(p) for p in read_definition(text).differences]
    assert plain == [str(p) for p in read_definition(text, trusted=True).differences]
