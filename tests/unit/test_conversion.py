"""From format to format, through the public face."""

from __future__ import annotations

import pytest

from statecharts import UsageError, load_machine, simulate, to_scxml

MACHINE = {
    "id": "m",
    "initial": "b",
    "states": {"b": {"on": {"GO": {"target": "a", "actions": "note"}}, "always": []}, "a": {"entry": ["x"]}},
}
DOOR = """<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="null">
  <state id="closed"><transition event="open" target="open"/></state><state id="open"/></scxml>"""
CHART = """statechart:
  name: Lamp
  root state:
    name: root
    initial: dark
    states:
      - name: dark
        transitions: [{event: press, guard: n > 0, target: lit}]
      - name: lit
"""


def test_an_xstate_machine_comes_back_from_scxml_as_it_was() -> None:
    export = to_scxml(load_machine(MACHINE))
    again = load_machine(export.text)
    assert (again.document, again.semantics) == (MACHINE, "xstate")
    assert list(again.document["states"]) == ["b", "a"]
    assert "named-action" in {warning.code for warning in export.warnings}
    assert to_scxml(MACHINE) == export


def test_an_scxml_document_comes_out_as_scxml() -> None:
    machine = load_machine(DOOR)
    export = to_scxml(machine)
    assert export.warnings == ()
    assert load_machine(export.text).document == machine.document


def test_a_sismic_chart_is_an_xstate_machine_whose_code_is_bound() -> None:
    machine = load_machine(CHART, {"guards": {"n > 0": lambda: True}})
    assert (machine.semantics, simulate(machine).send("press").value) == ("xstate", "lit")
    assert [name.name for name in load_machine(CHART).missing] == ["n > 0"]
    trusted = load_machine(f"{CHART}  preamble: n = 1\n", trusted=True)
    assert simulate(trusted).send("press").value == "lit"
    with pytest.raises(UsageError, match="YAML text or a path, not a mapping"):
        load_machine({}, format="sismic")
