"""What becomes of a start, an event, and whatever waits: decisions for a store to carry out.

The order in which an event is looked at: is its id known (then nothing
changes, whatever it says), may it be queued, are there older ones, which
timers are overdue, and only then whether the machine takes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..errors import Busy, SnapshotError, StoreError, UnknownInstance
from ..interpreter.queries import next_events
from ..interpreter.snapshot import Snapshot
from ..json_text import dumps, loads
from ..values import UNDEFINED, freeze, plain
from .cache import StateCache
from .chain import START
from .commits import Commit, Job, Loaded
from .definitions import Hosted, Registry
from .payloads import Limits, digest
from .receipts import ACCEPTED as SAID_ACCEPTED
from .receipts import APPLIED as SAID_APPLIED
from .receipts import DEAD as SAID_DEAD
from .receipts import REFUSED as SAID_REFUSED
from .receipts import Receipt, read_receipt, repeated
from .rows import (
    ACCEPTED,
    ACTIVE,
    APPLIED,
    DEAD,
    EVENT,
    IGNORED,
    REFUSED,
    RELAY,
    RESULT,
    TIMER,
    InboxRow,
    Instance,
)
from .stepping import Held, Poisoned, begun, resumed
from .turns import Cause, Turn, states_text, traceback_of


class Entropy(Protocol):
    """Where ids and salts come from: a host's dice, or a test's."""

    def incarnation(self) -> str: ...
    def salt(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Told:
    """An event from outside, checked: ``text`` is its JSON, ``target`` the path of the actor it is for (else the root)."""

    event_id: str
    text: str
    actor: str | None = None
    target: str | None = None
    trace: str | None = None

    @property
    def digest(self) -> str:
        """What tells it from another event under the same id: the event alone counts."""
        return digest(self.text)


class StateMissing(StoreError):
    """A job said that the state need not be loaded, and now it is not here: ask again, with the state."""


class Decider:
    """Decides. Holds the machines that can be run here, and a cache; nothing else."""

    def __init__(self, registry: Registry, limits: Limits, entropy: Entropy, cache: StateCache | None = None) -> None:
        self.registry = registry
        self.limits = limits
        self.cache = StateCache() if cache is None else cache
        self.entropy = entropy

    # ------------------------------------------------------------------ start

    def start(self, namespace: str, machine: str, instance: str, told: Told, input: Any) -> Job:
        """A job that starts ``machine`` under the name ``instance``; ``told.text`` is the input, for comparison."""
        hosted = self.registry.newest(machine)
        return Job(namespace, instance, lambda loaded: self._start(loaded, hosted, namespace, instance, told, input), told.event_id)

    def _start(self, loaded: Loaded, hosted: Hosted, namespace: str, name: str, told: Told, input: Any) -> Commit:
        existing = loaded.instance
        if existing is not None:
            return Commit(self._started_before(loaded, existing, told))
        hosted.machine.schemas.check_input(input)
        blank = self.blank(loaded.now, hosted, namespace, name)
        turn = Turn(loaded, blank, hosted, None, self.limits, self.entropy.salt)
        taken = begun(hosted.machine, input, loaded.now, self.limits, turn.is_strict)
        delivery = {"start": [] if input is UNDEFINED else [loads(told.text)]}
        turn.take(Cause("start", told.event_id, delivery, "start", told.actor, trace=told.trace), taken)
        receipt = self._receipt(turn, SAID_APPLIED, told.event_id)
        turn.arrive(
            replace(
                self._row(turn, told, EVENT), status=APPLIED, version=1, handled_at=loaded.now, receipt=receipt.to_text()
            )
        )
        turn.commit.definition = hosted.row(loaded.now)
        return turn.finish(receipt)

    def _started_before(self, loaded: Loaded, existing: Instance, told: Told) -> Receipt:
        known = loaded.known
        if known is not None and known.receipt is not None and known.digest == told.digest and known.seq == 1:
            return repeated(read_receipt(known.receipt))
        reason = f"there is an instance {existing.id!r} already (of machine {existing.machine!r}, {existing.status})"
        return Receipt(SAID_REFUSED, existing.id, told.event_id, existing.version, _states(existing), reason)

    def blank(self, now: int, hosted: Hosted, namespace: str, name: str) -> Instance:
        """An instance of which there is nothing yet but the name."""
        return Instance(
            namespace=namespace,
            id=name,
            incarnation=self.entropy.incarnation(),
            machine=hosted.machine.id,
            definition=hosted.hash,
            status=ACTIVE,
            version=0,
            revision=0,
            state=None,
            configuration="[]",
            entered_at=now,
            created_at=now,
            updated_at=now,
            next_seq=1,
            pending=0,
            next_due=None,
            is_suspended=False,
            needs_attention=False,
            last_event=None,
            last_error=None,
            output=None,
            head=START,
            parent=None,
        )

    # ------------------------------------------------------------------- send

    def send(self, namespace: str, instance: str, told: Told) -> Job:
        """A job that gives an event to an instance. Its answer is a :class:`Receipt`, or raises :class:`Busy`."""
        seen = self.cache.revision((namespace, instance))
        return Job(namespace, instance, lambda loaded: self._send(loaded, instance, told), told.event_id, seen)

    def _send(self, loaded: Loaded, name: str, told: Told) -> Commit:
        instance = loaded.instance
        if instance is None:
            raise UnknownInstance(f"there is no instance {name!r}; start it first")
        if loaded.known is not None:
            return Commit(known_receipt(loaded.known, told))
        turn = self.turn(loaded, instance)
        if instance.status != ACTIVE:
            return self._refuse(turn, told, f"the instance is {instance.status}")
        if turn.hosted is not None and told.target is None:
            turn.hosted.machine.schemas.check_event(freeze(loads(told.text)))
        if turn.held is None or instance.is_suspended:
            return self._accept(turn, told)
        self._catch_up(turn, loaded.waiting)
        if turn.instance.pending > 0 or _is_overdue(turn, turn.now):
            return self._accept(turn, told)
        if turn.instance.status != ACTIVE:
            return self._refuse(turn, told, f"the instance is {turn.instance.status}")
        row = self._row(turn, told, EVENT)
        row = self._apply(turn, row, told.trace)
        turn.arrive(row)
        assert row.receipt is not None
        return turn.finish(read_receipt(row.receipt))

    def _accept(self, turn: Turn, told: Told) -> Commit:
        if turn.instance.pending >= self.limits.queue:
            raise Busy(
                f"{turn.instance.pending} events wait for instance {turn.instance.id!r} already, which is the limit; send again later"
            )
        receipt = self._receipt(turn, SAID_ACCEPTED, told.event_id)
        turn.arrive(replace(self._row(turn, told, EVENT), receipt=receipt.to_text()))
        turn.change(pending=turn.instance.pending + 1)
        return turn.finish(receipt)

    def _refuse(self, turn: Turn, told: Told, reason: str) -> Commit:
        receipt = self._receipt(turn, SAID_REFUSED, told.event_id, reason)
        row = replace(self._row(turn, told, EVENT), status=REFUSED, handled_at=turn.now, receipt=receipt.to_text())
        turn.arrive(row)
        return turn.finish(receipt)

    # ---------------------------------------------------------------- advance

    def advance(self, namespace: str, instance: str) -> Job:
        """A job that applies what waits for an instance and fires what is due. Its answer: how many inbox rows and timers."""
        seen = self.cache.revision((namespace, instance))
        return Job(namespace, instance, self._advance, None, seen)

    def _advance(self, loaded: Loaded) -> Commit:
        instance = loaded.instance
        if instance is None or instance.is_suspended:
            return Commit(0)
        try:
            turn = self.turn(loaded, instance)
        except SnapshotError as error:  # nobody can go on from there: let it rest, where an operator sees it
            turn = Turn(loaded, instance, None, None, self.limits, self.entropy.salt)
            turn.change(is_suspended=True, needs_attention=True, last_error=str(error))
            return turn.finish(0)
        if turn.held is None:
            return Commit(0)
        done = self._catch_up(turn, loaded.waiting)
        return turn.finish(done)

    def _catch_up(self, turn: Turn, waiting: Iterable[InboxRow]) -> int:
        """Everything that is due, in order: a row from the queue comes after the timers that were due when it arrived.

        What is too much for one decision is left for the next.
        """
        done = 0
        for row in waiting:
            done += self._fire_until(turn, row.received_at)
            if _is_overdue(turn, row.received_at):
                return done
            turn.commit.handled.append(self._apply(turn, row))
            turn.change(pending=turn.instance.pending - 1)
            done += 1
        if turn.instance.pending == 0:
            done += self._fire_until(turn, turn.now)
        return done

    def _fire_until(self, turn: Turn, when: int) -> int:
        """Fire the timers that were due at ``when``, first first, also those that they set themselves."""
        fired = 0
        while turn.instance.status == ACTIVE and fired < self.limits.batch:
            assert turn.held is not None
            due = turn.held.due(when)
            if not due:
                break
            self._fire(turn, due[0])
            fired += 1
        return fired

    def _fire(self, turn: Turn, timer: Any) -> None:
        name = f"timer:{turn.instance.incarnation}:{timer.handle}"
        kind = str(timer.event.get("type"))
        try:
            turn.deliver(Cause("timer", name, {"fire": timer.handle}, kind))
        except Poisoned as error:
            turn.deliver(Cause("dead-letter", name, {"drop": timer.handle}, kind, reason=str(error)))
            told = Told(name, dumps({"event": plain(timer.event), "to": None if timer.target is None else timer.target.session}))
            row = self._row(turn, told, TIMER)
            self._bury(turn, error)
            turn.arrive(replace(row, status=DEAD, handled_at=turn.now, error=traceback_of(error)))

    # ------------------------------------------------------------------ inside

    def turn(self, loaded: Loaded, instance: Instance) -> Turn:
        """What is to be decided about an instance, with its actor system if it can be run here."""
        hosted = self.registry.by_hash.get(instance.definition)
        held = None if hosted is None else self._held(hosted, instance)
        return Turn(loaded, instance, hosted, held, self.limits, self.entropy.salt)

    def _held(self, hosted: Hosted, instance: Instance) -> Held:
        key = (instance.namespace, instance.id)
        held = self.cache.get(key, instance.revision, instance.incarnation)
        if held is None:
            if instance.state is None:  # it was here when the job was made
                raise StateMissing(f"the state of instance {instance.id!r} is needed after all")
            held = resumed(hosted.machine, instance.state)
        return held

    def remember(self, commit: Commit) -> None:
        """``commit`` is written: its state is what the next decision begins with."""
        after = commit.after
        if after is not None and commit.held is not None:
            self.cache.put((after.namespace, after.id), after.revision, after.incarnation, commit.held)

    def _apply(self, turn: Turn, row: InboxRow, trace: str | None = None) -> InboxRow:
        """``row`` after it has been applied, refused, or found to be poison."""
        if turn.instance.status != ACTIVE:
            return self._settled(turn, row, REFUSED if row.kind == EVENT else IGNORED, f"the instance is {turn.instance.status}")
        try:
            if row.kind == RESULT:
                return self._apply_result(turn, row)
            return self._apply_event(turn, row, trace)
        except Poisoned as error:
            if row.kind != EVENT:
                self._bury(turn, error)
            return replace(self._settled(turn, row, DEAD, str(error)), error=traceback_of(error))

    def _bury(self, turn: Turn, error: Poisoned) -> None:
        turn.change(needs_attention=True, last_error=str(error))

    def _apply_event(self, turn: Turn, row: InboxRow, trace: str | None) -> InboxRow:
        assert turn.held is not None and row.body is not None
        event = loads(row.body)
        delivery: dict[str, Any] = {"event": event}
        snapshot = turn.held.snapshot
        if row.kind == TIMER:
            delivery, event = event, event["event"]
        elif row.target is not None:
            ref = turn.held.at(row.target)
            if ref is None:
                return self._settled(turn, row, REFUSED, f"there is no active machine at {row.target!r}")
            delivery["to"] = ref.session
            snapshot = turn.held.state.actor(ref.session).snapshot
        if row.kind in (EVENT, RELAY) and not _selects(snapshot, event):
            return self._settled(turn, row, REFUSED, _why_not(turn.held, row.target, event))
        cause = Cause(row.kind, row.event_id, delivery, event.get("type"), row.actor, trace=trace)
        if not turn.deliver(cause):
            return self._settled(turn, row, IGNORED, "the actor it came for is over")
        return self._settled(turn, row, APPLIED)

    def _apply_result(self, turn: Turn, row: InboxRow) -> InboxRow:
        assert row.body is not None
        body = loads(row.body)
        delivery = {"result": [body["session"], body["status"], body.get("data")]}
        if not turn.deliver(Cause(RESULT, row.event_id, delivery, body.get("name"), row.actor)):
            return self._settled(turn, row, IGNORED, "the actor it came for is over")
        return self._settled(turn, row, APPLIED)

    def _settled(self, turn: Turn, row: InboxRow, status: str, reason: str | None = None) -> InboxRow:
        said = {APPLIED: SAID_APPLIED, DEAD: SAID_DEAD}.get(status, SAID_REFUSED)
        receipt = self._receipt(turn, said, row.event_id, reason)
        version = turn.instance.version if status == APPLIED else None
        return replace(row, status=status, handled_at=turn.now, version=version, receipt=receipt.to_text())

    def _row(self, turn: Turn, told: Told, kind: str) -> InboxRow:
        return InboxRow(
            namespace=turn.instance.namespace,
            instance=turn.instance.id,
            seq=0,
            event_id=told.event_id,
            kind=kind,
            body=told.text,
            target=told.target,
            digest=told.digest,
            actor=told.actor,
            status=ACCEPTED,
            received_at=turn.now,
            handled_at=None,
            version=None,
            receipt=None,
            error=None,
        )

    def _receipt(self, turn: Turn, outcome: str, event_id: str, reason: str | None = None) -> Receipt:
        instance, held = turn.instance, turn.held
        allowed = () if outcome != SAID_REFUSED or held is None else allowed_events(held)
        states = _states(instance) if held is None else tuple(loads(states_text(held)))
        return Receipt(outcome, instance.id, event_id, instance.version, states, reason, allowed)


# -------------------------------------------------------------------- questions


def known_receipt(known: InboxRow, told: Told) -> Receipt:
    """The answer to an event whose id has come before."""
    first = read_receipt(known.receipt) if known.receipt is not None else Receipt(SAID_ACCEPTED, known.instance, known.event_id)
    if known.digest == told.digest and known.target == told.target:
        return repeated(first)
    reason = f"event id {told.event_id!r} was used for another event; give each event an id of its own"
    return Receipt(SAID_REFUSED, known.instance, told.event_id, first.version, first.states, reason)


def allowed_events(held: Held) -> tuple[str, ...]:
    """The events that the root would take now (as far as that can be told without their data)."""
    snapshot = held.snapshot
    if not isinstance(snapshot, Snapshot):
        return ()
    return tuple(option.type for option in next_events(snapshot) if option.enabled is not False)


def _selects(snapshot: Any, event: Any) -> bool:
    """Whether a machine takes ``event``. Raises :class:`Poisoned` when a guard does."""
    if not isinstance(snapshot, Snapshot):
        return False
    program = snapshot._program
    selector = program.selection.selector(snapshot._configuration, event["type"])
    if selector is None or program.session_bindings is not None:
        return selector is not None  # an SCXML session's conditions see more than there is here
    try:
        return bool(program.selection.evaluate(selector, snapshot._context, freeze(event), snapshot._configuration))
    except Exception as error:
        raise Poisoned(f"{type(error).__name__}: {error}") from error


def _why_not(held: Held, target: str | None, event: Any) -> str:
    kind = event["type"]
    if target is not None:
        return f"the machine at {target!r} does not take {kind!r} now"
    takers = [path for path, snapshot in machines_below(held) if _selects(snapshot, event)]
    if takers:
        return f"no state takes {kind!r} now, but a machine below would: address it with to={takers[0]!r}" + (
            "" if len(takers) == 1 else f" (or {', '.join(map(repr, takers[1:]))})"
        )
    return f"no state takes {kind!r} now"


def machines_below(held: Held) -> list[tuple[str, Any]]:
    """The machines below the root, by their paths."""
    found: list[tuple[str, Any]] = []
    waiting: list[tuple[str, Any]] = [("", held.snapshot)]
    while waiting:
        path, snapshot = waiting.pop(0)
        if not isinstance(snapshot, Snapshot):
            continue
        for name, ref in snapshot.children.items():
            if ref is not None:
                below = (f"{path}/{name}".lstrip("/"), held.state.actor(ref.session).snapshot)
                waiting.append(below)
                if isinstance(below[1], Snapshot):
                    found.append(below)
    return found


def _is_overdue(turn: Turn, when: int) -> bool:
    """Whether a timer that was due at ``when`` has not been fired."""
    return turn.instance.status == ACTIVE and turn.held is not None and bool(turn.held.due(when))


def _states(instance: Instance) -> tuple[str, ...]:
    return tuple(loads(instance.configuration))
