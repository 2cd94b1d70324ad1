"""Binding a trusted chart's names to its own Python, and refusing code that cannot run here."""

from __future__ import annotations

from collections.abc import Iterator

from statecharts.errors import DefinitionError, Problem
from statecharts.implementations import Implementations

from .sismic_activity import ActiveStates
from .sismic_chart import Chart, Code
from .sismic_code import action_codes, literal_assignments, names_in, parse_expression
from .sismic_code_differences import clock_uses
from .sismic_codes import SismicCode
from .sismic_document import machine_id
from .sismic_guards import GuardReader, waited
from .sismic_names import CodePiece
from .sismic_python import PythonCode, compiled
from .sismic_text import YamlText
from .sismic_values import NotData, check_data, is_constant
from .sismic_writing import Writing

Unbound = frozenset[str]
"""Texts of code that a trusted chart leaves unbound, because it cannot run here."""


def bind(
    writing: Writing, source: YamlText, *, trusted: bool, strict: bool
) -> tuple[Implementations, PythonCode | None]:
    """The implementations of a chart: none, or (trusted) its own code, which is given too.

    Raises :class:`DefinitionError` for code of a trusted chart that is not
    Python or, under ``strict``, cannot be given what it asks for.
    """
    if not trusted:
        return Implementations(), None
    chart = writing.chart
    problems = [*_syntax_problems(chart, source), *_import_problems(chart, source)]
    if strict:
        problems += [problem for _, problem in _impossible(writing, source)]
    if problems:
        raise DefinitionError(problems, chart.name)
    python = python_of(chart, source)
    return implementations_of(writing, python, unbound_of(writing, source)), python


def unbound_of(writing: Writing, source: YamlText) -> Unbound:
    """Code that cannot be given what it asks for."""
    return frozenset(text for text, _ in _impossible(writing, source))


def python_of(chart: Chart, source: YamlText) -> PythonCode:
    """The chart's code made ready to run. Runs the preamble once, for what it imports and defines.

    Raises :class:`DefinitionError` for a variable that is no data.
    """
    python = PythonCode(ActiveStates(chart), machine_id(chart), chart.preamble, source.file)
    if chart.preamble is not None and literal_assignments(chart.preamble.text) is None:
        _learn_constants(python, chart, chart.preamble, source)
    return python


def implementations_of(writing: Writing, python: PythonCode, unbound: Unbound) -> Implementations:
    """Every name of the document bound to its code, but for ``unbound``."""
    found = Implementations()
    for piece in writing.names.pieces.values():
        if _whole_text(piece) in unbound:
            continue
        if piece.kind == "guard":
            found.guards[piece.name] = python.guard(piece, _times(writing, piece))
        else:
            found.actions[piece.name] = python.action(piece)
    found.initial_context = python.initial_context
    return found


def _times(writing: Writing, piece: CodePiece) -> dict[float, str]:
    """Waiting times the guard asks for, in seconds, and the members of the context that answer."""
    transition = piece.moment.transition
    found = writing.guards.times_in(transition) if transition is not None else None
    return {float(seconds): waited(piece.moment.state, seconds) for seconds in found or ()}


def _whole_text(piece: CodePiece) -> str:
    transition = piece.moment.transition
    if piece.kind == "guard" and transition is not None and transition.guard is not None:
        return transition.guard.text
    return piece.text


def _learn_constants(python: PythonCode, chart: Chart, preamble: Code, source: YamlText) -> None:
    try:
        bound = python.run_preamble(None)
    except Exception:  # it may need an initial context; then it fails, or not, when a machine starts
        return
    python.constants = {name: value for name, value in bound.items() if is_constant(value)}
    try:
        check_data({name: value for name, value in bound.items() if name not in python.constants})
    except NotData as error:
        problem = source.problem(
            SismicCode.SISMIC_VALUE,
            preamble.path,
            f"The preamble's variable {error}.",
            None,
            line=preamble.line,
        )
        raise DefinitionError([problem], chart.name) from None


# ------------------------------------------------------------------ refusals


def _syntax_problems(chart: Chart, source: YamlText) -> Iterator[Problem]:
    guards = [t.guard for t in chart.transitions if t.guard is not None]
    preamble = [chart.preamble] if chart.preamble is not None else []
    listed = [(code, "eval") for code in guards] + [
        (code, "exec") for code in (*preamble, *action_codes(chart))
    ]
    for code, mode in listed:
        try:
            compiled(code, mode, source.file)
        except SyntaxError as error:
            what = "an expression" if mode == "eval" else "Python"
            yield source.problem(
                SismicCode.SISMIC_CODE_SYNTAX,
                code.path,
                f"This is not {what}: {error.msg}: {(error.text or code.text).strip()!r}.",
                "A guard is one expression that is true or false." if mode == "eval" else None,
                line=error.lineno,
            )
        except (ValueError, RecursionError, MemoryError) as error:
            yield source.problem(
                SismicCode.SISMIC_CODE_SYNTAX, code.path, f"This cannot be compiled: {error}.", line=code.line
            )


def _import_problems(chart: Chart, source: YamlText) -> Iterator[Problem]:
    """A module or function that an action binds, and other code uses: the context cannot carry it there."""
    codes = list(action_codes(chart))
    guards = [t.guard for t in chart.transitions if t.guard is not None]
    for code in codes:
        for name in sorted(names_in(code.text).imports):
            users = [
                other for other in codes if other.text != code.text and _uses(other, name, expression=False)
            ]
            users += [guard for guard in guards if _uses(guard, name, expression=True)]
            if users:
                yield source.problem(
                    SismicCode.SISMIC_IMPORT,
                    code.path,
                    f"This code binds {name!r} to a module, function or class, which the code on line "
                    f"{users[0].line} uses; a context holds data and cannot carry it there.",
                    "Move the import or definition into the preamble.",
                    line=code.line,
                )


def _uses(code: Code, name: str, *, expression: bool) -> bool:
    names = names_in(code.text, expression=expression)
    return name in names.reads and name not in names.imports


def _impossible(writing: Writing, source: YamlText) -> Iterator[tuple[str, Problem]]:
    """Code that asks for what the core cannot tell, as ``(text, problem)``."""
    for code, where, names in clock_uses(writing.chart, writing.guards):
        asked = " and ".join(f"`{name}`" for name in names)
        yield (
            code.text,
            source.problem(
                SismicCode.SISMIC_CLOCK,
                code.path,
                f"{where[0].upper()}{where[1:]} asks for {asked}: {code.text!r}. The machine has no clock while it "
                "decides.",
                "A guard may ask for a constant time since entry, `after(10)`; anything else has to come in an event.",
                line=code.line,
            ),
        )
    for transition in writing.chart.transitions:
        guard = transition.guard
        if guard is not None and _computes_states(guard, writing.guards):
            yield (
                guard.text,
                source.problem(
                    SismicCode.SISMIC_ACTIVE,
                    guard.path,
                    f"The guard of {transition} asks for computed or too many states: {guard.text!r}.",
                    "Write `active('name')` with the name as text, for three states at most in one comparison.",
                    line=guard.line,
                ),
            )


def _computes_states(code: Code, guards: GuardReader) -> bool:
    expression = parse_expression(code.text)
    return expression is not None and guards.computes_states(expression)
