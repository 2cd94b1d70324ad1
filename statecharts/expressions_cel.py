"""CEL with JSON's numbers.

Plain CEL keeps ints and doubles apart: ``1.5 + 1`` does not compile and
``5 / 2`` is ``2``. JSON, JavaScript and the authors of machines know one kind
of number, so here

* arithmetic and comparison mix freely (``context.total * 2`` works for 3 and
  for 2.5), and both arms of ``?:`` may differ in type;
* ``/`` divides (``5 / 2`` is ``2.5``); ``int(a / b)`` cuts off;
* whole numbers compute exactly up to 2**63 and go on as doubles above, where
  JavaScript would;
* ``string(number)`` writes a number as JavaScript does;
* results that JSON cannot hold (infinities, NaN, bytes, timestamps,
  durations, types, keys that are no strings) are refused.

How: CEL's runtime dispatches on run-time types and accepts *additional*
overloads, so only the mixed pairs are ours; the checker's standard
declarations of the operators are replaced by wider ones. Two things cannot be
overloaded, so the source is rewritten before it is compiled: ``/`` becomes
``*1.0/`` (same precedence, left to right, hence the same grouping) and
``string(`` a function of ours. Positions in messages are mapped back.

Standard CEL only, no extensions: there is no function that tells the time or
draws a number, and evaluation always ends.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from .errors import UsageError
from .expressions import VARIABLES, EvaluationFault
from .expressions_cel_environment import cel_runtime, environment
from .expressions_cel_messages import run_time_reason, syntax_fault
from .expressions_cel_source import Source
from .values import UNDEFINED, js_number, plain

_EXACT: Final = 9007199254740992


@lru_cache(maxsize=1024)
def compile_cel(source: str) -> CelProgram:
    """``source`` compiled; the same text is compiled once.

    Raises :class:`SyntaxFault` when it is not CEL or names something
    unknown, :class:`ImplementationError` when the runtime is not installed.
    """
    reading = Source(source)
    try:
        compiled = environment().compile(reading.text)
    except (RuntimeError, TypeError) as error:
        raise syntax_fault(str(error), reading) from None
    return CelProgram(compiled, reading)


class CelProgram:
    """A compiled CEL expression: variables in, plain JSON out. Safe to share between threads."""

    __slots__ = ("_compiled", "_error_type", "_wanted")

    def __init__(self, compiled: Any, reading: Source) -> None:
        self._compiled = compiled
        self._error_type = cel_runtime().Type.ERROR
        self._wanted = tuple((name, reading.members_of(name)) for name in VARIABLES if reading.names(name))

    def __call__(self, variables: Mapping[str, Any]) -> Any:
        """The value. Raises :class:`EvaluationFault` when there is none, or none that JSON can hold."""
        try:
            return self._run(variables, False)
        except EvaluationFault as fault:
            if "overflow" not in str(fault):
                raise
        # Whole numbers left the range of int64. A JavaScript number would go on as a double: so do we.
        return self._run(variables, True)

    def _run(self, variables: Mapping[str, Any], doubles: bool) -> Any:
        data: dict[str, Any] = {}
        for name, members in self._wanted:
            value = variables.get(name, UNDEFINED)
            if value is UNDEFINED:
                continue
            if members is not None and isinstance(value, dict):
                # Only what the source reads is converted: contexts can be large.
                value = {key: value[key] for key in members if key in value}
            data[name] = _to_cel(value, doubles)
        try:
            result = self._compiled.eval(data=data)
            value = result.plain_value()
        except (RuntimeError, TypeError, ValueError) as error:
            raise EvaluationFault(run_time_reason(str(error))) from None
        if result.type() == self._error_type:
            raise EvaluationFault(run_time_reason(str(value)))
        return _from_cel(value)


def _to_cel(value: Any, doubles: bool) -> Any:
    """``value`` in the types the runtime takes: exact ``dict`` and ``list``, ints within 2**53, no absent members."""
    kind = type(value)
    if kind is str:
        # The runtime would silently cut at a NUL and fail without a message on a lone surrogate.
        if "\0" in value or not (value.isascii() or _is_text(value)):
            raise EvaluationFault(f"CEL cannot hold the string {value!r} (NUL character or lone surrogate)")
        return value
    if kind is bool or value is None:
        return value
    if kind is int:
        return _double(value) if doubles or not -_EXACT <= value <= _EXACT else value
    if kind is float:
        whole = not doubles and value.is_integer() and -_EXACT <= value <= _EXACT
        return int(value) if whole else value
    if isinstance(value, dict):
        return {
            _to_cel(key, False): _to_cel(member, doubles)
            for key, member in value.items()
            if member is not UNDEFINED
        }
    if isinstance(value, (list, tuple)):
        return [None if member is UNDEFINED else _to_cel(member, doubles) for member in value]
    return _foreign_to_cel(value, doubles)


def _double(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _foreign_to_cel(value: Any, doubles: bool) -> Any:
    try:
        written = plain(value)
    except UsageError as error:
        raise EvaluationFault(str(error)) from None
    return None if written is UNDEFINED else _to_cel(written, doubles)


def _from_cel(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is float and not math.isfinite(value):
        raise EvaluationFault(
            f"the result is {js_number(value)} (a division by zero?), which JSON cannot hold"
        )
    if kind is int or kind is float:
        return plain(value)
    if kind is list:
        return [_from_cel(member) for member in value]
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise EvaluationFault(f"keys of a JSON object are strings, not {key!r}; write it in quotes")
        return {key: _from_cel(member) for key, member in value.items()}
    names = {
        datetime.datetime: "a timestamp",
        datetime.timedelta: "a duration",
        bytearray: "bytes",
        bytes: "bytes",
    }
    name = names.get(kind, "a type")
    raise EvaluationFault(
        f"the result is {name}, which JSON cannot hold; convert it, for example with string(…)"
    )
