"""The envelope: XState's snapshot plus everything XState loses.

XState's persisted form has no timers, no mailboxes and no numbering. The
envelope keeps them beside it, so a run goes on where it stopped: timers keep
their absolute due time (an overdue one fires once), queued events their
order, actors their addresses, virtual time its value::

    {"format": "statecharts/snapshot", "formatVersion": 2,
     "machine": {"id", "version", "hash"}, "semantics", "now", "running",
     "snapshot": <XState's persisted snapshot>,
     "actors": [{"path", "session", "status", "mailbox", "sequence", "order", ...}],
     "timers": [...], "next": {"session", "timer"}}

What is as usual is left out: a ``version`` there is none of, ``open`` when true,
``begun`` when false, ``order`` (ids of the active states) when it is that of
the document; an empty ``order`` says that it is the one in which XState
rebuilds the states from the value, which format 1 had no word for.

Reading is strict: a snapshot that does not fit the machine raises
:class:`SnapshotError` and changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..errors import SnapshotError, UsageError
from ..json_text import dumps
from ..machine import Machine
from ..values import freeze, plain
from .deliveries import Timer
from .effects import ActorRef
from .envelope_form import Envelope, SavedActor, read_exactly
from .persistence import persisted_plainly, restore
from .snapshot import Snapshot
from .state_values import Found, configuration_in_order
from .system import ENDED, NOT_STARTED, RUNNING, Cell, System
from .text_reading import states_as_rebuilt

FORMAT = "statecharts/snapshot"
VERSION = 2
_STATUS = {NOT_STARTED: "not-started", RUNNING: "running", ENDED: "ended"}


def machine_hash(machine: Machine[Any, Any]) -> str:
    """SHA-256 over the document's JSON text, in which order is kept. Taken once: machines do not change."""
    found = machine._hash
    if found is None:
        text = dumps(without_functions(machine.document))
        found = machine._hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return found


