"""What becomes of a start, an event, and whatever waits: decisions for a store to carry out.

The order in which an event is looked at: is its id known (then nothing
changes, whatever it says), may it be queued, are there older ones, which
timers are overdue, and only then whether the machine takes it.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..errors import Busy, SnapshotError, StoreError, UnknownInstance
from ..json_text import loads
from ..values import UNDEFINED, freeze
from .applying import Applier, Told, is_overdue, states_of
from .cache import StateCache
from .chain import START
from .commits import Commit, Job, Loaded
from .definitions import Hosted, Registry
from .payloads import Limits
from .receipts import ACCEPTED as SAID_ACCEPTED
from .receipts import APPLIED as SAID_APPLIED
from .receipts import REFUSED as SAID_REFUSED
from .receipts import Receipt, read_receipt, repeated
from .rows import ACTIVE, APPLIED, EVENT, REFUSED, RELAY, REPORT, InboxRow, Instance
from .stepping import Held, begun, resumed
from .turns import Cause, Turn


class Entropy(Protocol):
    """Where ids and salts come from: a host's dice, or a test's."""

    def incarnation(self) -> str: ...
    def salt(self) -> str: ...


class StateMissing(StoreError):
    """A job said that the state need not be loaded, and now it is not here: ask again, with the state."""


class Decider:
    """Decides. Holds the machines that can be run here, and a cache; nothing else."""

    def __init__(self, registry: Registry, limits: Limits, entropy: Entropy, cache: StateCache | None = None) -> None:
        self.registry = registry
        self.limits = limits
        self.applier = Applier(limits)
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
        if loaded.forget_at is not None:
            return Commit(self._purged(loaded, name, told))
        hosted.machine.schemas.check_input(input)
        blank = self.blank(loaded.now, hosted, namespace, name)
        turn = Turn(loaded, blank, hosted, None, self.limits, self.entropy.salt)
        taken = begun(hosted.machine, input, loaded.now, self.limits, turn.is_strict)
        delivery = {"start": [] if input is UNDEFINED else [loads(told.text)]}
        turn.take(Cause("start", told.event_id, delivery, "start", told.actor, trace=told.trace), taken)
        receipt = self.applier.receipt(turn, SAID_APPLIED, told.event_id)
        row = self.applier.row(turn, told, EVENT, status=APPLIED, version=1, handled_at=loaded.now, receipt=receipt.to_text())
        turn.arrive(row)
        turn.commit.definition = hosted.row(loaded.now)
        return turn.finish(receipt)

    def _started_before(self, loaded: Loaded, existing: Instance, told: Told) -> Receipt:
        known = loaded.known
        if known is not None and known.receipt is not None and known.digest == told.digest and known.seq == 1:
            return repeated(read_receipt(known.receipt))
        reason = f"there is an instance {existing.id!r} already (of machine {existing.machine!r}, {existing.status})"
        return Receipt(SAID_REFUSED, existing.id, told.event_id, existing.version, states_of(existing), reason)

    def _purged(self, loaded: Loaded, name: str, told: Told) -> Receipt:
        if loaded.known is not None:
            return known_receipt(loaded.known, told)
        reason = f"there was an instance {name!r}, which has been purged; its name can be used again when its ids are forgotten"
        return Receipt(SAID_REFUSED, name, told.event_id, reason=reason)

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
            if loaded.known is not None:  # of one that has been purged
                return Commit(known_receipt(loaded.known, told))
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
        self.applier.catch_up(turn, loaded.waiting)
        if turn.instance.pending > 0 or is_overdue(turn, turn.now):
            return self._accept(turn, told)
        if turn.instance.status != ACTIVE:
            return self._refuse(turn, told, f"the instance is {turn.instance.status}")
        row, receipt = self.applier.apply(turn, self.applier.row(turn, told, EVENT), told.trace)
        turn.arrive(row)
        return turn.finish(receipt)

    # ----------------------------------------------------------------- inside out

    def relay(self, namespace: str, instance: str, told: Told) -> Job:
        """A job that gives an event of another instance to this one. Its answer: the status of its inbox row."""
        return self._internal(namespace, instance, RELAY, told)

    def report(self, namespace: str, instance: str, told: Told) -> Job:
        """A job that lets an actor that stays say something: ``told.text`` is ``{"session", "what", "data"}``. The answer likewise."""
        return self._internal(namespace, instance, REPORT, told)

    def _internal(self, namespace: str, instance: str, kind: str, told: Told) -> Job:
        seen = self.cache.revision((namespace, instance))

        def decide(loaded: Loaded) -> Commit:
            row = loaded.instance
            if row is None:
                raise UnknownInstance(f"there is no instance {instance!r}")
            if loaded.known is not None:
                return Commit(loaded.known.status)
            return self._take_in(loaded, row, kind, told)

        return Job(namespace, instance, decide, told.event_id, seen)

    def _take_in(self, loaded: Loaded, instance: Instance, kind: str, told: Told) -> Commit:
        """Apply what comes from inside if that can be now; else it waits, however many do."""
        turn = self.turn(loaded, instance)
        able = turn.held is not None and not instance.is_suspended
        if able:
            self.applier.catch_up(turn, loaded.waiting)
        if able and turn.instance.pending == 0 and not is_overdue(turn, turn.now):
            row, _ = self.applier.apply(turn, self.applier.row(turn, told, kind), told.trace)
        else:
            row = self.applier.row(turn, told, kind)
            turn.change(pending=turn.instance.pending + 1)
        turn.arrive(row)
        return turn.finish(row.status)

    def _accept(self, turn: Turn, told: Told) -> Commit:
        if turn.instance.pending >= self.limits.queue:
            raise Busy(
                f"{turn.instance.pending} events wait for instance {turn.instance.id!r} already, which is the limit; send again later"
            )
        receipt = self.applier.receipt(turn, SAID_ACCEPTED, told.event_id)
        turn.arrive(self.applier.row(turn, told, EVENT, receipt=receipt.to_text()))
        turn.change(pending=turn.instance.pending + 1)
        return turn.finish(receipt)

    def _refuse(self, turn: Turn, told: Told, reason: str) -> Commit:
        receipt = self.applier.receipt(turn, SAID_REFUSED, told.event_id, reason)
        turn.arrive(self.applier.row(turn, told, EVENT, status=REFUSED, handled_at=turn.now, receipt=receipt.to_text()))
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
        turn = self.turn(loaded, instance)
        if turn.held is None and instance.status == ACTIVE:
            return turn.finish(0)
        done = self.applier.catch_up(turn, loaded.waiting)
        return turn.finish(done)

    # ------------------------------------------------------------------ inside

    def turn(self, loaded: Loaded, instance: Instance) -> Turn:
        """What is to be decided about an instance, with its actor system if it can be run here and is not over.

        One whose state cannot be read rests from now on, where an operator sees it: what comes is kept.
        """
        hosted, held, problem = self.registry.by_hash.get(instance.definition), loaded.held, None
        if hosted is None or instance.status != ACTIVE:
            held = None
        elif held is None:
            try:
                held = self._held(hosted, instance)
            except SnapshotError as error:
                problem = str(error)
        turn = Turn(loaded, instance, hosted, held, self.limits, self.entropy.salt)
        if problem is not None:
            turn.change(is_suspended=True, needs_attention=True, last_error=problem)
        return turn

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


def known_receipt(known: InboxRow, told: Told) -> Receipt:
    """The answer to an event whose id has come before."""
    first = read_receipt(known.receipt) if known.receipt is not None else Receipt(SAID_ACCEPTED, known.instance, known.event_id)
    if known.digest == told.digest and known.target == told.target:
        return repeated(first)
    reason = f"event id {told.event_id!r} was used for another event; give each event an id of its own"
    return Receipt(SAID_REFUSED, known.instance, told.event_id, first.version, first.states, reason)
