"""How a macrostep that failed is told: the snapshot before it with status ``error``, and who raised."""

from __future__ import annotations

from typing import Any

from ..errors import StatechartError
from .effects import Record
from .operations import Operation
from .snapshot import ERROR, Snapshot, Step


def failed(
    before: Snapshot[Any], operation: Operation | None, error: Exception, effects: tuple[Record, ...] = ()
) -> Step:
    """The step that ended in ``error``. ``operation`` is the one that was running, if any."""
    if operation is not None:
        explain(error, operation, before._configuration.program.definition.id)
    return Step(before.replace(status=ERROR, error=error), effects, error)


def explain(error: Exception, operation: Operation, machine_id: str) -> None:
    """Say in a note which of the user's callables failed, and where."""
    if not isinstance(error, StatechartError):
        where = f" in state {operation.state!r}" if operation.state else ""
        note = f"raised by {operation.label}{where} of machine {machine_id!r}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)
