"""Delays as SCXML writes them (§6.2.3: a CSS2 time designation)."""

from __future__ import annotations

import re

_DELAY = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|m|h|d)?\s*\Z")
_MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, None: 1}


def parse_delay(text: str) -> int | float | None:
    """``"1.5s"``, ``".5s"``, ``"200ms"``, ``"2m"``, ``"1h"``, ``"1d"`` or bare milliseconds, in ms; ``None`` otherwise."""
    found = _DELAY.match(text)
    if found is None:
        return None
    value = float(found[1]) * _MILLISECONDS[found[2]]
    return int(value) if value.is_integer() else value
