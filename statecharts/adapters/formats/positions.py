"""JSON text with the line of every value, for messages that point into a file.

The text is parsed by the C parser; lines are worked out only when somebody
asks for one, by a scanner that walks the text once more. That scanner also
reads documents which nest more deeply than the C parser dares.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NoReturn

from statecharts.errors import DefinitionError, Problem
from statecharts.validation.codes import Code
from statecharts.validation.report import token
from statecharts.values import js_ordered

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
_HUGE: Final = re.compile(r"[0-9][eE]\+?[0-9]{3}|[0-9]{309}")
_WORDS: Final = (("true", True), ("false", False), ("null", None))
_DECODER: Final = json.JSONDecoder()
_MAX_SAFE: Final = 9007199254740992


class _Refused(Exception):
    """The C parser met something that JSON does not have, at a place it does not tell."""


@dataclass(frozen=True, slots=True)
class _Duplicate:
    pointer: str
    key: str
    first: int
    second: int


@dataclass(slots=True)
class _Scan:
    """What one walk over the text found: the value, where each part starts, keys that came twice."""

    data: Any = None
    offsets: dict[str, int] = field(default_factory=dict)
    duplicates: list[_Duplicate] = field(default_factory=list)


@dataclass
class JsonText:
    """Parsed JSON: ``data`` with objects in JavaScript key order, ``problems`` of the text itself."""

    text: str = field(repr=False)
    data: Any
    problems: tuple[Problem, ...] = ()

    def line_of(self, pointer: str) -> int | None:
        """The 1-based line on which the value at ``pointer`` stands (its key, for a member of an object).

        None when the text has no such value.
        """
        offset = self._offsets.get(pointer)
        return None if offset is None else self._line(offset)

    def _line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    @cached_property
    def _offsets(self) -> dict[str, int]:
        return _scan(self.text).offsets

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]


def read_json(text: str, file: str | None = None) -> JsonText:
    """``text`` as data with positions.

    A byte order mark is skipped. A key that comes twice in one object is a
    problem of the result, not an exception. Raises
    :class:`~statecharts.errors.DefinitionError` with one ``json-syntax``
    problem when the text is not JSON.
    """
    body = text.removeprefix("\ufeff")
    try:
        data, has_duplicates = _parse(body)
    except json.JSONDecodeError as error:
        raise DefinitionError([_syntax_problem(body, error, file)]) from None
    result = JsonText(body, data)
    if has_duplicates:
        result.problems = tuple(_duplicate_problem(result, found, file) for found in _scan(body).duplicates)
    return result


def _parse(text: str) -> tuple[Any, bool]:
    """The data, and whether some object has a key twice. Raises ``json.JSONDecodeError``."""
    has_duplicates = False

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_duplicates
        made = dict(pairs)
        if len(made) < len(pairs):
            has_duplicates = True
        return js_ordered(made)

    try:
        if _HUGE.search(text):
            raise _Refused
        data = json.loads(text, object_pairs_hook=make_object, parse_constant=_refuse, parse_int=_integer)
    except (_Refused, RecursionError):
        scan = _scan(text)
        return scan.data, bool(scan.duplicates)
    return data, has_duplicates


def _refuse(_constant: str) -> NoReturn:
    raise _Refused


def _integer(text: str) -> int | float:
    """A JSON integer as JavaScript keeps it: exact up to 2**53."""
    if len(text) > 16:
        return float(text)
    number = int(text)
    return number if -_MAX_SAFE <= number <= _MAX_SAFE else float(text)


def _syntax_problem(text: str, error: json.JSONDecodeError, file: str | None) -> Problem:
    before = text[: error.pos]
    newlines = list(_NEWLINE.finditer(before))
    column = error.pos - (newlines[-1].end() if newlines else 0) + 1
    line = len(newlines) + 1
    return Problem(
        Code.JSON_SYNTAX.slug,
        "",
        f"This is not JSON: {error.msg.removesuffix(' at')} at line {line}, column {column}.",
        _syntax_hint(text, error.pos),
        line=line,
        file=file,
    )


def _syntax_hint(text: str, at: int) -> str:
    """What a person most often did to get here."""
    rest = text[at:].lstrip()
    before = text[:at].rstrip()
    if not text.strip():
        return "The text is empty."
    if rest.startswith(("//", "/*", "#")):
        return "JSON has no comments; put notes under `description` or `meta`."
    if rest.startswith(("import ", "export ", "const ", "createMachine", "setup(")):
        return "This is JavaScript. Export the machine as JSON, or write `JSON.stringify(machine.config)`."
    if rest.startswith(("}", "]")) and before.endswith(","):
        return "Remove the comma before the closing bracket."
    if rest.startswith("'"):
        return "JSON strings stand in double quotes."
    if re.match(r"(?:-?Infinity|NaN|undefined)\b", rest):
        return "JSON has no such value; leave the key out, or write a number."
    if re.match(r"[A-Za-z_$][\w$]*\s*:", rest):
        return "JSON keys stand in double quotes."
    if not rest or (rest[0] == '"' and '"' not in rest[1:]):
        return "The text ends too early: a bracket or a quote is not closed."
    return "Look for a missing comma, quote or bracket just before."


def _duplicate_problem(text: JsonText, found: _Duplicate, file: str | None) -> Problem:
    first, second = text._line(found.first), text._line(found.second)
    return Problem(
        Code.DUPLICATE_KEY.slug,
        found.pointer,
        f'The key "{found.key}" stands twice in one object, on lines {first} and {second}; '
        "only the second would be read.",
        "Rename or remove one of them, or merge the two.",
        line=second,
        file=file,
    )


@dataclass(slots=True)
class _Frame:
    """An object or list that is still open."""

    pointer: str
    is_object: bool
    items: Any
    key: str = ""
    key_offsets: dict[str, int] = field(default_factory=dict)


class _Scanner:
    """One walk over JSON text without recursion."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.result = _Scan()
        self.open: list[_Frame] = []

    def run(self) -> _Scan:
        """Raises ``json.JSONDecodeError``."""
        self._space()
        value, done = self._value("", self.at)
        while True:
            if done:
                if not self.open:
                    break
                value, done = self._close_or_next(value)
            else:
                value, done = self._first()
        self._space()
        if self.at != len(self.text):
            self._fail("Extra data")
        self.result.data = value
        return self.result

    def _fail(self, message: str) -> NoReturn:
        raise json.JSONDecodeError(message, self.text, self.at)

    def _space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _value(self, pointer: str, offset: int) -> tuple[Any, bool]:
        """The value that starts here; an object or list is opened and not done yet."""
        self.result.offsets[pointer] = offset
        char = self._peek()
        if char in ("{", "["):
            self.at += 1
            self.open.append(_Frame(pointer, char == "{", {} if char == "{" else []))
            return None, False
        if char == '"':
            return self._string(), True
        return self._word_or_number(), True

    def _string(self) -> str:
        text, self.at = _DECODER.raw_decode(self.text, self.at)
        return str(text)

    def _word_or_number(self) -> Any:
        for word, value in _WORDS:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        match = _NUMBER.match(self.text, self.at)
        if match is None:
            self._fail("Expecting value")
        if match[2] is None and match[3] is None:
            number = _integer(match[0])
        else:
            number = float(match[0])
        if math.isinf(number):
            self._fail("Number too large")
        self.at = match.end()
        return number

    def _first(self) -> tuple[Any, bool]:
        """Just inside a bracket: the first item, or the end of an empty one."""
        frame = self.open[-1]
        self._space()
        if self._peek() == ("}" if frame.is_object else "]"):
            self.at += 1
            return self.open.pop().items, True
        return self._item(frame)

    def _item(self, frame: _Frame) -> tuple[Any, bool]:
        offset = self.at
        if not frame.is_object:
            return self._value(f"{frame.pointer}/{len(frame.items)}", offset)
        if self._peek() != '"':
            self._fail("Expecting property name enclosed in double quotes")
        frame.key = self._string()
        self._space()
        if self._peek() != ":":
            self._fail("Expecting ':' delimiter")
        self.at += 1
        self._space()
        pointer = frame.pointer + token(frame.key)
        first = frame.key_offsets.get(frame.key)
        if first is not None:
            self.result.duplicates.append(_Duplicate(pointer, frame.key, first, offset))
            self._forget(pointer)
        frame.key_offsets[frame.key] = offset
        return self._value(pointer, offset)

    def _forget(self, pointer: str) -> None:
        """The earlier value of a key that comes again has no place in the data, nor its parts."""
        inside = f"{pointer}/"
        for other in [p for p in self.result.offsets if p.startswith(inside)]:
            del self.result.offsets[other]

    def _close_or_next(self, value: Any) -> tuple[Any, bool]:
        frame = self.open[-1]
        if frame.is_object:
            frame.items[frame.key] = value
        else:
            frame.items.append(value)
        self._space()
        char = self._peek()
        if char == ",":
            self.at += 1
            self._space()
            return self._item(frame)
        if char != ("}" if frame.is_object else "]"):
            self._fail("Expecting ',' delimiter")
        self.at += 1
        self.open.pop()
        return (js_ordered(frame.items) if frame.is_object else frame.items), True


def _scan(text: str) -> _Scan:
    return _Scanner(text).run()
