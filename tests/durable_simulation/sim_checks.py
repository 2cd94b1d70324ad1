"""What has to hold of a whole history, whatever has happened."""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random
from typing import Any

from sim_processes import LIMITS
from sim_receivers import Outside, Violation
from sim_tracking import Tracker

from statecharts.durability.chain import salted
from statecharts.durability.definitions import DEAD_LETTER, Hosted, Registry
from statecharts.durability.effects import EffectMaker
from statecharts.durability.rows import (
    ACCEPTED,
    ACTIVE,
    APPLIED,
    EVENT,
    FAILED,
    RESULT,
    SETTLED,
    InboxRow,
    Instance,
    LogRow,
)
from statecharts.durability.stepping import Held, Stepper, begun
from statecharts.durability.store import Store
from statecharts.durability.verification import Verifier
from statecharts.json_text import loads
from statecharts.values import UNDEFINED, freeze


class Historian:
    """Reads all logs of a world and tells the story once more."""

    def __init__(self, database: Store, namespace: str, registry: Registry, tracker: Tracker, outside: Outside, random: Random) -> None:
        self._database = database
        self._namespace = namespace
        self._registry = registry
        self._tracker = tracker
        self._outside = outside
        self._random = random
        self._effects = {row.id: row for row in tracker.rows()}

    def check(self) -> None:
        """Everything. Raises :class:`Violation`."""
        made: set[str] = set()
        for instance in self._tracker.instances():
            log = self._database.log(self._namespace, instance.id, limit=100_000)
            inbox = self._database.inbox(self._namespace, instance.id, limit=100_000)
            self._is_whole(instance, log)
            self._is_in_order(inbox)
            hosted = self._registry.by_hash[instance.definition]
            if instance.status == "error" and hosted.on_error == DEAD_LETTER:
                raise Violation(f"instance {instance.id} has failed, where the event should have become a dead letter")
            self._is_logged_once(instance, log, inbox)
            made |= self._replayed(instance, log, {row.event_id: row for row in inbox})
        if made != set(self._effects):
            raise Violation(f"I4: the log asks for the effects {sorted(made)}, there are {sorted(self._effects)}")
        self._calls()

    # --------------------------------------------------------------- the chain

    def _is_whole(self, instance: Instance, log: list[LogRow]) -> None:
        """I1 and the chain; and that it would show if a row were changed."""
        versions = [row.version for row in log]
        if versions != list(range(1, instance.version + 1)):
            raise Violation(f"I1: instance {instance.id} has version {instance.version} and the log rows {versions}")
        verifier = Verifier(instance, self._registry.by_hash, LIMITS)
        verifier.read(log)
        if not verifier.report().is_clean:
            raise Violation(f"I3: {instance.id}: {verifier.report().findings}")
        at = self._random.randrange(len(log))
        names = [field.name for field in fields(LogRow) if field.name not in ("hash", "salt")]
        name = self._random.choice(names)
        forged = replace(log[at], **{name: _other(getattr(log[at], name))})
        verifier = Verifier(instance, None, LIMITS)
        verifier.read([*log[:at], forged, *log[at + 1 :]])
        if verifier.report().is_clean:
            raise Violation(f"{instance.id}: {name} of version {at + 1} can be changed, and the chain holds")

    def _is_in_order(self, inbox: list[InboxRow]) -> None:
        """What was accepted was applied in its order, but for what a person has revived."""
        applied = [row for row in inbox if row.status == APPLIED and not self._is_revived(row)]
        versions = [row.version or 0 for row in applied]
        if versions != sorted(versions):
            raise Violation(f"the events {[row.event_id for row in applied]} were applied as versions {versions}")

    def _is_logged_once(self, instance: Instance, log: list[LogRow], inbox: list[InboxRow]) -> None:
        by_id: dict[str, list[int]] = {}
        for row in log:
            if row.kind in (EVENT, RESULT, "start"):
                by_id.setdefault(row.event_id, []).append(row.version)
        fired = [row.event_id for row in log if row.kind in ("timer", "dead-letter") and not self._is_revived(row)]
        if len(set(fired)) < len(fired):
            raise Violation(f"a timer of {instance.id} has fired twice: {sorted(fired)}")
        for entry in inbox:
            expected = [entry.version] if entry.status == APPLIED and entry.kind in (EVENT, RESULT) else []
            if entry.kind in (EVENT, RESULT) and by_id.get(entry.event_id, []) != expected:
                raise Violation(
                    f"event {entry.event_id} of {instance.id} is {entry.status}; log rows: {by_id.get(entry.event_id)}, expected: {expected}"
                )

    def _is_revived(self, row: InboxRow | LogRow) -> bool:
        """Whether a person has tried it again, as a dead letter."""
        return self._tracker.excuses[f"revived:{row.instance}:{row.event_id}"] > 0

    # --------------------------------------------------------------- the replay

    def _replayed(self, instance: Instance, log: list[LogRow], inbox: dict[str, InboxRow]) -> set[str]:
        """I3: the deliveries, once more, lead to the same states; and to these effects."""
        hosted = self._registry.by_hash[instance.definition]
        held: Held | None = None
        made: set[str] = set()
        latest = max((row.received_at for row in inbox.values()), default=0)
        for row in log:
            payload = loads(row.payload or "")
            if held is not None:
                self._is_due(held, row, payload, inbox.get(row.event_id), latest)
            held, deliveries = self._step(hosted, held, payload)
            assert row.salt is not None
            if salted(row.salt, held.text) != row.state_hash:
                raise Violation(f"I3: version {row.version} of {instance.id} leads elsewhere when it is applied again")
            maker = EffectMaker(hosted, instance, held.state, row.version, row.at, None)
            for delivery in deliveries:
                maker.take(delivery)
            made |= {effect.id for effect in maker.rows}
        if held is None or held.text != instance.state:
            raise Violation(f"I3: the state of {instance.id} is not what its log makes")
        return made

    def _step(self, hosted: Hosted, held: Held | None, payload: dict[str, Any]) -> tuple[Held, Any]:
        delivery, now = payload["delivery"], payload["now"]
        if "start" in delivery:
            given = freeze(delivery["start"][0]) if delivery["start"] else UNDEFINED
            return begun(hosted.machine, given, now, LIMITS, False)
        assert held is not None
        if "none" in delivery:
            return held, ()
        stepper = Stepper(held, now, LIMITS, False)
        stepper.deliver(delivery)
        return stepper.rest()

    def _is_due(self, held: Held, row: LogRow, payload: dict[str, Any], entry: InboxRow | None, latest: int) -> None:
        """Timers fire when they are due, and before what came after that; results go to the run that they are of."""
        delivery = payload["delivery"]
        if row.kind in (EVENT, RESULT) and entry is not None and held.snapshot.status == ACTIVE:
            late = [timer.handle for timer in held.due(entry.received_at)]
            if late and not self._is_revived(row):
                raise Violation(f"event {row.event_id} was applied to {row.instance} before the overdue timers {late}")
            if row.kind == EVENT and "to" not in delivery and not held.snapshot.can(delivery["event"]):
                raise Violation(f"event {row.event_id} was applied to {row.instance}, which does not take it")
        if "fire" in delivery:
            due = next((timer.due for timer in held.state.timers if timer.handle == delivery["fire"]), None)
            if due is None or due > max(row.at, latest):
                raise Violation(f"a timer of {row.instance} that is due at {due} was fired at {row.at}")
        if row.kind == RESULT and not row.event_id.startswith("result:"):
            raise Violation(f"a result of {row.instance} has the id {row.event_id}")
        if row.kind == RESULT and delivery["result"][0] != self._effects[row.event_id.removeprefix("result:")].session:
            raise Violation(f"{row.event_id} went to another run than its own")

    # ----------------------------------------------------------------- the calls

    def _calls(self) -> None:
        """Every effect that was not withdrawn was called, or a person or its key has said what became of it."""
        done = {row.key for row in self._effects.values() if row.status == SETTLED}
        for row in self._effects.values():
            if row.status == SETTLED and row.key != row.id and row.key in done and self._outside.calls[row.key]:
                continue
            called = self._outside.called_for[row.id] or self._tracker.excuses[f"retried:{row.id}"] or self._tracker.excuses[row.id]
            if row.status in (SETTLED, FAILED) and not called:
                raise Violation(f"effect {row.id} is {row.status} and was never called")
            if row.kind == "invoke" and row.status in (SETTLED, FAILED):
                self._is_told(row.instance, f"result:{row.id}")

    def _is_told(self, instance: str, event_id: str) -> None:
        rows = self._database.inbox(self._namespace, instance, event_id=event_id)
        if len(rows) != 1:
            raise Violation(f"{event_id} is {len(rows)} times in the inbox of {instance}")


def at_rest(database: Store, namespace: str, tracker: Tracker, now: int) -> str | None:
    """I8: what keeps a world from being at rest."""
    open_ = [(row.id, row.status) for row in tracker.rows() if row.status not in (SETTLED, FAILED, "WITHDRAWN")]
    if open_:
        return f"effects are open: {open_}"
    for instance in tracker.instances():
        if database.inbox(namespace, instance.id, statuses=(ACCEPTED,)):
            return f"events wait for {instance.id}"
        if instance.status == ACTIVE and instance.next_due is not None and instance.next_due <= now:
            return f"a timer of {instance.id} is overdue"
    return None


def _other(value: Any) -> Any:
    return value + 1 if isinstance(value, int) else f"{value or ''}x"
