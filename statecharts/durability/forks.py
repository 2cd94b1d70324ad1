"""A new instance from a version of another: to look what would have been, or to go on from before a mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..errors import SnapshotError, UsageError
from ..interpreter.actors import PromiseLogic
from ..interpreter.deliveries import Begin
from ..interpreter.snapshot import ACTIVE
from ..interpreter.system_state import ActorState
from ..json_text import dumps, loads
from .commits import Commit, Job, Loaded
from .controls import Order
from .decisions import Decider
from .payloads import Limits, checked_text
from .receipts import APPLIED, REFUSED, Receipt
from .rows import UNKNOWN, Instance
from .stepping import Held, resumed
from .turns import Cause, Turn


class Fork:
    """Makes the job. ``source`` is the instance, ``state`` its state at ``version``, as text.

    Timers go on as they were set (an overdue one fires at once). No effect is
    sent again: promises that were open become UNKNOWN effects of the new
    instance, for a person to settle or to retry. ``change`` may alter the
    context first.
    """

    def __init__(
        self, decider: Decider, source: Instance, version: int, state: str, change: Callable[[Any], Any] | None = None
    ) -> None:
        hosted = decider.registry.by_hash.get(source.definition)
        if hosted is None:
            raise UsageError(
                f"the machine of instance {source.id!r} ({source.machine}, {source.definition[:12]}…) is not registered in this process"
            )
        self._decider = decider
        self._hosted = hosted
        self._source = source
        self._version = version
        self._held = _changed(hosted.machine, state, change, decider.limits)

    def job(self, name: str, order: Order) -> Job:
        """A job that starts ``name``. Its answer is a :class:`Receipt`; a name that is taken is refused."""
        return Job(self._source.namespace, name, lambda loaded: self._decide(loaded, name, order))

    def _decide(self, loaded: Loaded, name: str, order: Order) -> Commit:
        if loaded.instance is not None:
            return Commit(Receipt(REFUSED, name, order.id, reason=f"there is an instance {name!r} already"))
        source = self._source
        blank = replace(
            self._decider.blank(loaded.now, self._hosted, source.namespace, name), parent=f"{source.id}@{self._version}"
        )
        turn = Turn(loaded, blank, self._hosted, None, self._decider.limits, self._decider.entropy.salt)
        delivery = {"fork": {"instance": source.id, "incarnation": source.incarnation, "version": self._version}}
        begins = tuple(self._begin(actor) for actor in self._held.state.actors if _is_open_promise(actor))
        turn.take(Cause("fork", order.id, delivery, None, order.actor, order.reason), (self._held, begins))
        turn.commit.effects = [
            replace(row, status=UNKNOWN, error=f"a fork of {blank.parent}: not sent again") for row in turn.commit.effects
        ]
        turn.commit.definition = self._hosted.row(loaded.now)
        states = tuple(loads(turn.instance.configuration))
        return turn.finish(Receipt(APPLIED, name, order.id, turn.instance.version, states))

    def _begin(self, actor: ActorState) -> Begin:
        return Begin(actor.ref, actor.logic, actor.input)


def _is_open_promise(actor: ActorState) -> bool:
    return actor.begun and isinstance(actor.logic, PromiseLogic) and actor.snapshot.status == ACTIVE


def _changed(machine: Any, state: str, change: Callable[[Any], Any] | None, limits: Limits) -> Held:
    sealed = loads(state)
    if change is not None:
        context = change(sealed["snapshot"].get("context"))
        checked_text(context, "the changed context", limits.state, limits.depth)
        sealed["snapshot"]["context"] = context
    try:
        return resumed(machine, dumps(sealed))
    except SnapshotError as error:
        raise UsageError(f"the machine cannot go on from that state: {error}") from error


