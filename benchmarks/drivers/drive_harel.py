"""Drives harel on a definition built from a mapping.

``send``: ``Driver(execution="inline").inject``, its in-memory runtime in the
caller's thread. ``process``: its pure engine's generator, without a store;
regions are executions of their own there, which only a driver brings together.
Guard and update of (b) are its own expressions: it calls functions on entry and
exit, not for a guard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from charts_read import Edge, Node, read_tree, transitions_of
from harel import Driver, Event, Execution
from harel.definition.builder import build_definition
from harel.engine import process, start
from measuring import CannotExpressError, Driven, Task, answer, chart_of, measure_peer

NO_AGENT = "it invokes machines, not functions whose results come back as events"


GUARDS = {"isOpen": {"__ref__": {"source": "context", "field": "n", "op": "ge", "value": 0}}}
INCREMENT = {"arith": {"op": "+", "left": {"ref": {"source": "context", "field": "n"}}, "right": {"lit": 1}}}
UPDATES = {"increment": [{"field": "n", "expr": INCREMENT}]}


def definition_of(config: dict[str, Any]) -> Any:
    """The chart as harel builds it; a history is the default there, so it is its parent that is targeted."""
    root = read_tree(config)
    wrapped = root.kind == "parallel"
    written = {"states": {root.key: _state(root)}, "start": root.key} if wrapped else _state(root)
    return build_definition(written, None, config["id"])


def _state(node: Node) -> dict[str, Any]:
    inner = [child for child in node.children if child.kind != "history"]
    if not inner:
        return {"outcome": "success"} if node.kind == "final" else {}
    keeps = any(child.kind == "history" for child in node.children)
    made: dict[str, Any] = {"states": {child.key: _state(child) for child in inner}, "allow_history": keeps}
    if node.kind == "parallel":
        made["type"] = "OrthogonalState"
    if node.initial is not None:
        made["start"] = node.initial.key
    made["transitions"] = [_transition(node, edge) for child in inner for edge in transitions_of(child)]
    made["transitions"] += [_waiting(child) for child in inner if _would_end(child)]
    return made


def _would_end(node: Node) -> bool:
    return node.kind == "atomic" and not transitions_of(node)


def _waiting(node: Node) -> dict[str, Any]:
    """For harel a state that nothing leads out of has ended; this one waits for what never comes."""
    return {"from": node.key, "to": node.key, "on_event": {"type": "never"}}


def _transition(scope: Node, edge: Edge) -> dict[str, Any]:
    target = edge.target.parent if edge.target.kind == "history" else edge.target
    assert target is not None
    made: dict[str, Any] = {"from": edge.source.key, "to": _relative(scope, target)}
    if edge.event is not None:
        made["on_event"] = {"type": edge.event, **GUARDS.get(edge.guard or "", {})}
    if edge.action is not None:
        made["set"] = UPDATES[edge.action]
    return made


def _relative(scope: Node, target: Node) -> str:
    if target.parent is scope:
        return target.key
    return target.path


def maker(task: Task) -> Callable[[], Driven]:
    """Executions of one definition."""
    config = chart_of(task)["config"]
    definition = definition_of(config)
    make = _pure if task["mode"] == "process" else _driven
    return lambda: make(definition, config)


def _driven(definition: Any, config: dict[str, Any]) -> Driven:
    execution = Execution(definition_id=definition.id, context=dict(config.get("context", {})))
    driver = Driver(definition, execution="inline")
    driver.register(execution)
    driver.start(execution)

    def send(kind: str) -> None:
        driver.inject(execution, Event(kind=kind))

    def leaves() -> list[str]:
        running = [driver.get(name) for name, child in execution.children.items() if not child.finished]
        ended = [child.root_path for child in execution.children.values() if child.finished]
        if not running:
            return [_below(config, execution.active_path)]
        paths = [_below(config, one.active_path) for one in running if one is not None]
        return paths + [_end_of(read_tree(config), _below(config, path)) for path in ended]

    return Driven(send, leaves, lambda: dict(execution.context), instance=(driver, execution))


def _pure(definition: Any, config: dict[str, Any]) -> Driven:
    if any(node.kind == "parallel" for node in read_tree(config).walk()):
        raise CannotExpressError("regions are executions of their own, which the pure engine does not run")
    execution = Execution(definition_id=definition.id, context=dict(config.get("context", {})))
    for _ in start(definition, execution):
        pass

    def send(kind: str) -> None:
        for _ in process(definition, execution, Event(kind=kind)):
            pass

    return Driven(send, lambda: [execution.active_path], lambda: dict(execution.context), instance=execution)


def _below(config: dict[str, Any], path: str | None) -> str:
    assert path is not None
    return path.removeprefix(f"{config['id']}.")


def _end_of(root: Node, path: str) -> str:
    """The final state of a region that has ended; its execution is gone."""
    region = next(node for node in root.walk() if node.path == path)
    return next(child.path for child in region.children if child.kind == "final")


if __name__ == "__main__":
    answer(lambda task: measure_peer(task, maker, NO_AGENT))
