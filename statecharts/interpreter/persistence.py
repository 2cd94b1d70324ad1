"""XState's own persisted snapshot: writing what Node can restore, restoring what Node wrote.

The shape is ``getPersistedSnapshot()`` after ``JSON.stringify``. It has no
timers and no mailboxes; the envelope (:mod:`.envelope`) is for those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..errors import DefinitionError, ExecutionError, SnapshotError, UsageError
from ..json_text import dumps
from ..nodes import StateNode
from ..targets import resolve_state_id
from ..values import UNDEFINED, FrozenDict, FrozenList, freeze, js_keys, js_ordered, plain
from .actors import read_logic_snapshot
from .effects import ActorRef, NewActor, Record
from .program import Program, program_of
from .snapshot import ACTIVE, NO_CHILDREN, NO_HISTORY, NOTHING_ELSE, Rest, Snapshot
from .state_values import configuration_of, state_nodes
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


def persisted_plainly(system: System) -> dict[str, Any]:
    """:func:`persisted` as plain JSON."""
    snapshot = system.root.snapshot
    if isinstance(snapshot, Snapshot) and not snapshot._children:
        return snapshot.to_xstate()
    return plain(persisted(system))  # type: ignore[no-any-return]


def persisted_text(system: System) -> str:
    """:func:`persisted` as JSON text."""
    snapshot = system.root.snapshot
    if isinstance(snapshot, Snapshot) and not snapshot._children:
        return snapshot.to_xstate_text()
    return dumps(persisted(system))


def _persist_machine(system: System, snapshot: Snapshot[Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"status": snapshot._status}
    if snapshot.output is not UNDEFINED:
        result["output"] = snapshot.output
    if snapshot.error is not UNDEFINED:
        result["error"] = snapshot.error
    result["value"] = snapshot._configuration.value
    history = snapshot._history
    result["historyValue"] = (
        {key: [{"id": node.id} for node in nodes] for key, nodes in js_ordered(dict(history)).items()}
        if history
        else {}
    )
    if snapshot._context is not UNDEFINED:
        result["context"] = saved_context(snapshot)
    children = snapshot._children
    result["children"] = (
        {key: _persist_child(system, ref) for key, ref in children.items()} if children else {}
    )
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
    found = simple_snapshot(program_of(system.machine), document)
    if found is not None and not system.observed and not system_id and system.next_session == 0:
        system.place_root(found)
        return
    records: list[Record] = []
    system.root = system.create(
        NewActor(system.machine.id, system.machine, system_id=system_id),
        records,
        None,
        restored=_restorer_of_root(system, document, strict),
    )
    system._report(records)


def _restorer_of_root(system: System, document: Any, strict: bool) -> Callable[[Cell, list[Record]], Any]:
    found = simple_snapshot(program_of(system.machine), document)
    if found is not None:
        return lambda _cell, _seen: found
    if strict:
        problems = list(misfits(system.machine, document))
        if problems:
            listed = "\n".join(f"  {problem}" for problem in problems)
            raise SnapshotError(f"the snapshot does not fit machine {system.machine.id!r}:\n{listed}")
    frozen = freeze(document)
    return lambda cell, seen: _restore_machine(system, cell, frozen, seen)


_MEMBERS: Final = frozenset({"status", "output", "error", "value", "historyValue", "context", "children"})


def simple_snapshot(program: Program, document: Any) -> Snapshot[Any] | None:
    """The snapshot in ``document``, if all of it is as the interpreter writes it and nothing hangs on other actors."""
    if type(document) is not dict or program.datamodel is not None or not document.keys() <= _MEMBERS:
        return None
    status, children, context = document.get("status"), document.get("children"), document.get("context")
    if type(context) is not dict or type(children) is not dict or children or status not in _STATUSES:
        return None
    history: dict[str, tuple[StateNode, ...]] | None = None
    if document.get("historyValue"):
        history = simple_history(program, document["historyValue"])
        if history is None:
            return None
    rest = NOTHING_ELSE
    try:
        configuration, order = configuration_of(program, document.get("value", UNDEFINED))
        data = context_alone(context)
        if history is not None or status != ACTIVE or "output" in document or "error" in document:
            output, error = freeze(document.get("output", UNDEFINED)), freeze(document.get("error", UNDEFINED))
            rest = Rest(NO_CHILDREN, history or NO_HISTORY, status, output, error)
    except (ExecutionError, UsageError):  # told with all the rest that is wrong
        return None
    return Snapshot(configuration, order, data, rest, 0)


_STATUSES: Final = ("active", "done", "error", "stopped")
_LEAVES: Final = frozenset({str, int, float, bool, type(None)})
_LEAFLESS: Final = frozenset({FrozenDict, FrozenList})


def context_alone(saved: dict[str, Any]) -> Any:
    """The context of a machine without children, frozen; references to actors lead nowhere. Raises :class:`UsageError`."""
    for key, member in saved.items():
        if type(member) not in _LEAVES or type(key) is not str or "0" <= key[:1] <= "9":
            break
    else:
        return FrozenDict(saved)
    data = freeze(saved)
    if not _LEAFLESS.isdisjoint(map(type, data.values())):
        return _revive(data, NO_CHILDREN)
    return data


def simple_history(program: Program, saved: Any) -> dict[str, tuple[StateNode, ...]] | None:
    """What history states remember, when every state in it is known."""
    history: dict[str, tuple[StateNode, ...]] = {}
    for key, items in saved.items() if type(saved) is dict else ():
        nodes = [_find(program, item) for item in items] if type(items) is list else [None]
        found = tuple([node for node in nodes if node is not None])
        if not found or len(found) < len(nodes):
            return None
        history[key] = found
    return history or None


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
    configuration, order = configuration_of(program, document.get("value", UNDEFINED))
    return Snapshot(
        configuration,
        order,
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
    """Actor references among the members of a context, at any depth, replaced by the restored children."""
    if isinstance(value, dict):
        revived = {key: _revive_member(member, children) for key, member in value.items()}
        changed = any(revived[key] is not value[key] for key in value)
        return FrozenDict(revived) if changed else value
    if isinstance(value, list):
        items = [_revive_member(member, children) for member in value]
        return FrozenList(items) if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def _revive_member(value: Any, children: Mapping[str, ActorRef | None]) -> Any:
    if isinstance(value, dict) and value.get(ACTOR_MARK) == 1:
        ref = children.get(value.get("id", ""))
        return UNDEFINED if ref is None else ref
    return _revive(value, children)


def _never_began(document: Any) -> bool:
    """A machine that failed before it had a state: XState saves it without a value, and cannot restore that."""
    return isinstance(document, Mapping) and document.get("status") == "error" and "value" not in document


# ---------------------------------------------------------------- checking


def misfits(machine: Any, document: Any, at: str = "") -> Iterator[str]:
    """Everything about a persisted snapshot that ``machine`` has no place for."""
    program = program_of(machine)
    if not isinstance(document, Mapping):
        yield f"{at or '/'}: a snapshot is an object, not {type(document).__name__}"
        return
    if document.get("status") not in _STATUSES:
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


__all__ = ["misfits", "persisted", "restore", "simple_snapshot"]
