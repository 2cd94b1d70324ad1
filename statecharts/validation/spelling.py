"""Objects that name a function: ``{"type": …, "params": …}``, for actions and guards alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecharts.values import UNDEFINED

from .codes import Code
from .dialects import is_reserved
from .keys import ACTION, GUARD, guess
from .report import Report, token


def check_named_object(report: Report, kind: str, spec: Mapping[Any, Any], pointer: str) -> str | None:
    """The ``type`` of an action or guard object, or None when there is none to speak of."""
    level = GUARD if kind == "guard" else ACTION
    type_name = spec.get("type", UNDEFINED)
    has_type = isinstance(type_name, str) and bool(type_name)
    if not (has_type and is_reserved(str(type_name))):
        for key, value in spec.items():
            if not isinstance(key, str):
                report.bad_key(pointer, key)
            elif key not in level.keys and key not in level.silent and value is not UNDEFINED:
                _report_stray(report, kind, key, pointer, spec)
    if type_name is UNDEFINED:
        report.add(
            Code.MISSING_MEMBER,
            pointer,
            f"This {kind} has no `type`, so there is nothing to look up.",
            f'Write `"name"` or `{{"type": "name", "params": {{…}}}}` for a {kind}.',
        )
        return None
    if type_name == "":
        report.add(
            Code.EMPTY_NAME, f"{pointer}/type", f"The name of this {kind} is empty.", f"Name the {kind}."
        )
        return None
    if not isinstance(type_name, str):
        report.wrong_type(f"{pointer}/type", "type", type_name, f"the name of a {kind}, as a string")
        return None
    return type_name


def _report_stray(report: Report, kind: str, key: str, pointer: str, spec: Mapping[Any, Any]) -> None:
    level = GUARD if kind == "guard" else ACTION
    guessed = guess(level, key)
    if guessed is not None and guessed not in spec:
        report.add(
            Code.MISSPELT_KEY,
            pointer + token(key),
            f"{level.name.capitalize()} has no key `{key}`; it would be ignored.",
            f"Did you mean `{guessed}`?",
        )
        return
    report.add(
        Code.STRAY_MEMBER,
        pointer + token(key),
        f"`{key}` stands beside `type`; in version 5 only `params` reaches the function.",
        f'Write `"params": {{"{key}": …}}`.',
    )
