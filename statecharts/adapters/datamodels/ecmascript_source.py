"""What can be told from the text of an expression without running it.

Everything here errs on the safe side: a wrong guess costs time, never a
result. String literals are blanked out first where that is certain to work.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_WORD = re.compile(r"[\w$]+")
_WIDE_WORD = re.compile(r"[\w$\u0080-\U0010ffff]+")  # names have marks and joiners too, which \w leaves out
_ASSIGNS = re.compile(r"\+\+|--|(?<![=!<>])=(?![=>])|<<=|>>=|\b(?:delete|new|await|yield|import|class|async|get|set)\b|`")
_CALLS = re.compile(r"[\w$)\]}'\"]\s*(?:\?\.)?\s*\(|\?\.\s*\(")
_UNNAMED_CALL = re.compile(r"[)\]}'\"]\s*(?:\?\.)?\s*\(|\?\.\s*\(")
_CALLEE = re.compile(r"([\w$]*)\s*(?:\?\.)?\s*\(")
_MAKES_CODE = re.compile(r"\bfunction\b|=>|\)\s*\{|\bclass\b|\bget\b|\bset\b|\bFunction\b|\beval\b|\bconstructor\b")
_REACHES_ALL: Final = frozenset({"this", "globalThis", "eval", "Function", "constructor", "with", "Reflect", "Proxy"})

# Called on frozen data, or as functions, these change nothing and call nothing that a document wrote.
_HARMLESS: Final = frozenset(
    re.findall(
        r"\w+",
        """In String Number Boolean parseInt parseFloat isNaN isFinite isInteger isArray concat slice indexOf lastIndexOf
        includes join at charAt charCodeAt codePointAt startsWith endsWith toLowerCase toUpperCase trim trimStart trimEnd
        split substring substr padStart padEnd repeat toFixed toPrecision toString valueOf hasOwnProperty keys values
        entries stringify parse abs ceil floor round max min pow sqrt trunc sign log exp hypot search match replace
        getElementsByTagName getAttribute hasAttribute typeof void in instanceof""",
    )
)

RESERVED: Final = frozenset(
    re.findall(
        r"\w+",
        """break case catch class const continue debugger default delete do else enum export extends false finally for
        function if import in instanceof new null return super switch this throw true try typeof var void while with
        undefined NaN Infinity""",
    )
)
SYSTEM: Final = frozenset({"_event", "_sessionid", "_name", "_ioprocessors", "_x"})


class Traits(NamedTuple):
    """``words`` are the names the text can mention, ``None`` for all there are."""

    words: frozenset[str] | None
    assigns: bool
    calls: bool
    harmless: bool
    makes_code: bool


def traits(text: str) -> Traits:
    """The traits of an expression or a script."""
    reach = frozenset(_WORD.findall(text) if text.isascii() else _WORD.findall(text) + _WIDE_WORD.findall(text))
    words = None if "\\u" in text or reach & _REACHES_ALL else reach
    # a slash may open a regular expression or a comment, in which a quote means nothing
    bare = text if "/" in text or "`" in text else _STRING.sub("''", text)
    commented = "/*" in text or "//" in text  # a comment can stand between a name and its parenthesis
    calls = commented or _CALLS.search(bare) is not None
    harmless = (
        not commented
        and "=>" not in bare
        and "function" not in reach
        and all(name in _HARMLESS or not name for name in _CALLEE.findall(bare))
        and _UNNAMED_CALL.search(bare) is None
    )
    return Traits(
        words=words,
        assigns=words is None or _ASSIGNS.search(bare) is not None,
        calls=calls,
        harmless=not calls or harmless,
        makes_code=commented or _MAKES_CODE.search(text) is not None,
    )


def is_identifier(text: str) -> bool:
    """Whether ``text`` can be the name of a variable."""
    plain = text.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_")
    return plain.isidentifier() and text not in RESERVED


def strip_expression(text: str) -> str:
    """``text`` without white space around it and without a semicolon at its end."""
    return text.strip().rstrip(";").rstrip()
