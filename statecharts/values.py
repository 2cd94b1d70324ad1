"""JavaScript's values in Python: what JSON means to XState.

A machine sees the same data here as under Node, so four habits of
JavaScript are kept:

* *absent* differs from ``null``: :data:`UNDEFINED` is dropped from objects
  and becomes ``null`` in lists when written as JSON;
* integer-like keys come first, in ascending order, in every object
  (ECMA-262 OrdinaryOwnPropertyKeys);
* numbers print as ``Number.prototype.toString`` prints them;
* truth: ``0``, ``""``, ``NaN``, ``null`` and ``undefined`` are false, while
  empty objects and lists are true.

Values that enter a machine are deep-frozen (:func:`freeze`), so a guard
cannot change what it sees. Frozen values are still ``dict`` and ``list``:
equality, ``json``, ``pickle`` and ``copy`` work as usual.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn, final

from .errors import UsageError


@final
class Undefined:
    """The type of :data:`UNDEFINED`, JavaScript's ``undefined``."""

    __slots__ = ()
    _instance: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __reduce__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined()


def _refuse(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    kind = "an object" if isinstance(self, dict) else "a list"
    raise TypeError(
        f"{kind} inside a machine cannot be changed; an update returns the changes as a new dict, "
        "and `thaw(value)` gives a copy you may change"
    )


class FrozenDict(dict[str, Any]):
    """A ``dict`` whose mutators raise ``TypeError``."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> FrozenDict:
        return self


class FrozenList(list[Any]):
    """A ``list`` whose mutators raise ``TypeError``."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> FrozenList:
        return self


EMPTY_OBJECT: Final = FrozenDict()

ATOMS: Final = frozenset({str, int, float, bool, type(None), Undefined, FrozenDict, FrozenList})
"""Types whose values need no freezing."""
INERT: Final = frozenset({str, bool, type(None)})
"""Types whose values are the same in JSON as here, without a second look."""
MAX_SAFE: Final = 9007199254740992


def is_array_index(key: str) -> bool:
    """Whether JavaScript orders ``key`` as an integer: canonical, and below 2**32 - 1."""
    if not key or not ("0" <= key[0] <= "9") or len(key) > 10:
        return False
    if not (key.isascii() and key.isdigit()) or (key[0] == "0" and len(key) > 1):
        return False
    return int(key) < 4294967295


def js_keys(keys: Iterable[str]) -> list[str]:
    """``keys`` in the order in which JavaScript enumerates them."""
    listed = list(keys)
    for key in listed:
        if key and "0" <= key[0] <= "9" and is_array_index(key):
            break
    else:
        return listed
    indexes: list[str] = []
    others: list[str] = []
    for key in listed:
        (indexes if is_array_index(key) else others).append(key)
    if len(indexes) > 1:
        indexes.sort(key=int)
    return indexes + others


def js_ordered(mapping: dict[str, Any]) -> dict[str, Any]:
    """``mapping`` itself when its keys already stand in JavaScript order, else a re-ordered copy."""
    for key in mapping:
        if key and "0" <= key[0] <= "9":
            return {k: mapping[k] for k in js_keys(mapping)}
    return mapping


def freeze(value: Any) -> Any:
    """``value`` deep-frozen, objects in JavaScript key order; what is frozen already is shared.

    Dicts become :class:`FrozenDict`, lists and tuples :class:`FrozenList`.
    Raises :class:`UsageError` for keys that are not strings and for values
    that contain themselves.
    """
    if type(value) in ATOMS:
        return value
    try:
        return _freeze(value)
    except RecursionError:
        raise UsageError(
            "a value nests too deeply or contains itself; contexts and events are plain JSON"
        ) from None


def _freeze(value: Any) -> Any:
    kind = type(value)
    if kind in ATOMS:
        return value
    if kind is dict:
        for key, member in value.items():
            if type(key) is not str or type(member) not in ATOMS or "0" <= key[:1] <= "9":
                break
        else:
            return FrozenDict(value)
    if kind is dict or isinstance(value, Mapping):
        items: dict[str, Any] = {}
        indexed = False
        for key, member in value.items():
            if type(key) is not str:
                raise UsageError(f"object keys are strings in JSON, not {type(key).__name__}: {key!r}")
            if key and "0" <= key[0] <= "9":
                indexed = True
            items[key] = member if type(member) in ATOMS else _freeze(member)
        return FrozenDict(js_ordered(items) if indexed else items)
    if kind is list or kind is tuple:
        return FrozenList([member if type(member) in ATOMS else _freeze(member) for member in value])
    if isinstance(value, (list, tuple)):
        return FrozenList([_freeze(member) for member in value])
    return value


def thaw(value: Any) -> Any:
    """A deep copy of ``value`` in plain dicts and lists that may be changed."""
    # loops, not comprehensions: those would take a second stack frame a level
    if isinstance(value, dict):
        members: dict[str, Any] = {}
        for key, member in value.items():
            members[key] = thaw(member)
        return members
    if isinstance(value, (list, tuple)):
        items: list[Any] = []
        for item in value:
            items.append(thaw(item))
        return items
    return value


def truthy(value: Any) -> bool:
    """JavaScript's ``!!value``."""
    if value is True or value is False:
        return bool(value)
    if value is None or value is UNDEFINED:
        return False
    if isinstance(value, (int, float)):
        return not (value == 0 or value != value)
    if isinstance(value, str):
        return value != ""
    return True


_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_RADIX = {"0x": 16, "0X": 16, "0o": 8, "0O": 8, "0b": 2, "0B": 2}


def js_to_number(text: str) -> int | float:
    """``Number(text)`` (ECMA-262 StringToNumber): NaN where JavaScript says NaN."""
    stripped = text.strip(" \t\n\r\v\f\u00a0\ufeff\u2028\u2029")
    if not stripped:
        return 0
    if stripped[:2] in _RADIX:
        try:
            return int(stripped[2:], _RADIX[stripped[:2]]) if "_" not in stripped else math.nan
        except ValueError:
            return math.nan
    if stripped.lstrip("+-") == "Infinity" and len(stripped) <= 9:
        return -math.inf if stripped[0] == "-" else math.inf
    if not stripped.isascii() or not _DECIMAL.match(stripped):
        return math.nan
    number = float(stripped)
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def js_number(value: int | float) -> str:
    """``value`` as JavaScript's ``String(value)`` writes it (ECMA-262 Number::toString)."""
    if isinstance(value, int):
        if -MAX_SAFE <= value <= MAX_SAFE:
            return str(value)
        value = float(value) if abs(value) < 1 << 1023 else math.inf if value > 0 else -math.inf
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign, body = ("-", repr(-value)) if value < 0 else ("", repr(value))
    mantissa, _, exponent_text = body.partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = whole + fraction
    point = len(whole) + (int(exponent_text) if exponent_text else 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    """Number::toString steps 6-10: ``digits`` with the decimal point after ``point`` of them."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return digits + exponent if count == 1 else f"{digits[0]}.{digits[1:]}{exponent}"


def plain(value: Any) -> Any:
    """``JSON.parse(JSON.stringify(value))``: plain data with JavaScript's losses.

    ``UNDEFINED`` members vanish (``None`` in lists), NaN and infinities become
    ``None``, whole floats become ints, objects with a ``to_json`` method are
    replaced by its result, exceptions become ``{}``. The result of
    ``plain(UNDEFINED)`` is ``UNDEFINED``.
    """
    kind = type(value)
    if kind is dict or kind is FrozenDict:
        if len(value) > 8 and is_flat(value):
            return dict(value)
        members: dict[str, Any] = {}
        for key, member in value.items():
            if "0" <= key[:1] <= "9" and is_array_index(key):
                return _plain_object(value)
            if type(member) not in INERT:
                member = plain(member)
                if member is UNDEFINED:
                    continue
            members[key] = member
        return members
    if kind in INERT:
        return value
    if kind is int:
        return value if -MAX_SAFE <= value <= MAX_SAFE else _whole(float(js_number(value)))
    if kind is float:
        return _whole(value)
    if isinstance(value, dict):
        return _plain_object(value)
    if isinstance(value, (list, tuple)):
        return [None if (member := plain(item)) is UNDEFINED else member for item in value]
    return _plain_other(value)


def is_flat(value: dict[Any, Any]) -> bool:
    """Whether an object that is not empty holds nothing but texts, booleans and null, under names that keep their order."""
    try:
        return min(value) >= ":" and INERT.issuperset(map(type, value.values()))  # ":" is what follows the digits
    except TypeError:  # not all names are texts
        return False


def _plain_object(value: dict[str, Any]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key in js_keys(value):
        member = plain(value[key])
        if member is not UNDEFINED:
            members[key] = member
    return members


def _plain_other(value: Any) -> Any:
    to_json: Callable[[], Any] | None = getattr(value, "to_json", None)
    if to_json is not None:
        return plain(to_json())
    if isinstance(value, BaseException):
        return {}
    if isinstance(value, (int, str)):  # bool and enum subclasses keep their JSON meaning
        return plain(int(value)) if isinstance(value, int) else str(value)
    if callable(value) or value is UNDEFINED:
        return UNDEFINED
    raise UsageError(
        f"{type(value).__name__} is not a JSON value: {value!r}. Contexts, events and outputs hold plain JSON; "
        "convert it first (for example with `.isoformat()`, `.model_dump()` or `dataclasses.asdict`)"
    )


def _whole(value: float) -> int | float | None:
    if value != value or math.isinf(value):
        return None
    if value.is_integer() and abs(value) < 1e21:
        return int(value)
    return value
