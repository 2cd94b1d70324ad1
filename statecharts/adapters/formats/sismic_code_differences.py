"""Differences that lie in a piece of code: time, active states, sent events, guards that change things."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from statecharts.errors import Problem

from .sismic_chart import ORTHOGONAL, Chart, ChartState, ChartTransition, Code
from .sismic_code import action_codes, call_of, literal_assignments, names_in, parse_statements
from .sismic_codes import SismicCode
from .sismic_guards import GuardReader
from .sismic_text import YamlText


def code_differences(
    chart: Chart, text: YamlText, guards: GuardReader, *, contracts: bool
) -> Iterator[Problem]:
    """Differences of single pieces of code, and of timers that ``send`` sets."""
    yield from _mutating_guards(chart, text)
    yield from _active_in_actions(chart, text, guards, contracts)
    yield from _delayed_sends(chart, text, guards)


def clock_uses(chart: Chart, guards: GuardReader) -> Iterator[tuple[Code, str, list[str]]]:
    """Code that asks for the time, as ``(code, where, names)``, and not only whether a constant time has passed."""
    for transition in chart.transitions:
        guard = transition.guard
        if guard is not None and guards.times_in(transition) is None:
            yield guard, f"the guard of {transition}", guards.clock_names(guard)
        if transition.action is not None and "time" in guards.clock_names(
            transition.action, expression=False
        ):
            yield transition.action, f"the action of {transition}", ["time"]
    for state in chart.states.values():
        for code, what in ((state.on_entry, "entry"), (state.on_exit, "exit")):
            if code is not None and "time" in guards.clock_names(code, expression=False):
                yield code, f"the {what} code of {state.name!r}", ["time"]


def left_out(
    chart: Chart, text: YamlText, guards: GuardReader, *, trusted: bool, contracts: bool
) -> Iterator[Problem]:
    """Code that does not run, or runs without what it asks for."""
    for code, where, names in clock_uses(chart, guards):
        yield text.problem(
            SismicCode.CLOCK_GUARD,
            code.path,
            f"{where[0].upper()}{where[1:]} asks for {' and '.join(f'`{name}`' for name in names)}: {code.text!r}. "
            "Sismic answers from its clock at every step; here no clock is at hand, and time alone does not wake the "
            "machine for it.",
            "Bind the name to code that knows the time in another way, or ask for a constant time: `after(10)`.",
            line=code.line,
        )
    preamble = chart.preamble
    if preamble is not None and not trusted and literal_assignments(preamble.text) is None:
        yield text.problem(
            SismicCode.PREAMBLE_NOT_RUN,
            preamble.path,
            "The preamble is program text, which does not run in a file that is not trusted; the context is empty.",
            f"Bind the initial context in Python (`@impl.context`), in place of:\n{preamble.text.strip()}",
            line=preamble.line,
        )
    holders: list[ChartState | ChartTransition] = [
        state for state in chart.states.values() if state.contract and not state.is_history
    ]
    holders += [transition for transition in chart.transitions if transition.contract]
    if holders and not contracts:
        first = min(holders, key=lambda holder: holder.line or 0)
        count = sum(len(holder.contract) for holder in holders)
        yield text.problem(
            SismicCode.CONTRACTS_NOT_CHECKED,
            (*first.path, "contract"),
            f"The file has {count} contract {'condition' if count == 1 else 'conditions'}, which sismic checks while it "
            "runs and which are not checked here.",
            "Switch the checks on: `statecharts.adapters.formats.sismic_contracts.with_contracts(imported)`.",
        )


def _mutating_guards(chart: Chart, text: YamlText) -> Iterator[Problem]:
    for transition in chart.transitions:
        guard = transition.guard
        if guard is not None and names_in(guard.text, expression=True).mutates:
            yield text.problem(
                SismicCode.GUARD_MUTATES,
                guard.path,
                f"The guard of {transition} seems to change a variable: {guard.text!r}. In sismic the change stays, "
                "even if the transition is not taken; here it is lost.",
                "Move the change into the action.",
                line=guard.line,
            )


def _active_in_actions(
    chart: Chart, text: YamlText, guards: GuardReader, contracts: bool
) -> Iterator[Problem]:
    """``active()`` in entry or exit code is exact for all states but those of other regions of the same step."""
    if "active" in guards.shadowed:
        return
    for state in chart.states.values():
        asking = [(state.on_entry, "entry code"), (state.on_exit, "exit code")]
        if contracts:
            asking += [(c.code, "contract") for c in state.contract if c.kind != "always"]
        for code, what in asking:
            doubtful = None if code is None else _doubtful_state(chart, state.name, code)
            if code is not None and doubtful is not None:
                yield text.problem(
                    SismicCode.ACTIVE_IN_ACTION,
                    code.path,
                    f"The {what} of {state.name!r} asks whether {doubtful} is active; if the same step enters or "
                    "leaves it, the answer may differ from sismic's.",
                    "Keep what you need to know in a variable.",
                    line=code.line,
                )


def _doubtful_state(chart: Chart, state: str, code: Code) -> str | None:
    """A state in another region than ``state`` that ``code`` asks for, in words."""
    for node in (inner for statement in parse_statements(code.text) or () for inner in ast.walk(statement)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "active"):
            continue
        argument = call_of(node, "active")
        asked = argument.value if isinstance(argument, ast.Constant) else None
        if not isinstance(asked, str):
            if any(chart.states[name].kind == ORTHOGONAL for name in chart.ancestors(state)):
                return "a state in another region"
        elif asked in chart.states:
            meeting = chart.meeting(state, asked)
            if meeting not in (state, asked) and chart.states[meeting].kind == ORTHOGONAL:
                return repr(asked)
    return None


def _delayed_sends(chart: Chart, text: YamlText, guards: GuardReader) -> Iterator[Problem]:
    """A delayed event and anything that could be due, or sent, at the same moment."""
    if "send" in guards.shadowed:
        return
    sends = [(code, call) for code in action_codes(chart) for call in _sends(code)]
    delayed = [(code, call) for code, call in sends if _has_delay(call)]
    waits = any(
        guards.wait(transition) is not None or guards.times_in(transition) for transition in chart.transitions
    )
    if not delayed or not (waits or len(sends) > 1):
        return
    for code, _call in delayed:
        rivals = "a waiting time" if waits else "another sent event"
        yield text.problem(
            SismicCode.TIMER_ORDER,
            code.path,
            f"A delayed event and {rivals} may be due at the same moment; sismic then takes waiting times first and "
            "all due events before those that they send, and here timers come in the order in which they were set.",
            "Use times that cannot meet, if it matters.",
            line=code.line,
        )


def _sends(code: Code) -> Iterator[ast.Call]:
    for statement in parse_statements(code.text) or ():
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "send":
                yield node


def _has_delay(call: ast.Call) -> bool:
    """``delay=``, or a ``**mapping`` that may hold it."""
    return any(keyword.arg in ("delay", None) for keyword in call.keywords)
