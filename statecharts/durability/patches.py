"""The difference of two JSON values, in which the order of keys counts.

RFC 6902 has no order of keys, and a state is hashed as text; so a patch here
is a list of ``[path, value]`` (set), ``[path]`` (remove) and
``[path, null, keys]`` (an object's keys, where their order would come out
otherwise). ``path`` is a list of keys and indexes. Applied in order, they
make the new value of the old one, key order included.
"""

from __future__ import annotations

from typing import Any

Patch = list[list[Any]]


def difference(old: Any, new: Any) -> Patch:
    """What makes ``new`` of ``old`` (plain JSON, both)."""
    patch: Patch = []
    _compare(old, new, [], patch)
    return patch


def _compare(old: Any, new: Any, path: list[Any], patch: Patch) -> None:
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        if not _is_same(old, new):
            _compare_objects(old, new, path, patch)
    elif isinstance(old, list) and isinstance(new, list):
        if not _is_same(old, new):
            _compare_lists(old, new, path, patch)
    elif type(old) is not type(new) or old != new:
        patch.append([path, new])


def _compare_objects(old: dict[str, Any], new: dict[str, Any], path: list[Any], patch: Patch) -> None:
    if not old or not new:
        if old or new:
            patch.append([path, new])
        return
    keys = list(new)
    if list(old) == keys:
        _compare_members(old, new, path, patch)
        return
    expected = [key for key in old if key in new]
    for key in old:
        if key not in new:
            patch.append([[*path, key]])
    for key, member in new.items():
        if key in old:
            _compare(old[key], member, [*path, key], patch)
        else:
            expected.append(key)
            patch.append([[*path, key], member])
    if expected != keys:
        patch.append([path, None, keys])


_SCALARS = frozenset((str, int, float, bool, type(None)))


def _compare_members(old: dict[str, Any], new: dict[str, Any], path: list[Any], patch: Patch) -> None:
    """Of objects with the same keys in the same order: most are as they were, and need no path."""
    for key, member in new.items():
        before = old[key]
        kind = type(member)
        if kind in _SCALARS and type(before) is kind:
            if before != member:
                patch.append([[*path, key], member])
        elif before is not member:
            _compare(before, member, [*path, key], patch)


def _compare_lists(old: list[Any], new: list[Any], path: list[Any], patch: Patch) -> None:
    shared = min(len(old), len(new))
    start = 0
    while start < shared and _is_same(old[start], new[start]):
        start += 1
    if len(old) == len(new):
        for index in range(start, shared):
            _compare(old[index], new[index], [*path, index], patch)
        return
    end = 0
    while end < shared - start and _is_same(old[-1 - end], new[-1 - end]):
        end += 1
    patch.append([[*path, start, len(old) - end], new[start : len(new) - end], True])


def _is_same(old: Any, new: Any) -> bool:
    """Whether both are one text; Python's own equality knows no order of keys and takes 1, 1.0 and true for the same.

    Equality comes first, for it ends at the first difference; what it takes for the same, ``repr`` tells apart.
    """
    return old is new or bool(old == new and repr(old) == repr(new))


def patched(value: Any, patch: Patch) -> Any:
    """``value`` after ``patch``; ``value`` itself is not changed."""
    for change in patch:
        value = _changed(value, change, 0)
    return value


def _changed(value: Any, change: list[Any], depth: int) -> Any:
    path = change[0]
    if len(change) == 3 and change[2] is True and depth == len(path) - 2:
        start, end = path[depth:]
        return [*value[:start], *change[1], *value[end:]]
    if depth == len(path):
        if len(change) == 3:
            return {key: value[key] for key in change[2]}
        return change[1]
    step = path[depth]
    if isinstance(value, dict):
        copy = dict(value)
        if depth == len(path) - 1 and len(change) == 1:
            del copy[step]
        else:
            copy[step] = _changed(value.get(step), change, depth + 1)
        return copy
    items = list(value)
    items[step] = _changed(items[step], change, depth + 1)
    return items
