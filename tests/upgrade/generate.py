"""Random version 4 machines, the same for the same seed."""

from __future__ import annotations

import random
from typing import Any

EVENTS = ("A", "B", "C", "D")


class Generator:
    """One machine: a tree of states with transitions in every spelling version 4 has."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.paths: list[tuple[str, ...]] = []

    def case(self) -> dict[str, Any]:
        """A machine and the steps to drive it with."""
        machine = self._state((), 0)
        machine.update({"id": "m", "context": {"n": 0}, "predictableActionArguments": True})
        self._transitions(machine, ())
        steps: list[dict[str, Any]] = []
        for _ in range(12):
            if self.random.random() < 0.2:
                steps.append({"advance": self.random.choice((7, 19, 29))})
            else:
                steps.append({"event": {"type": self.random.choice(EVENTS)}})
        return {"machine": machine, "steps": steps}

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _state(self, path: tuple[str, ...], depth: int) -> dict[str, Any]:
        self.paths.append(path)
        name = ".".join(path) or "m"
        state: dict[str, Any] = {}
        if self._chance(0.6):
            state[self.random.choice(("entry", "onEntry"))] = self._actions(f"+{name}")
        if self._chance(0.6):
            state[self.random.choice(("exit", "onExit"))] = f"-{name}"
        if depth == 0 or (depth < 3 and self._chance(0.45)):
            self._children(state, path, depth)
        return state

    def _children(self, state: dict[str, Any], path: tuple[str, ...], depth: int) -> None:
        keys = ["a", "b", "c"][: self.random.randint(2, 3)]
        parallel = depth > 0 and self._chance(0.12)
        children = {key: self._state((*path, key), depth + 1) for key in keys}
        state["states"] = children
        if parallel:
            state.update({"type": "parallel"} if self._chance(0.5) else {"parallel": True})
            return
        state["initial"] = keys[0]
        last = children[keys[-1]]
        if "states" not in last and self._chance(0.35):
            last["type"] = "final"
            if self._chance(0.5):
                last["data"] = {"r": 1}
            if path and self._chance(0.7):
                state["onDone"] = self._transition(path)
        elif self._chance(0.2):
            children["h"] = {"type": "history", "history": self.random.choice(("shallow", "deep"))}
            self.paths.append((*path, "h"))

    def _actions(self, name: str) -> Any:
        actions: list[Any] = [name]
        if self._chance(0.2):
            actions.append("inc")
        if self._chance(0.15):
            actions.append({"type": "note", "k": self.random.randint(1, 3)})
        if self._chance(0.03):
            actions.append({"type": "xstate.raise", "event": self.random.choice(EVENTS)})
        if self._chance(0.05):
            actions.append({"type": "xstate.send", "event": self.random.choice(EVENTS), "delay": 13})
        return actions[0] if len(actions) == 1 and self._chance(0.5) else actions

    def _transitions(self, node: dict[str, Any], path: tuple[str, ...]) -> None:
        if node.get("type") not in ("final", "history"):
            handlers: dict[str, Any] = {}
            for event in EVENTS:
                if self._chance(0.45):
                    made = [self._transition(path) for _ in range(self.random.randint(1, 2))]
                    handlers[event] = made[0] if len(made) == 1 else made
            if self._chance(0.08):
                handlers["*"] = {"actions": "star"}
            if handlers:
                node["on"] = handlers
            if path and self._chance(0.15):
                node["after"] = {"17": self._transition(path)}
        for key, child in node.get("states", {}).items():
            self._transitions(child, (*path, key))

    def _transition(self, path: tuple[str, ...]) -> Any:
        made: dict[str, Any] = {}
        if self._chance(0.9):
            made["target"] = self._target(path)
        if self._chance(0.25):
            made["cond"] = self.random.choice(("yes", "no", "odd", {"type": "below", "max": 3}))
        if self._chance(0.1):
            made["in"] = "#m." + ".".join(self.random.choice([p for p in self.paths if p and p[-1] != "h"]))
        if self._chance(0.6):
            made["actions"] = self._actions("t" + ".".join(path))
        if "target" in made and self._chance(0.1):
            made["internal"] = self._chance(0.5)
        return made["target"] if set(made) == {"target"} and self._chance(0.7) else made

    def _target(self, path: tuple[str, ...]) -> str:
        near = [p for p in self.paths if p and p[: max(len(path) - 1, 0)] == path[:-1]]
        chosen = self.random.choice(near if near and self._chance(0.7) else [p for p in self.paths if p])
        below = chosen[len(path) :]
        if below and chosen[: len(path)] == path and self._chance(0.5):
            return "." + ".".join(below)
        beside = chosen[len(path) - 1 :] if path else chosen
        if chosen[: max(len(path) - 1, 0)] == path[:-1] and beside and self._chance(0.5):
            return ".".join(beside)
        return "#m." + ".".join(chosen)
