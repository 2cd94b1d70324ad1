"""Where brackets open and close in JavaScript: enough to know what stands at the top level of a text.

Two uses. A script's top-level ``let``, ``const`` and ``class`` become
variables of the datamodel, so :func:`globalised` rewrites them. And a
function may be kept by its source when it stands outside every other
function, because then it can see global variables only
(:func:`open_starts`). When a text cannot be followed, both do nothing.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SKIPPED = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"#?[\w$\u200c\u200d]+|\.\d[\w]*")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_REGEXP = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_BEFORE_OPERAND: Final = frozenset(
    ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "instanceof", "yield", "await"]
)
_CONTINUES: Final = frozenset(["in", "instanceof", "of", "as", "extends"])
_OPENED: Final = {"(": ")", "[": "]", "{": "}"}
_TRANSPARENT: Final = frozenset(["(", "[", "object"])


class Token(NamedTuple):
    """``kind`` is ``word``, ``string`` (templates and regular expressions too) or ``sign``."""

    kind: str
    text: str
    start: int
    newline: bool

    @property
    def ends_operand(self) -> bool:
        """Whether an operand can end here, so that a slash after it divides."""
        if self.kind == "word":
            return self.text not in _BEFORE_OPERAND
        return self.kind == "string" or self.text in (")", "]", "}")


class Untraceable(Exception):
    """The text cannot be followed."""


def tokens(text: str) -> list[Token]:
    """The tokens of ``text``. Raises :class:`Untraceable`."""
    found: list[Token] = []
    at = 0
    while True:
        skipped = _SKIPPED.match(text, at)
        start = skipped.end() if skipped else at
        if start >= len(text):
            return found
        kind, end = _token(text, start, found[-1] if found else None)
        found.append(Token(kind, text[start:end], start, "\n" in text[at:start]))
        at = end


def _token(text: str, start: int, before: Token | None) -> tuple[str, int]:
    char = text[start]
    if char == "`":
        return "string", _template_end(text, start + 1)
    pattern = _STRING if char in "'\"" else _WORD
    if char == "/" and not (before is not None and before.ends_operand):
        pattern = _REGEXP
    match = pattern.match(text, start)
    if match is not None:
        return ("word" if pattern is _WORD else "string"), match.end()
    if char in "'\"" or pattern is _REGEXP:
        raise Untraceable
    return "sign", start + (2 if text.startswith(("=>", "?.", "++", "--"), start) else 1)


def _template_end(text: str, at: int) -> int:
    while at < len(text):
        if text[at] == "`":
            return at + 1
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            at = _substitution_end(text, at + 2)
        else:
            at += 1
    raise Untraceable


def _substitution_end(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        char = text[at]
        if char == "}" and depth == 0:
            return at + 1
        if char == "`":
            at = _template_end(text, at + 1)
            continue
        quoted = _STRING.match(text, at) if char in "'\"" else None
        depth += (char == "{") - (char == "}")
        at = quoted.end() if quoted else at + 1
    raise Untraceable


class _Levels:
    """The brackets around the token that comes next."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.before: Token | None = None
        self._earlier: Token | None = None

    def step(self, token: Token) -> None:
        """Move on to ``token``: afterwards :attr:`open` is what encloses its start."""
        if self.before is not None:
            self._after(self.before)
        self._end_arrows(token)
        if token.text in (")", "]", "}") and token.kind == "sign":
            kind = self.open.pop() if self.open else ""
            expected = _OPENED["{" if kind not in ("(", "[", "closed(") else kind[-1]] if kind else ""
            if token.text != expected:
                raise Untraceable
        self._earlier, self.before = self.before, token

    def _after(self, token: Token) -> None:
        """``token`` has been read: what it opens encloses the next one."""
        if token.kind != "sign":
            return
        earlier = self._earlier
        if token.text == "(":
            binds = earlier is not None and earlier.text in ("for", "catch")
            self.open.append("closed(" if binds else "(")
        elif token.text == "[":
            self.open.append("[")
        elif token.text == "{":
            self.open.append("object" if self._is_object(earlier) else "block")
        elif token.text == "=>":
            self.open.append("arrow")

    @staticmethod
    def _is_object(earlier: Token | None) -> bool:
        if earlier is None or earlier.kind == "string":
            return False
        if earlier.kind == "word":
            return earlier.text in _BEFORE_OPERAND - {"do", "else"}
        return earlier.text not in (")", ";", "{", "}", "=>")

    def _end_arrows(self, token: Token) -> None:
        """An arrow function without braces ends where its expression does."""
        before = self.before
        ended = token.kind == "sign" and token.text in (")", "]", "}", ",", ";")
        if not ended and before is not None and token.newline and before.ends_operand:
            ended = token.kind != "sign" and token.text not in _CONTINUES
        while ended and self.open and self.open[-1] == "arrow":
            self.open.pop()


def open_starts(text: str) -> list[int]:
    """Where in ``text`` (in UTF-16 units) a function expression would see global variables only."""
    try:
        found = tokens(text)
        starts = [] if any(token.text == "with" for token in found) else _open_starts(found)
    except Untraceable:
        return []
    if len(text.encode("utf-16-le", "surrogatepass")) != 2 * len(text):
        return [len(text[:start].encode("utf-16-le", "surrogatepass")) // 2 for start in starts]
    return starts


def _open_starts(found: list[Token]) -> list[int]:
    starts: list[int] = []
    parentheses: list[int] = []  # how many starts there were when each was opened
    parameters: int | None = None  # the same of the parentheses just closed
    levels = _Levels()
    for token in found:
        levels.step(token)
        if parameters is not None and token.text in ("{", "=>"):
            del starts[parameters:]  # they held parameters: defaults see the parameters before them
        parameters = parentheses.pop() if token.text == ")" and parentheses else None
        if _TRANSPARENT.issuperset(levels.open):
            starts.append(token.start)
        if token.text == "(":
            parentheses.append(len(starts))
    return starts


def globalised(script: str) -> str:
    """``script`` with top-level ``let``, ``const`` and ``class`` as ``var``, and without ``"use strict"``."""
    try:
        edits = _edits(tokens(script))
    except Untraceable:
        return script
    for start, end, text in reversed(edits):
        script = script[:start] + text + script[end:]
    return script


def _edits(found: list[Token]) -> list[tuple[int, int, str]]:
    edits: list[tuple[int, int, str]] = []
    levels = _Levels()
    in_class = False
    prologue = True
    for index, token in enumerate(found):
        before = levels.before
        levels.step(token)
        prologue = prologue and (token.kind == "string" or token.text == ";")
        if prologue and token.text[1:-1] == "use strict":
            edits.append((token.start, token.start + len(token.text), '"use sloppy"'))
        if in_class and token.text == "}" and token.kind == "sign" and not levels.open:
            edits.append((token.start, token.start + 1, "};"))  # the declaration ends here, an expression would go on
            in_class = False
        if levels.open or token.kind != "word" or not _starts_statement(token, before):
            continue
        following = found[index + 1] if index + 1 < len(found) else None
        if following is None:
            continue
        if token.text == "const" or (token.text == "let" and (following.kind == "word" or following.text in ("{", "["))):
            edits.append((token.start, token.start + len(token.text), "var"))
        elif token.text == "class" and following.kind == "word":
            edits.append((token.start, token.start, f"var {following.text} = "))
            in_class = True
    return edits


def _starts_statement(token: Token, before: Token | None) -> bool:
    return before is None or before.text in (";", "}") or (token.newline and before.text not in (".", "?."))
