"""Comparing what happened in a step with what a scenario expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..values import UNDEFINED, plain
from .changes import is_equal
from .step_report import StepReport


class Mismatch(NamedTuple):
    """One expectation that did not hold. ``UNDEFINED``: there is no such thing."""

    what: str
    expected: Any
    actual: Any

    def to_json(self) -> dict[str, Any]:
        """Without an absent side."""
        members = {"what": self.what, "expected": self.expected, "actual": self.actual}
        return {key: value for key, value in members.items() if value is not UNDEFINED}


def mismatches(expect: Mapping[str, Any] | None, report: StepReport) -> list[Mismatch]:
    """Everything in ``expect`` that is not so after the step. Nothing is checked without it."""
    return [] if expect is None else list(_compare(expect, report))


def _compare(expect: Mapping[str, Any], report: StepReport) -> Iterator[Mismatch]:
    snapshot = report.snapshot
    actual: dict[str, Any] = {
        "states": report.states,
        "value": UNDEFINED if snapshot.value is UNDEFINED else plain(snapshot.value),
        "output": plain(snapshot.output),
        "waiting": [waiting.id for waiting in report.waiting],
        "emitted": plain(report.emitted),
    }
    for key, found in actual.items():
        if key in expect and not is_equal(expect[key], found):
            yield Mismatch(key, expect[key], found)
    status = expect.get("status", "active")
    if snapshot.status != status:
        yield Mismatch("status", status, snapshot.status)
    context = snapshot.context if isinstance(snapshot.context, Mapping) else {}
    for key, value in (expect.get("context") or {}).items():
        found = plain(context.get(key, UNDEFINED))
        if not is_equal(value, found):
            yield Mismatch(f"context.{key}", value, found)
    yield from _refusal(expect, report)


def _refusal(expect: Mapping[str, Any], report: StepReport) -> Iterator[Mismatch]:
    """A refusal has to be expected; the guard expected is among those that said no."""
    expected = expect.get("refused", UNDEFINED)
    found: Any = UNDEFINED if report.refusal is None else report.refusal.by
    if expected is not UNDEFINED and report.refusal is not None and expected in report.refusal.guards:
        return
    if expected != found:
        yield Mismatch("refused", expected, found)
