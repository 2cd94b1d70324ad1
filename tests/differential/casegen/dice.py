"""Random choices that come out the same on every Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Only `Random.random()` is promised to keep its sequence between Python versions, so all is made of it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, limit: int) -> int:
        return int(self._random() * limit)

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items, in random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]
