"""The kinds of random cases that the differential tests run, each from a count and a seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import generator
from engines import reference_cases

Stream = Callable[[int, int], list[str]]


def plain(count: int, seed: int) -> list[str]:
    return reference_cases(count, seed)


def with_actors(count: int, seed: int) -> list[str]:
    return reference_cases(count, seed, "--actors", "1")


def with_asides(count: int, seed: int) -> list[str]:
    """Reference cases, half of them with actors, with inspection, pure steps and queries put in between."""
    mixed = [*plain(count - count // 2, seed), *with_actors(count // 2, seed)]
    return [_add_asides(json.loads(case), index) for index, case in enumerate(mixed)]


def own(count: int, seed: int) -> list[str]:
    return [generator.as_line(case) for case, _ in generator.make_cases(count, seed)]


STREAMS: dict[str, Stream] = {"plain": plain, "actors": with_actors, "asides": with_asides, "own": own}

QUERY = {
    "matches": ["a", {"a": "b"}, {"b": {"a": {}}}, {}, "a.b", "zz"],
    "hasTag": ["t0", "t1", "t2"],
    "can": ["A", {"type": "B", "v": 1}, {"type": "x.y", "v": 0}, "nobody"],
    "meta": True,
    "nextTransitions": True,
    "context": ["n", "k", "no.such", ""],
}


def _add_asides(case: dict[str, Any], index: int) -> str:
    case["id"] = f"{case['id']}-aside{index}"
    case["inspect"] = True
    case["clock"] = "exact" if index % 2 else "simulated"
    steps: list[dict[str, Any]] = [{"pureInitial": True}]
    for number, step in enumerate(case["steps"]):
        steps.append(step)
        aside = (number + index) % 4
        if aside == 0:
            steps.append({"pure": {"type": ["A", "B", "C", "x.y"][number % 4], "v": number % 2}})
        elif aside == 2:
            steps.append({"query": QUERY})
    return generator.as_line({**case, "steps": steps})
