"""From an action's Python to actions of XState: ``send``, ``notify`` and literal assignments, or a name."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from .sismic_chart import Code
from .sismic_code import (
    NOT_DATA,
    does_nothing,
    is_no_operation,
    literal,
    literal_assignment,
    parse_statements,
)
from .sismic_names import Moment, NameBook

SENT: Final = "event sent"
"""The type of the event emitted for each ``send``: sismic's own meta-event of that name."""


def milliseconds(seconds: Decimal | float) -> int | float:
    """Sismic's seconds as XState's milliseconds."""
    exact = (seconds if isinstance(seconds, Decimal) else Decimal(repr(seconds))) * 1000
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def sent_actions(event: Mapping[str, Any], delay: int | float | None) -> list[dict[str, Any]]:
    """What ``send`` does: the event for the machine itself, and word of it for whoever listens."""
    raised: dict[str, Any] = {"type": "@xstate.raise", "event": dict(event)}
    if delay is not None:
        raised["delay"] = delay
    return [raised, {"type": "@xstate.emit", "event": {"type": SENT, "event": dict(event)}}]


@dataclass(frozen=True, slots=True)
class ActionReader:
    """Reads the actions of one chart. ``as_code``: even what can be said in data stays code."""

    names: NameBook
    shadowed: frozenset[str]
    as_code: bool = False

    def translate(self, code: Code | None, moment: Moment) -> list[Any]:
        """The actions as JSON, in order; nothing for code that does nothing."""
        if code is None or is_no_operation(code.text):
            return []
        found = None if self.as_code else self._static(code.text)
        return [self.names.action(code, moment)] if found is None else found

    def _static(self, text: str) -> list[dict[str, Any]] | None:
        """The actions, if every statement is one that means the same as data."""
        statements = parse_statements(text)
        if statements is None:
            return None
        found: list[dict[str, Any]] = []
        for statement in statements:
            if does_nothing(statement):
                continue
            actions = self._statement(statement)
            if actions is None:
                return None
            found += actions
        return found

    def _statement(self, statement: ast.stmt) -> list[dict[str, Any]] | None:
        assigned = literal_assignment(statement)
        if assigned is not None:
            name, value = assigned
            return [{"type": "@xstate.assign", "context": {name: value}}]
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None
        call = statement.value
        if not isinstance(call.func, ast.Name) or call.func.id in self.shadowed:
            return None
        event = _event_of(call)
        if event is None:
            return None
        if call.func.id == "notify":
            return [{"type": "@xstate.emit", "event": event}]
        return _sent(event) if call.func.id == "send" else None


def _event_of(call: ast.Call) -> dict[str, Any] | None:
    """The event of ``send('name', key=literal, …)``."""
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Constant):
        return None
    name = call.args[0].value
    if not isinstance(name, str) or not name or "*" in name or name.startswith("xstate."):
        return None
    event: dict[str, Any] = {"type": name}
    for keyword in call.keywords:
        value = literal(keyword.value)
        if keyword.arg is None or keyword.arg in ("name", "type") or value is NOT_DATA:
            return None
        event[keyword.arg] = value
    return event


def _sent(event: dict[str, Any]) -> list[dict[str, Any]] | None:
    seconds = event.get("delay", 0)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds < 0:
        return None
    return sent_actions(event, milliseconds(seconds) if seconds else None)
