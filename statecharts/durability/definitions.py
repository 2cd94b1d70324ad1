"""Machines as a store keeps them, and those that a process can run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..effect_policies import NO_POLICY, EffectPolicy
from ..errors import UsageError
from ..interpreter.actors import as_logic
from ..interpreter.envelope import machine_hash, without_functions
from ..json_text import dumps
from ..machine import Machine
from .names import checked_name
from .payloads import digest
from .rows import DefinitionRow

DEAD_LETTER, AS_XSTATE = "dead-letter", "xstate"


def definition_text(machine: Machine[Any, Any]) -> str:
    """All that decides what a machine does, but Python: its document, its semantics, and its children's. Order is kept."""
    children: dict[str, Any] = {}
    _collect(machine, children, {machine_hash(machine)})
    parts = {"document": without_functions(machine.document), "semantics": machine.semantics}
    return dumps({**parts, "children": children} if children else parts)


def _collect(machine: Machine[Any, Any], children: dict[str, Any], seen: set[str]) -> None:
    for name, actor in machine.implementations.actors.items():
        if isinstance(actor, Machine):
            hashed = machine_hash(actor)
            children.setdefault(name, {"hash": hashed, "document": without_functions(actor.document), "semantics": actor.semantics})
            if hashed not in seen:
                seen.add(hashed)
                _collect(actor, children, seen)


@dataclass(frozen=True, slots=True)
class Hosted:
    """A machine that a process can run.

    ``implementation`` is the version its Python declares, which is written to
    the log. ``on_error`` says what becomes of an event whose guard, update or
    output raises: ``"dead-letter"`` (nothing changes) or ``"xstate"`` (the
    instance gets status ``error``).
    """

    machine: Machine[Any, Any]
    hash: str
    text: str
    implementation: str | None
    on_error: str

    def policy(self, name: str) -> EffectPolicy:
        """How an actor or action of this name is called."""
        return self.machine.implementations.policies.get(name, NO_POLICY)

    def row(self, now: int) -> DefinitionRow:
        """As a store keeps it."""
        machine = self.machine
        version = None if machine.version is None else str(machine.version)
        return DefinitionRow(hash=self.hash, machine=machine.id, version=version, text=self.text, created_at=now)

    def logic(self, name: str) -> Any:
        """What runs behind an actor of this name. Raises :class:`UsageError` when nobody bound it."""
        found = self.machine.implementations.actors.get(name)
        if found is None:
            raise UsageError(f"actor {name!r} is not bound in machine {self.machine.id!r}")
        return as_logic(found, name)


SEND_TO_INSTANCE = "statecharts.sendToInstance"
"""The action that sends an event to another instance: its params are ``instance`` and ``event``."""


def _never_called() -> None:
    """Bound to what the runtime does itself."""


def hosted(machine: Machine[Any, Any], on_error: str = DEAD_LETTER) -> Hosted:
    """``machine`` made ready. Raises when something it needs is not bound."""
    if not isinstance(machine, Machine):
        raise UsageError(f"machines are what load_machine() returns, not {type(machine).__name__}")
    if on_error not in (DEAD_LETTER, AS_XSTATE):
        raise UsageError(f"on_error is {DEAD_LETTER!r} or {AS_XSTATE!r}, not {on_error!r}")
    checked_name(machine.id, "a machine's id")
    if SEND_TO_INSTANCE not in machine.implementations.actions:  # also where it is chosen only when it runs
        machine = machine.provide({"actions": {SEND_TO_INSTANCE: _never_called}})
    machine.require_complete()
    text = definition_text(machine)
    return Hosted(machine, digest(text), text, machine.implementations.version, on_error)


class Registry:
    """The machines of a process: by hash those it can run, by id the one that new instances start with (the last)."""

    __slots__ = ("by_hash", "by_id")

    def __init__(self, machines: Iterable[Hosted] = ()) -> None:
        self.by_hash: dict[str, Hosted] = {}
        self.by_id: dict[str, Hosted] = {}
        for one in machines:
            self.by_hash[one.hash] = one
            self.by_id[one.machine.id] = one

    def newest(self, machine: str) -> Hosted:
        """The machine that an instance of ``machine`` starts with. Raises :class:`UsageError` for one that is not here."""
        found = self.by_id.get(machine)
        if found is None:
            known = ", ".join(sorted(self.by_id)) or "none"
            raise UsageError(f"machine {machine!r} is not registered in this process (registered: {known}); pass it in machines=[…]")
        return found


