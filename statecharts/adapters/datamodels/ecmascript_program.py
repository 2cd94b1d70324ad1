"""An expression, location or script compiled in one engine, and what its text lets it touch."""

from __future__ import annotations

from typing import Any, Final

from .ecmascript_source import Traits

NO_CODE: Final[frozenset[str]] = frozenset()


class Program:
    """``function`` is the compiled JavaScript, or ``None`` and ``fault`` says why there is none.

    ``words`` are the names it can touch (``None``: any): those of its own
    text and those of every function of the document it could call.
    ``compared`` are the names of its own if there is a comparison of any.
    """

    __slots__ = (
        "code", "compared", "fault", "function", "js_words", "source", "traits", "uses_active", "uses_event", "uses_session", "words",
    )  # fmt: skip

    def __init__(self, source: str, traits: Traits) -> None:
        self.source = source
        self.traits = traits
        self.function: Any = None
        self.fault: str | None = None
        names = () if traits.words is None else sorted(word for word in traits.words if not word[0].isdigit())
        self.compared = tuple(names) if len(names) > 1 and ("==" in source or "!=" in source) else ()
        self.extend(NO_CODE)

    def extend(self, code: frozenset[str] | None) -> None:
        """Take in that the functions of the document mention ``code`` (``None``: anything)."""
        self.code = code
        own = self.traits.words
        words = self.words = None if own is None or code is None else own | code
        self.js_words: Any = None
        self.uses_active = words is None or "In" in words
        self.uses_event = words is None or "_event" in words
        self.uses_session = words is None or not words.isdisjoint(("_sessionid", "_name", "_ioprocessors"))

    @property
    def may_change(self) -> bool:
        """Whether running it could change a variable."""
        found = self.traits
        # a call may reach a function of the document, if there are any
        return found.assigns or (found.calls and (not found.harmless or self.code is None or bool(self.code)))
