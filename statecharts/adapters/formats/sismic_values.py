"""What a variable of a sismic chart may hold here: JSON data, as every context; and how changes are found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from statecharts.values import UNDEFINED, freeze, thaw

_OBJECTS: Final = (ModuleType, FunctionType, BuiltinFunctionType, type)
_ADVICE: Final = {
    tuple: "write a list",
    set: "write a list, or a dict with true values",
    frozenset: "write a list",
    bytes: "write text",
    ModuleType: "import it in the preamble",
    FunctionType: "define it in the preamble",
}


class NotData(Exception):
    """A value that a context cannot hold; the text says which, where and what to do."""


def is_constant(value: Any) -> bool:
    """Whether ``value`` is a module, a function or a class: something a preamble provides, and no data."""
    return isinstance(value, _OBJECTS)


def variables_of(context: Any, constants: Mapping[str, Any]) -> dict[str, Any]:
    """The names a piece of code sees: a copy of the context that may be changed, over the preamble's constants."""
    found = dict(constants)
    for key, value in context.items():
        if value is UNDEFINED:  # deleted by an earlier piece of code
            found.pop(key, None)
        else:
            found[key] = thaw(value)
    return found


def check_data(variables: Mapping[str, Any]) -> None:
    """Raise :class:`NotData` for a value that is not JSON, or a list or dict that stands in two places."""
    seen: dict[int, str] = {}
    for name, value in variables.items():
        for place, container in _containers(value, name):
            other = seen.setdefault(id(container), place)
            if other != place:
                kind = "dict" if isinstance(container, dict) else "list"
                raise NotData(
                    f"{other} and {place} are the same {kind}, so that a change of one would change the other; "
                    f"a context holds values, not references. Make a copy: {kind}(…)"
                )


def _containers(value: Any, place: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every list and dict in ``value`` with its place; raises for anything that is not JSON."""
    if value is None or type(value) in (bool, int, str):
        return
    if type(value) is float:
        if not math.isfinite(value):
            raise NotData(f"{place} is {value!r}, which JSON does not have; use None, or a number")
        return
    if depth > 200:
        raise NotData(f"{place[:40]}… nests too deeply, or contains itself")
    if type(value) is list:
        yield place, value
        for index, item in enumerate(value):
            yield from _containers(item, f"{place}[{index}]", depth + 1)
    elif type(value) is dict:
        yield place, value
        for key, item in value.items():
            if type(key) is not str:
                raise NotData(f"{place} has the key {key!r}; keys are strings in JSON. Write {str(key)!r}")
            yield from _containers(item, f"{place}[{key!r}]", depth + 1)
    else:
        raise NotData(_not_json(value, place))


def _not_json(value: Any, place: str) -> str:
    advice = next(
        (text for kind, text in _ADVICE.items() if isinstance(value, kind)), "keep plain values in it"
    )
    return f"{place} is a {type(value).__name__}, and a context holds JSON data; {advice}"


def changes_between(before: Any, after: Mapping[str, Any], constants: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from the context ``before``; a variable that is gone becomes ``UNDEFINED``.

    Raises :class:`NotData`.
    """
    data = {name: value for name, value in after.items() if value is not constants.get(name, UNDEFINED)}
    check_data(data)
    changed = {
        name: value
        for name, value in data.items()
        if name not in before or not same_data(before[name], freeze(value))
    }
    gone = [
        name
        for name in (*before, *constants)
        if name not in after and before.get(name, constants.get(name)) is not UNDEFINED
    ]
    return {**changed, **dict.fromkeys(gone, UNDEFINED)}


def same_data(left: Any, right: Any) -> bool:
    """Deep equality in which ``1``, ``1.0`` and ``True`` are three values."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same_data(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_data, left, right))
    return type(left) is type(right) and bool(left == right)
