"""What a sender is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..json_text import dumps, loads

APPLIED, DUPLICATE, REFUSED, ACCEPTED, DEAD = "applied", "duplicate", "refused", "accepted", "dead"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What has become of an event; given only once that is committed.

    ``outcome``: ``applied`` (``version`` is what came of it), ``accepted`` (it is
    stored, a worker will apply it), ``refused`` (``reason`` says why, ``allowed``
    names the events that would be taken now), ``dead`` (it raised; ``reason``) or
    ``duplicate``: the event id is known, nothing has changed, and ``first`` is
    what has become of it. ``states`` are the active leaves afterwards.
    """

    outcome: str
    instance: str
    event_id: str
    version: int | None = None
    states: tuple[str, ...] = ()
    reason: str | None = None
    allowed: tuple[str, ...] = ()
    first: Receipt | None = None

    @property
    def is_applied(self) -> bool:
        """Whether the event has been applied, now or before."""
        return (self.first or self).outcome == APPLIED

    def to_json(self) -> dict[str, Any]:
        """As plain JSON; absent members are left out."""
        members: dict[str, Any] = {"outcome": self.outcome, "instance": self.instance, "eventId": self.event_id}
        if self.version is not None:
            members["version"] = self.version
        if self.states:
            members["states"] = list(self.states)
        if self.reason is not None:
            members["reason"] = self.reason
        if self.allowed:
            members["allowed"] = list(self.allowed)
        if self.first is not None:
            members["first"] = self.first.to_json()
        return members

    def to_text(self) -> str:
        """As it is stored."""
        return dumps(self.to_json())


def read_receipt(text: str) -> Receipt:
    """A stored receipt."""
    members = loads(text)
    return Receipt(
        members["outcome"],
        members["instance"],
        members["eventId"],
        members.get("version"),
        tuple(members.get("states", ())),
        members.get("reason"),
        tuple(members.get("allowed", ())),
    )


def repeated(first: Receipt) -> Receipt:
    """The answer to an event id that is known."""
    return replace(first, outcome=DUPLICATE, first=first)
