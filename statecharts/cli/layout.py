"""How a JSON text is laid out, and writing another document the same way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_FIRST_INDENT = re.compile(r"[{\[][ \t]*\r?\n([ \t]*)\S")
_TIGHT = re.compile(r'"[:,](?=["\d{\[tfn-])')
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u00[89a-f]|(?<!\\)(?:\\\\)*\\u(?!00)[0-9a-f]{4}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Layout:
    """``indent`` is ``None`` for a text on one line; ``tight`` has no space after a colon."""

    indent: str | None = "  "
    tight: bool = False
    newline: str = "\n"
    escaped: bool = False

    @classmethod
    def of(cls, text: str) -> Layout:
        """The layout of ``text``."""
        found = _FIRST_INDENT.search(text)
        return cls(
            indent=found[1] if found and found[1] else None if not found else "  ",
            tight=not found and _TIGHT.search(text) is not None,
            newline="\r\n" if "\r\n" in text else "\n",
            escaped=text.isascii() and _ESCAPED.search(text) is not None,
        )

    def write(self, document: Any) -> str:
        """``document`` in this layout, with a newline at the end. Keys keep their order."""
        separators = (",", ":") if self.tight else (",", ": ") if self.indent is not None else (", ", ": ")
        text = self._dumps(document, separators, self.escaped)
        if not self.escaped and any("\ud800" <= char <= "\udfff" for char in text):
            text = self._dumps(document, separators, True)  # half a character cannot be written as UTF-8
        return text.replace("\n", self.newline) + self.newline

    def _dumps(self, document: Any, separators: tuple[str, str], escaped: bool) -> str:
        return json.dumps(document, indent=self.indent, separators=separators, ensure_ascii=escaped)
