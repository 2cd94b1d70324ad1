"""Values in a document that are constants until they hold an expression."""

from __future__ import annotations

from typing import Any

from .expressions import compile_value


def read_value(value: Any, pointer: str = "", lang: str = "cel") -> Any:
    """``value`` frozen, or a :class:`Template` when an expression stands somewhere inside it."""
    template = compile_value(value, pointer=pointer, default_lang=lang)
    return template.evaluate({}) if template.is_constant else template
