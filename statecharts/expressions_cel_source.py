"""Reading CEL source token by token: what it names, and the two rewrites before it is compiled.

A tokenizer is enough; grammar and types stay with the runtime. Strings,
comments and quoted members are skipped, so a ``/`` inside them stays.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""
      (?P<blank>  \s+ | //[^\n]* )
    | (?P<text>   (?:[rR][bB]?|[bB][rR]) (?: \"{3}.*?\"{3} | '{3}.*?'{3} | "[^"\n]*" | '[^'\n]*' )
                | [bB]? (?: \"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3}
                          | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
                | `[^`\n]*` )
    | (?P<number> \.?\d (?: [eE][+-]\d | [\w.] )* )
    | (?P<name>   [A-Za-z_]\w* )
    | (?P<sign>   . )
    """,
    re.VERBOSE | re.DOTALL,
)

STRING_FUNCTION: Final = "js_string"
"""What ``string(`` is compiled as: CEL's own writes 1000000.0 as ``1e+06``."""

_DIVISION: Final = "*1.0/"


class Source:
    """One expression's source.

    ``source`` is as written, ``text`` what the runtime compiles.
    """

    __slots__ = ("_shifts", "_tokens", "source", "text")

    def __init__(self, source: str) -> None:
        self.source = source
        self._tokens = [
            (match.lastgroup, match[0], match.start())
            for match in _TOKEN.finditer(source)
            if match.lastgroup != "blank"
        ]
        self._shifts: list[
            tuple[int, int]
        ] = []  # (offset in `text` after which columns are too large, by how much)
        self.text = self._rewritten()

    def _rewritten(self) -> str:
        parts: list[str] = []
        taken = grown = 0
        for index, (group, token, start) in enumerate(self._tokens):
            if group == "sign" and token == "/":
                new = _DIVISION
            elif token == "string" and self._is_call(index):
                new = STRING_FUNCTION
            else:
                continue
            parts += [self.source[taken:start], new]
            taken = start + len(token)
            self._shifts.append((start + grown, len(new) - len(token)))
            grown += len(new) - len(token)
        return "".join([*parts, self.source[taken:]])

    def _is_call(self, index: int) -> bool:
        """Whether the token is a function's name: followed by ``(`` and not a method's."""
        before = self._tokens[index - 1][1] if index else ""
        after = self._tokens[index + 1][1] if index + 1 < len(self._tokens) else ""
        return self._tokens[index][0] == "name" and before != "." and after == "("

    def is_called(self, name: str) -> bool:
        """Whether ``name`` stands before ``(`` somewhere, as a function or a method."""
        pairs = zip(self._tokens, self._tokens[1:], strict=False)
        return any(token[1] == name and following[1] == "(" for token, following in pairs)

    def original_column(self, line: int, column: int) -> int:
        """The column in ``source`` of a 1-based position in ``text``."""
        start = sum(len(text) + 1 for text in self.text.split("\n")[: line - 1])
        position = start + column - 1
        return column - sum(grown for offset, grown in self._shifts if start <= offset < position)

    def names(self, name: str) -> bool:
        """Whether ``name`` occurs as an identifier at all."""
        return any(group == "name" and token == name for group, token, _ in self._tokens)

    def members_of(self, name: str) -> tuple[str, ...] | None:
        """The members that the source reads of variable ``name``, or ``None`` when it may read all.

        ``context.a + context.b.c`` reads ``a`` and ``b`` of ``context``;
        ``size(context)`` and ``context[event.key]`` may read anything.
        """
        members: dict[str, None] = {}
        for index, (group, token, _) in enumerate(self._tokens):
            if group != "name" or token != name:
                continue
            before = self._tokens[index - 1][1] if index else ""
            following = self._tokens[index + 1 : index + 4]
            selects = len(following) >= 2 and following[0][1] == "." and following[1][0] == "name"
            if before == "." or not selects or (len(following) == 3 and following[2][1] == "("):
                return None
            members[following[1][1]] = None
        return tuple(members)
