"""What differs between two contexts, by JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..validation.report import token
from ..values import UNDEFINED, plain


class Change(NamedTuple):
    """One place that differs; ``UNDEFINED`` for a member that was not or is no longer there."""

    pointer: str
    old: Any
    new: Any

    def to_json(self) -> dict[str, Any]:
        """As plain JSON, without the absent side."""
        members = {"pointer": self.pointer, "old": self.old, "new": self.new}
        return {key: value for key, value in members.items() if value is not UNDEFINED}


def differences(old: Any, new: Any) -> list[Change]:
    """Every place where ``new`` differs from ``old``, both as plain JSON."""
    return list(_compare(plain(old), plain(new), ""))


def _compare(old: Any, new: Any, pointer: str) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in (*old, *(key for key in new if key not in old)):
            yield from _compare(old.get(key, UNDEFINED), new.get(key, UNDEFINED), pointer + token(key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            before = old[index] if index < len(old) else UNDEFINED
            after = new[index] if index < len(new) else UNDEFINED
            yield from _compare(before, after, f"{pointer}/{index}")
    elif not _same(old, new):
        yield Change(pointer, old, new)


def _same(old: Any, new: Any) -> bool:
    """JSON equality: ``true`` is not 1."""
    return isinstance(old, bool) == isinstance(new, bool) and bool(old == new)


def is_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same value."""
    return not differences(left, right)
