"""Random sismic charts, as YAML, and random things to do to them. The same seed gives the same chart."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML

from statecharts.adapters.formats.sismic import SismicImport, read_definition

EVENTS = ("a", "b", "c", "d")
INTERNAL = ("i", "j")


@dataclass
class Dials:
    """How daring charts are. ``careful`` keeps regions apart, so that few differences can show."""

    careful: bool = True
    depth: int = 3
    code: float = 0.5
    timers: float = 0.15
    eventless: float = 0.2
    history: float = 0.4
    regions: bool = True


@dataclass
class _Growing:
    random: random.Random
    dials: Dials
    names: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    transitions: int = 0

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # ---------------------------------------------------------------- the tree

    def grow(self, parent: str | None, depth: int, kind: str) -> dict[str, Any]:
        name = f"s{self.random.choice('qwertz')}{len(self.names)}" if parent is not None else "root"
        self.names.append(name)
        self.kinds[name], self.parents[name] = kind, parent
        state: dict[str, Any] = {"name": name}
        self.states[name] = state
        if kind in ("final", "shallow history", "deep history"):
            state["type"] = kind
        if kind == "compound":
            inner = [self.grow(name, depth + 1, self.kind(depth + 1)) for _ in range(self.random.randint(1, 3))]
            plain = [child["name"] for child in inner]
            state["initial"] = self.random.choice(plain)
            if (depth > 0 and self.chance(0.2)) or (depth == 0 and self.chance(0.4)):
                inner.append(self.grow(name, depth + 1, "final"))
            if self.chance(self.dials.history):
                memory = self.grow(name, depth + 1, self.random.choice(["shallow history", "deep history"]))
                if self.dials.careful or self.chance(0.8):
                    memory["memory"] = self.random.choice(plain)
                inner.append(memory)
            state["states"] = inner
        elif kind == "orthogonal":
            state["parallel states"] = [
                self.grow(name, depth + 1, "compound" if self.chance(0.8) else "basic")
                for _ in range(self.random.randint(2, 3))
            ]
        return state

    def kind(self, depth: int) -> str:
        if depth >= self.dials.depth:
            return "basic"
        return self.random.choices(["basic", "compound", "orthogonal"], [5, 3, 2 if self.dials.regions else 0])[0]

    # --------------------------------------------------------------- the code

    def fill(self) -> None:
        for name in self.names:
            history = "history" in self.kinds[name]
            if not history and self.chance(self.dials.code):
                self.states[name]["on entry"] = self.action(f"+{name}")
            if not history and self.chance(self.dials.code):
                self.states[name]["on exit"] = self.action(f"-{name}")
            if self.kinds[name] in ("basic", "compound", "orthogonal"):
                amount = self.random.randint(0, 3)
                if amount:
                    self.states[name]["transitions"] = [self.transition(name) for _ in range(amount)]

    def action(self, mark: str) -> str:
        lines = [f"log.append('{mark}')"]
        if self.chance(0.2):
            lines.append(self.random.choice(["x += 1", "x = 0", "x = x * 2 % 7"]))
        if self.chance(0.15):
            lines.append(f"send('{self.random.choice(INTERNAL)}', v=x)")
        self.random.shuffle(lines)
        return self.random.choice(["send('i')", "x = 1"]) if self.chance(0.06) else "\n".join(lines)

    def transition(self, source: str) -> dict[str, Any]:
        self.transitions += 1
        made: dict[str, Any] = {}
        eventless = self.chance(self.dials.eventless)
        if not eventless:
            made["event"] = self.event(source)
        target = self.target(source)
        if target is not None:
            made["target"] = target
        if eventless and self.chance(self.dials.timers * 3):
            made["guard"] = f"after({self.random.choice(['1', '2', '0.5', '3/2'])})"
        elif eventless or self.chance(0.4):
            made["guard"] = self.guard(eventless)
        if self.chance(self.dials.code):
            made["action"] = self.action(f"t{self.transitions}")
        if self.chance(0.4):
            made["priority"] = self.random.choice([-2, -1, 1, 2, "high", "low", 3, 4, 5])
        return made

    def event(self, source: str) -> str:
        event = self.random.choice(EVENTS + INTERNAL)
        if self.dials.careful:  # each region has events of its own
            region = self.region(source)
            return event if region is None else f"{event}{sum(map(ord, region)) % 7}"
        return event

    def region(self, name: str) -> str | None:
        above: str | None = name
        while above is not None:
            parent = self.parents[above]
            if parent is not None and self.kinds[parent] == "orthogonal":
                return above
            above = parent
        return None

    def target(self, source: str) -> str | None:
        if self.chance(0.15):
            return None
        if self.dials.careful and self.chance(0.9):
            region = self.region(source)
            near = [
                name
                for name in self.names
                if self.region(name) == region and name != region and self.kinds[name] != "root"
            ]
            if near:
                return self.random.choice(near)
        return self.random.choice(self.names)

    def guard(self, eventless: bool) -> str:
        state = self.random.choice(self.names)
        if self.chance(self.dials.timers):
            time = self.random.choice(["after(1)", "after(0.5)", "not after(2)"])
            return f"{time} and x {self.random.choice(['<', '>'])} {self.random.randint(1, 5)}"
        options = [
            f"x < {self.random.randint(1, 5)}",
            f"x >= {self.random.randint(1, 5)}",
            f"x == {self.random.randint(0, 4)}",
            f"active('{state}')",
            f"not active('{state}') and x > 1",
            f"x + active('{state}') > 2",
            f"(x > 2 or active('{state}')) and len(log) % 2 == 0",
            "True",
        ]
        if not eventless:
            options += ["getattr(event, 'v', 0) > 1", "event.name == 'a' or x != 2"]
        return self.random.choice(options)


def random_chart(seed: int, dials: Dials | None = None) -> str:
    """A chart as YAML text. Its code keeps a list ``log`` and a number ``x``."""
    growing = _Growing(random.Random(seed), dials or Dials())
    alternatives = growing.chance(0.75) or not growing.dials.regions
    root = growing.grow(None, 0, "compound" if alternatives else "orthogonal")
    growing.fill()
    return to_yaml({"statechart": {"name": f"chart {seed}", "preamble": "log = []\nx = 0", "root state": root}})


def without_differences(text: str) -> tuple[str, SismicImport]:
    """The chart ``text`` less everything that makes a difference, and its import."""
    for _ in range(20):
        imported = read_definition(text, trusted=True)
        if not imported.differences:
            return text, imported
        data = YAML(typ="safe", pure=True).load(text)
        for path in sorted({_culprit(problem.pointer) for problem in imported.differences}, reverse=True):
            _remove(data, path)
        text = to_yaml(data)
    raise AssertionError("taking away differences leads to new ones, again and again")


def _culprit(pointer: str) -> tuple[str | int, ...]:
    """What to take away for a problem at ``pointer``: a transition, a state's code, or a state."""
    path = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    if path[-1] in ("target", "guard", "event", "action"):
        path.pop()
    return tuple(path)


def _remove(data: Any, path: Any) -> None:
    for step in path[:-1]:
        data = data[step]
    item = data[path[-1]]
    if isinstance(item, dict) and "history" in item.get("type", ""):  # it lacks a memory
        item["memory"] = next(sibling["name"] for sibling in data if "history" not in sibling.get("type", ""))
    else:
        del data[path[-1]]


def to_yaml(data: Any) -> str:
    """``data`` as YAML text."""
    written = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump(data, written)
    return written.getvalue()


def random_steps(seed: int, events: list[str], count: int = 14) -> list[tuple[str, Any]]:
    """Events (with a value ``v``) and spans of time, in quarters of a second."""
    draw = random.Random(seed)
    steps: list[tuple[str, Any]] = []
    for _ in range(count):
        if draw.random() < 0.25 or not events:
            steps.append(("wait", draw.choice([0.25, 0.5, 1.0])))
        else:
            steps.append((draw.choice([*events, "nobody"]), draw.randint(0, 3)))
    return steps
