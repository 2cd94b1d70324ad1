"""What a machine is between two events: an immutable snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from ..errors import UsageError
from ..events import to_event
from ..json_text import dumps
from ..nodes import StateNode
from ..targets import split_path
from ..values import UNDEFINED, plain, thaw
from .configuration import Configuration, KeptOrder, Order, nodes_in
from .effects import ActorRef, Record
from .texts import history_value, running_text, sealed_text

if TYPE_CHECKING:
    from .program import Program

C = TypeVar("C", covariant=True)
History = Mapping[str, tuple[StateNode, ...]]
ACTIVE: Final = "active"
DONE: Final = "done"
ERROR: Final = "error"
STOPPED: Final = "stopped"
NO_HISTORY: Final[History] = {}
NO_CHILDREN: Final[Mapping[str, ActorRef | None]] = {}


class EventOption(NamedTuple):
    """One event that some active state names: is it enabled now and, if not, which guards said no.

    ``enabled`` is ``None`` when a guard could not answer without the event's
    data; ``reason`` then holds what it said.
    """

    type: str
    enabled: bool | None
    refused_by: tuple[str, ...]
    reason: str | None


class Rest:
    """What a snapshot holds beside states and context: most steps leave it as it is, and share it. Immutable.

    ``known`` is for :mod:`.routes`: what was found out about going on from
    this history, in a rest that the program keeps; else ``None``.
    """

    __slots__ = ("children", "error", "history", "is_active", "known", "output", "status")

    def __init__(
        self,
        children: Mapping[str, ActorRef | None],
        history: History,
        status: Any = ACTIVE,
        output: Any = UNDEFINED,
        error: Any = UNDEFINED,
    ) -> None:
        self.children = children
        self.history = history
        self.status = status
        self.is_active: bool = status == ACTIVE
        self.output = output
        self.error = error
        self.known: dict[Any, Any] | None = None


NOTHING_ELSE: Final[Rest] = Rest(NO_CHILDREN, NO_HISTORY)
"""What most snapshots share."""


class Snapshot(Generic[C]):
    """Everything an actor needs to go on. Immutable; made by the interpreter.

    ``value`` is XState's state value, ``status`` one of ``active``, ``done``,
    ``error`` and ``stopped``; ``output`` and ``error`` are ``UNDEFINED`` until
    there is one.
    """

    __slots__ = ("_configuration", "_context", "_order", "_rest", "_sequence")

    def __init__(
        self, configuration: Configuration, order: KeptOrder, context: Any, rest: Rest, sequence: int
    ) -> None:
        self._configuration = configuration
        self._order = order
        self._context = context
        self._rest = rest
        self._sequence = sequence

    @property
    def _children(self) -> Mapping[str, ActorRef | None]:
        return self._rest.children

    @property
    def _history(self) -> History:
        return self._rest.history

    @property
    def _status(self) -> Any:
        return self._rest.status

    @property
    def _program(self) -> Program:
        return self._configuration.program

    # ------------------------------------------------------------- reading

    @property
    def context(self) -> C:
        """The machine's data, frozen."""
        return self._context  # type: ignore[no-any-return]

    @property
    def status(self) -> str | Any:
        """``active``, ``done``, ``error`` or ``stopped``."""
        return self._rest.status

    @property
    def output(self) -> Any:
        """What a done machine computed, else ``UNDEFINED``."""
        return self._rest.output

    @property
    def error(self) -> Any:
        """What a failed machine died of (an exception, or the JSON value it was rejected with)."""
        return self._rest.error

    @property
    def value(self) -> Any:
        """The state value: a name, or a mapping from region to value. A fresh copy."""
        return thaw(self._configuration.value)

    @property
    def children(self) -> Mapping[str, ActorRef | None]:
        """Addresses of the child actors by id."""
        return dict(self._children)

    @property
    def configuration(self) -> tuple[str, ...]:
        """Ids of all active states in document order."""
        nodes = sorted(self._configuration.nodes, key=lambda node: node.index)
        return tuple(node.id for node in nodes)

    @property
    def atomic_states(self) -> tuple[str, ...]:
        """Ids of the active leaves in document order."""
        return self._configuration.atomic_states

    @property
    def history(self) -> dict[str, tuple[str, ...]]:
        """What each history state remembers: ids of nodes."""
        return {key: tuple(node.id for node in nodes) for key, nodes in self._history.items()}

    @property
    def sequence(self) -> int:
        """How many macrosteps led here."""
        return self._sequence

    @property
    def machine_id(self) -> str:
        """The id of the machine this is a snapshot of."""
        return self._program.definition.id

    @property
    def nodes(self) -> Order:
        """Active nodes in XState's order."""
        order = self.kept_order
        return self._configuration.nodes if order is None else order

    @property
    def kept_order(self) -> Order | None:
        """:attr:`nodes`, or ``None`` when that is known to be the order of the document."""
        order = self._order
        if isinstance(order, str):  # :mod:`.wandering` keeps it as text
            return nodes_in(order, self._program.definition.nodes)
        return order

    @property
    def order(self) -> Order | None:
        """:attr:`nodes` when that is not the order of the document, else ``None``."""
        order = self.kept_order
        return None if order == self._configuration.nodes else order

    @property
    def tags(self) -> tuple[Any, ...]:
        """Tags of all active states, each once."""
        return tuple(dict.fromkeys(tag for node in self.nodes for tag in node.tags))

    @property
    def meta(self) -> dict[str, Any]:
        """Id → meta of the active states that have one."""
        return {node.id: thaw(node.meta) for node in self.nodes if node.meta is not UNDEFINED}

    def matches(self, value: str | Mapping[str, Any]) -> bool:
        """Whether the machine is in ``value``: a dotted path or a (partial) state value."""
        return matches_state(value, self._configuration.value)

    def has_tag(self, tag: str) -> bool:
        """Whether some active state carries ``tag``."""
        return any(tag in node.tags for node in self._configuration.nodes)

    def can(self, event: str | Mapping[str, Any], **data: Any) -> bool:
        """Whether ``event`` would select a transition with a target or an action. Runs guards."""
        found = self._program.select(self._configuration, self._context, to_event(event, data))
        return any(t.targets is not None or t.actions for t in found)

    def next_events(self) -> tuple[EventOption, ...]:
        """Every event the active states name, innermost first, with the guards' answers."""
        from .queries import next_events

        return next_events(self)

    def option(self, event: str | Mapping[str, Any], **data: Any) -> EventOption:
        """One event with its data: enabled now and, if not, which guards said no."""
        from .queries import event_option

        return event_option(self, to_event(event, data))

    # ------------------------------------------------------------- shapes

    def to_xstate(self) -> dict[str, Any]:
        """XState's persisted form, as plain JSON, of a machine without children.

        Children's snapshots are not in this one; ask the host
        (``simulation.to_xstate()``) for those. Raises :class:`UsageError`.
        """
        if self._children:
            raise UsageError(
                "this snapshot has children, whose states only the host knows; use the host's to_xstate()"
            )
        rest = self._rest
        datamodel = self._configuration.program.datamodel
        members = {"status": rest.status}
        if rest.output is not UNDEFINED:
            members["output"] = rest.output
        if rest.error is not UNDEFINED:
            members["error"] = rest.error
        value = self._configuration.value
        members["value"] = value if type(value) is str else plain(value)
        members["historyValue"] = plain(history_value(rest.history)) if rest.history else {}
        if self._context is not UNDEFINED:
            members["context"] = plain(self._context if datamodel is None else datamodel.dump(self._context))
        members["children"] = {}
        return members if len(members) == 5 else plain(members)

    def to_xstate_text(self) -> str:
        """:meth:`to_xstate` as JSON text, byte for byte what ``JSON.stringify`` makes of it; quicker than the two by themselves."""
        return running_text(self) or dumps(self.to_xstate())

    def save(self) -> dict[str, Any]:
        """An envelope (as of a host's ``save()``) of a machine that has no host, as plain JSON.

        Beside XState's form it has the order of the active states and the
        number of steps. Timers and queued events are the host's, and so are
        children: raises :class:`UsageError` when there are some.
        """
        from .envelope import seal_snapshot

        return seal_snapshot(self)

    def save_text(self) -> str:
        """:meth:`save` as JSON text; quicker than the two by themselves."""
        text = running_text(self)
        return sealed_text(self, text, "0", 0, 1, 0) if text else dumps(self.save())

    def to_json(self) -> dict[str, Any]:
        """XState's ``snapshot.toJSON()``: for reading, not for restoring."""
        return {
            "status": self._status,
            "output": self._rest.output,
            "error": self._rest.error,
            "context": self._context,
            "value": self._configuration.value,
            "children": {key: ref for key, ref in self._children.items() if ref is not None},
            "historyValue": history_value(self._history),
            "tags": list(self.tags),
        }

    def __repr__(self) -> str:
        return f"<Snapshot {self.machine_id} {self._status} {', '.join(self.atomic_states)}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot):
            return NotImplemented
        return self is other or (
            self._program is other._program
            and self.nodes == other.nodes
            and self._context == other._context
            and self._children == other._children
            and self._history == other._history
            and self._status == other._status
            and self._rest.output == other._rest.output
            and self._rest.error == other._rest.error
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Snapshot[C]:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Snapshot[C]:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a snapshot cannot be pickled, for its machine's functions cannot; keep the host's save()")

    def replace(self, **changes: Any) -> Snapshot[C]:
        """A copy with some members changed (status, output, error, children, history, context, configuration, order, sequence)."""
        rest = self._rest
        return Snapshot(
            changes.get("configuration", self._configuration),
            changes.get("order", self._order),
            changes.get("context", self._context),
            Rest(
                changes.get("children", rest.children),
                changes.get("history", rest.history),
                changes.get("status", rest.status),
                changes.get("output", rest.output),
                changes.get("error", rest.error),
            ),
            changes.get("sequence", self._sequence),
        )


class Step(NamedTuple):
    """The outcome of one macrostep.

    ``error`` is ``None``, or the exception that ended it; ``effects`` then
    are those up to the error and ``snapshot`` is the failed one.
    """

    snapshot: Any
    effects: tuple[Record, ...]
    error: BaseException | None = None


def matches_state(wanted: str | Mapping[str, Any], actual: Any) -> bool:
    """XState's ``matchesState``: whether ``actual`` lies in ``wanted``."""
    if isinstance(wanted, str):
        path = split_path(wanted)
        if len(path) == 1:
            return wanted_key(path[0], actual)
        return _matches_path(path, actual)
    if isinstance(actual, str):
        return False
    for key, inner in wanted.items():
        if key not in actual or not matches_state(inner, actual[key]):
            return False
    return True


def wanted_key(key: str, actual: Any) -> bool:
    """A bare name against a value: equal to it, or one of its keys."""
    return actual == key if isinstance(actual, str) else key in actual


def _matches_path(path: list[str], actual: Any) -> bool:
    for key in path[:-1]:
        if isinstance(actual, str) or key not in actual:
            return False
        actual = actual[key]
    return wanted_key(path[-1], actual)
