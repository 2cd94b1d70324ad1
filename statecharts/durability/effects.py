"""From what a system asks for to rows of effects, and what those rows say.

The life of an effect::

    PENDING ──claim──► RUNNING ──► DONE │ FAILED │ UNKNOWN
       ▲                  │                           │
       └──certainly not───┘        probe, or a person ┘
       │    done
       └──its state is left: WITHDRAWN

``called_at`` is committed just before the call. Whoever finds a lease that
has stood still knows by it: without ``called_at`` nothing was done, and the
effect is PENDING again; with it nobody knows, and it is UNKNOWN, unless the
receiver honours the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..callables import fit
from ..effect_policies import EffectPolicy
from ..errors import ExecutionError
from ..events import to_event
from ..interpreter.deliveries import Begin, End, Perform, Receive
from ..interpreter.effects import ActorRef, RunAction
from ..interpreter.system_state import SystemState
from ..json_text import dumps, loads
from ..machine import Machine
from ..values import UNDEFINED
from .definitions import SEND_TO_INSTANCE, Hosted
from .names import checked_name
from .payloads import checked_text
from .rows import ACTION, DELIVER, INVOKE, PENDING, RESIDENT, SEND, EffectRow, Instance

KEY_ARGUMENTS = {INVOKE: ("input",), ACTION: ("context", "event", "params")}
_GIVEN_SIZE = 1024 * 1024
_STAYS = EffectPolicy(idempotent=True, attempts=1_000_000, backoff=1_000, max_backoff=60_000)
"""How the runtime treats what it does itself: as often as it takes, for a repetition is known again."""


@dataclass(frozen=True, slots=True)
class CallRules:
    """The part of an :class:`EffectPolicy` that goes with the row: what has been decided stays decided after a deploy."""

    idempotent: bool
    not_done: tuple[str, ...]
    attempts: int
    backoff: int
    max_backoff: int
    timeout: int
    deadline: int | None
    probes: bool

    def is_not_done(self, error: BaseException) -> bool:
        """Whether ``error`` says for certain that nothing was done."""
        return any(class_name(kind) in self.not_done for kind in type(error).__mro__)

    def to_text(self) -> str:
        """As it is stored."""
        return dumps({name: list(value) if isinstance(value, tuple) else value for name, value in self._members()})

    def _members(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in CallRules.__dataclass_fields__]


def class_name(kind: type) -> str:
    """How a class is called in a row."""
    return f"{kind.__module__}.{kind.__qualname__}"


def rules_of(policy: EffectPolicy) -> CallRules:
    """What of ``policy`` goes with a row."""
    return CallRules(
        idempotent=policy.idempotent,
        not_done=tuple(class_name(kind) for kind in policy.not_done),
        attempts=policy.attempts,
        backoff=policy.backoff,
        max_backoff=policy.max_backoff,
        timeout=policy.timeout,
        deadline=policy.deadline,
        probes=policy.probe is not None,
    )


def read_rules(text: str) -> CallRules:
    """Stored rules."""
    members = loads(text)
    return CallRules(**{**members, "not_done": tuple(members["not_done"])})


class EffectMaker:
    """Makes the rows of one version of an instance."""

    __slots__ = ("_hosted", "_instance", "_now", "_number", "_state", "_trace", "_version", "rows", "withdrawn")

    def __init__(
        self, hosted: Hosted, instance: Instance, state: SystemState, version: int, now: int, trace: str | None
    ) -> None:
        self._hosted = hosted
        self._instance = instance
        self._state = state
        self._version = version
        self._now = now
        self._trace = trace
        self._number = 0
        self.rows: list[EffectRow] = []
        self.withdrawn: list[int] = []

    def next_id(self) -> tuple[int, str]:
        """A number within the version, and the id made of it."""
        number = self._number
        self._number += 1
        return number, f"{self._instance.incarnation}:{self._version}:{number}"

    def take(self, delivery: Any) -> None:
        """Make a row of ``delivery`` if something has to be done for it. Raises for what no other process could do."""
        if isinstance(delivery, Begin):
            self._invoke(delivery)
        elif isinstance(delivery, End):
            self._end(delivery.actor)
        elif isinstance(delivery, Receive):
            self._receive(delivery.actor, delivery.event)
        elif isinstance(delivery, Perform) and isinstance(delivery.effect, RunAction):
            self._act(delivery.actor, delivery.effect)

    def _invoke(self, delivery: Begin) -> None:
        ref = delivery.actor
        path, owner = self._owner(ref)
        if not isinstance(ref.src, str) or ref.src not in owner.implementations.actors:
            raise ExecutionError(f"actor {ref.id!r} has no name that another process could find; bind its source under `actors`")
        policy = self._policy(owner, ref.src)
        given = {} if delivery.input is UNDEFINED else {"input": delivery.input}
        if delivery.logic.kind != "promise":
            self._add(RESIDENT, path, ref.src, ref.session, None, given, _STAYS, None)
            return
        key = None if policy.key is None else _key(policy, INVOKE, ref.src, (delivery.input,))
        self._add(INVOKE, path, ref.src, ref.session, key, given, policy, None)

    def _receive(self, ref: ActorRef, event: Any) -> None:
        path, _ = self._owner(ref)
        self._add(DELIVER, path, str(ref.src), ref.session, None, {"event": event}, _STAYS, f"to:{ref.session}")

    def _act(self, ref: ActorRef, effect: RunAction) -> None:
        path, owner = self._owner_machine(ref)
        if effect.type == SEND_TO_INSTANCE:
            self._send(ref, effect)
            return
        if effect.type not in owner.implementations.actions:
            raise ExecutionError(f"action {effect.type!r} has no name that another process could find; bind it under `actions`")
        policy = self._policy(owner, effect.type)
        given = {"params": effect.params, "context": effect.context, "event": effect.event}
        key = None if policy.key is None else _key(policy, ACTION, effect.type, (effect.context, effect.event, effect.params))
        self._add(ACTION, path, effect.type, ref.session, key, given, policy, ACTION if policy.ordered else None)

    def _send(self, ref: ActorRef, effect: RunAction) -> None:
        params = effect.params if isinstance(effect.params, Mapping) else {}
        target = checked_name(params.get("instance"), f"the `instance` of {SEND_TO_INSTANCE}")
        event = to_event(params.get("event", UNDEFINED))
        self._add(SEND, [], effect.type, ref.session, None, {"instance": target, "event": event}, _STAYS, f"to:{target}")

    def _end(self, ref: ActorRef) -> None:
        kept = [row for row in self.rows if row.session != ref.session or row.kind not in (INVOKE, RESIDENT, DELIVER)]
        if len(kept) < len(self.rows):  # it began and ended in this very step
            self.rows = kept
        else:
            self.withdrawn.append(ref.session)

    def _owner(self, ref: ActorRef) -> tuple[list[str], Machine[Any, Any]]:
        """The machine that has ``ref`` for a child, and the sources that lead to it from the root."""
        parent = self._state.actor(ref.session).parent
        assert parent is not None  # only machines are roots
        return self._owner_machine(self._state.actor(parent).ref)

    def _owner_machine(self, ref: ActorRef) -> tuple[list[str], Machine[Any, Any]]:
        actor = self._state.actor(ref.session)
        if actor.parent is None:
            return [], self._state.machine
        path, above = self._owner_machine(self._state.actor(actor.parent).ref)
        if not isinstance(ref.src, str) or not isinstance(above.implementations.actors.get(ref.src), Machine):
            raise ExecutionError(f"machine {ref.id!r} has no name that another process could find; bind it under `actors`")
        return [*path, ref.src], actor.logic

    def _policy(self, owner: Machine[Any, Any], name: str) -> EffectPolicy:
        found = owner.implementations.policies.get(name)
        return self._hosted.policy(name) if found is None else found

    def _add(
        self, kind: str, path: list[str], name: str, session: int, key: str | None, given: Any, policy: EffectPolicy, lane: str | None
    ) -> None:
        number, id_ = self.next_id()
        instance = self._instance
        row = EffectRow(
            namespace=instance.namespace,
            instance=instance.id,
            id=id_,
            version=self._version,
            number=number,
            kind=kind,
            name=dumps([*path, name]),
            session=session,
            key=id_ if key is None else key,
            given=checked_text(given, f"what {name!r} is given", _GIVEN_SIZE, 200),
            policy=rules_of(policy).to_text(),
            lane=lane,
            definition=instance.definition,
            status=PENDING,
            attempts=0,
            next_at=self._now,
            created_at=self._now,
            owner=None,
            fence=0,
            beat=0,
            called_at=None,
            is_cancelled=False,
            external_id=None,
            result=None,
            error=None,
            settled_at=None,
            trace=self._trace,
        )
        self.rows.append(row)


def _key(policy: EffectPolicy, kind: str, name: str, arguments: tuple[Any, ...]) -> str:
    assert policy.key is not None
    key = fit(policy.key, KEY_ARGUMENTS[kind], f"the key of {name!r}")(*arguments)
    if not isinstance(key, str) or not key or len(key) > 500:
        raise ExecutionError(f"the key of {name!r} is text of 1 to 500 characters, not {key!r}")
    return key


def named(text: str) -> str:
    """The name in a row, as people write it: that of an action or actor, behind those of the machines it belongs to."""
    return "/".join(loads(text))


def owner_of(machine: Machine[Any, Any], text: str) -> tuple[Machine[Any, Any], str]:
    """The machine whose implementations a row means, and the name there."""
    *path, name = loads(text)
    for step in path:
        machine = machine.implementations.actors[step]
    return machine, name
