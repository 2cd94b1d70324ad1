"""Moments of a store as people and programs read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from .durations import span


def local(ms: int) -> str:
    """In the local time zone, with its distance from UTC: ``2026-01-31T14:05:02.500+01:00``."""
    return _moment(ms).astimezone().isoformat(timespec="milliseconds")


def utc(ms: int | None) -> str | None:
    """For programs: ``2026-01-31T13:05:02.500Z``; such texts sort by time."""
    if ms is None:
        return None
    return _moment(ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _moment(ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)  # exact, where a float of seconds is not


def ago(ms: int, now: int) -> str:
    """A moment, and how far from ``now`` it is."""
    return f"{local(ms)} ({span(now - ms)} ago)" if ms <= now else ahead(ms, now)


def ahead(ms: int, now: int) -> str:
    """A moment that is to come, or is overdue."""
    return f"{local(ms)} (in {span(ms - now)})" if ms > now else f"{local(ms)} ({span(now - ms)} overdue)"
