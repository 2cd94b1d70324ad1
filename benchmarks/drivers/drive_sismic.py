"""Drives sismic: ``interpreter.queue(event).execute()`` on a statechart made of its own model classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from charts_read import Node, history_of, read_tree, transitions_of
from measuring import Driven, Task, answer, chart_of, measure_peer
from sismic.interpreter import Interpreter
from sismic.model import (
    BasicState,
    CompoundState,
    Event,
    FinalState,
    OrthogonalState,
    ShallowHistoryState,
    Statechart,
    Transition,
)

NO_AGENT = "no invoked actors whose results come back as events"


def is_open(n: int) -> bool:
    """The guard of chart (b)."""
    return n >= 0


def increment(n: int) -> int:
    """The update of chart (b)."""
    return n + 1


CODE = {"isOpen": "is_open(n)", "increment": "n = increment(n)"}


def statechart_of(config: dict[str, Any]) -> Statechart:
    """The chart in sismic's classes; a state is named by its path."""
    root = read_tree(config)
    preamble = "".join(f"{name} = {value!r}\n" for name, value in config.get("context", {}).items())
    made = Statechart(config["id"], preamble=preamble or None)
    _add(made, root, None)
    for node in root.walk():
        for one in transitions_of(node):
            guard, action = (CODE.get(name or "") for name in (one.guard, one.action))
            if one.event is None:
                guard = all_final(node)
            made.add_transition(Transition(node.path, one.target.path, one.event, guard, action))
    made.validate()
    return made


def all_final(node: Node) -> str:
    """The join, as sismic says it: an eventless transition that asks where the regions are."""
    ends = [end for end in node.walk() if end.kind == "final"]
    return " and ".join(f"active({end.path!r})" for end in ends)


def _add(chart: Statechart, node: Node, parent: str | None) -> None:
    chart.add_state(_state_of(node), parent)
    for child in node.children:
        _add(chart, child, node.path)


def _state_of(node: Node) -> Any:
    if node.kind == "parallel":
        return OrthogonalState(node.path)
    if node.kind == "history":
        return ShallowHistoryState(node.path, memory=history_of(node).path)
    if node.kind == "final":
        return FinalState(node.path)
    if node.children:
        assert node.initial is not None
        return CompoundState(node.path, initial=node.initial.path)
    return BasicState(node.path)


def maker(task: Task) -> Callable[[], Driven]:
    """Interpreters of the task's chart."""
    config = chart_of(task)["config"]
    chart = statechart_of(config)
    names = {node.path for node in read_tree(config).walk() if not node.children}
    return lambda: make(chart, names)


def make(chart: Statechart, names: set[str]) -> Driven:
    """An interpreter at rest in its initial states; ``names`` are those of leaves."""
    helpers = {"is_open": is_open, "increment": increment}
    interpreter = Interpreter(chart, initial_context=helpers)
    interpreter.execute()

    def send(event: Event) -> object:
        return interpreter.queue(event).execute()

    def leaves() -> list[str]:
        return [name for name in interpreter.configuration if name in names]

    def context() -> Any:
        return {key: value for key, value in interpreter.context.items() if key not in helpers}

    return Driven(send, leaves, context, event=Event, instance=interpreter)


if __name__ == "__main__":
    answer(lambda task: measure_peer(task, maker, NO_AGENT))
