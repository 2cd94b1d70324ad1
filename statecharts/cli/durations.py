"""Spans of time as people type and read them. Milliseconds inside."""

from __future__ import annotations

import math
import re

from ..errors import UsageError

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d)\s*", re.IGNORECASE)
_PLAIN = re.compile(r"\d+(?:\.\d+)?")


def parse_duration(text: str) -> float:
    """``500ms``, ``10s``, ``2m``, ``1h30m``, ``1d``, or a bare number of milliseconds."""
    wanted = text.strip()
    if _PLAIN.fullmatch(wanted):
        return _tidy(float(wanted))
    total, at = 0.0, 0
    while at < len(wanted):
        part = _PART.match(wanted, at)
        if part is None:
            raise UsageError(
                f"{text!r} is no span of time; write 500ms, 10s, 2m, 1h30m or a number of milliseconds"
            )
        total += float(part[1]) * _UNITS[part[2].lower()]
        at = part.end()
    if not wanted:
        raise UsageError("how long? Write 500ms, 10s, 2m, 1h30m or a number of milliseconds")
    return _tidy(total)


def _tidy(value: float) -> float:
    return int(value) if value.is_integer() else value


def span(ms: float) -> str:
    """``500 ms``, ``2 s``, ``5 min``, ``1 h 30 min``, ``1 d``."""
    if not math.isfinite(ms):
        return "for ever" if ms > 0 else "0 ms"
    if ms < 1000:
        return f"{_tidy(round(float(ms), 3)):g} ms"
    days, rest = divmod(float(ms), 86_400_000)
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (round(rest / 1000, 3), "s"))
    return " ".join(f"{value:g} {unit}" for value, unit in parts if value)


def clock_time(ms: float) -> str:
    """Virtual time as ``0:05:02.500``, with days before it when there are any."""
    if not math.isfinite(ms):
        return "never"
    whole = round(ms)
    seconds, millis = divmod(whole, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    prefix = f"{days}d " if days else ""
    return f"{prefix}{hours}:{minutes:02d}:{seconds:02d}.{millis:03d}"
