"""Data expressions: guards, updates, params and outputs written in the document itself.

The spelling is XState 6's: ``{"@expr": "context.count + 1", "@lang": "cel"}``,
where ``@lang`` may be left out (the machine's ``@exprLang``, else ``"cel"``).
An expression sees the variables of its moment (:data:`VARIABLES`) and nothing
else: no clock, no randomness, no I/O.

Languages are handed in as a mapping, never registered globally. One is built
in, :class:`CelCompiler`; its runtime is an extra that is imported when the
first CEL expression is compiled, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Protocol

from .errors import DefinitionError, ImplementationError, Problem
from .values import freeze

_ATOMS: Final = frozenset({str, int, float, bool, type(None)})
VARIABLES: Final = ("context", "event", "params", "input", "output", "error")
"""What an expression may name. Those that have no value at its moment are absent."""

Evaluate = Callable[[Mapping[str, Any]], Any]
"""A compiled expression: variables in, plain JSON out; raises :class:`EvaluationFault`."""


class SyntaxFault(Exception):
    """A language cannot read a source. ``line`` and ``column`` are 1-based, ``None`` when unknown."""

    def __init__(
        self, reason: str, *, line: int | None = None, column: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column
        self.hint = hint


class EvaluationFault(Exception):
    """An expression has no value for these variables; the message says why."""


class Compiler(Protocol):
    """A language: turns source text into something that can be evaluated, or raises :class:`SyntaxFault`."""

    def __call__(self, source: str, /) -> Evaluate: ...


@dataclass(frozen=True, slots=True)
class CelCompiler:
    """CEL, the Common Expression Language, on Google's runtime (extra ``cel``).

    Numbers follow JSON, which has one kind of them: see
    :mod:`statecharts.expressions_cel`.
    """

    def __call__(self, source: str, /) -> Evaluate:
        # Imported here so that `import statecharts` needs neither the extra nor its start-up time.
        from .expressions_cel import compile_cel

        return compile_cel(source)


DEFAULT_LANGUAGES: Final[Mapping[str, Compiler]] = MappingProxyType({"cel": CelCompiler()})


def is_expression(value: object) -> bool:
    """Whether ``value`` is an object in the ``{"@expr": …}`` spelling (well-formed or not)."""
    return isinstance(value, dict) and "@expr" in value


@dataclass(frozen=True, slots=True)
class Expression:
    """One compiled expression.

    ``pointer`` is the JSON pointer of the ``{"@expr": …}`` object in its
    document. Equality and hash look at source, language and pointer. May be
    shared between threads; pickles when its compiler does.
    """

    source: str
    lang: str
    pointer: str
    compiler: Compiler = field(compare=False, repr=False)
    _evaluate: Evaluate = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        try:
            evaluate = self.compiler(self.source)
        except SyntaxFault as fault:
            raise DefinitionError([_syntax_problem(self, fault)]) from None
        object.__setattr__(self, "_evaluate", evaluate)

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.source, self.lang, self.pointer, self.compiler)

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        """The value for ``variables`` as fresh plain JSON; whole doubles are ints.

        Variables that are :data:`~statecharts.values.UNDEFINED` count as
        absent. Raises :class:`ImplementationError` naming pointer, source and
        reason when there is no value.
        """
        try:
            return self._evaluate(variables)
        except EvaluationFault as fault:
            raise self._error(str(fault)) from None

    def test(self, variables: Mapping[str, Any]) -> bool:
        """The value as a guard's answer.

        Raises :class:`ImplementationError` when it is not ``true`` or
        ``false``: CEL has no truthiness, and a guard that is quietly false
        because of a typo is hard to find.
        """
        answer = self.evaluate(variables)
        if answer is True or answer is False:
            return bool(answer)
        raise self._error(
            f"a guard must be true or false, this one is {_kind(answer)}; "
            "compare it (for example `context.name != ''` or `has(event.name)`)"
        )

    def _error(self, reason: str) -> ImplementationError:
        place = self.pointer or "(document)"
        return ImplementationError(
            f"expression `{self.source}` at {place} has no value: {reason}", name=self.source
        )


def compile_expression(
    value: dict[str, Any] | str,
    *,
    pointer: str,
    default_lang: str = "cel",
    languages: Mapping[str, Compiler] = DEFAULT_LANGUAGES,
) -> Expression:
    """Compile ``{"@expr": source, "@lang": language}``, or bare source text in ``default_lang``.

    Raises :class:`DefinitionError` with code ``expression-syntax`` (the
    source cannot be read; names line and column) or ``expression-language``
    (nobody supplied that language), and :class:`ImplementationError` when the
    language's runtime is not installed.
    """
    source, lang = (value, default_lang) if isinstance(value, str) else _members(value, pointer, default_lang)
    compiler = languages.get(lang)
    if compiler is None:
        raise DefinitionError([_language_problem(lang, pointer, languages)])
    return Expression(source, lang, pointer, compiler)


def _members(value: dict[str, Any], pointer: str, default_lang: str) -> tuple[str, str]:
    problems = []
    source, lang = value.get("@expr"), value.get("@lang", default_lang)
    if not isinstance(source, str):
        problems.append(
            Problem("expression-syntax", f"{pointer}/@expr", f"`@expr` is source text, not {_kind(source)}")
        )
    if not isinstance(lang, str):
        problems.append(
            Problem("expression-language", f"{pointer}/@lang", f"`@lang` is a name, not {_kind(lang)}")
        )
    problems += [
        Problem(
            "expression-syntax",
            f"{pointer}/{_escape(key)}",
            f"`{key}` has no meaning beside `@expr`",
            "an expression object has the members `@expr` and `@lang` only",
        )
        for key in value
        if key not in ("@expr", "@lang")
    ]
    if problems:
        raise DefinitionError(problems)
    return str(source), str(lang)


def _syntax_problem(expression: Expression, fault: SyntaxFault) -> Problem:
    place = "" if fault.line is None else f" at line {fault.line}, column {fault.column}"
    shown = expression.source.encode(
        "utf-8", "backslashreplace"
    ).decode()  # printable even with lone surrogates
    message = f"cannot read the {expression.lang} expression `{shown}`{place}: {fault.reason}"
    return Problem("expression-syntax", expression.pointer, message, fault.hint)


def _language_problem(lang: str, pointer: str, languages: Mapping[str, Compiler]) -> Problem:
    known = ", ".join(f"`{name}`" for name in languages) or "none"
    return Problem(
        "expression-language",
        pointer,
        f"expressions in {lang!r} cannot be evaluated here",
        f"languages available: {known}; write the expression in one of them, or bind a Python function by name",
    )


@dataclass(frozen=True, slots=True)
class Template:
    """A JSON value that may hold expressions at any depth.

    Without one (``is_constant``), :meth:`evaluate` returns the frozen value
    itself; otherwise a fresh value each time.
    """

    _shape: Any
    is_constant: bool

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        """The JSON value for ``variables``. Raises :class:`ImplementationError` as expressions do."""
        return self._shape if self.is_constant else _fill(self._shape, variables)


def holds_expressions(value: Any) -> bool:
    """Whether ``{"@expr": …}`` or ``{"@code": …}`` stands somewhere in ``value``."""
    if isinstance(value, dict):
        if "@expr" in value or "@code" in value:
            return True
        for member in value.values():
            if type(member) not in _ATOMS and holds_expressions(member):
                return True
    elif isinstance(value, (list, tuple)):
        for member in value:
            if type(member) not in _ATOMS and holds_expressions(member):
                return True
    return False


def compile_value(
    value: Any,
    *,
    pointer: str,
    default_lang: str = "cel",
    languages: Mapping[str, Compiler] = DEFAULT_LANGUAGES,
) -> Template:
    """Compile every expression inside ``value``.

    Raises one :class:`DefinitionError` with all problems found, each under
    its own pointer; besides those of :func:`compile_expression` that is
    ``expression-language`` for ``{"@code": …}``, which only a JavaScript
    runtime can run.
    """
    problems: list[Problem] = []
    found: list[Expression] = []

    def shape(member: Any, where: str) -> Any:
        if isinstance(member, dict):
            if "@code" in member:
                problems.append(_code_problem(where))
                return None
            if "@expr" in member:
                try:
                    found.append(
                        compile_expression(
                            member, pointer=where, default_lang=default_lang, languages=languages
                        )
                    )
                except DefinitionError as error:
                    problems.extend(error.problems)
                    return None
                return found[-1]
            return {key: shape(item, f"{where}/{_escape(key)}") for key, item in member.items()}
        if isinstance(member, (list, tuple)):
            return [shape(item, f"{where}/{index}") for index, item in enumerate(member)]
        return member

    built = shape(value, pointer)
    if problems:
        raise DefinitionError(problems)
    return Template(built, False) if found else Template(freeze(value), True)


def _code_problem(pointer: str) -> Problem:
    return Problem(
        "expression-language",
        pointer,
        "`@code` holds JavaScript, which this library does not run",
        'write it as `{"@expr": …}` in CEL, or bind a Python function by name',
    )


def _fill(shape: Any, variables: Mapping[str, Any]) -> Any:
    kind = type(shape)
    if kind is Expression:
        return shape.evaluate(variables)
    if kind is dict:
        return {key: _fill(member, variables) for key, member in shape.items()}
    if kind is list:
        return [_fill(member, variables) for member in shape]
    return shape


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _kind(value: object) -> str:
    """``value``'s JSON kind in words, for messages."""
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", int: "a number", float: "a number", dict: "an object"}
    return names.get(type(value), "a list" if isinstance(value, (list, tuple)) else "an object")
