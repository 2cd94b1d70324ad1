"""What sismic's own ``validate`` refuses, what it only notices when it runs, and what XState cannot name."""

from __future__ import annotations

from collections.abc import Iterable

from statecharts.errors import Problem
from statecharts.validation.nearest import nearest

from .sismic_chart import COMPOUND, FINAL, ORTHOGONAL, SHALLOW, Chart, ChartState, ChartTransition
from .sismic_codes import SismicCode
from .sismic_text import YamlText


def check_structure(chart: Chart, text: YamlText) -> list[Problem]:
    """Every problem of the tree that no reading of single values shows. All are errors."""
    found: list[Problem] = []
    for state in chart.states.values():
        found += _check_state(chart, text, state)
        for transition in state.transitions:
            found += _check_transition(chart, text, transition)
    if not found:
        found = list(_check_default_entry(chart, text))
    return found


def _unknown(chart: Chart, name: str, among: Iterable[str] | None = None) -> str:
    guess = nearest(name, chart.states if among is None else among)
    if guess is not None:
        return f"Did you mean {guess!r}?"
    listed = list(chart.states if among is None else among)
    shown = ", ".join(repr(item) for item in listed[:8])
    return f"There are {shown}{' and others' if len(listed) > 8 else ''}."


def _check_state(chart: Chart, text: YamlText, state: ChartState) -> Iterable[Problem]:
    parent = chart.states[state.parent] if state.parent is not None else None
    if parent is None and (state.is_history or state.kind == FINAL):
        yield text.problem(
            SismicCode.SISMIC_STRUCTURE,
            (*state.path, "type"),
            f"The root state {state.name!r} is a {state.kind} state.",
            "The root is an ordinary state, which holds the others.",
        )
    if state.is_history and parent is not None and parent.kind != COMPOUND:
        yield text.problem(
            SismicCode.SISMIC_STRUCTURE,
            state.path,
            f"The history state {state.name!r} stands in {parent.name!r}, which has regions.",
            "A history state remembers which of some alternatives was active; put it inside a region.",
        )
    if state.transitions and (state.is_history or state.kind == FINAL):
        yield text.problem(
            SismicCode.SISMIC_STRUCTURE,
            (*state.path, "transitions"),
            f"{state.name!r} is a {state.kind} state and cannot have transitions.",
            "Remove them, or the type.",
        )
    if state.kind == COMPOUND and state.initial and state.initial not in state.children:
        yield text.problem(
            SismicCode.SISMIC_UNKNOWN_STATE,
            (*state.path, "initial"),
            f"{state.name!r} has no child {state.initial!r} to start in.",
            _unknown(chart, state.initial, state.children),
        )
    if state.kind == COMPOUND and all(chart.states[name].is_history for name in state.children):
        yield text.problem(
            SismicCode.SISMIC_STRUCTURE,
            state.path,
            f"{state.name!r} has history states only, which are never active themselves.",
            "Add the states that they remember.",
        )
    if state.is_history and parent is not None and parent.kind == COMPOUND:
        yield from _check_memory(chart, text, state, parent)


def _check_memory(chart: Chart, text: YamlText, state: ChartState, parent: ChartState) -> Iterable[Problem]:
    if state.memory is None:
        if parent.initial == state.name:
            yield text.problem(
                SismicCode.SISMIC_STRUCTURE,
                state.path,
                f"{parent.name!r} starts in the history state {state.name!r}, which has nothing to restore at first.",
                "Give it a `memory`: the state to start in.",
            )
        return
    siblings = [name for name in parent.children if name != state.name]
    if state.memory not in siblings:
        yield text.problem(
            SismicCode.SISMIC_UNKNOWN_STATE,
            (*state.path, "memory"),
            f"{state.memory!r} is not another child of {parent.name!r}.",
            _unknown(chart, state.memory, siblings),
        )
        return
    seen = [state.name]
    name: str | None = state.memory
    while name is not None and chart.states[name].is_history:
        if name in seen:
            yield text.problem(
                SismicCode.SISMIC_STRUCTURE,
                (*state.path, "memory"),
                f"The memories {', '.join(map(repr, seen))} point at each other.",
                "One of them has to name an ordinary state.",
            )
            return
        seen.append(name)
        name = chart.states[name].memory


def _check_transition(chart: Chart, text: YamlText, transition: ChartTransition) -> Iterable[Problem]:
    target = transition.target
    if target is not None and target not in chart.states:
        yield text.problem(
            SismicCode.SISMIC_UNKNOWN_STATE,
            (*transition.path, "target"),
            f"The target {target!r} names no state.",
            _unknown(chart, target),
        )
    event = transition.event
    if event is None:
        return
    if "*" in event or event.startswith("xstate."):
        yield text.problem(
            SismicCode.SISMIC_EVENT_NAME,
            (*transition.path, "event"),
            f"The event {event!r} is an ordinary name in sismic, but "
            + (
                "`*` stands for any event here."
                if "*" in event
                else "`xstate.` events are made by the machine here."
            ),
            "Rename the event.",
        )


def _check_default_entry(chart: Chart, text: YamlText) -> Iterable[Problem]:
    """A compound without ``initial`` that is entered without naming a child has no active child in sismic."""
    for name in sorted(default_entries(chart), key=lambda name: chart.states[name].number):
        state = chart.states[name]
        if state.kind == COMPOUND and not state.initial:
            yield text.problem(
                SismicCode.SISMIC_STRUCTURE,
                state.path,
                f"{name!r} has no `initial`; entered as it is, it would have no active child.",
                f"Say which one comes first: `initial: {state.children[0]}`.",
            )


def default_entries(chart: Chart) -> set[str]:
    """States that may be entered without a word about what is below them."""
    waiting = [chart.root]
    for transition in chart.transitions:
        if transition.target is not None:
            waiting.append(transition.target)
            for name in chart.entered_path(transition):
                if chart.states[name].kind == ORTHOGONAL:  # here all regions are entered with one of them
                    waiting += chart.states[name].children
    for state in chart.states.values():
        if state.kind == SHALLOW and state.parent is not None:
            waiting += chart.states[state.parent].children
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        waiting += _entered_next(chart.states[name])
    return found


def _entered_next(state: ChartState) -> list[str]:
    if state.kind == COMPOUND:
        return [state.initial] if state.initial else []
    if state.kind == ORTHOGONAL:
        return state.children
    return [state.memory] if state.memory else []
