"""Reading an envelope that is not exactly as it was written: what can be understood is, the rest is told."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import SnapshotError
from .envelope_form import Envelope, MachineIdentity, Numbering, SavedActor, SavedTimer


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class _Machine(_Strict):
    id: str
    version: str | None = None
    hash: str


class _Actor(_Strict):
    path: list[str]
    session: int
    status: str
    open: bool = True
    begun: bool = False
    mailbox: list[dict[str, Any]] = Field(default_factory=list)
    sequence: int = 0
    order: list[str] | None = None
    error: dict[str, Any] | None = None


class _Timer(_Strict):
    handle: int
    source: int
    target: int | None
    event: Any
    id: str
    delay: float
    due: float


class _Next(_Strict):
    session: int
    timer: int


class _Envelope(_Strict):
    format: str
    format_version: int = Field(alias="formatVersion")
    machine: _Machine
    semantics: str
    now: float
    running: bool
    snapshot: dict[str, Any]
    actors: list[_Actor]
    timers: list[_Timer]
    next: _Next


def read_leniently(document: Any) -> Envelope:
    """The envelope in ``document``. Raises :class:`SnapshotError` naming each place that is wrong."""
    try:
        read = _Envelope.model_validate(document)
    except ValidationError as error:
        faults = "\n".join(f"  /{'/'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise SnapshotError(f"this is not a saved snapshot of ours:\n{faults}") from None
    return Envelope(
        format=read.format,
        format_version=read.format_version,
        machine=MachineIdentity(**dict(read.machine)),
        semantics=read.semantics,
        now=read.now,
        running=read.running,
        snapshot=read.snapshot,
        actors=[SavedActor(**dict(actor)) for actor in read.actors],
        timers=[SavedTimer(**dict(timer)) for timer in read.timers],
        next=Numbering(**dict(read.next)),
    )
