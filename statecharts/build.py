"""Which build of the package runs: the hot path compiled with mypyc, or Python all the way.

Both are made from the same sources and behave the same. ``STATECHARTS_PURE=1``
in the environment, before the first import, forces the sources.
"""

from __future__ import annotations

import os
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec
from pathlib import Path
from typing import Final

HOT: Final = "statecharts.interpreter.macrostep"
"""Stands for all compiled modules, which come in one shared library."""


def _is_extension(name: str) -> bool:
    spec = find_spec(name)
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)


COMPILED: Final[bool] = _is_extension(HOT)
"""Whether the modules of the hot path are extension modules."""

FORCED_PURE: Final[bool] = os.environ.get("STATECHARTS_PURE", "") not in ("", "0")
"""Whether ``STATECHARTS_PURE`` asks for the sources."""


def description() -> str:
    """One line: ``compiled with mypyc``, or ``pure Python`` and, if somebody or something forced it, why."""
    if COMPILED:
        return "compiled with mypyc"
    if FORCED_PURE:
        return "pure Python, STATECHARTS_PURE=1"
    reason = Path(__file__).with_name("pure_because.txt")  # written into a wheel that could not be compiled
    if reason.is_file():
        return f"pure Python: {reason.read_text(encoding='utf-8').strip()}"
    return "pure Python"
