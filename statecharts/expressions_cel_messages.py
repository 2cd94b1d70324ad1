"""What CEL's runtime says, in an author's words and at the author's positions."""

from __future__ import annotations

import re
from typing import Final

from .expressions import VARIABLES, SyntaxFault
from .expressions_cel_source import STRING_FUNCTION, Source

_COMPILE_ERROR: Final = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")
_KINDS: Final = {"int64": "int", "uint64": "uint", "map": "object", "null_type": "null"}


def syntax_fault(text: str, reading: Source) -> SyntaxFault:
    """The first fault in the runtime's compile message ``text``, placed in the source as written."""
    if "recursion" in text:
        return SyntaxFault(
            "it nests too deeply or is too long a chain",
            hint="the runtime allows about 30 levels; split it, or bind a Python function by name",
        )
    found = _COMPILE_ERROR.search(text)
    if found is None:
        return SyntaxFault("it holds characters that are not valid text" if "incompatible" in text else text)
    line, column = int(found[1]), int(found[2])
    reason = re.sub(r" expecting \{.*", "", found[3].replace(" (in container '')", "")).replace(
        STRING_FUNCTION, "string"
    )
    reason = reason.removesuffix(" [INVALID_ARGUMENT]")
    return SyntaxFault(
        _named(reason), line=line, column=reading.original_column(line, column), hint=_hint(reason, reading)
    )


def _hint(reason: str, reading: Source) -> str | None:
    unknown = re.match(r"undeclared reference to '(.*?)'", reason)
    if unknown is not None:
        if reading.is_called(unknown[1]):
            return (
                "CEL's standard functions are available (size, has, contains, startsWith, matches, int, string, map, "
                "filter, all, exists …); none tells the time or draws a random number: pass such values in the event"
            )
        return f"an expression sees {', '.join(VARIABLES)}; strings stand in quotes"
    if "===" in reading.source or "!==" in reading.source:
        return "CEL compares with `==` and `!=`"
    return None


def run_time_reason(text: str) -> str:
    """The runtime's message in an author's words."""
    text = re.sub(r"^[A-Z_]+: ", "", text)
    missing = re.match(r"Key not found in map : (.*)", text)
    if missing is not None:
        return f"there is no member {missing[1]} here; ask `has(…)` first"
    absent = re.match(r'No value with name "(.*)" found', text)
    if absent is not None:
        return f"`{absent[1]}` has no value at this place"
    if "SELECT to non-message" in text:
        return "it reads a member of something that is not an object (null, a number, a string or a list)"
    return _named(text.replace(STRING_FUNCTION, "string"))


def _named(text: str) -> str:
    """Operators by their sign instead of the runtime's internal names."""
    text = re.sub(
        r"No matching overloads found : <jump_condition>", "`?:` needs true or false before the `?`", text
    )
    match = re.search(
        r"(?:No matching overloads found : |found no matching overload for ')(@in|[\w?:\[\]<>=!&|+*/%-]+)",
        text,
    )
    if match is None:
        return text
    kinds = re.search(r"\(([^()]*)\)'?$", text)
    operands = (
        ", ".join(_KINDS.get(kind.strip(), kind.strip()) for kind in kinds[1].split(",")) if kinds else ""
    )
    name = match[1]
    sign = name.strip("_@") if name.startswith(("_", "@")) or name.endswith("_") else name
    return (
        f"`{sign or name}` cannot be used on ({operands})"
        if operands
        else f"`{sign or name}` cannot be used on these types"
    )
