"""Actions: names, objects with a type, and the built-in ones as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecharts.values import UNDEFINED

from .codes import Code
from .dialects import (
    ACTIONS,
    Builtin,
    builtin_of,
    check_builtin_members,
    is_reserved,
    members_pointer,
    report_unknown_builtin,
)
from .expressions import check_values, is_expression
from .report import Report, is_list, is_number, is_object, is_opaque
from .spelling import check_named_object


def action_list(value: object) -> list[object]:
    """``value`` of ``actions``, ``entry`` or ``exit`` as a list; what cannot be one is dropped."""
    if value is UNDEFINED or value is None:
        return []
    return list(value) if is_list(value) else [value]


def check_actions(report: Report, value: object, pointer: str, name: str) -> None:
    """Report what is wrong with the value of ``actions``, ``entry`` or ``exit``."""
    if value is UNDEFINED:
        return
    if value is None:
        report.null_value(pointer, name, "Leave the key out, or write `[]`.")
        return
    if not is_list(value):
        _check_action(report, value, pointer, name)
        return
    for index, action in enumerate(value):
        place = f"{pointer}/{index}"
        if is_list(action):
            report.wrong_type(place, name, action, "a flat list of actions", "Take the inner list apart.")
        elif action is None:
            report.null_value(place, name, "Remove it from the list.")
        else:
            _check_action(report, action, place, name)


def _check_action(report: Report, action: object, pointer: str, name: str) -> None:
    if is_opaque(action):
        return
    if isinstance(action, str):
        if not action:
            report.add(Code.EMPTY_NAME, pointer, "An action has an empty name.", "Name it, or remove it.")
        elif is_reserved(action):
            _check_reserved(report, {"type": action}, action, pointer, pointer)
        return
    if not is_object(action):
        report.wrong_type(
            pointer, name, action, "the name of an action, an object with `type`, or a list of those"
        )
        return
    if is_expression(action):
        report.add(
            Code.BAD_EXPRESSION,
            pointer,
            "An expression is no action.",
            'To change the context write `{"type": "@xstate.assign", "context": {"key": {"@expr": …}}}`.',
        )
        return
    type_name = check_named_object(report, "action", action, pointer)
    if type_name is not None and is_reserved(type_name):
        _check_reserved(report, action, type_name, pointer, f"{pointer}/type")
    else:
        check_values(report, action.get("params", UNDEFINED), f"{pointer}/params")


def _check_reserved(
    report: Report, action: Mapping[Any, Any], type_name: str, pointer: str, type_pointer: str
) -> None:
    builtin = builtin_of(type_name, ACTIONS)
    if builtin is None:
        report_unknown_builtin(report, "action", type_name, type_pointer, ACTIONS)
        return
    found = check_builtin_members(report, builtin, action, pointer)
    place = members_pointer(action, pointer)
    _check_member_types(report, builtin, found, place)
    for key, value in found.items():
        if isinstance(key, str):
            check_values(report, value, _member_pointer(place, key))


def _member_pointer(place: str, key: str) -> str:
    return f"{place}/{key.replace('~', '~0').replace('/', '~1')}"


def _check_member_types(report: Report, builtin: Builtin, found: Mapping[Any, Any], place: str) -> None:
    if "event" in builtin.members and "event" in found:
        _check_event(report, found["event"], f"{place}/event")
    if "delay" in found and "delay" in builtin.members:
        _check_delay(report, found["delay"], f"{place}/delay")
    for key in ("id", "sendId", "to", "actorRef", "target", "systemId", "src"):
        if key in found and key in builtin.members:
            _check_name(report, key, found[key], f"{place}/{key}")
    for key in ("context", "assignments", "assignment"):
        if (
            builtin.name == "assign"
            and key in found
            and not is_object(found[key])
            and not is_opaque(found[key])
        ):
            report.wrong_type(f"{place}/{key}", key, found[key], "an object of the members to change")
    if builtin.name == "assign" and not found:
        report.add(
            Code.MISSING_MEMBER, place, "This assign changes nothing.", 'Write `"context": {"key": …}`.'
        )


def _check_event(report: Report, event: object, pointer: str) -> None:
    if is_opaque(event) or is_expression(event) or (isinstance(event, str) and event):
        return
    if not is_object(event):
        if event == "":
            report.add(Code.EMPTY_NAME, pointer, "The event has an empty type.", "Name the event.")
        else:
            report.wrong_type(pointer, "event", event, 'an event such as `{"type": "NAME"}`')
        return
    type_name = event.get("type", UNDEFINED)
    if type_name is UNDEFINED:
        report.add(Code.MISSING_MEMBER, pointer, "The event has no `type`.", 'Write `{"type": "NAME", …}`.')
    elif type_name == "":
        report.add(Code.EMPTY_NAME, f"{pointer}/type", "The event has an empty type.", "Name the event.")
    elif not isinstance(type_name, str) and not is_expression(type_name) and not is_opaque(type_name):
        report.wrong_type(f"{pointer}/type", "type", type_name, "the type of the event, as a string")


def _check_delay(report: Report, delay: object, pointer: str) -> None:
    if is_opaque(delay) or is_object(delay) or (isinstance(delay, str) and delay):
        return
    if not is_number(delay):
        report.wrong_type(pointer, "delay", delay, "milliseconds, or the name of a delay")
    elif delay < 0 or delay != delay:
        report.add(
            Code.ODD_DELAY, pointer, f"A delay of {delay} ms counts as none.", "Delays count from now."
        )


def _check_name(report: Report, key: str, value: object, pointer: str) -> None:
    if is_opaque(value) or is_object(value):  # an expression, or a reference such as {"system": id}
        return
    if value == "":
        report.add(Code.EMPTY_NAME, pointer, f"`{key}` is empty.", "Name it.")
    elif not isinstance(value, str):
        report.wrong_type(pointer, key, value, "a name")
