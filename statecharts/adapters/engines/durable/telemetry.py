"""Spans and metrics, if OpenTelemetry's API is installed; nothing otherwise.

Spans: ``statecharts.event`` around an event until its receipt, and
``statecharts.effect`` around a call, linked to the span of the event that
wanted it (a link, not a parent: hours may lie between). Metrics, with
``namespace`` and ``machine`` where they are known:

============================  =========  ====================================================
``statecharts.events``        counter    receipts, by ``outcome``
``statecharts.effects``       counter    settled effects, by ``outcome`` (DONE, FAILED, PENDING, UNKNOWN)
``statecharts.attempts``      histogram  attempts of an effect that was settled
``statecharts.lost``          counter    effects that a worker found to be somebody else's
``statecharts.expired``       counter    effects taken from workers whose leases stood still
``statecharts.inbox.lag``     histogram  ms from the arrival of a row to its being applied
``statecharts.outbox.lag``    histogram  ms from an effect's due time to its claim
``statecharts.timer.lag``     histogram  ms from a timer's due time to its firing
``statecharts.dwell``         histogram  ms in a configuration, when it is left
``statecharts.commit``        histogram  ms of a commit, from its jobs to its answers
============================  =========  ====================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ....durability.commits import Commit
from ....durability.rows import EffectRow

SCOPE = "statecharts"
_COUNTERS = ("events", "effects", "lost", "expired")
_HISTOGRAMS = ("attempts", "inbox.lag", "outbox.lag", "timer.lag", "dwell", "commit")


class Telemetry:
    """What is told to OpenTelemetry. ``is_on``: whether anybody listens at all."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        try:
            self._trace: Any = import_module("opentelemetry.trace")
            metrics: Any = import_module("opentelemetry.metrics")
            self._propagate: Any = import_module("opentelemetry.propagate")
        except ImportError:
            self.is_on = False
            return
        self.is_on = True
        self._tracer = self._trace.get_tracer(SCOPE)
        meter = metrics.get_meter(SCOPE)
        self._counters = {name: meter.create_counter(f"{SCOPE}.{name}") for name in _COUNTERS}
        self._histograms = {
            name: meter.create_histogram(f"{SCOPE}.{name}", "" if name == "attempts" else "ms") for name in _HISTOGRAMS
        }

    def count(self, name: str, amount: int = 1, **attributes: str) -> None:
        """Count something."""
        if self.is_on and amount:
            self._counters[name].add(amount, {"namespace": self._namespace, **attributes})

    def measure(self, name: str, value: float, **attributes: str) -> None:
        """Measure something."""
        if self.is_on:
            self._histograms[name].record(value, {"namespace": self._namespace, **attributes})

    @contextmanager
    def event(self, instance: str, event_type: str) -> Iterator[str | None]:
        """A span around an event; its ``traceparent``, to be kept with what comes of it."""
        if not self.is_on:
            yield None
            return
        attributes = {"statecharts.instance": instance, "statecharts.event": event_type, "statecharts.namespace": self._namespace}
        with self._tracer.start_as_current_span("statecharts.event", attributes=attributes):
            carrier: dict[str, str] = {}
            self._propagate.inject(carrier)
            yield carrier.get("traceparent")

    @contextmanager
    def effect(self, row: EffectRow, name: str) -> Iterator[None]:
        """A span around a call."""
        if not self.is_on:
            yield
            return
        links = []
        if row.trace is not None:
            context = self._trace.get_current_span(self._propagate.extract({"traceparent": row.trace})).get_span_context()
            links = [self._trace.Link(context)] if context.is_valid else []
        attributes = {
            "statecharts.instance": row.instance,
            "statecharts.effect": row.id,
            "statecharts.name": name,
            "statecharts.attempt": row.attempts,
        }
        with self._tracer.start_as_current_span("statecharts.effect", attributes=attributes, links=links):
            yield

    def committed(self, commit: Commit) -> None:
        """What a commit has to tell."""
        if not self.is_on or commit.after is None:
            return
        machine = commit.after.machine
        for row in commit.handled:
            if row.handled_at is not None:
                self.measure("inbox.lag", row.handled_at - row.received_at, machine=machine)
        for lag in commit.timer_lags:
            self.measure("timer.lag", lag, machine=machine)
        before = commit.before
        if before is not None and before.configuration != commit.after.configuration:
            self.measure("dwell", commit.after.updated_at - before.entered_at, machine=machine)

    def claimed(self, rows: Sequence[EffectRow], now: int) -> None:
        """Effects were claimed."""
        for row in rows:
            self.measure("outbox.lag", now - row.next_at)

    def settled(self, row: EffectRow, status: str, is_ours: bool) -> None:
        """An effect was settled, or turned out to be somebody else's."""
        if not is_ours:
            self.count("lost")
            return
        self.count("effects", outcome=status)
        self.measure("attempts", row.attempts)
