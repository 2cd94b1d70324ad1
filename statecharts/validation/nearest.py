"""Which known name an unknown one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


def edit_distance(left: str, right: str, limit: int) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours from ``left`` to ``right``.

    Anything above ``limit`` is reported as ``limit + 1``, which lets most
    comparisons stop early.
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for i, char in enumerate(left, 1):
        current = [i]
        for j, other in enumerate(right, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (char != other))
            if i > 1 and j > 1 and char == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return min(previous[-1], limit + 1)


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """``name`` without case, hyphens, underscores and spaces."""
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def allowance(name: str) -> int:
    """How many edits still count as a slip: none in two letters, one in up to five, else two."""
    if len(name) <= 2:
        return 0
    return 1 if len(name) <= 5 else 2


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate closest to ``name``, or None when nothing is close. The first of equals wins."""
    plain = folded(name)
    limit = allowance(plain)
    best: str | None = None
    for candidate in candidates:
        other = folded(candidate)
        if other == plain:
            return candidate
        distance = edit_distance(plain, other, limit)
        if distance <= limit:
            best, limit = candidate, max(distance - 1, 0)
    return best
