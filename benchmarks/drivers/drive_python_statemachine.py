"""Drives python-statemachine: ``machine.send(event)`` on a ``StateChart`` made of its states and transitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from charts_read import Node, read_tree, transitions_of
from measuring import Driven, Task, answer, chart_of, measure_peer
from statemachine import StateChart
from statemachine.io import create_machine_class_from_definition

NO_AGENT = "its delayed events wait on the wall clock, and the run has minutes of pauses"


class Data:
    """The model of chart (b)."""

    n = 0


def is_open(model: Data) -> bool:
    """The guard of chart (b); the library hands in what the parameters name."""
    return model.n >= 0


def increment(model: Data) -> None:
    """The update of chart (b)."""
    model.n += 1


CODE = {"isOpen": is_open, "increment": increment}


def chart_class(config: dict[str, Any]) -> type[StateChart[Any]]:
    """A ``StateChart`` as the library makes it of a definition; an id is a path with ``__`` for a dot."""
    root = read_tree(config)
    top = [root] if root.kind == "parallel" else root.children
    states = {_id(node): _state(node) for node in top if node.kind != "history"}
    start = root if root.kind == "parallel" else root.initial
    assert start is not None
    states[_id(start)]["initial"] = True
    made: type[StateChart[Any]] = create_machine_class_from_definition("Chart", states=states)
    return made


def _id(node: Node) -> str:
    return node.path.replace(".", "__")


def _state(node: Node) -> dict[str, Any]:
    made: dict[str, Any] = {"final": node.kind == "final", "parallel": node.kind == "parallel"}
    inner = {_id(child): _state(child) for child in node.children if child.kind != "history"}
    if inner:
        made["states"] = inner
    if node.initial is not None:
        inner[_id(node.initial)]["initial"] = True
    kept = {_id(child): {"type": "shallow"} for child in node.children if child.kind == "history"}
    if kept:
        made["history"] = kept
    events: dict[str, list[dict[str, Any]]] = {}
    for one in transitions_of(node):
        told: dict[str, Any] = {"target": _id(one.target)}
        if one.guard is not None:
            told["cond"] = CODE[one.guard]
        if one.action is not None:
            told["on"] = CODE[one.action]
        events.setdefault(one.event or f"done_state_{_id(node)}", []).append(told)
    if events:
        made["on"] = events
    return made


def maker(task: Task) -> Callable[[], Driven]:
    """Instances of the chart's class."""
    config = chart_of(task)["config"]
    names = {_id(node): node.path for node in read_tree(config).walk() if not node.children}
    chart = chart_class(config)
    return lambda: make(chart, names)


def make(chart: type[StateChart[Any]], names: dict[str, str]) -> Driven:
    """A machine in its initial states; ``names`` are the leaves' paths by id."""
    data = Data()
    machine = chart(data)

    def leaves() -> list[str]:
        return [names[state.id] for state in machine.configuration if state.id in names]

    return Driven(machine.send, leaves, lambda: {"n": data.n}, instance=machine)


if __name__ == "__main__":
    answer(lambda task: measure_peer(task, maker, NO_AGENT))
