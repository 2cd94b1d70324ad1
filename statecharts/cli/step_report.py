"""Everything there is to say about one step, as data and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..interpreter.deliveries import Timer
from ..interpreter.snapshot import EventOption, Snapshot
from ..values import UNDEFINED, plain
from .changes import Change
from .doings import Doing
from .readable import readable

UNHANDLED = "unhandled"


class Refusal(NamedTuple):
    """Why an event changed nothing: the guards that said no, in the order asked, and a sentence."""

    guards: tuple[str, ...]
    reason: str

    @property
    def by(self) -> str:
        """The first guard that said no, or ``unhandled``."""
        return self.guards[0] if self.guards else UNHANDLED


class Waiting(NamedTuple):
    """An outside actor: its path of ids, its source, its kind and its input."""

    id: str
    src: Any
    kind: str
    input: Any

    def to_json(self) -> dict[str, Any]:
        """Without an absent input."""
        members = {"id": self.id, "src": self.src if isinstance(self.src, str) else None, "kind": self.kind}
        if self.input is not UNDEFINED:
            members["input"] = plain(self.input)
        return members


class Fired(NamedTuple):
    """A timer that went off, and when."""

    time: float
    timer: Timer


class Performed(NamedTuple):
    """An action that ran; ``stubbed`` when nobody bound it."""

    type: str
    params: Any
    stubbed: bool

    def to_json(self) -> dict[str, Any]:
        """Without absent params."""
        members: dict[str, Any] = {"type": self.type}
        if self.params is not UNDEFINED:
            members["params"] = plain(self.params)
        return members | ({"stubbed": True} if self.stubbed else {})


@dataclass(frozen=True)
class StepReport:
    """One step: what was done, what came of it, and what can be done next.

    ``doing`` is ``None`` when nothing was done to the machine; ``label`` then
    says what this is: ``start``, ``undo``, ``load`` or ``now``.
    """

    number: int
    label: str
    doing: Doing | None
    time: float
    time_before: float
    snapshot: Any
    changes: list[Change]
    refusal: Refusal | None
    note: str | None
    options: tuple[EventOption, ...]
    waiting: list[Waiting]
    started: list[Waiting]
    ended: list[Waiting]
    timers: list[Timer]
    fired: list[Fired]
    armed: list[Timer]
    disarmed: list[Timer]
    performed: list[Performed]
    logged: list[tuple[Any, Any]]
    emitted: list[Any]

    @property
    def states(self) -> list[str]:
        """The active leaves as paths below the machine."""
        return leaf_paths(self.snapshot)

    @property
    def error(self) -> str | None:
        """What the machine died of, as text."""
        return error_text(self.snapshot.error) if self.snapshot.status == "error" else None

    def to_json(self) -> dict[str, Any]:
        """One line of ``--json``."""
        snapshot = self.snapshot
        report: dict[str, Any] = {"step": self.number, "time": plain(self.time)}
        report["did"] = self.label if self.doing is None else plain(self.doing.to_json())
        if self.refusal is not None:
            report["refused"] = {
                "by": self.refusal.by,
                "guards": list(self.refusal.guards),
                "reason": self.refusal.reason,
            }
        if self.note is not None:
            report["note"] = self.note
        report |= {
            "states": self.states,
            "value": None if snapshot.value is UNDEFINED else plain(snapshot.value),
            "status": snapshot.status,
            "changes": [change.to_json() for change in self.changes],
            "events": [option_json(option) for option in self.options],
            "waiting": [waiting.to_json() for waiting in self.waiting],
            "timers": [timer_json(timer) for timer in self.timers],
            "fired": [
                {"time": plain(fired.time), "event": fired.timer.event["type"]} for fired in self.fired
            ],
            "armed": [timer.event["type"] for timer in self.armed],
            "disarmed": [timer.event["type"] for timer in self.disarmed],
            "started": [waiting.id for waiting in self.started],
            "ended": [waiting.id for waiting in self.ended],
            "actions": [performed.to_json() for performed in self.performed],
            "logged": [_log_json(label, value) for label, value in self.logged],
            "emitted": plain(self.emitted),
        }
        if snapshot.output is not UNDEFINED:
            report["output"] = plain(snapshot.output)
        if self.error is not None:
            report["error"] = self.error
        return report


def leaf_paths(snapshot: Any) -> list[str]:
    """The active leaves in document order, as dotted paths below the machine."""
    if not isinstance(snapshot, Snapshot):  # a machine that failed before it had a state
        return []
    leaves = sorted((node for node in snapshot.nodes if node.is_leaf), key=lambda node: node.index)
    return [".".join(leaf.path) or leaf.id for leaf in leaves]


def error_text(error: Any) -> str:
    """An error as one sentence: type and message of an exception, else its JSON."""
    if isinstance(error, BaseException):
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return readable(error)


def option_json(option: EventOption) -> dict[str, Any]:
    """One event: ``enabled`` is ``null`` when that depends on what the event carries."""
    members: dict[str, Any] = {"type": option.type, "enabled": option.enabled}
    if option.refused_by:
        members["refusedBy"] = list(option.refused_by)
    if option.reason:
        members["reason"] = option.reason
    return members


def timer_json(timer: Timer) -> dict[str, Any]:
    """One pending timer."""
    return {
        "id": timer.send_id,
        "event": plain(timer.event),
        "delay": plain(timer.delay),
        "due": plain(timer.due),
    }


def _log_json(label: Any, value: Any) -> dict[str, Any]:
    members = {"value": plain(value)} | (
        {} if label is UNDEFINED or label is None else {"label": plain(label)}
    )
    return {key: member for key, member in members.items() if member is not UNDEFINED}
