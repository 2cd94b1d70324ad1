"""What a store keeps, as frozen values: one class a table.

All times are whole ms of the store's clock. Every row belongs to a namespace;
instances of different namespaces know nothing of each other.
"""

from __future__ import annotations

from dataclasses import dataclass

ACTIVE, DONE, ERROR, CANCELLED = "active", "done", "error", "cancelled"
"""What an instance may be."""
ACCEPTED, APPLIED, REFUSED, DEAD, IGNORED = "accepted", "applied", "refused", "dead", "ignored"
"""What becomes of an inbox row. ``ignored``: it came for an actor that is over."""
EVENT, RESULT, TIMER, RELAY, REPORT = "event", "result", "timer", "relay", "report"
"""Where an inbox row comes from: outside, an effect, a timer that failed, another instance, a resident."""
PENDING, RUNNING, SETTLED, FAILED, UNKNOWN, WITHDRAWN = "PENDING", "RUNNING", "DONE", "FAILED", "UNKNOWN", "WITHDRAWN"
"""What an effect may be."""
OPEN = (PENDING, RUNNING, UNKNOWN)
INVOKE, ACTION, SEND, RESIDENT, DELIVER = "invoke", "action", "send", "resident", "deliver"
"""What an effect is: a promise actor, an action, an event for another instance, an actor that stays (callback, observable), an
event for one of those."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionRow:
    """A machine's document, with all it needs, as text in which order is kept; ``hash`` is that of the text."""

    hash: str
    machine: str
    version: str | None
    text: str
    created_at: int


@dataclass(slots=True, kw_only=True)
class Instance:
    """A running machine. Nobody changes it but the decision it was made for (:mod:`.turns`).

    ``incarnation`` is never used again, also when the id is. ``version`` counts
    log rows, ``revision`` every write to this row. ``configuration`` is a JSON
    list of the active leaves, entered at ``entered_at``. ``pending`` is how many
    inbox rows wait, ``next_due`` when the first timer is due. ``head`` is the
    hash of the newest log row. ``state`` is ``None`` where it was not asked for.
    """

    namespace: str
    id: str
    incarnation: str
    machine: str
    definition: str
    status: str
    version: int
    revision: int
    state: str | None
    configuration: str
    entered_at: int
    created_at: int
    updated_at: int
    next_seq: int
    pending: int
    next_due: int | None
    is_suspended: bool
    needs_attention: bool
    last_event: str | None
    last_error: str | None
    output: str | None
    head: str
    parent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """Something for an instance, in the order of ``seq``; with ``event_id`` it is known again.

    ``body`` is the event as JSON text (of a result: session, status, data).
    ``target`` is the path of the actor it is for, if not the root. ``receipt``
    is JSON text; ``error`` a traceback.
    """

    namespace: str
    instance: str
    seq: int
    event_id: str
    kind: str
    body: str | None
    target: str | None
    digest: str
    actor: str | None
    status: str
    received_at: int
    handled_at: int | None
    version: int | None
    receipt: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """One version of an instance (:mod:`.chain` says what is hashed).

    ``kind`` says what made it: start, event, timer, result, …; ``payload`` is
    JSON text of what may be erased: the delivery, the patch to the state, what
    was emitted.
    """

    namespace: str
    instance: str
    version: int
    at: int
    kind: str
    event_id: str
    event_type: str | None
    actor: str | None
    reason: str | None
    before: str
    after: str
    definition: str
    implementation: str | None
    payload: str | None
    salt: str | None
    payload_hash: str
    state_hash: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """Something to be done outside. ``id`` is ``incarnation:version:number``; ``key`` is what the receiver is told.

    ``given`` is JSON text: an actor's input, or an action's params, context and
    event. ``policy`` is JSON text too (:mod:`.effects`). Those of one ``lane`` of an
    instance are done one after the other. ``fence`` counts claims,
    ``beat`` the signs of life of the one that runs; ``called_at`` is committed
    just before the call.
    """

    namespace: str
    instance: str
    id: str
    version: int
    number: int
    kind: str
    name: str
    session: int
    key: str
    given: str | None
    policy: str
    lane: str | None
    definition: str
    status: str
    attempts: int
    next_at: int
    created_at: int
    owner: str | None
    fence: int
    beat: int
    called_at: int | None
    is_cancelled: bool
    external_id: str | None
    result: str | None
    error: str | None
    settled_at: int | None
    trace: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerRow:
    """A delayed event. ``id`` is made like that of an effect, ``handle`` is its number in the state."""

    namespace: str
    instance: str
    id: str
    handle: int
    due_at: int
    event_type: str
    version: int
