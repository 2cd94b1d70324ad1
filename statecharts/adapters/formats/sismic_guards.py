"""From a guard's Python to a guard of XState: delays, ``active('s')``, and names for the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from .sismic_chart import Chart, ChartTransition, Code
from .sismic_code import CLOCK, call_of, constant_seconds, names_in, parse_expression
from .sismic_names import Moment, NameBook

_MOST_FACTS: Final = 3


def target_of(name: str) -> str:
    """``#id`` for the state ``name``, with dots and backslashes escaped."""
    return "#" + name.replace("\\", "\\\\").replace(".", "\\.")


def waited(state: str, seconds: Decimal) -> str:
    """The member of the context that says that ``seconds`` have passed since the entry of ``state``."""
    return f"after {seconds.normalize():f} s in {state}"


@dataclass(frozen=True, slots=True)
class GuardReader:
    """Reads the guards of one chart. ``shadowed`` are names that the chart's code gives a value."""

    chart: Chart
    names: NameBook
    shadowed: frozenset[str]
    root_id: str

    def wait(self, transition: ChartTransition) -> Decimal | None:
        """Seconds, for an eventless transition whose guard is a waiting time and nothing else.

        It is a timer, unless its state has guards with waiting times among
        other things: then all of them are asked together, by priority.
        """
        seconds = self._waiting_time(transition)
        siblings = self.chart.states[transition.source].transitions
        if seconds is None or any(self._times_inside(sibling) for sibling in siblings):
            return None
        return seconds

    def times_in(self, transition: ChartTransition) -> frozenset[Decimal] | None:
        """Waiting times that the guard asks for among other things; ``None`` if it asks for more than that."""
        seconds = self._waiting_time(transition)
        if seconds is not None:
            return frozenset() if self.wait(transition) is not None else frozenset({seconds})
        return self._times_inside(transition)

    def times_of(self, state: str) -> list[Decimal]:
        """Waiting times that guards of ``state`` ask for among other things, shortest first; each needs a timer."""
        found: set[Decimal] = set()
        for transition in self.chart.states[state].transitions:
            found |= self.times_in(transition) or frozenset()
        return sorted(seconds for seconds in found if seconds > 0)

    def _waiting_time(self, transition: ChartTransition) -> Decimal | None:
        expression = parse_expression(transition.guard.text) if transition.guard is not None else None
        if not isinstance(expression, ast.Call) or transition.event is not None:
            return None
        return self._seconds(expression, transition.source)

    def _times_inside(self, transition: ChartTransition) -> frozenset[Decimal] | None:
        expression = parse_expression(transition.guard.text) if transition.guard is not None else None
        if expression is None or self._waiting_time(transition) is not None:
            return frozenset()
        found: set[Decimal] = set()
        asked: set[int] = set()
        for node in ast.walk(expression):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                seconds = self._seconds(node, transition.source)
                if seconds is not None:
                    found.add(seconds)
                    asked.add(id(node.func))
            elif isinstance(node, ast.Name) and node.id in CLOCK - self.shadowed and id(node) not in asked:
                return None
        return frozenset(found)

    def _seconds(self, call: ast.Call, state: str) -> Decimal | None:
        """``n`` of ``after(n)`` with a constant, or of ``idle(n)`` where that is the same.

        ``idle`` counts from the last transition of the state, which is its
        entry unless the state has internal transitions.
        """
        has_internal = any(t.target is None for t in self.chart.states[state].transitions)
        for name in ("after",) if has_internal else ("after", "idle"):
            argument = call_of(call, name)
            if argument is not None and name not in self.shadowed:
                return constant_seconds(argument)
        return None

    def clock_names(self, code: Code, *, expression: bool = True) -> list[str]:
        """Sismic's names for the time that ``code`` uses."""
        return sorted((names_in(code.text, expression=expression).reads & CLOCK) - self.shadowed)

    def translate(self, code: Code, moment: Moment) -> Any:
        """The guard as JSON; ``None`` for one that always holds."""
        expression = parse_expression(code.text)
        if expression is None:
            return self.names.guard(code.text, code, moment)
        if isinstance(expression, ast.Constant) and expression.value is True:
            return None
        return self._guard(expression, code, moment, whole=True)

    def _guard(self, node: ast.expr, code: Code, moment: Moment, whole: bool = False) -> Any:
        text = code.text if whole else ast.unparse(node)
        if not any(self._active_calls(node)):
            return self.names.guard(text, code, moment)
        if isinstance(node, ast.BoolOp):
            kind = "@xstate.and" if isinstance(node.op, ast.And) else "@xstate.or"
            parts = [self._guard(part, code, moment) for part in self._grouped(node)]
            return {"type": kind, "guards": parts}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return {"type": "@xstate.not", "guard": self._guard(node.operand, code, moment)}
        state = self._active_state(node)
        if state is not None:
            return self._state_in(state)
        return self._by_cases(node, text, code, moment)

    def _grouped(self, node: ast.BoolOp) -> list[ast.expr]:
        """The operands; neighbours that do not ask for states stay together under one name."""
        found: list[ast.expr] = []
        plain: list[ast.expr] = []
        for part in node.values:
            if any(self._active_calls(part)):
                found += _joined(node.op, plain)
                plain = []
                found.append(part)
            else:
                plain.append(part)
        return found + _joined(node.op, plain)

    def _by_cases(self, node: ast.expr, text: str, code: Code, moment: Moment) -> Any:
        """``active()`` inside a larger expression: one name for each way the states can be."""
        asked = self.asked_states(node)
        if asked is None:
            return self.names.guard(text, code, moment)
        return self._cases(asked, {}, text, code, moment)

    def asked_states(self, node: ast.expr) -> list[str] | None:
        """The states that ``node`` asks for by name; ``None`` if it computes names, or asks for too many."""
        literals = [_literal_name(call) for call in self._active_calls(node)]
        known = sorted({name for name in literals if name is not None and name in self.chart.states})
        return None if None in literals or len(known) > _MOST_FACTS else known

    def _cases(self, asked: list[str], facts: dict[str, bool], text: str, code: Code, moment: Moment) -> Any:
        if not asked:
            return self.names.guard(text, code, moment, facts)
        first, *rest = asked
        inside = self._cases(rest, {**facts, first: True}, text, code, moment)
        outside = self._cases(rest, {**facts, first: False}, text, code, moment)
        here = self._state_in(first)
        return {
            "type": "@xstate.or",
            "guards": [
                {"type": "@xstate.and", "guards": [here, inside]},
                {"type": "@xstate.and", "guards": [{"type": "@xstate.not", "guard": here}, outside]},
            ],
        }

    def computes_states(self, node: ast.expr) -> bool:
        """Whether some ``active()`` in the guard cannot be answered: its name is computed, or there are too many."""
        if not any(self._active_calls(node)) or self._active_state(node) is not None:
            return False
        if isinstance(node, ast.BoolOp):
            return any(self.computes_states(part) for part in node.values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.computes_states(node.operand)
        return self.asked_states(node) is None

    def _state_in(self, state: str) -> dict[str, Any]:
        name = self.root_id if state == self.chart.root else state
        return {"type": "@xstate.stateIn", "state": target_of(name)}

    def _active_calls(self, node: ast.expr) -> Iterator[ast.expr]:
        """Every use of ``active`` in ``node``: the call, or the bare name where it is used otherwise."""
        if "active" in self.shadowed:
            return
        called: set[int] = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "active":
                called.add(id(inner.func))
                yield inner
            elif isinstance(inner, ast.Name) and inner.id == "active" and id(inner) not in called:
                yield inner

    def _active_state(self, node: ast.expr) -> str | None:
        """``s`` for ``active('s')`` with a state of this chart; sismic says no to any other name."""
        name = _literal_name(node)
        return name if name is not None and name in self.chart.states else None


def _literal_name(node: ast.expr) -> str | None:
    argument = call_of(node, "active")
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    return None


def _joined(operator: ast.boolop, parts: list[ast.expr]) -> list[ast.expr]:
    if len(parts) < 2:
        return parts
    return [ast.BoolOp(operator, parts)]
