"""``pure`` and ``pureInitial`` steps: XState's ``transition`` and its actions as data."""

from __future__ import annotations

from typing import Any

from ..interpreter.effects import (
    ActorRef,
    CancelEvent,
    EmitEvent,
    LogMessage,
    RaiseEvent,
    Record,
    RunAction,
    SendEvent,
    StartActor,
    StopActor,
)
from ..interpreter.system import CellScope, System
from ..machine import Machine
from ..values import UNDEFINED, plain


class OracleScope(CellScope):
    """XState's inert actor scope: an actor is made (and its children), only to be looked at."""

    def __init__(self, machine: Machine[Any, Any], first_session: int) -> None:
        system = System(machine, first_session=first_session)
        system.boot(UNDEFINED)
        system.registry.clear()
        super().__init__(system, system.root)

    @property
    def next_session(self) -> int:
        return self.system.next_session

    def unregister(self, ref: ActorRef, position: int) -> None:
        """Executing is what frees names, and nothing is executed here."""


def describe_effects(effects: list[Record]) -> list[dict[str, Any]]:
    """Effects as XState's executable actions: type and params."""
    return [_describe(effect) for effect in effects]


def _describe(effect: Record) -> dict[str, Any]:
    params = _params(effect)
    shown: dict[str, Any] = {"type": getattr(effect, "type", UNDEFINED)}
    if isinstance(params, ActorRef):
        params = _ref(params)
    elif isinstance(params, dict):
        params = {key: _ref(value) for key, value in params.items()}
    shown["params"] = params
    return plain(shown)  # type: ignore[no-any-return]


def _ref(value: Any) -> Any:
    return {"$actor": value.id} if isinstance(value, ActorRef) else value


def _params(effect: Record) -> Any:
    if isinstance(effect, RunAction):
        return effect.params
    if isinstance(effect, RaiseEvent):
        return {"event": effect.event, "id": effect.id, "delay": effect.delay}
    if isinstance(effect, SendEvent):
        to = UNDEFINED if effect.target is None else effect.target
        return {
            "to": to,
            "targetId": effect.target_id,
            "event": effect.event,
            "id": effect.id,
            "delay": effect.delay,
        }
    if isinstance(effect, EmitEvent):
        return {"event": effect.event}
    if isinstance(effect, CancelEvent):
        return {"sendId": effect.send_id}
    if isinstance(effect, LogMessage):
        return {"value": effect.value, "label": effect.label}
    if isinstance(effect, StartActor):
        system_id = UNDEFINED if effect.system_id is None else effect.system_id
        ref = UNDEFINED if effect.ref is None else effect.ref
        return {
            "id": effect.id,
            "systemId": system_id,
            "actorRef": ref,
            "src": effect.src,
            "input": effect.input,
        }
    if isinstance(effect, StopActor):
        return UNDEFINED if effect.ref is None else effect.ref
    return UNDEFINED
