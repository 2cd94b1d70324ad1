"""An observer that writes what happens in a system as :mod:`logging` records. Opt in: pass it as ``inspect=``."""

from __future__ import annotations

import logging
from typing import Any

from ...interpreter.inspection import (
    ActionInspection,
    ActorInspection,
    EventInspection,
    InspectionEvent,
    MicrostepInspection,
    SnapshotInspection,
)


class LogObserver:
    """Writes inspection events to a logger.

    Actor and snapshot events at ``level``; events, microsteps and actions one
    step finer (``level - 10``). Each record carries the inspection event as
    its ``inspection`` attribute. Payloads are not written: they may be secret.
    """

    def __init__(self, logger: logging.Logger | str = "statecharts", level: int = logging.INFO) -> None:
        self.logger = logging.getLogger(logger) if isinstance(logger, str) else logger
        self.level = level

    def __call__(self, event: InspectionEvent, /) -> None:
        coarse = isinstance(event, (ActorInspection, SnapshotInspection))
        level = self.level if coarse else self.level - 10
        if self.logger.isEnabledFor(level):
            self.logger.log(level, "%s", _sentence(event), extra={"inspection": event})


def _sentence(event: InspectionEvent) -> str:
    who = f"{event.actor.id} ({event.actor.session_id})"
    if isinstance(event, ActorInspection):
        return f"{who}: created from {event.actor.src}"
    if isinstance(event, EventInspection):
        source = "outside" if event.source is None else event.source.id
        return f"{who}: {_type(event.event)} from {source}"
    if isinstance(event, MicrostepInspection):
        taken = ", ".join(str(kind) for kind in event.transitions) or "nothing"
        return f"{who}: microstep on {_type(event.event)} took {taken}"
    if isinstance(event, ActionInspection):
        return f"{who}: action {event.action_type}"
    states = ", ".join(getattr(event.snapshot, "atomic_states", ()))
    return f"{who}: {event.snapshot.status}{f' in {states}' if states else ''} after {_type(event.event)}"


def _type(event: Any) -> str:
    return str(event.get("type"))
