"""One chart in sismic's own interpreter and here, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sismic.exceptions import SismicError
from sismic.interpreter import Interpreter
from sismic.io import import_from_yaml

from statecharts import Machine, simulate
from statecharts.adapters.formats.sismic import SismicImport
from statecharts.definition import build_definition

MOST_STEPS = 100  # random charts that come to rest need a dozen; endless ones should not take long to tell


@dataclass
class Seen:
    """What can be seen after a step: active states without the root, whether it is over, variables."""

    active: tuple[str, ...] = ()
    final: bool = False
    context: dict[str, Any] | None = None
    failure: str | None = None


class Sismic:
    """The chart in sismic. ``failure`` is the name of the exception, or ``endless``."""

    def __init__(self, text: str, *, ignore_contract: bool = True) -> None:
        self.chart = import_from_yaml(text)
        self.interpreter = Interpreter(self.chart, ignore_contract=ignore_contract)
        self.failure: str | None = None
        self.error: Exception | None = None
        self._run()

    def _run(self) -> Seen:
        try:
            if len(self.interpreter.execute(max_steps=MOST_STEPS)) >= MOST_STEPS:
                self.failure = "endless"
        except (SismicError, AssertionError, KeyError, TypeError) as error:
            self.failure = type(error).__name__
            self.error = error
        return self.seen()

    def seen(self) -> Seen:
        if self.failure is not None:
            return Seen(failure=self.failure)
        active = tuple(sorted(set(self.interpreter.configuration) - {self.chart.root}))
        return Seen(active, self.interpreter.final, dict(self.interpreter.context))

    def step(self, event: str, value: Any, **data: Any) -> Seen:
        if event == "wait":
            # a little at a time, so that each waiting time is seen when it is due
            for _ in range(round(value / 0.25)):
                self.interpreter.clock.time += 0.25
                self._run()
                if self.failure is not None:
                    break
            return self.seen()
        self.interpreter.queue(event, **{"v": value, **data})
        return self._run()


class Ours:
    """The imported chart in a simulation."""

    def __init__(self, imported: SismicImport) -> None:
        bounded = {**imported.document, "options": {"maxIterations": MOST_STEPS}}
        self.simulation = simulate(Machine(build_definition(bounded), imported.implementations))
        self._root = imported.definition.root.id

    def seen(self) -> Seen:
        snapshot = self.simulation.snapshot
        if snapshot.status == "error":
            return Seen(failure=type(snapshot.error).__name__)
        done = snapshot.status == "done"
        active = () if done else tuple(sorted(set(snapshot.configuration) - {self._root}))
        context = {key: value for key, value in snapshot.context.items() if not key.startswith("after ")}
        return Seen(active, done, context)

    def step(self, event: str, value: Any, **data: Any) -> Seen:
        if event == "wait":
            self.simulation.advance(seconds=value)
        else:
            self.simulation.send(event, **{"v": value, **data})
        return self.seen()


@dataclass
class Divergence:
    """The first step after which the two differ."""

    step: int
    theirs: Seen
    ours: Seen

    @property
    def kind(self) -> str:
        """What differs: sismic's exception, ``endless``, ``failure``, ``states`` or ``order``."""
        if self.theirs.failure is not None:
            return self.theirs.failure
        if self.ours.failure is not None:
            return "failure"
        same_states = (self.theirs.active, self.theirs.final) == (self.ours.active, self.ours.final)
        assert self.theirs.context is not None and self.ours.context is not None
        same_log = sorted(self.theirs.context["log"]) == sorted(self.ours.context["log"])
        return "order" if same_states and same_log else "states"


def compare(text: str, imported: SismicImport, steps: list[tuple[str, Any]]) -> Divergence | None:
    """Run both; ``None`` when nothing differs, or when both fail alike at the same step."""
    theirs, ours = Sismic(text), Ours(imported)
    seen = [(theirs.seen(), ours.seen())]
    for number in range(len(steps) + 1):
        left, right = seen[-1]
        if left.failure is not None and right.failure is not None:
            alike = (left.failure == "endless") == (right.failure == "EndlessLoopError")
            return None if alike else Divergence(number, left, right)
        if left != right:
            return Divergence(number, left, right)
        if number < len(steps):
            seen.append((theirs.step(*steps[number]), ours.step(*steps[number])))
    return None


def events_of(text: str) -> list[str]:
    """The events that a chart names, in order of name."""
    return list(import_from_yaml(text).events_for())
