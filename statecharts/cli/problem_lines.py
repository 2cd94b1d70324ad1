"""Problems as lines of text: ``file:line pointer: message [code]``, the hint below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import Problem


def problem_lines(problems: Iterable[Problem]) -> Iterator[str]:
    """Each problem on a line, its hint indented on the next."""
    for problem in problems:
        yield problem_line(problem)
        if problem.hint:
            yield f"    {problem.hint}"


def problem_line(problem: Problem) -> str:
    """One problem without its hint."""
    where = problem.file or "<text>"
    if problem.line is not None:
        where += f":{problem.line}"
    word = "warning: " if problem.severity == "warning" else ""
    return f"{where} {problem.pointer or '(document)'}: {word}{problem.message} [{problem.code}]"


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Problems of one file from top to bottom; those without a line first."""
    return sorted(problems, key=lambda problem: problem.line or 0)


def counted(number: int, noun: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def problem_json(problem: Problem) -> dict[str, Any]:
    """All seven members, ``null`` where there is nothing, so that a reader need not ask."""
    return {
        "file": problem.file,
        "line": problem.line,
        "pointer": problem.pointer,
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "hint": problem.hint,
    }
