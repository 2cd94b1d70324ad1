"""What is in an envelope, and reading one that is exactly as it was written.

:func:`read_exactly` accepts only what :func:`.envelope_model.read_leniently`
would read the same (a property test holds the two together); the latter also
understands what other programs make of an envelope, and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final


@dataclass(slots=True)
class MachineIdentity:
    """Which machine was saved."""

    id: str
    version: str | None
    hash: str


@dataclass(slots=True)
class SavedActor:
    """What XState's form leaves out of one actor. ``path``: child ids from the root; ``order`` as in :mod:`.envelope`."""

    path: list[str]
    session: int
    status: str
    open: bool
    begun: bool
    mailbox: list[dict[str, Any]]
    sequence: int
    order: list[str] | None
    error: dict[str, Any] | None


@dataclass(slots=True)
class SavedTimer:
    """A pending delayed event. Times are milliseconds."""

    handle: int
    source: int
    target: int | None
    event: Any
    id: str
    delay: float
    due: float


@dataclass(slots=True)
class Numbering:
    """Where counting goes on."""

    session: int
    timer: int


@dataclass(slots=True)
class Envelope:
    """A saved system."""

    format: str
    format_version: int
    machine: MachineIdentity
    semantics: str
    now: float
    running: bool
    snapshot: dict[str, Any]
    actors: list[SavedActor]
    timers: list[SavedTimer]
    next: Numbering


class _Shape:
    """Members that have to be there, and of exactly which types."""

    __slots__ = ("_types", "_values", "names")

    def __init__(self, members: Mapping[str, type]) -> None:
        self.names = frozenset(members)
        self._values = itemgetter(*members)
        self._types = tuple(members.values())

    def check(self, value: Any, size: int) -> None:
        """``value`` is an object of so many members, these among them."""
        if type(value) is not dict or len(value) != size or tuple(map(type, self._values(value))) != self._types:
            raise _Inexact


_ENVELOPE: Final = _Shape({
    "format": str, "formatVersion": int, "machine": dict, "semantics": str, "running": bool, "snapshot": dict,
    "actors": list, "timers": list, "next": dict,
})  # fmt: skip
_MACHINE: Final = _Shape({"id": str, "hash": str})
_ACTOR: Final = _Shape({"path": list, "session": int, "status": str, "mailbox": list})
_ACTOR_TOO: Final = _ACTOR.names | {"open", "begun", "sequence", "order", "error"}
_TIMER: Final = _Shape({"handle": int, "source": int, "id": str})
_NEXT: Final = _Shape({"session": int, "timer": int})
_NUMBERS: Final = frozenset({int, float})
_MAX_EXACT: Final = 2**53


class _Inexact(Exception):
    """Something is not as it is written; whether it can be read all the same is the model's business."""


def read_exactly(document: Any) -> Envelope | None:
    """The envelope in ``document``; None when anything in it is not exactly as :func:`.envelope.seal` writes it."""
    try:
        _ENVELOPE.check(document, 10)
        machine, following = document["machine"], document["next"]
        _MACHINE.check(machine, 3 if "version" in machine else 2)
        version = machine.get("version")
        if version is not None and type(version) is not str:
            return None
        _NEXT.check(following, 2)
        _check_keys(document["snapshot"])
        return Envelope(
            document["format"],
            document["formatVersion"],
            MachineIdentity(machine["id"], version, machine["hash"]),
            document["semantics"],
            _number(document["now"]),
            document["running"],
            document["snapshot"],
            [_actor(saved) for saved in document["actors"]],
            [_timer(saved) for saved in document["timers"]],
            Numbering(following["session"], following["timer"]),
        )
    except (_Inexact, KeyError):
        return None


def _actor(saved: Any) -> SavedActor:
    if type(saved) is not dict or not saved.keys() <= _ACTOR_TOO:
        raise _Inexact
    _ACTOR.check(saved, len(saved))
    path, mailbox, sequence = saved["path"], saved["mailbox"], saved.get("sequence", 0)
    order, error = saved.get("order"), saved.get("error")
    is_open, begun = saved.get("open", True), saved.get("begun", False)
    if type(sequence) is not int or type(is_open) is not bool or type(begun) is not bool:
        raise _Inexact
    _check_texts(path)
    for event in mailbox:
        _check_keys(event)
    if order is not None:
        _check_texts(order)
    if error is not None:
        _check_keys(error)
    return SavedActor(
        path, saved["session"], saved["status"], is_open, begun, mailbox, sequence, order, error
    )


def _timer(saved: Any) -> SavedTimer:
    _TIMER.check(saved, 7)
    target = saved["target"]
    if target is not None and type(target) is not int:
        raise _Inexact
    return SavedTimer(
        saved["handle"],
        saved["source"],
        target,
        saved["event"],
        saved["id"],
        _number(saved["delay"]),
        _number(saved["due"]),
    )


def _number(value: Any) -> float:
    if type(value) not in _NUMBERS or not -_MAX_EXACT <= value <= _MAX_EXACT:
        raise _Inexact
    return float(value)


def _check_texts(value: Any) -> None:
    if type(value) is not list or not _TEXT.issuperset(map(type, value)):
        raise _Inexact


def _check_keys(value: Any) -> None:
    if type(value) is not dict or not _TEXT.issuperset(map(type, value)):
        raise _Inexact


_TEXT: Final = frozenset({str})
