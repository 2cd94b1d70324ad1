"""The world outside: receivers of calls, honest ones, who count what they did for which key."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from sim_machines import NotSent

from statecharts import ProbeAnswer
from statecharts.durability.rows import RUNNING, EffectRow

OK, NOT_SENT, FAILS_AFTER, FAILS_BEFORE, SILENT, UNUSABLE = (
    "answers",
    "refuses, having done nothing",
    "does it and fails",
    "fails before it does it",
    "does it and is silent",
    "answers with what is no JSON",
)
FATES = (OK,) * 10 + (NOT_SENT, NOT_SENT, NOT_SENT, NOT_SENT, FAILS_AFTER, FAILS_BEFORE, SILENT, UNUSABLE, UNUSABLE)


class Violation(AssertionError):
    """Something that must never be."""


class Silence(TimeoutError):
    """No answer in time."""


class Outside:
    """All receivers. ``allowed`` counts, for each key, repetitions that somebody has taken upon himself."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.done: dict[str, Any] = {}
        self.executed: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.called_for: Counter[str] = Counter()
        self.allowed: Counter[str] = Counter()
        self.in_flight: Counter[str] = Counter()

    def call(self, claimed: EffectRow, stored: EffectRow, idempotent: bool, fate: str) -> Any:
        """A call for the effect ``claimed``, which is in the database as ``stored``."""
        key = claimed.key
        self.calls[key] += 1
        self.called_for[claimed.id] += 1
        is_own = stored.fence == claimed.fence and stored.status == RUNNING
        if is_own and stored.called_at is None:
            raise Violation(f"effect {claimed.id} is called, and its row does not say so")
        if fate == NOT_SENT:
            raise NotSent("busy")
        if fate == FAILS_BEFORE:
            raise RuntimeError("connection refused, perhaps")
        if key not in self.done:
            self.done[key] = {"for": key, "n": self.calls[key]}
            self.executed[key] += 1
        elif not idempotent:
            self.executed[key] += 1
        if self.executed[key] > 1 + self.allowed[key]:
            raise Violation(f"I5: {key!r} was done {self.executed[key]} times; {self.allowed[key]} repetitions were allowed")
        if fate == FAILS_AFTER:
            raise RuntimeError("connection reset")
        if fate == SILENT:
            raise Silence("no answer within the timeout")
        return float("nan") if fate == UNUSABLE else self.done[key]

    def probe(self, key: str) -> ProbeAnswer:
        """What the receiver knows of a key. Of a call that is still on its way it knows nothing."""
        if self.random.random() < 0.5:
            return ProbeAnswer(self.random.choice(("unknown", "running")))
        if key in self.done:
            return ProbeAnswer("done", self.done[key])
        if self.in_flight[key]:
            self.allowed[key] += 1  # what is on its way may arrive after all: the gap that the documentation names
        return ProbeAnswer("not_done")