def without_functions(value: Any) -> Any:
    if isinstance(value, Mapping):
        members: dict[str, Any] = {}
        for key, member in value.items():  # loops: a comprehension would take a second stack frame a level
            members[key] = without_functions(member)
        return members
    if isinstance(value, (list, tuple)):
        return [without_functions(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return {"@python": type(value).__name__}


# ----------------------------------------------------------------- sealing


def seal(system: System) -> dict[str, Any]:
    """The whole system as plain JSON. Raises :class:`UsageError` in the middle of a step."""
    if not system.idle:
        raise UsageError("a system can be saved only at rest, not from inside one of its actions")
    root = system.root
    machine = system.machine
    timers = system._timers
    return {
        **identity(machine),
        "now": plain(system.now),
        "running": root.status == RUNNING,
        "snapshot": persisted_plainly(system),
        "actors": [_save_actor(cell, path) for path, cell in _tree(system, root, [])],
        "timers": [] if timers is None else [_save_timer(system, timer) for timer in timers.pending.values()],
        "next": {"session": system.next_session, "timer": 0 if timers is None else timers.next_handle},
    }


def identity(machine: Machine[Any, Any]) -> dict[str, Any]:
    """The members that say what an envelope is, and of which machine."""
    version = {} if machine.version is None else {"version": plain(machine.version)}
    return {
        "format": FORMAT,
        "formatVersion": VERSION,
        "machine": {"id": machine.id, **version, "hash": machine_hash(machine)},
        "semantics": machine.semantics,
    }


def seal_snapshot(snapshot: Snapshot[Any]) -> dict[str, Any]:
    """A snapshot without a host as an envelope: what :func:`seal` makes of a system that has nothing else."""
    if snapshot._children:
        raise UsageError(
            "this snapshot has children, whose states only the host knows; use the host's save()"
        )
    system = System(snapshot._program.machine)
    system.place_root(snapshot)
    system.root.status = RUNNING if snapshot._rest.is_active else ENDED
    system.root.open = True
    return seal(system)


def _tree(system: System, cell: Cell, path: list[str]) -> Iterator[tuple[list[str], Cell]]:
    yield path, cell
    if isinstance(cell.snapshot, Snapshot):
        for name, ref in cell.snapshot._children.items():
            assert ref is not None  # persisted() refuses a child that never came to be
            yield from _tree(system, system.cells[ref.session], [*path, name])


def _save_actor(cell: Cell, path: list[str]) -> dict[str, Any]:
    saved: dict[str, Any] = {
        "path": path,
        "session": cell.ref.session,
        "status": _STATUS[cell.status],
    }
    if not cell.open:
        saved["open"] = False
    if cell.begun:
        saved["begun"] = True
    saved["mailbox"] = [plain(_save_event(cell, getattr(item, "event", item))) for item in cell.mailbox]
    if isinstance(cell.snapshot, Snapshot):
        saved["sequence"] = cell.snapshot._sequence
        order = saved_order(cell.snapshot)
        if order is not None:
            saved["order"] = order
    error = cell.snapshot.error
    if isinstance(error, BaseException):
        kind = error.type_name if isinstance(error, SavedError) else type(error).__name__
        saved["error"] = {"type": kind, "message": str(error)}
    return saved


def saved_order(snapshot: Snapshot[Any]) -> list[str] | None:
    """What is said of the order of the active states: None when it is the document's, nothing when it is rebuilt."""
    configuration, order = snapshot._configuration, snapshot.kept_order
    if snapshot._rest.is_active and configuration.is_plain:
        if order is None or order == configuration.nodes:
            return None
        found = states_as_rebuilt(configuration)
        if found is not None and (order is found[1] or order == found[1]):
            return []
    return [node.id for node in snapshot.nodes]


def _save_event(cell: Cell | None, event: Any) -> Any:
    """An event for ``cell``: a session's may carry values that only its datamodel can write."""
    datamodel = None if cell is None or cell.program is None else cell.program.datamodel
    return event if datamodel is None else datamodel.pack(event)


def _read_event(cell: Cell, saved: Any) -> Any:
    datamodel = None if cell.program is None else cell.program.datamodel
    return freeze(saved) if datamodel is None else datamodel.unpack(saved)


def _save_timer(system: System, timer: Timer) -> dict[str, Any]:
    target = None if timer.target is None else system.cell(timer.target)
    saved = {
        "handle": timer.handle,
        "source": timer.source.session,
        "target": None if timer.target is None else timer.target.session,
        "event": _save_event(target, timer.event),
        "id": timer.send_id,
        "delay": timer.delay,
        "due": timer.due,
    }
    return plain(saved)  # type: ignore[no-any-return]


# ----------------------------------------------------------------- opening


def is_envelope(document: Any) -> bool:
    """Whether ``document`` is one of our envelopes (rather than XState's bare form)."""
    return isinstance(document, Mapping) and document.get("format") == FORMAT


def saved_time(document: Mapping[str, Any]) -> float:
    """The virtual time at which an envelope was sealed, in ms."""
    now = document.get("now")
    return float(now) if isinstance(now, (int, float)) else 0.0  # what is wrong with it, reading will tell


class SavedError(Exception):
    """An error read back from an envelope: its type's name and message, not its traceback."""

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(message)
        self.type_name = type_name


def read_envelope(document: Any) -> Envelope:
    """``document`` checked. Raises :class:`SnapshotError` naming each place that is wrong."""
    envelope = read_exactly(document)
    if envelope is None:
        from .envelope_model import read_leniently  # pydantic, which takes long to load and is seldom needed

        envelope = read_leniently(document)
    if envelope.format_version > VERSION:
        raise SnapshotError(
            f"the snapshot has format {envelope.format_version}; this release reads up to {VERSION}. Use a newer release"
        )
    return envelope


def open_envelope(system: System, document: Any, *, any_hash: bool = True) -> Envelope:
    """Make ``system``'s actors, timers and queues from an envelope. :meth:`System.start` then starts them.

    Raises :class:`SnapshotError` when the snapshot belongs to another machine
    or does not fit this one.
    """
    envelope = read_envelope(document)
    if envelope.machine.id != system.machine.id:
        raise SnapshotError(
            f"the snapshot belongs to machine {envelope.machine.id!r}, not {system.machine.id!r}"
        )
    if envelope.semantics != system.machine.semantics:
        raise SnapshotError(
            f"the snapshot was made under semantics {envelope.semantics!r}, the machine was loaded with "
            f"{system.machine.semantics!r}; load it with semantics={envelope.semantics!r}"
        )
    if not any_hash and envelope.machine.hash != machine_hash(system.machine):
        raise SnapshotError(f"machine {system.machine.id!r} has changed since the snapshot was saved")
    system.now = max(system.now, envelope.now)
    restore(system, envelope.snapshot, strict=True)
    _renumber(system, envelope)
    return envelope


def _renumber(system: System, envelope: Envelope) -> None:
    """Give the restored actors their old addresses back, then what hangs on those."""
    by_path: dict[tuple[str, ...], Cell] = {(): system.root}
    if len(system.cells) > 1:
        by_path = {tuple(path): cell for path, cell in _tree(system, system.root, [])}
    renamed: dict[int, ActorRef] = {}
    saved_cells: list[tuple[SavedActor, Cell]] = []
    for saved in envelope.actors:
        cell = by_path.get(tuple(saved.path))
        if cell is None:
            raise SnapshotError(
                f"the snapshot saves an actor at {'/'.join(saved.path)!r} that is not among its children"
            )
        actor_id = _saved_id(saved, cell)
        if saved.session != cell.ref.session or actor_id != cell.ref.id:
            renamed[cell.ref.session] = replace(cell.ref, session=saved.session, id=actor_id)
        saved_cells.append((saved, cell))
    if renamed:
        _readdress(system, renamed)
    for saved, cell in saved_cells:
        _refill(cell, saved)
    cells = {saved.session: cell for saved, cell in saved_cells}
    for timer in envelope.timers:
        source = cells.get(timer.source)
        target = cells.get(timer.target) if timer.target is not None else None
        if source is not None and target is not None:
            event = _read_event(target, timer.event)
            system.timers.put(
                Timer(timer.handle, source.ref, target.ref, event, timer.id, timer.delay, timer.due)
            )
    system.next_session = max(system.next_session, envelope.next.session)
    if envelope.next.timer:
        system.timers.next_handle = max(system.timers.next_handle, envelope.next.timer)


def _saved_id(saved: SavedActor, cell: Cell) -> str:
    return cell.ref.id if saved.path else f"x:{saved.session}"


def _readdress(system: System, renamed: dict[int, ActorRef]) -> None:
    cells = list(system.cells.values())
    system.cells.clear()
    for cell in cells:
        old = cell.ref.session
        cell.ref = renamed.get(old, cell.ref)
        system.cells[cell.ref.session] = cell
        if isinstance(cell.snapshot, Snapshot) and cell.snapshot._children:
            children = {
                key: None if ref is None else renamed.get(ref.session, ref)
                for key, ref in cell.snapshot._children.items()
            }
            context = _readdressed(cell.snapshot._context, renamed)
            cell.snapshot = cell.snapshot.replace(children=children, context=context)
    for name, ref in list(system.registry.items()):
        system.registry[name] = renamed.get(ref.session, ref)


def _readdressed(value: Any, renamed: dict[int, ActorRef]) -> Any:
    if isinstance(value, ActorRef):
        return renamed.get(value.session, value)
    if isinstance(value, dict):
        return freeze({key: _readdressed(member, renamed) for key, member in value.items()})
    if isinstance(value, list):
        return freeze([_readdressed(member, renamed) for member in value])
    return value


def _with_saved(snapshot: Snapshot[Any], saved: SavedActor) -> Snapshot[Any]:
    """The snapshot as it was counted, with its active states in their order.

    XState rebuilds both from the state value: in another order, and with
    defaults where a machine failed before it had entered them.
    """
    found: Found | None = None
    if saved.order is not None:
        if saved.order:
            found = configuration_in_order(snapshot._program, saved.order)
        else:  # as it was rebuilt
            found = snapshot._configuration, snapshot.kept_order
    configuration, order = (snapshot._configuration, None) if found is None else found
    return Snapshot(configuration, order, snapshot._context, snapshot._rest, saved.sequence)


def _refill(cell: Cell, saved: SavedActor) -> None:
    for event in saved.mailbox:
        cell.post(_read_event(cell, event))
    if saved.status == "ended":
        is_told_again = not saved.path and cell.snapshot.status != "active"  # a root says anew that it is over
        cell.status = NOT_STARTED if is_told_again else ENDED
        cell.begun = saved.begun
    if isinstance(cell.snapshot, Snapshot):
        cell.snapshot = _with_saved(cell.snapshot, saved)
    if saved.error is not None:
        error = SavedError(saved.error.get("type", "Error"), saved.error.get("message", ""))
        snapshot = cell.snapshot
        cell.snapshot = (
            snapshot.replace(error=error)
            if isinstance(snapshot, Snapshot)
            else replace(snapshot, error=error)
        )
