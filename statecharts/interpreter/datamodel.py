"""What the core asks of a datamodel (SCXML §5, appendix B): expressions over a context, as pure functions.

A context is frozen data. A datamodel computes: it is handed the context of
the moment and gives back a value or a new context, and keeps nothing that
could make the same question be answered differently. An engine behind it may
hold the last context materialised; that is a cache.

What goes wrong in a document's own expression is a :class:`DatamodelError`;
the interpreter turns it into ``error.execution`` (SCXML §3.12.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..errors import ExecutionError


class DatamodelError(ExecutionError):
    """An expression of the document failed, or a location cannot be assigned to."""


class Session(NamedTuple):
    """Who is running: behind ``_sessionid``, ``_name`` and ``_ioprocessors`` (SCXML §5.10).

    ``name`` is ``UNDEFINED`` when the document has none; ``processors`` are
    pairs of an I/O processor's type and its location.
    """

    id: str
    name: Any
    processors: tuple[tuple[str, str], ...]


class Moment(NamedTuple):
    """What an expression may see.

    ``event`` is the ``_event`` object (``name``, ``type``, ``sendid``,
    ``origin``, ``origintype``, ``invokeid``, ``data``; frozen), or ``None``
    before the first event. ``active`` is the set of active states as a bit
    set over the datamodel's ``ids``.
    """

    context: Any
    event: Any
    active: int
    session: Session


class Datamodel(Protocol):
    """One document's datamodel. Safe to use from several threads.

    Every method is a pure function of its arguments. Those that evaluate
    raise :class:`DatamodelError`.
    """

    def initial(self) -> Any:
        """The context before anything is assigned: every declared variable, undefined."""

    def declare(self, context: Any, name: str) -> Any:
        """The context in which ``name`` exists too (undefined if it did not). For ``foreach`` and late data."""

    def test(self, source: str, moment: Moment) -> bool:
        """A condition. It cannot change the context."""

    def evaluate(self, source: str, moment: Moment) -> tuple[Any, Any]:
        """The value of an expression (frozen; ``UNDEFINED`` for undefined) and the context after it."""

    def assign(self, location: str, value: Any, moment: Moment) -> Any:
        """The context after ``location`` has been given ``value``, which is copied."""

    def run(self, script: str, moment: Moment) -> Any:
        """The context after a script."""

    def items(self, source: str, moment: Moment) -> Sequence[Any]:
        """What ``foreach`` goes over: a copy of the array that ``source`` evaluates to (SCXML §4.6)."""

    def content(self, kind: str, source: str) -> Any:
        """Inline content (SCXML B.2.8.1, 5.9): ``kind`` is ``"text"`` or ``"xml"``."""

    def is_declared(self, name: str, context: Any) -> bool:
        """Whether ``name`` is a variable of the context."""

    def dump(self, context: Any) -> Any:
        """The context as plain JSON. Raises :class:`SnapshotError` naming a value that cannot be kept."""

    def load(self, saved: Any) -> Any:
        """The context :meth:`dump` wrote. Raises :class:`SnapshotError`."""

    def pack(self, value: Any) -> Any:
        """Any value (an event with its data) as plain JSON. Raises :class:`SnapshotError`."""

    def unpack(self, saved: Any) -> Any:
        """The value :meth:`pack` wrote. Raises :class:`SnapshotError`."""


class DatamodelFactory(Protocol):
    """Makes the datamodel of one document.

    ``ids`` are the state ids by the bit that :attr:`Moment.active` has for
    them (``None`` for a node without an id of its own), ``variables`` the
    declared data ids, ``scripts`` the texts of the top-level scripts.
    """

    def __call__(
        self, *, ids: Sequence[str | None], variables: Sequence[str], scripts: Sequence[str]
    ) -> Datamodel: ...
