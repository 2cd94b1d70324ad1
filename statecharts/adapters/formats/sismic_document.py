"""From a chart to an XState v5 document that means the same, as far as XState has words for it.

Every target is external in sismic, so every transition with a target has
``reenter``; what has none is internal in both. Regions stand in the order of
their names, in which sismic enters them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from statecharts.events import after_event_type
from statecharts.validation.report import token
from statecharts.values import js_number

from .sismic_actions import ActionReader, milliseconds
from .sismic_chart import (
    COMPOUND,
    DEEP,
    FINAL,
    ORTHOGONAL,
    Chart,
    ChartState,
    ChartTransition,
    Code,
    Condition,
)
from .sismic_code import literal_assignments
from .sismic_guards import GuardReader, target_of, waited
from .sismic_names import Moment, NameBook
from .sismic_text import Path


class Checks:
    """Actions that stand around the chart's own, where sismic checks contracts. By default there are none."""

    def before_entry(self, state: ChartState) -> list[str]:
        """Just before the entry code of ``state``."""
        return []

    def after_entry(self, state: ChartState) -> list[str]:
        """Just after it."""
        return []

    def after_exit(self, state: ChartState) -> list[str]:
        """Just after the exit code of ``state``."""
        return []

    def before_action(self, transition: ChartTransition) -> list[str]:
        """When ``transition`` has left states, before its action."""
        return []

    def after_action(self, transition: ChartTransition) -> list[str]:
        """After its action, before states are entered."""
        return []

    def guarded(self, transition: ChartTransition, guard: Any) -> Any:
        """The guard of ``transition`` (``None`` without one), perhaps with more to it."""
        return guard


NO_CHECKS = Checks()


def machine_id(chart: Chart) -> str:
    """The chart's name, unless a state below the root has that name; then the root's."""
    taken = chart.name in chart.states and chart.name != chart.root
    return chart.name if chart.name and not taken else chart.root


@dataclass(slots=True)
class DocumentWriter:
    """Writes one document.

    ``places`` tells for each JSON pointer which part of the file it comes
    from; ``timers`` are the events that only note that a waiting time of some
    guard is over.
    """

    chart: Chart
    names: NameBook
    guards: GuardReader
    actions: ActionReader
    checks: Checks = NO_CHECKS
    places: dict[str, Path] = field(default_factory=dict)
    timers: set[str] = field(default_factory=set)

    def write(self) -> dict[str, Any]:
        """The document."""
        chart = self.chart
        root = chart.states[chart.root]
        document: dict[str, Any] = {"id": machine_id(chart)}
        if chart.description:
            document["description"] = chart.description
        context = literal_assignments(chart.preamble.text) if chart.preamble is not None else None
        if context:
            document["context"] = context
        self._fill(document, root, "")
        about: dict[str, Any] = {"statechart": chart.name, "root state": chart.root}
        if chart.preamble is not None:
            about["preamble"] = chart.preamble.text
        document["meta"] = {"sismic": {**about, **document["meta"]["sismic"]}}
        return document

    # ----------------------------------------------------------------- states

    def _fill(self, node: dict[str, Any], state: ChartState, pointer: str) -> None:
        self.places[pointer] = state.path
        if state.is_history:
            node.update(type="history", history="deep" if state.kind == DEEP else "shallow")
            if state.memory is not None:
                node["target"] = self._target(state.memory)
        elif state.kind == FINAL and not self._is_plain_final(state):
            node["type"] = "final"
        elif state.kind == ORTHOGONAL:
            node["type"] = "parallel"
        elif state.kind == COMPOUND:
            node["initial"] = state.initial or next(
                name for name in state.children if not self.chart.states[name].is_history
            )
        if not state.is_history:
            self._fill_code(node, state, pointer)
        node["meta"] = {"sismic": _about_state(state, "final" if self._is_plain_final(state) else None)}
        if state.children:
            node["states"] = {}
            for name in self._ordered(state):
                child: dict[str, Any] = {"id": name}
                node["states"][name] = child
                self._fill(child, self.chart.states[name], f"{pointer}/states{token(name)}")

    def _ordered(self, state: ChartState) -> Sequence[str]:
        return sorted(state.children) if state.kind == ORTHOGONAL else state.children

    def _is_plain_final(self, state: ChartState) -> bool:
        """Below an orthogonal root a final state is written as a state without transitions, as sismic runs it.

        As a final state it would help to end the machine, which in sismic
        only a final child of a compound root does.
        """
        return state.kind == FINAL and self.chart.states[self.chart.root].kind == ORTHOGONAL

    def _fill_code(self, node: dict[str, Any], state: ChartState, pointer: str) -> None:
        times = self.guards.times_of(state.name)
        entry = [_noted(state.name, seconds, False) for seconds in times] + self.entry_actions(state)
        exits = self.exit_actions(state)
        if entry:
            node["entry"] = entry
        if exits:
            node["exit"] = exits
        by_priority = sorted(state.transitions, key=lambda t: -t.priority)
        for transition in by_priority:
            self._add_transition(node, transition, pointer)
        for seconds in times:
            key = js_number(milliseconds(seconds))
            node.setdefault("after", {})[key] = {"actions": _noted(state.name, seconds, True)}
            self.places[f"{pointer}/after/{key}"] = state.path
            self.timers.add(after_event_type(milliseconds(seconds), str(node["id"])))

    def entry_actions(self, state: ChartState) -> list[Any]:
        """What entering ``state`` itself does."""
        own = self.actions.translate(state.on_entry, Moment("entry", state.name))
        return [*self.checks.before_entry(state), *own, *self.checks.after_entry(state)]

    def exit_actions(self, state: ChartState) -> list[Any]:
        """What leaving ``state`` itself does."""
        own = self.actions.translate(state.on_exit, Moment("exit", state.name))
        return [*own, *self.checks.after_exit(state)]

    # ------------------------------------------------------------ transitions

    def _add_transition(self, node: dict[str, Any], transition: ChartTransition, pointer: str) -> None:
        seconds = self.guards.wait(transition)
        written = self._transition(transition, waits=seconds is not None)
        if seconds is not None and seconds > 0:
            key = js_number(milliseconds(seconds))
            self._append(node.setdefault("after", {}), key, written, transition, f"{pointer}/after")
        elif transition.event is None:
            self._append(node, "always", written, transition, pointer)
        else:
            self._append(node.setdefault("on", {}), transition.event, written, transition, f"{pointer}/on")

    def _append(
        self, holder: dict[str, Any], key: str, written: Any, transition: ChartTransition, pointer: str
    ) -> None:
        listed = holder.setdefault(key, [])
        self.places[f"{pointer}{token(key)}/{len(listed)}"] = transition.path
        self.places.setdefault(pointer + token(key), transition.path)
        listed.append(written)

    def _transition(self, transition: ChartTransition, waits: bool) -> dict[str, Any]:
        moment = Moment("transition", transition.source, transition)
        written: dict[str, Any] = {}
        actions: list[Any] = [
            *self.checks.before_action(transition),
            *self.actions.translate(transition.action, moment),
            *self.checks.after_action(transition),
        ]
        if transition.target is not None:
            written["target"] = self._target(transition.target)
            if reenters_in_place(self.chart, self.guards, transition):
                state = self.chart.states[transition.source]
                actions = [*self.exit_actions(state), *actions, *self.entry_actions(state)]
            else:
                written["reenter"] = True
        guard = None
        if transition.guard is not None and not waits:
            guard = self.guards.translate(transition.guard, moment)
        guard = self.checks.guarded(transition, guard)
        if guard is not None:
            written["guard"] = guard
        if actions:
            written["actions"] = actions
        written["meta"] = {"sismic": _about_transition(transition)}
        return written

    def _target(self, name: str) -> str:
        return target_of(machine_id(self.chart) if name == self.chart.root else name)


