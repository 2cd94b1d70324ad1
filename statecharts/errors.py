"""What can go wrong, sorted by whose turn it is to act.

::

    StatechartError
    ├── DefinitionError        the author: the document is wrong; carries *every* problem found
    ├── ImplementationError    the programmer: a bound callable is missing, misnamed or raised
    │   └── PurityError        a guard or update did I/O, read a clock, drew a random number, or changed its input
    ├── ExecutionError         the run: an endless macrostep, an illegal snapshot, an unhandled event
    │   ├── EndlessLoopError   a macrostep that never comes to rest; names the states
    │   ├── InvalidTransition  an event nobody handles, when the host asked to be told
    │   └── SnapshotError      a snapshot that does not fit the machine; names what is missing
    ├── StoreError             the store: it refused or lost a write, or cannot be used
    │   ├── Busy               too much waits for this instance already; nothing was written, send again later
    │   ├── CommitUnknown      a commit's reply was lost, and the store cannot be asked; send again with the same id
    │   └── StoreVersionError  the store's schema is older or newer than this release
    └── UsageError             the caller: an API used in a way that cannot work
        ├── PayloadError       data that JSON cannot hold, or too much of it
        └── UnknownInstance    there is no instance of that name

Messages say what to do next. Errors raised by a user's own code keep their
traceback as ``__cause__``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

E = TypeVar("E", bound=BaseException)


def caused_by(error: E, cause: BaseException | None) -> E:
    """``error`` with its cause, to be raised: ``raise … from …`` for compiled code, in which mypyc forgets the ``from``."""
    error.__cause__ = cause
    return error


class StatechartError(Exception):
    """Root of every error this package raises on purpose."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a document.

    ``pointer`` is an RFC 6901 JSON pointer into the document (``""`` is the
    whole document). ``severity`` is ``"error"`` or ``"warning"``. ``line`` is
    1-based and present when the document was read from text.
    """

    code: str
    pointer: str
    message: str
    hint: str | None = None
    severity: str = "error"
    line: int | None = None
    file: str | None = None

    def __str__(self) -> str:
        place = self.pointer or "(document)"
        if self.line is not None:
            place = f"{self.file or '<text>'}:{self.line} {place}"
        elif self.file is not None:
            place = f"{self.file} {place}"
        text = f"{place}: {self.message} [{self.code}]"
        return f"{text}\n    {self.hint}" if self.hint else text

    def to_dict(self) -> dict[str, Any]:
        """The problem as plain JSON; absent members are left out."""
        members = {
            "code": self.code,
            "severity": self.severity,
            "pointer": self.pointer,
            "message": self.message,
            "hint": self.hint,
            "file": self.file,
            "line": self.line,
        }
        return {key: value for key, value in members.items() if value is not None}


class DefinitionError(StatechartError):
    """A document cannot be used as a machine.

    ``problems`` holds everything that was found, errors first, not only the
    first fault.
    """

    def __init__(self, problems: Iterable[Problem], machine_id: str | None = None) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        self.machine_id = machine_id
        name = f" {machine_id!r}" if machine_id else ""
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        lines = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(f"machine{name} has {count} {noun}:\n{lines}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.machine_id)


@dataclass(frozen=True, slots=True)
class MissingName:
    """A name the document uses and nobody bound. ``kind``: guard, action, actor or delay."""

    kind: str
    name: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}, used at {', '.join(self.places)}"


class ImplementationError(StatechartError):
    """A callable the machine needs is missing, cannot be called, or raised.

    ``missing`` lists unbound names when that is the fault; ``name`` and
    ``state`` say which callable failed and where.
    """

    def __init__(
        self,
        message: str,
        *,
        name: str | None = None,
        state: str | None = None,
        missing: Sequence[MissingName] = (),
    ) -> None:
        super().__init__(message)
        self.name = name
        self.state = state
        self.missing: tuple[MissingName, ...] = tuple(missing)


class PurityError(ImplementationError):
    """A guard or an update did something that would make a replay differ."""


class ExecutionError(StatechartError):
    """The machine cannot go on: an endless macrostep, a missing implementation, an illegal state.

    ``js_name`` is the name XState's own error object has in the same
    situation (``Error`` or ``TypeError``).
    """

    def __init__(self, message: str, *, js_name: str = "Error") -> None:
        super().__init__(message)
        self.js_name = js_name


class EndlessLoopError(ExecutionError):
    """A macrostep that never ends. ``states`` are the leaves it goes through.

    ``xstate_message`` is what XState itself says, without the states.
    """

    def __init__(self, message: str, states: Sequence[str] = ()) -> None:
        self.xstate_message = message
        self.states = tuple(states)
        super().__init__(f"{message} The loop passes through: {', '.join(states)}." if states else message)


class InvalidTransition(ExecutionError):
    """An event that no active state handles, under ``on_unhandled="raise"``."""

    def __init__(self, message: str, *, state: object, event: str, allowed: Sequence[str]) -> None:
        super().__init__(message)
        self.state = state
        self.event = event
        self.allowed = tuple(allowed)


class SnapshotError(ExecutionError):
    """A snapshot that cannot be read, or does not fit this machine."""


class StoreError(StatechartError):
    """A store refused or lost a write."""


class Busy(StoreError):
    """An instance's queue is full. Nothing was written; the same event may be sent again later."""


class CommitUnknown(StoreError):
    """A commit's reply was lost, and whether it took effect cannot be found out now; sending again with the same id is safe."""


class StoreVersionError(StoreError):
    """The store's schema is older than this release needs, or newer than it can read."""


class UsageError(StatechartError):
    """The API was called in a way that cannot work; the message says what to do instead."""


class PayloadError(UsageError):
    """Data from outside that JSON cannot hold, or too much of it; nothing was written. Names the place."""


class UnknownInstance(UsageError):
    """There is no instance of that name in the namespace."""
