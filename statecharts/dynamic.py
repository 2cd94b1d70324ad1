"""Values in a document that are constants until they hold an expression."""

from __future__ import annotations

from typing import Any

from .expressions import compile_value, holds_expressions
from .values import freeze


def read_value(value: Any, pointer: str = "", lang: str = "cel") -> Any:
    """``value`` frozen, or a :class:`Template` when an expression stands somewhere inside it."""
    if not holds_expressions(value):
        return freeze(value)
    return compile_value(value, pointer=pointer, default_lang=lang)
