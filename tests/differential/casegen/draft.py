"""A case while it is being made: the state tree, the scripts that drive it, the features it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .dice import Dice

Json = dict[str, Any]
Step = dict[str, Any]

COMMON_EVENTS = ["A", "B", "C", "x.y", "x.z"]


def act(name: str, **params: Any) -> Json:
    return {"type": name, "params": params}


def log(label: str, **params: Any) -> Json:
    return act("log", label=label, **params)


def send(event: str, **payload: Any) -> Step:
    return {"event": {"type": event, **payload}} if payload else {"event": event}


def tell(path: str, event: str, **payload: Any) -> Step:
    return {"childEvent": {"to": path, "event": {"type": event, **payload} if payload else event}}


@dataclass
class Node:
    """One state of the machine under construction; `json` is what stands in the document."""

    key: str
    kind: str
    parent: Node | None
    json: Json = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.key if self.parent is None else f"{self.parent.id}.{self.key}"

    @property
    def initial(self) -> Node | None:
        written = self.json.get("initial")
        key = written["target"] if isinstance(written, dict) else written
        return next((child for child in self.children if child.key == key), None)

    def is_active_at_start(self) -> bool:
        at = self
        while at.parent is not None:
            if at.parent.kind == "compound" and at.parent.initial is not at:
                return False
            at = at.parent
        return True

    def normal_children(self) -> list[Node]:
        return [child for child in self.children if child.kind != "history"]

    def add(self, key: str, *items: Any) -> None:
        """Append to one of the lists that a state has (`entry`, `exit`, `invoke`, `tags`)."""
        self.json.setdefault(key, []).extend(items)

    def handle(self, event: str, *transitions: Any, table: str = "on") -> None:
        handlers = self.json.setdefault(table, {})
        there = handlers.get(event, [])
        handlers[event] = (there if isinstance(there, list) else [there]) + list(transitions)


class Draft:
    """Everything an ingredient may look at or add to."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.tags: set[str] = set()
        self.nodes: list[Node] = []
        self.context: Json = {"n": 0, "k": 0}
        self.machine: Json = {}  # further keys of the root: output, actors, delays …
        self.case: Json = {}  # further keys of the case: clock, inspect, guards …
        self.events: list[str] = list(COMMON_EVENTS)
        self.actors: list[tuple[str, str]] = []  # path and source of each child that may come to life
        self.scripts: list[list[Step]] = []
        self.endings: list[list[Step]] = []  # what likely ends the machine goes last
        self.dies_at_start = False
        self._fresh = 0

    @property
    def root(self) -> Node:
        return self.nodes[0]

    def tag(self, *names: str) -> None:
        self.tags.update(names)

    def fresh(self, prefix: str) -> str:
        self._fresh += 1
        return f"{prefix}{self._fresh}"

    def script(self, *steps: Step) -> None:
        self.scripts.append(list(steps))

    def walk(self, *kinds: str) -> Iterator[Node]:
        return (node for node in self.nodes if node.kind in kinds)

    def place(self, *kinds: str) -> Node:
        """A state to put something in, most often one that is active from the start."""
        wanted = list(self.walk(*(kinds or ("atomic", "compound", "parallel"))))
        if not wanted:
            return self.root
        live = [node for node in wanted if node.is_active_at_start()]
        return self.dice.pick(live if live and self.dice.chance(0.75) else wanted)

    def reference(self, node: Node) -> str:
        return f"#{node.id}"

    def any_target(self) -> str:
        targets = [node for node in self.nodes if node.parent is not None]
        return self.reference(self.dice.pick(targets))

    def trigger(self, actions: Iterable[Any], node: Node | None = None, **rest: Any) -> str:
        """A new event that runs these actions; the caller puts it into a script."""
        event = self.fresh("G")
        self.events.append(event)
        (node or self.place()).handle(event, {**rest, "actions": list(actions)})
        return event

    def somewhere(self, *actions: Any, node: Node | None = None) -> str:
        """Run the actions on entry, on exit or in a transition. Says which; scripts what is needed."""
        where = self.dice.pick(["entry", "transition", "transition", "entry", "exit"])
        if where == "transition":
            self.script(send(self.trigger(actions, node)))
        else:
            (node or self.place()).add(where, *actions)
        return where

    def source(self, name: str, machine: Json) -> str:
        """Register a child machine under its name."""
        self.machine.setdefault("actors", {})[name] = machine
        return name

    def guard(self) -> Any:
        dice = self.dice
        return dice.pick(
            [
                act("ctxGte", key="n", value=dice.below(4)),
                act("ctxLt", key="n", value=1 + dice.below(4)),
                act("ctxEq", key="k", value=dice.below(3)),
                act("evtEq", key="v", value=dice.below(2)),
                act("not", guard=act("ctxGt", key="n", value=1)),
                act("and", guards=["true", act("ctxLte", key="n", value=2)]),
                act("or", guards=["false", act("evtTruthy", key="v")]),
                act("stateIn", state=self.reference(dice.pick(self.nodes))),
                "true",
                "false",
            ]
        )
