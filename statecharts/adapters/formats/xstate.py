"""XState documents: text, file or mapping in, :class:`Definition` out."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...definition import XSTATE, XSTATE_EXACT, Definition, build_definition
from ...errors import DefinitionError, Problem, UsageError
from ...validation import accepted, check_document
from .positions import JsonText, read_json


def read_definition(
    source: str | Mapping[str, Any],
    *,
    strict: bool = True,
    semantics: str | None = None,
    file: str | None = None,
    bound: bool = False,
) -> tuple[Definition, tuple[Problem, ...]]:
    """The definition in ``source`` and the warnings about it.

    ``strict`` refuses what XState would silently drop or die of later;
    ``bound`` says that implementations are at hand, so guesses about names
    are left out.
    Raises :class:`DefinitionError` with every problem.
    """
    behaviour = semantics if semantics is not None else XSTATE if strict else XSTATE_EXACT
    if behaviour not in (XSTATE, XSTATE_EXACT):
        raise UsageError(f"semantics is {XSTATE!r} or {XSTATE_EXACT!r}, not {semantics!r}")
    text = read_json(source, file) if isinstance(source, str) else None
    document: Any = source if text is None else text.data
    with _collector_paused():
        return _read(document, text, behaviour, strict, file, bound)


def _read(
    document: Any, text: JsonText | None, behaviour: str, strict: bool, file: str | None, bound: bool
) -> tuple[Definition, tuple[Problem, ...]]:
    warnings: tuple[Problem, ...] = ()
    if strict and (text is None or not text.problems):
        definition = accepted(document, behaviour, implementations_known=bound)
        if definition is not None:
            return definition, ()
    if strict:
        warnings = _check(document, text, file, bound)
    elif not isinstance(document, Mapping):
        raise DefinitionError([Problem("not-an-object", "", "a machine is a JSON object", file=file)])
    try:
        return build_definition(document, semantics=behaviour), warnings
    except DefinitionError as error:
        raise DefinitionError(_located(error.problems, text, file), _id_of(document)) from None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Nearly everything made here stays; to look for garbage in it over and over would take most of the time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _check(document: Any, text: JsonText | None, file: str | None, bound: bool) -> tuple[Problem, ...]:
    found = [
        *(text.problems if text is not None else ()),
        *check_document(document, implementations_known=bound),
    ]
    located = _located(found, text, file)
    errors = [problem for problem in located if problem.severity == "error"]
    if errors:
        rest = [problem for problem in located if problem.severity != "error"]
        raise DefinitionError([*errors, *rest], _id_of(document))
    return tuple(located)


def _id_of(document: Any) -> str | None:
    return (
        document.get("id") if isinstance(document, Mapping) and isinstance(document.get("id"), str) else None
    )


def _located(problems: Any, text: JsonText | None, file: str | None) -> list[Problem]:
    located = []
    for problem in problems:
        line = problem.line if problem.line is not None or text is None else text.line_of(problem.pointer)
        located.append(dataclasses.replace(problem, line=line, file=problem.file or file))
    return located
