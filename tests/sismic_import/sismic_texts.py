"""Short ways to write a chart and to run it."""

from __future__ import annotations

from typing import Any

from statecharts import Machine, simulate
from statecharts.adapters.engines.simulation import Simulation
from statecharts.adapters.formats.sismic import SismicImport, read_definition


def chart(body: str, preamble: str | None = "x = 0") -> str:
    """A chart whose root is called ``root``; ``body`` is the rest of the root state."""
    lines = [f"    {line}" for line in body.strip("\n").splitlines()]
    before: list[str] = []
    if preamble is not None:
        before = ["  preamble: |", *(f"    {line}" for line in preamble.splitlines())]
    return "\n".join(["statechart:", "  name: chart", *before, "  root state:", "    name: root", *lines, ""])


def one_state(action: str, preamble: str | None = "x = 0", more: str = "") -> str:
    """A chart with a state ``a`` that runs ``action`` for the event ``e``, and goes on to ``b``."""
    code = "\n".join(f"          {line}" for line in action.splitlines())
    body = "initial: a\nstates:\n  - name: a\n    transitions:\n      - event: e\n        target: b\n        action: |\n" + code
    return chart(f"{body}\n  - name: b\n{more}", preamble)


def machine_of(imported: SismicImport, **more: Any) -> Machine[Any, Any]:
    """The machine, with more or other implementations."""
    machine: Machine[Any, Any] = Machine(imported.definition, imported.implementations)
    return machine.provide(more) if more else machine


def run(text: str, **options: Any) -> Simulation[Any]:
    """A simulation of the trusted chart ``text``."""
    return simulate(machine_of(read_definition(text, trusted=True)), **options)
