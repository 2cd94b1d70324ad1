"""Guards: names, objects with a type, expressions, and the four that combine or look at states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecharts.values import UNDEFINED

from .codes import Code
from .dialects import (
    GUARDS,
    builtin_of,
    check_builtin_members,
    is_reserved,
    members_pointer,
    report_unknown_builtin,
)
from .expressions import check_expression, check_values, is_expression
from .outline import Outline
from .report import Report, is_list, is_object, is_opaque
from .spelling import check_named_object
from .states_in import check_state_in

_MAX_NESTING = 100


def check_guard(report: Report, outline: Outline, guard: object, pointer: str, name: str = "guard") -> None:
    """Report what is wrong with one guard; ``null`` and ``""`` are the caller's business."""
    stack: list[tuple[object, str, str, int]] = [(guard, pointer, name, 0)]
    while stack:
        value, place, label, depth = stack.pop()
        if depth > _MAX_NESTING:
            report.add(
                Code.TOO_DEEP, place, "Guards nest too deeply here.", "Bind one guard that tests all of it."
            )
            continue
        inner = _check_one(report, outline, value, place, label)
        stack.extend((item, spot, word, depth + 1) for item, spot, word in reversed(inner))


def _check_one(
    report: Report, outline: Outline, guard: object, pointer: str, name: str
) -> list[tuple[object, str, str]]:
    if is_opaque(guard):
        return []
    if isinstance(guard, str):
        if not guard:
            report.add(
                Code.EMPTY_NAME, pointer, f"`{name}` is an empty name.", "Name the guard, or leave it out."
            )
        elif is_reserved(guard):
            _bare_builtin(report, guard, pointer)
        return []
    if not is_object(guard):
        if guard is None:
            report.null_value(pointer, name)
        else:
            report.wrong_type(pointer, name, guard, "a name or an object with `type`")
        return []
    if is_expression(guard):
        check_expression(report, guard, pointer)
        return []
    type_name = check_named_object(report, "guard", guard, pointer)
    if type_name is None:
        return []
    builtin = builtin_of(type_name, GUARDS)
    if builtin is None:
        if is_reserved(type_name):
            report_unknown_builtin(report, "guard", type_name, f"{pointer}/type", GUARDS)
        check_values(report, guard.get("params", UNDEFINED), f"{pointer}/params")
        return []
    found = check_builtin_members(report, builtin, guard, pointer)
    return _operands(report, outline, builtin.name, found, members_pointer(guard, pointer))


def _bare_builtin(report: Report, name: str, pointer: str) -> None:
    builtin = builtin_of(name, GUARDS)
    if builtin is None:
        report_unknown_builtin(report, "guard", name, pointer, GUARDS)
        return
    member = builtin.required[0][0]
    report.add(
        Code.MISSING_MEMBER,
        pointer,
        f"`{name}` needs `{member}`.",
        f'Write `{{"type": "{name}", "params": {{"{member}": …}}}}`.',
    )


def _operands(
    report: Report, outline: Outline, name: str, found: Mapping[Any, Any], place: str
) -> list[tuple[object, str, str]]:
    if name == "not":
        return [(found["guard"], f"{place}/guard", "guard")] if "guard" in found else []
    if name == "stateIn":
        if "state" in found:
            check_state_in(report, outline, found["state"], f"{place}/state")
        return []
    if "guards" not in found:
        return []
    guards = found["guards"]
    if is_opaque(guards):
        return []
    if not is_list(guards):
        report.wrong_type(f"{place}/guards", "guards", guards, "a list of guards")
        return []
    return [(item, f"{place}/guards/{index}", "guards") for index, item in enumerate(guards)]
