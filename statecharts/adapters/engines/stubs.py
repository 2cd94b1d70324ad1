"""Standing in for names that nobody bound, so that a machine can be tried before it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...errors import UsageError
from ...implementations import Implementations
from ...interpreter.actors import PromiseLogic
from ...machine import Machine


class StubbedAction(NamedTuple):
    """An action that would have run."""

    type: str
    params: Any
    event: Any


Answers = Mapping[str, Any] | Callable[..., bool]


def stubbed(
    machine: Machine[Any, Any], record: list[StubbedAction], guards: Answers | None
) -> Machine[Any, Any]:
    """``machine`` with every missing name stubbed.

    Actions are recorded, guards answered by ``guards`` (a mapping name → bool
    or ``(context, event, params)``, or a function ``(name, context, event,
    params)``), actors wait to be resolved, delays are 0 ms.
    """
    stubs = Implementations()
    for missing in machine.missing:
        if missing.kind == "guard":
            stubs.guards[missing.name] = _guard(missing.name, guards)
        elif missing.kind == "action":
            stubs._add_action(missing.name, _action(missing.name, record))
        elif missing.kind == "actor":
            stubs.actors[missing.name] = PromiseLogic(_never)
        else:
            stubs.delays[missing.name] = 0
    for name, actor in machine.implementations.actors.items():
        if isinstance(actor, Machine) and actor.missing:
            stubs.actors[name] = stubbed(actor, record, guards)
    return machine.provide(stubs)


def _never() -> None:
    raise UsageError("a stubbed actor has no function to run; resolve or reject it")


def _action(name: str, record: list[StubbedAction]) -> Callable[..., None]:
    def stub(context: Any, event: Any, params: Any) -> None:
        record.append(StubbedAction(name, params, event))

    return stub


def _guard(name: str, guards: Answers | None) -> Callable[..., bool]:
    def ask(context: Any, event: Any, params: Any) -> bool:
        if callable(guards):
            return bool(guards(name, context, event, params))
        answer = guards.get(name) if guards is not None else None
        if answer is None:
            raise UsageError(
                f"guard {name!r} is not bound and has no stub answer; pass guards={{{name!r}: True}} to the simulation"
            )
        return bool(answer(context, event, params)) if callable(answer) else bool(answer)

    return ask
