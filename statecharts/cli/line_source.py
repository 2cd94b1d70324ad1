"""Where the prompt's lines come from: a person at a terminal, or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Protocol

from ..errors import UsageError
from .doings import event_text
from .guard_answers import Question

YES, NO = ("y", "yes", "true"), ("n", "no", "false")


class LineSource(Protocol):
    """Lines, and answers to a question between two of them."""

    is_person: bool

    def line(self) -> str | None: ...
    def answer(self, question: str) -> str | None: ...


class Terminal:
    """A person: with history, and completion on the tab key where readline exists."""

    is_person = True

    def __init__(self, words: Callable[[], Iterable[str]]) -> None:
        self._words = words
        try:
            import readline
        except ImportError:  # pragma: no cover - depends on the platform
            return
        readline.set_completer_delims(" ")
        readline.set_completer(self._complete)
        readline.parse_and_bind("tab: complete")

    def _complete(self, text: str, state: int) -> str | None:
        matching = [word for word in self._words() if word.startswith(text)]
        return matching[state] if state < len(matching) else None

    def line(self) -> str | None:
        """The next line; ``None`` at the end."""
        try:
            return input("> ")
        except EOFError:
            sys.stdout.write("\n")
            return None

    def answer(self, question: str) -> str | None:
        """What the person says to a question; ``None`` at the end."""
        try:
            return input(f"{question} ")
        except EOFError:
            sys.stdout.write("\n")
            return None


class Pipe:
    """Lines of a file or another program. A question is answered by the next line if that is a yes or a no."""

    is_person = False

    def __init__(self) -> None:
        self._ahead: str | None = None

    def line(self) -> str | None:
        """The next line; ``None`` at the end."""
        line, self._ahead = self._ahead, None
        return line if line is not None else self._read()

    def _read(self) -> str | None:
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError:
            raise UsageError("<stdin>: is not UTF-8 text") from None
        return line.rstrip("\r\n") if line else None

    def answer(self, question: str) -> str | None:
        """The next line when it is an answer; else it stays for :meth:`line`."""
        if self._ahead is None:
            self._ahead = self._read()
        if self._ahead is None or self._ahead.strip().lower() not in (*YES, *NO):
            return None
        answer, self._ahead = self._ahead, None
        return answer


class Asker:
    """Puts a guard's question to whoever types. ``Y`` and ``N`` are answers for good."""

    def __init__(self, source: LineSource, echo: Callable[[str], None], fixed: dict[str, bool]) -> None:
        self.source = source
        self._fixed = fixed
        self._echo = echo

    def __call__(self, question: Question) -> bool | None:
        asked = f"guard {question.name!r} for {event_text(question.event)}? [y/n, Y/N for good]"
        while True:
            answer = self.source.answer(asked)
            if answer is None:
                return None
            word = answer.strip()
            if not self.source.is_person:
                self._echo(f"{asked} {word}")
            if word.lower() in (*YES, *NO):
                value = word.lower() in YES
                if word in ("Y", "N"):
                    self._fixed[question.name] = value
                return value
