"""The keys of ``after``: milliseconds as JavaScript reads numbers, or the name of a delay."""

from __future__ import annotations

import math
import re

from .codes import Code
from .report import Report

_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_RADIX = {"0x": 16, "0o": 8, "0b": 2}
_DURATION = re.compile(
    r"\d+(?:[.,]\d+)?\s*(?:ms|msecs?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)",
    re.IGNORECASE | re.ASCII,
)
_ISO_DURATION = re.compile(r"P(?=[\dT])(?:\d+[YMWD])*(?:T(?:\d+(?:[.,]\d+)?[HMS])+)?", re.ASCII)
_CLOCK = re.compile(r"\d+(?::\d\d)+", re.ASCII)
_JS_SPACE = " \t\n\r\v\f\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
MAX_TIMER = 2147483647
"""The longest delay that JavaScript's timers keep; longer ones fire at once under Node."""


def js_to_number(text: str) -> float:
    """JavaScript's ``Number(text)``; NaN when the text is no number."""
    body = text.strip(_JS_SPACE)
    if not body:
        return 0.0
    if body in ("Infinity", "+Infinity", "-Infinity"):
        return -math.inf if body[0] == "-" else math.inf
    radix = _RADIX.get(body[:2].lower())
    if radix is not None:
        digits = body[2:]
        if not digits or not (digits.isascii() and digits.isalnum()):
            return math.nan
        try:
            return float(int(digits, radix))
        except (ValueError, OverflowError):
            return math.nan
    return float(body) if _DECIMAL.fullmatch(body) else math.nan


def looks_like_duration(name: str) -> bool:
    """Whether a person would read ``name`` as a length of time: ``2s``, ``PT5S``, ``1:30``."""
    return any(pattern.fullmatch(name.strip()) for pattern in (_DURATION, _ISO_DURATION, _CLOCK))


def check_after_key(report: Report, name: str, pointer: str, implementations_known: bool) -> None:
    """Report a delay that is odd as a number, or a name that was meant as a duration."""
    number = js_to_number(name)
    if number != number:
        if not implementations_known and looks_like_duration(name):
            report.add(
                Code.DURATION_LIKE_DELAY,
                pointer,
                f'"{name}" is not a number, so it is the name of a delay; XState waits not at all for one that is not bound.',
                f'Write milliseconds, or bind a delay called "{name}".',
            )
    elif not name.strip(_JS_SPACE):
        report.add(
            Code.ODD_DELAY,
            pointer,
            "An empty delay counts as 0 ms.",
            'Write "0", or the delay that was meant.',
        )
    elif number < 0:
        report.add(Code.ODD_DELAY, pointer, f"A delay of {name} ms counts as none.", "Delays count from now.")
    elif number > MAX_TIMER:
        report.add(
            Code.ODD_DELAY,
            pointer,
            f"A delay of {name} ms is longer than JavaScript's timers can wait; under Node it fires at once.",
            f"The longest is {MAX_TIMER} ms, about 24.8 days.",
        )
