"""What a system asks of its host, as frozen values, in the order in which it matters.

A host takes them from :meth:`System.run`. Those marked *may fail* run a
user's code: when it raises, the host tells the system
(:meth:`System.fail`) before it goes on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .effects import ActorRef, LogMessage, RunAction


class Timer(NamedTuple):
    """A delayed event. ``due`` is absolute, in ms on the host's clock; ``handle`` is unique in the system."""

    handle: int
    source: ActorRef
    target: ActorRef | None
    event: Any
    send_id: str
    delay: float
    due: float


class Perform(NamedTuple):
    """Run an inline effect of ``actor``. May fail."""

    actor: ActorRef
    effect: RunAction | LogMessage


class Begin(NamedTuple):
    """Start what ``logic`` does outside. May fail."""

    actor: ActorRef
    logic: Any
    input: Any


class End(NamedTuple):
    """Stop what the actor does outside. May fail (a callback's clean-up)."""

    actor: ActorRef


class Receive(NamedTuple):
    """Hand ``event`` to a callback actor's receivers. May fail."""

    actor: ActorRef
    event: Any


class Emitted(NamedTuple):
    """Hand ``event`` to the listeners of ``actor``."""

    actor: ActorRef
    event: Any


class Arm(NamedTuple):
    """A timer was set."""

    timer: Timer


class Disarm(NamedTuple):
    """A timer was cancelled."""

    timer: Timer


class Published(NamedTuple):
    """``actor`` has a new snapshot to show."""

    actor: ActorRef
    snapshot: Any


class Completed(NamedTuple):
    """``actor`` will publish nothing more: it is done or stopped."""

    actor: ActorRef


class Failed(NamedTuple):
    """``actor`` died of ``error``."""

    actor: ActorRef
    error: Any


class Inspected(NamedTuple):
    """An inspection event, in XState's shape (see :mod:`.inspection`)."""

    event: Any


Delivery = (
    Perform | Begin | End | Receive | Emitted | Arm | Disarm | Published | Completed | Failed | Inspected
)
