"""XState's own persisted snapshot: writing what Node can restore, restoring what Node wrote.

The shape is ``getPersistedSnapshot()`` after ``JSON.stringify``. It has no
timers and no mailboxes; the envelope (:mod:`.envelope`) is for those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import DefinitionError, ExecutionError, SnapshotError
from ..nodes import StateNode
from ..targets import resolve_state_id
from ..values import UNDEFINED, FrozenDict, FrozenList, freeze, js_keys, js_ordered
from .actors import read_logic_snapshot
from .configuration import complete
from .effects import ActorRef, NewActor, Record
from .program import Program
from .snapshot import Rest, Snapshot
from .system import Cell, System

ACTOR_MARK = "xstate$$type"


# ---------------------------------------------------------------- writing


def persisted(system: System, cell: Cell | None = None) -> dict[str, Any]:
    """XState's persisted snapshot of an actor (the root by default) and all below it.

    Raises :class:`ExecutionError` where XState's ``getPersistedSnapshot`` throws.
    """
    actor = system.root if cell is None else cell
    snapshot = actor.snapshot
    if isinstance(snapshot, Snapshot):
        return _persist_machine(system, snapshot)
    members = snapshot.to_json()
    if actor.program is not None:  # a machine that failed before it had a configuration
        members |= {"children": {}, "historyValue": {}}
    return members  # type: ignore[no-any-return]


def _persist_machine(system: System, snapshot: Snapshot[Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"status": snapshot._status}
    if snapshot.output is not UNDEFINED:
        result["output"] = snapshot.output
    if snapshot.error is not UNDEFINED:
        result["error"] = snapshot.error
    result["value"] = snapshot._configuration.value
    result["historyValue"] = {
        key: [{"id": node.id} for node in nodes] for key, nodes in js_ordered(dict(snapshot._history)).items()
    }
    if snapshot._context is not UNDEFINED:
        result["context"] = saved_context(snapshot)
    result["children"] = {key: _persist_child(system, ref) for key, ref in snapshot._children.items()}
    return result


def saved_context(snapshot: Snapshot[Any]) -> Any:
    """The context as JSON. Raises :class:`SnapshotError` when a datamodel holds what cannot be kept."""
    datamodel = snapshot._program.datamodel
    return snapshot._context if datamodel is None else datamodel.dump(snapshot._context)


def _persist_child(system: System, ref: ActorRef | None) -> dict[str, Any]:
    cell = None if ref is None else system.cell(ref)
    if ref is None or cell is None:
        raise ExecutionError(
            "Cannot read properties of undefined (reading 'getPersistedSnapshot')", js_name="TypeError"
        )
    child: dict[str, Any] = {"snapshot": persisted(system, cell), "src": ref.src}
    if ref.system_id is not None:
        child["systemId"] = ref.system_id
    if ref.sync_snapshot is not UNDEFINED:
        child["syncSnapshot"] = ref.sync_snapshot
    return child


# ---------------------------------------------------------------- reading


def restore(system: System, document: Any, *, strict: bool = False, system_id: str | None = None) -> None:
    """Make the root of ``system`` from a persisted snapshot; :meth:`System.start` starts it.

    With ``strict`` a snapshot that does not fit raises :class:`SnapshotError`
    naming everything that is missing, and nothing has been made; otherwise
    the root gets status ``error`` where XState's does, and children of
    unknown source are dropped, as XState drops them.
    """
    if strict:
        problems = list(misfits(system.machine, document))
        if problems:
            listed = "\n".join(f"  {problem}" for problem in problems)
            raise SnapshotError(f"the snapshot does not fit machine {system.machine.id!r}:\n{listed}")
    frozen = freeze(document)
    records: list[Record] = []
    system.root = system.create(
        NewActor(system.machine.id, system.machine, system_id=system_id),
        records,
        None,
        restored=lambda cell, seen: _restore_machine(system, cell, frozen, seen),
    )
    system._report(records)


def _restore_machine(system: System, cell: Cell, document: Any, records: list[Record]) -> Any:
    program = cell.program
    assert program is not None
    if program.dialects and _never_began(document):
        return read_logic_snapshot(document)
    children = _restore_children(system, cell, program, document, records)
    history: dict[str, tuple[StateNode, ...]] = {}
    for key, nodes in (document.get("historyValue") or {}).items():
        found = tuple(node for item in nodes if (node := _find(program, item)) is not None)
        if found:
            history[key] = found
    active = complete(
        dict.fromkeys(state_nodes(program, program.definition.root, document.get("value", UNDEFINED)))
    )
    configuration = program.intern(active)
    order = tuple(active)
    return Snapshot(
        configuration,
        None if order == configuration.nodes else order,
        _read_context(program, document.get("context", UNDEFINED), children),
        Rest(
            children,
            history,
            document.get("status", UNDEFINED),
            document.get("output", UNDEFINED),
            document.get("error", UNDEFINED),
        ),
        0,
    )


def _restore_children(
    system: System, cell: Cell, program: Program, document: Any, records: list[Record]
) -> dict[str, ActorRef | None]:
    listed = document.get("children")
    if listed is None:
        raise ExecutionError("Cannot convert undefined or null to object", js_name="TypeError")
    children: dict[str, ActorRef | None] = {}
    for actor_id in js_keys(listed):
        data = listed[actor_id]
        src = data.get("src")
        logic = program.actor_logic(src) if isinstance(src, str) else None
        if logic is None:
            continue
        sync = data.get("syncSnapshot", UNDEFINED)
        new = NewActor(src, logic, actor_id, data.get("systemId"), sync_snapshot=sync)
        child = system.create(new, records, cell, restored=_restorer(system, data.get("snapshot")))
        children[actor_id] = child.ref
    return children


def _restorer(system: System, saved: Any) -> Callable[[Cell, list[Record]], Any]:
    return lambda made, seen: _restore_actor(system, made, saved, seen)


def _restore_actor(system: System, cell: Cell, saved: Any, records: list[Record]) -> Any:
    if not saved:  # XState starts an actor anew when there is no snapshot
        return system._initial(cell, UNDEFINED, records)
    if cell.program is not None:
        return _restore_machine(system, cell, saved, records)
    return read_logic_snapshot(saved)


def _find(program: Program, item: Any) -> StateNode | None:
    """The state a saved history names. XState reads a dot in an id as a path, and loses such states."""
    if program.dialects and isinstance(item, Mapping) and item.get("id") in program.definition.by_id:
        return program.definition.by_id[item["id"]]
    try:
        return resolve_state_id(program.definition.by_id, program.definition.id, item["id"])
    except (DefinitionError, KeyError, TypeError):
        return None


def _read_context(program: Program, saved: Any, children: Mapping[str, ActorRef | None]) -> Any:
    if program.datamodel is not None:
        return program.datamodel.load(saved)
    return _revive(saved, children)


def _revive(value: Any, children: Mapping[str, ActorRef | None]) -> Any:
    """Actor references in a context, replaced by the restored children."""
    if isinstance(value, dict):
        if value.get(ACTOR_MARK) == 1:
            ref = children.get(value.get("id", ""))
            return UNDEFINED if ref is None else ref
        revived = {key: _revive(member, children) for key, member in value.items()}
        changed = any(revived[key] is not value[key] for key in value)
        return FrozenDict(revived) if changed else value
    if isinstance(value, list):
        items = [_revive(member, children) for member in value]
        return FrozenList(items) if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def state_nodes(program: Program, node: StateNode, value: Any) -> list[StateNode]:
    """The nodes a (partial) state value names, breadth first (XState ``getStateNodes``)."""
    if isinstance(value, str):
        child = node.children.get(value)
        if child is None:
            raise ExecutionError(f"State '{value}' does not exist on '{node.id}'")
        return [node, child]
    if not isinstance(value, Mapping):
        raise ExecutionError("Cannot convert undefined or null to object", js_name="TypeError")
    named = [(_child(program, node, key), value[key]) for key in js_keys(value)]
    found = [program.definition.root, node, *(child for child, _ in named)]
    for child, inner in named:
        found.extend(state_nodes(program, child, inner))
    return found


def _child(program: Program, node: StateNode, key: str) -> StateNode:
    if key.startswith("#"):
        try:
            return resolve_state_id(program.definition.by_id, program.definition.id, key)
        except DefinitionError as error:
            raise ExecutionError(error.problems[0].message) from None
    child = node.children.get(key)
    if child is None:
        raise ExecutionError(f"Child state '{key}' does not exist on '{node.id}'")
    return child


def _never_began(document: Any) -> bool:
    """A machine that failed before it had a state: XState saves it without a value, and cannot restore that."""
    return isinstance(document, Mapping) and document.get("status") == "error" and "value" not in document


# ---------------------------------------------------------------- checking


def misfits(machine: Any, document: Any, at: str = "") -> Iterator[str]:
    """Everything about a persisted snapshot that ``machine`` has no place for."""
    from .program import program_of

    program = program_of(machine)
    if not isinstance(document, Mapping):
        yield f"{at or '/'}: a snapshot is an object, not {type(document).__name__}"
        return
    if document.get("status") not in ("active", "done", "error", "stopped"):
        yield f"{at}/status: must be active, done, error or stopped, not {document.get('status')!r}"
    if _never_began(document):
        return
    try:
        state_nodes(program, program.definition.root, document.get("value", UNDEFINED))
    except ExecutionError as error:
        yield f"{at}/value: {error}"
    if not isinstance(document.get("context", {}), Mapping):
        yield f"{at}/context: must be an object"
    history = document.get("historyValue") or {}
    if not isinstance(history, Mapping):
        yield f"{at}/historyValue: must be an object"
        history = {}
    for key, nodes in history.items():
        for item in nodes if isinstance(nodes, (list, tuple)) else [nodes]:
            if _find(program, item) is None:
                yield f"{at}/historyValue/{key}: no state {item.get('id') if isinstance(item, Mapping) else item!r}"
    children = document.get("children", UNDEFINED)
    if not isinstance(children, Mapping):
        yield f"{at}/children: must be an object"
        return
    for key, child in children.items():
        yield from _child_misfits(program, key, child, f"{at}/children/{key}")


def _child_misfits(program: Program, key: str, child: Any, at: str) -> Iterator[str]:
    src = child.get("src") if isinstance(child, Mapping) else None
    logic = program.actor_logic(src) if isinstance(src, str) else None
    if logic is None:
        yield f"{at}/src: no actor {src!r} in machine {program.definition.id!r}; bind it under `actors`"
    elif hasattr(logic, "definition"):
        yield from misfits(logic, child.get("snapshot"), f"{at}/snapshot")
    elif not isinstance(child.get("snapshot", {}), Mapping):
        yield f"{at}/snapshot: a snapshot is an object, not {type(child['snapshot']).__name__}"


__all__ = ["misfits", "persisted", "restore", "state_nodes"]
