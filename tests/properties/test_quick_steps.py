"""Steps that a host takes in one go, with their actions and timers, are the steps that the agenda takes."""

from __future__ import annotations

import warnings
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from random_machines import BOUND, KID, Step, count, documents, facts, job, steps, take

from statecharts import DefinitionError, Simulation, UsageError, load_machine, send_parent, simulate
from statecharts.interpreter.program import Program

SENDS = 4
"""So many events a run's own actions send."""


class Run:
    """A machine's run on a simulation, and all that could be seen of it.

    Some of its actions fail, and some send an event to their own machine.
    ``quick``: whether the host may take steps in one go; ``limit``: what may be kept.
    """

    def __init__(self, document: dict[str, Any], semantics: str, quick: bool, limit: int) -> None:
        self.seen: list[Any] = []
        self.sends = 0
        self.sim: Simulation[Any] | None = None
        actions = {**BOUND["actions"], "act": self.act}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kid = load_machine(KID, {"actions": {"up": send_parent("E2")}, "updates": {"count": count}}, semantics=semantics)
            bound = {**BOUND, "actions": actions, "actors": {"job": job, "kid": kid}}
            machine = load_machine(document, bound, semantics=semantics)
        machine._program = Program(machine, memo_limit=limit)
        self.quick = quick
        self.sim = sim = simulate(machine)
        if not quick:
            sim._is_plain = sim._is_quick = False
        sim.subscribe(lambda snapshot: self.seen.append(("published", snapshot.value, snapshot.context, snapshot.sequence)))
        sim.subscribe(self.listen)

    def act(self, context: Any, event: Any, params: Any) -> None:
        self.seen.append(("act", context, event, None if self.sim is None else self.sim.snapshot.value))
        if context["n"] % 6 == 5:
            raise ValueError("an action failed")
        if self.sim is not None and context["n"] % 3 == 1 and self.sends < SENDS:
            self.sends += 1
            self.sim.send("E1")
            self.seen.append(("sent", self.sim.snapshot.value))

    def listen(self, snapshot: Any) -> None:
        if self.sim is not None and snapshot.context["n"] % 5 == 2 and self.sends < SENDS:
            self.sends += 1
            self.sim.send("E2")

    def take(self, step: Step) -> None:
        sim = self.sim
        assert sim is not None
        try:
            take(sim, step)
        except UsageError as error:  # a machine that failed may list children that were never started
            self.seen.append(str(error))
        self.seen.append((facts(sim), sim.system.at_rest, sim._running))
        if sim.snapshot.status == "active":
            self.seen.append(sim.save())

    def end(self) -> list[Any]:
        sim = self.sim
        assert sim is not None
        effects = [(effect.position, effect.type, effect.params, effect.context, effect.event) for effect in sim.effects]
        return [*self.seen, effects, sim.emitted_events, sim.logged, [start.path for start in sim.starts], len(sim.ended)]


@given(documents(), steps(most=10), st.sampled_from(["xstate", "xstate-exact"]))
@settings(max_examples=300, deadline=None)
def test_in_one_go_or_by_the_agenda(document: dict[str, Any], given_steps: list[Step], semantics: str) -> None:
    try:
        runs = [Run(document, semantics, quick, limit) for quick, limit in ((False, 0), (True, 0), (True, 1 << 20))]
    except DefinitionError:
        return
    for step in given_steps:
        for run in runs:
            run.take(step)
    reference, *others = [run.end() for run in runs]
    for seen in others:
        assert seen == reference
