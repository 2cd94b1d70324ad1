"""One decision in the making: an instance, what has been applied to it so far, and what there is to write."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..interpreter.deliveries import Delivery, Emitted, Perform
from ..interpreter.effects import LogMessage
from ..json_text import dumps
from ..values import UNDEFINED, plain
from .chain import chained, salted
from .commits import Commit, Loaded
from .definitions import DEAD_LETTER, Hosted
from .effects import EffectMaker
from .patches import difference
from .payloads import Limits, storable
from .rows import ACTIVE, CANCELLED, DELIVER, INVOKE, RESIDENT, WITHDRAWN, InboxRow, Instance, TimerRow
from .stepping import Held, Poisoned, Stepper, Taken

_STATUS = {"stopped": CANCELLED}


@dataclass(frozen=True, slots=True)
class Cause:
    """What a version is made by: as the log has it."""

    kind: str
    event_id: str
    delivery: dict[str, Any]
    event_type: str | None = None
    actor: str | None = None
    reason: str | None = None
    trace: str | None = None


class Turn:
    """An instance taking deliveries, one version each; :attr:`commit` is what has to be written for it."""

    __slots__ = ("_is_changed", "_limits", "_salt", "commit", "held", "hosted", "instance", "now")

    def __init__(
        self, loaded: Loaded, instance: Instance, hosted: Hosted | None, held: Held | None, limits: Limits, salt: Callable[[], str]
    ) -> None:
        self.now = loaded.now
        self.instance = replace(instance)
        self.held = held
        self.commit = Commit(None, loaded.instance)
        self.hosted = hosted
        self._limits = limits
        self._salt = salt
        self._is_changed = loaded.instance is None

    @property
    def is_strict(self) -> bool:
        """Whether what raises is undone."""
        return self.hosted is None or self.hosted.on_error == DEAD_LETTER

    def deliver(self, cause: Cause) -> bool:
        """Apply ``cause`` as the next version. False, and nothing has changed, when it changes nothing. Raises :class:`Poisoned`."""
        assert self.held is not None
        stepper = Stepper(self.held, self.now, self._limits, self.is_strict)
        if not stepper.deliver(cause.delivery):
            return False
        self.take(cause, stepper.rest())
        return True

    def take(self, cause: Cause, taken: Taken) -> None:
        """``taken`` is what has become of the system by ``cause``."""
        assert self.hosted is not None
        held, deliveries = taken
        before, version = self.held, self.instance.version + 1
        maker = EffectMaker(self.hosted, self.instance, held.state, version, self.now, cause.trace)
        try:
            for delivery in deliveries:
                maker.take(delivery)
            timers = self._timers(before, held, maker, version)
        except Exception as error:
            raise Poisoned(f"{type(error).__name__}: {error}") from error
        for session in maker.withdrawn:
            self._withdraw(session)
        self.commit.effects += maker.rows
        self.commit.timers_set += timers
        shown = _shown(deliveries)
        if shown:
            self.commit.shown.append(shown)
        self._log(cause, before, held, version, shown)
        self.held = held
        self._advance(cause, held, version)
        self.commit.closes = self.instance.status != ACTIVE

    def note(self, cause: Cause, **changes: Any) -> None:
        """A version in which the state stays as it is and the row changes: what an operator does."""
        version = self.instance.version + 1
        self._log(cause, self.held, self.held, version, {})
        self.change(version=version, updated_at=self.now, head=self.commit.log[-1].hash, **changes)

    def change(self, **changes: Any) -> None:
        """The row changes, without a version."""
        self._is_changed = True
        for name, value in changes.items():
            setattr(self.instance, name, value)

    def finish(self, answer: Any) -> Commit:
        """What is to be written."""
        commit = self.commit
        commit.answer = answer
        if self._is_changed:
            instance = self.instance
            instance.revision = 1 if commit.before is None else commit.before.revision + 1
            if self.held is not None:
                instance.state = self.held.text
            commit.after = instance
            commit.held = self.held
        return commit

    def next_seq(self) -> int:
        """The place of a new inbox row in the order."""
        self._is_changed = True
        seq = self.instance.next_seq
        self.instance.next_seq = seq + 1
        return seq

    def arrive(self, row: InboxRow) -> None:
        """A new inbox row, whose place is from :meth:`next_seq`."""
        self.commit.arrived.append(row)

    # ---------------------------------------------------------------- inside

    def _timers(self, before: Held | None, held: Held, maker: EffectMaker, version: int) -> list[TimerRow]:
        """The timers that are new; those that are gone go with the commit."""
        old = {} if before is None else {timer.handle: timer for timer in before.state.timers}
        new = {timer.handle: timer for timer in held.state.timers}
        for handle in old:
            if handle not in new:
                self._drop(handle)
        rows = []
        for handle, timer in new.items():
            if handle not in old:
                due = int(-(-timer.due // 1))
                instance = self.instance
                rows.append(
                    TimerRow(
                        namespace=instance.namespace,
                        instance=instance.id,
                        id=maker.next_id()[1],
                        handle=handle,
                        due_at=due,
                        event_type=str(timer.event.get("type")),
                        version=version,
                    )
                )
        return rows

    def _withdraw(self, session: int) -> None:
        """An actor was stopped. What an earlier version of this very decision has asked of it is not written yet."""
        self.commit.withdrawn.append(session)
        for index, row in enumerate(self.commit.effects):
            if row.session == session and row.kind in (INVOKE, RESIDENT, DELIVER):
                self.commit.effects[index] = replace(row, status=WITHDRAWN, is_cancelled=True, settled_at=self.now)

    def _drop(self, handle: int) -> None:
        kept = [row for row in self.commit.timers_set if row.handle != handle]
        if len(kept) < len(self.commit.timers_set):  # set by an earlier version of this very decision
            self.commit.timers_set = kept
        else:
            self.commit.timers_gone.append(handle)

    def _log(self, cause: Cause, before: Held | None, after: Held | None, version: int, shown: dict[str, Any]) -> None:
        instance = self.instance
        patch = [] if after is None or after is before else difference(None if before is None else before.sealed, after.sealed)
        payload = dumps({"delivery": cause.delivery, "now": self.now, "patch": patch, **shown})
        salt = self._salt()
        members: dict[str, Any] = {
            "namespace": instance.namespace,
            "instance": instance.id,
            "version": version,
            "at": self.now,
            "kind": cause.kind,
            "event_id": cause.event_id,
            "event_type": cause.event_type,
            "actor": cause.actor,
            "reason": cause.reason,
            "before": instance.configuration,
            "after": instance.configuration if after is None else states_text(after),
            "definition": instance.definition,
            "implementation": None if self.hosted is None else self.hosted.implementation,
            "payload": payload,
            "salt": salt,
            "payload_hash": salted(salt, payload),
            "state_hash": salted(salt, instance.state or "") if after is None else salted(salt, after.text),
            "previous": instance.head,
        }
        self.commit.log.append(chained(members))

    def _advance(self, cause: Cause, held: Held, version: int) -> None:
        self._is_changed = True
        instance, snapshot = self.instance, held.snapshot
        states = self.commit.log[-1].after
        if states != instance.configuration:
            instance.configuration = states
            instance.entered_at = self.now
        instance.version = version
        instance.status = _STATUS.get(snapshot.status, snapshot.status)
        instance.updated_at = self.now
        instance.next_due = held.next_due if snapshot.status == ACTIVE else None
        instance.last_event = cause.event_type or cause.kind
        instance.output = None if snapshot.output is UNDEFINED else dumps(plain(snapshot.output))
        instance.head = self.commit.log[-1].hash


def states_text(held: Held) -> str:
    """The active leaves, as they are stored."""
    return dumps(list(held.states))


def _shown(deliveries: tuple[Delivery, ...]) -> dict[str, Any]:
    """What is to be published after the commit: emitted events and log lines, with the actor's id."""
    emitted = [[one.actor.id, plain(one.event)] for one in deliveries if isinstance(one, Emitted)]
    logged = [
        [one.actor.id, _line(one.effect)]
        for one in deliveries
        if isinstance(one, Perform) and isinstance(one.effect, LogMessage)
    ]
    return {**({"emitted": emitted} if emitted else {}), **({"logged": logged} if logged else {})}


def _line(effect: LogMessage) -> Any:
    value = None if effect.value is UNDEFINED else plain(effect.value)
    return value if effect.label is UNDEFINED or effect.label is None else [effect.label, value]


def traceback_of(error: BaseException) -> str:
    """The traceback of what lies behind a :class:`Poisoned`, at most 20,000 characters of it."""
    cause = error.__cause__ or error
    text = storable("".join(traceback.format_exception(cause)))
    return text if len(text) <= 20_000 else f"{text[:10_000]}\n…\n{text[-10_000:]}"
