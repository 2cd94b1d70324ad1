"""Short ways to write documents that end in ``pass`` or ``fail``."""

from __future__ import annotations

import json
from typing import Any

from statecharts import Simulation, load_machine, simulate

ATTRIBUTES = 'xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="ecmascript"'


def inner(body: str) -> str:
    """A child document whose first state is ``s``."""
    return f'<scxml {ATTRIBUTES} initial="s">{body}</scxml>'


def whole(body: str) -> str:
    """A document with the final states ``pass`` and ``fail``."""
    return inner(f'{body}<final id="pass"/><final id="fail"/>')


def load(body: str, **options: Any) -> Any:
    """The machine of :func:`whole`."""
    return load_machine(whole(body), **options)


def again(machine: Any, sim: Simulation[Any]) -> Simulation[Any]:
    """The same simulation, saved as JSON text and restored."""
    return simulate(machine, snapshot=json.loads(json.dumps(sim.save())))


def to_the_end(machine: Any, *, saving: bool) -> Simulation[Any]:
    """Let all timers fire; with ``saving``, save and restore before each."""
    sim = simulate(machine)
    for _ in range(500):
        due = sim.clock.next_due()
        if sim.snapshot.status != "active" or due is None:
            break
        if saving:
            sim = again(machine, sim)
        sim.advance(max(0.0, due - sim.now))
    return sim