def reenters_in_place(chart: Chart, guards: GuardReader, transition: ChartTransition) -> bool:
    """Whether a region that leaves and enters itself can be written as one that stays.

    XState's ``reenter`` would restart all regions. Without it the region's
    children are left and entered, and its own code is written among the
    transition's actions, where sismic runs it. That is the same, unless the
    region has timers or a history of its own, or regions of which only one
    is entered.
    """
    if transition.target is None:
        return False
    domain = chart.domain(transition)
    if domain is None or chart.states[domain].kind != ORTHOGONAL:
        return False
    source = chart.states[transition.source]
    if source.parent != domain or chart.child_towards(domain, transition.target) != source.name:
        return False
    if source.kind == ORTHOGONAL and transition.target != source.name:
        return False
    waits = any(guards.wait(t) is not None for t in source.transitions) or guards.times_of(source.name)
    return not waits and not any(chart.states[child].is_history for child in source.children)


def _noted(state: str, seconds: Decimal, is_over: bool) -> dict[str, Any]:
    return {"type": "@xstate.assign", "context": {waited(state, seconds): is_over}}


def _about_state(state: ChartState, kind: str | None) -> dict[str, Any]:
    about: dict[str, Any] = {"line": state.line}
    if kind is not None:
        about["type"] = kind
    about.update(_texts({"on entry": state.on_entry, "on exit": state.on_exit}))
    return _with_contract(about, state.contract)


def _about_transition(transition: ChartTransition) -> dict[str, Any]:
    about: dict[str, Any] = {"line": transition.line}
    about.update(_texts({"guard": transition.guard, "action": transition.action}))
    if transition.priority:
        about["priority"] = transition.priority
    return _with_contract(about, transition.contract)


def _texts(codes: dict[str, Code | None]) -> dict[str, str]:
    return {key: code.text for key, code in codes.items() if code is not None}


def _with_contract(about: dict[str, Any], contract: Sequence[Condition]) -> dict[str, Any]:
    if contract:
        about["contract"] = [{condition.kind: condition.code.text} for condition in contract]
    return about
