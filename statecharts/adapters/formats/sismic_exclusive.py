"""Whether two guards can hold at the same time, as far as their text tells."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeGuard

from .sismic_chart import Code
from .sismic_code import parse_expression

_PURE: Final = frozenset(
    {"abs", "active", "all", "any", "bool", "float", "int", "len", "max", "min", "round", "str", "sum"}
)
_CONTRADICTIONS: Final = frozenset(
    {
        ("Eq", "NotEq"), ("Lt", "GtE"), ("Lt", "Gt"), ("Lt", "Eq"), ("Gt", "LtE"), ("Gt", "Eq"),
        ("Is", "IsNot"), ("In", "NotIn"),
    }
)  # fmt: skip
_SWAPPED: Final = {"Lt": "Gt", "Gt": "Lt", "LtE": "GtE", "GtE": "LtE", "Eq": "Eq", "NotEq": "NotEq"}
_TESTS: Final[dict[str, Callable[[float, float], bool]]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
_Comparison = tuple[str, str, ast.expr]
"""Left side as text, operator, right side."""


def are_exclusive(first: Code | None, second: Code | None) -> bool:
    """Whether some part of ``first`` contradicts some part of ``second``."""
    if first is None or second is None:
        return False
    left, right = parse_expression(first.text), parse_expression(second.text)
    if left is None or right is None or not (_is_pure(left) and _is_pure(right)):
        return False
    theirs = list(_conjuncts(right))
    return any(_contradict(a, b) for a in _conjuncts(left) for b in theirs)


def _is_pure(node: ast.expr) -> bool:
    """No call that could answer differently when it is asked again."""
    return all(
        isinstance(inner.func, ast.Name) and inner.func.id in _PURE
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call)
    )


def _conjuncts(node: ast.expr) -> Iterator[ast.expr]:
    """What has to hold for ``node`` to hold."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        yield node
        for part in node.values:
            yield from _conjuncts(part)
    elif isinstance(node, ast.Compare) and len(node.ops) > 1:
        sides = [node.left, *node.comparators]
        for (left, right), op in zip(pairwise(sides), node.ops, strict=True):
            yield ast.Compare(left, [op], [right])
    else:
        yield node


def _contradict(first: ast.expr, second: ast.expr) -> bool:
    if _negated(first) == ast.dump(second) or _negated(second) == ast.dump(first):
        return True
    if isinstance(first, ast.Constant) or isinstance(second, ast.Constant):
        return any(isinstance(node, ast.Constant) and not node.value for node in (first, second))
    one, other = _comparison(first), _comparison(second)
    if one is None or other is None:
        return False
    return any(
        left[0] == right[0] and _comparisons_contradict(left, right)
        for left in _both_ways(one)
        for right in _both_ways(other)
    )


def _negated(node: ast.expr) -> str | None:
    return ast.dump(node.operand) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else None


def _comparison(node: ast.expr) -> tuple[ast.expr, str, ast.expr] | None:
    if isinstance(node, ast.Compare):
        return node.left, type(node.ops[0]).__name__, node.comparators[0]
    return None


def _both_ways(found: tuple[ast.expr, str, ast.expr]) -> Iterator[_Comparison]:
    left, op, right = found
    yield ast.dump(left), op, right
    if op in _SWAPPED:
        yield ast.dump(right), _SWAPPED[op], left


def _comparisons_contradict(first: _Comparison, second: _Comparison) -> bool:
    """Two comparisons of the same left side."""
    if ast.dump(first[2]) == ast.dump(second[2]):
        return (first[1], second[1]) in _CONTRADICTIONS or (second[1], first[1]) in _CONTRADICTIONS
    if not isinstance(first[2], ast.Constant) or not isinstance(second[2], ast.Constant):
        return False
    a, b = first[2].value, second[2].value
    if first[1] == second[1] == "Eq":
        return a != b
    if not _is_number(a) or not _is_number(b) or first[1] not in _TESTS or second[1] not in _TESTS:
        return False
    # intervals meet, if they meet at all, in one of these points
    points = (min(a, b) - 1, a, (a + b) / 2, b, max(a, b) + 1)
    return not any(_TESTS[first[1]](point, a) and _TESTS[second[1]](point, b) for point in points)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
