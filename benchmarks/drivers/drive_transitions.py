"""Drives transitions: ``model.EVENT()`` on a ``Machine``, or a ``HierarchicalMachine`` where states are nested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from charts_read import Node, read_tree, transitions_of
from measuring import CannotExpressError, Driven, Task, answer, chart_of, measure_peer
from transitions import Machine
from transitions.extensions.nesting import HierarchicalMachine, NestedState

NO_AGENT = "no history states, and no invoked actors whose results come back as events"


class DottedState(NestedState):  # type: ignore[misc]
    """A state whose name is its path."""

    separator = "."


class DottedMachine(HierarchicalMachine):  # type: ignore[misc]
    """A hierarchical machine of such states."""

    state_cls = DottedState


class Model:
    """What the machine moves; ``n``, guard and update are those of chart (b)."""

    state: Any
    n = 0

    def isOpen(self) -> bool:
        return self.n >= 0

    def increment(self) -> None:
        self.n += 1


DONE = "all_done"


def maker(task: Task) -> Callable[[], Driven]:
    """Models of one machine."""
    root = read_tree(chart_of(task)["config"])
    machine = machine_of(root)
    below = f"{root.key}." if root.kind == "parallel" else ""
    return lambda: make(machine, below)


def machine_of(root: Node) -> Any:
    """The machine. A parallel root becomes its only state."""
    top = [root] if root.kind == "parallel" else root.children
    nested = any(node.children for node in top)
    options = {"auto_transitions": False, "queued": any(node.written.get("onDone") for node in root.walk())}
    start = root if root.kind == "parallel" else root.initial
    assert start is not None
    machine = (DottedMachine if nested else Machine)(
        model=None, states=[_state_of(node) for node in top], initial=_name(start), **options
    )
    for node in root.walk():
        for one in transitions_of(node):
            trigger = one.event if one.event is not None else DONE
            machine.add_transition(
                trigger,
                _name(node),
                _name(one.target),
                conditions=_named(one.guard),
                before=_named(one.action),
            )
    return machine


def make(machine: Any, below: str) -> Driven:
    """A model in the machine's initial states."""
    model = Model()
    machine.add_model(model)

    def drive(calls: list[Callable[[], object]]) -> None:
        for call in calls:
            call()

    return Driven(
        send=lambda call: call(),
        leaves=lambda: [name.removeprefix(below) for name in _flat(model.state)],
        context=lambda: {"n": model.n},
        event=lambda type_: getattr(model, type_),
        drive=drive,
        instance=model,
    )


def _named(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _name(node: Node) -> str:
    return f"{node.root.key}.{node.path}" if node.root.kind == "parallel" and node.parent else node.path


def _state_of(node: Node) -> Any:
    if node.kind == "history":
        raise CannotExpressError("no history states")
    made: dict[str, Any] = {"name": node.key}
    if node.kind == "final":
        made["final"] = True
    if node.children:
        made["parallel" if node.kind == "parallel" else "children"] = [_state_of(c) for c in node.children]
    if node.initial is not None:
        made["initial"] = node.initial.key
    if "onDone" in node.written:
        made["on_final"] = DONE
    return made


def _flat(state: Any) -> list[str]:
    return [state] if isinstance(state, str) else [name for inner in state for name in _flat(inner)]


if __name__ == "__main__":
    answer(lambda task: measure_peer(task, maker, NO_AGENT))
