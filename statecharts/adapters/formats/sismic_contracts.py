"""The contracts of a sismic chart, checked while its machine runs. Off unless asked for.

::

    imported = read_definition(text, trusted=True)
    contracts = with_contracts(imported)
    machine = Machine(contracts.definition, contracts.implementations)
    sim = simulate(machine, inspect=contracts)      # a broken contract raises ContractError

Preconditions, postconditions and the invariants of transitions are actions
around the chart's own, so they see the context of their moment and hold in
every host: a broken one ends the actor with :class:`ContractError`. Invariants
of states are checked by the observer after every microstep, as sismic does
after every macro step of its own (which is one event, or one round of
eventless transitions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from statecharts.definition import Definition, build_definition
from statecharts.errors import Problem, UsageError
from statecharts.implementations import Implementations
from statecharts.interpreter.inspection import (
    InspectionEvent,
    MicrostepInspection,
    SnapshotInspection,
)
from statecharts.interpreter.snapshot import Snapshot

from .sismic import SismicImport
from .sismic_binding import implementations_of, unbound_of
from .sismic_code import shadowed_names
from .sismic_conditions import Clauses, ContractError
from .sismic_contract_checks import ContractChecks
from .sismic_differences import Differences
from .sismic_document import machine_id
from .sismic_python import Event, event_of
from .sismic_writing import Writing, write_document

__all__ = ["ContractError", "Contracts", "with_contracts"]


class Contracts:
    """A chart with its contracts: a document with checks in it, what they are bound to, and an observer.

    ``differences`` are those of the import, and those that conditions can see.

    Call it with inspection events (``inspect=contracts``); it raises
    :class:`ContractError` for the first condition that does not hold. One
    object watches one running machine.
    """

    def __init__(
        self,
        implementations: Implementations,
        differences: tuple[Problem, ...],
        writing: Writing,
        checks: ContractChecks,
    ) -> None:
        self.document: Mapping[str, Any] = writing.document
        self.definition: Definition = build_definition(writing.document)
        self.implementations = implementations
        self.differences = differences
        self._chart = writing.chart
        self._timers = writing.timers
        self._checks = checks
        self._steps = 0

    def __call__(self, event: InspectionEvent, /) -> None:
        """Watch one inspection event. Raises :class:`ContractError`."""
        if isinstance(event, MicrostepInspection) and event.event["type"] in self._timers:
            return  # sismic takes no step when a time is over, unless a guard has waited for it
        if isinstance(event, MicrostepInspection):
            self._steps += bool(event.transitions)
            sent = self._checks.sent_in(self._steps)
            if not event.event["type"].startswith("xstate.done."):  # sismic makes no such events
                self._check(event.snapshot, _event_of_step(event), sent)
        elif isinstance(event, SnapshotInspection) and isinstance(event.snapshot, Snapshot):
            # sismic ends a run with a step in which nothing happens, and checks once more
            self._check(event.snapshot, None, frozenset())
        self._tell_broken()

    def _check(self, snapshot: Snapshot[Any], event: Event | None, sent: frozenset[str]) -> None:
        if snapshot.status != "active":
            return
        root = machine_id(self._chart)
        names = frozenset(self._chart.root if node == root else node for node in snapshot.configuration)
        self._checks.check_invariants(names, snapshot.context, event, sent)

    def _tell_broken(self) -> None:
        """Raise what was broken inside a step, once all steps before it have been looked at."""
        broken = self._checks.broken
        if broken is not None and self._steps >= broken.step - 1:
            self._checks.broken = None
            raise broken.error


def _event_of_step(event: MicrostepInspection) -> Event | None:
    """Sismic's event of the step: none for eventless transitions, which waiting times are too."""
    kind = event.event["type"]
    if kind.startswith("xstate.") or (event.transitions and not all(event.transitions)):
        return None
    return event_of(event.event)


def with_contracts(imported: SismicImport, *, clock: Callable[[], float] | None = None) -> Contracts:
    """``imported`` with its contracts checked.

    ``clock`` gives the time in milliseconds, for conditions that use
    ``after``, ``idle`` or ``time``: with ``clock = ExactClock()`` pass
    ``lambda: clock.now`` here and ``clock`` to ``simulate``.

    Raises :class:`UsageError` when the file was read without ``trusted=True``,
    and :class:`DefinitionError` for conditions that cannot be checked.
    """
    python = imported.python
    if python is None:
        raise UsageError("contracts are Python code; read the file with trusted=True to have them checked")
    chart, source = imported.chart, imported.text
    clauses = Clauses(chart, source, has_clock=clock is not None, shadowed=shadowed_names(chart))
    checks = ContractChecks(chart, clauses, python, clock)
    asks_sent = clauses.has(lambda clause: "sent" in clause.asks)
    writing = write_document(chart, checks, as_code=asks_sent)
    heard = python.heard_by(checks.note_sent) if asks_sent else python
    implementations = implementations_of(writing, heard, unbound_of(writing, source))
    implementations.actions.update(checks.actions)
    implementations.guards.update(checks.guards)
    differences = Differences(chart, source, writing.guards, contracts=True).find(trusted=True)
    return Contracts(implementations, tuple(differences), writing, checks)
