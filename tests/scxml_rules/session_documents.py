"""Short ways to write and run SCXML documents in tests."""

from __future__ import annotations

from typing import Any

from statecharts import Simulation, load_machine, simulate

NAMESPACE = "http://www.w3.org/2005/07/scxml"


def document(body: str, attributes: str = "") -> str:
    """An SCXML document around ``body``."""
    return f'<scxml xmlns="{NAMESPACE}" version="1.0" {attributes}>{body}</scxml>'


def run(body: str, *events: str, attributes: str = "", **options: Any) -> Simulation[Any]:
    """A simulation of the document that has been sent ``events``."""
    sim = simulate(load_machine(document(body, attributes), **options))
    for event in events:
        sim.send(event)
    return sim


def leaves(sim: Simulation[Any]) -> list[str]:
    """Active leaves, in document order."""
    return list(sim.snapshot.atomic_states)


def logged(sim: Simulation[Any]) -> list[Any]:
    """What ``log`` wrote, without labels."""
    return [value for _, value in sim.logged]


def log(text: str) -> str:
    """A ``log`` element for a constant."""
    return f"<log expr=\"'{text}'\"/>"


def entry_exit(name: str) -> str:
    """Handlers that log ``+name`` and ``-name``."""
    return f"<onentry>{log('+' + name)}</onentry><onexit>{log('-' + name)}</onexit>"
