"""Reading Python without running it: what a piece of code names, and the forms that mean something as data.

Everything here works on the syntax tree. Nothing is compiled or evaluated.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from .sismic_chart import Chart, Code

CLOCK: Final = frozenset({"after", "idle", "time"})
_MUTATORS: Final = frozenset(
    {
        "add", "append", "clear", "difference_update", "discard", "extend", "insert", "pop", "popitem", "popleft",
        "remove", "reverse", "setdefault", "sort", "update",
    }
)  # fmt: skip
_DEEPEST: Final = 100
NOT_DATA: Final = object()
"""What :func:`literal` gives for anything that is not a JSON literal."""


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> ast.expr | None:
    """The expression in ``text``; ``None`` when it is not Python, or nests too deeply to be looked at."""
    module = _parse(text, "eval")
    return module.body if isinstance(module, ast.Expression) else None


@lru_cache(maxsize=4096)
def parse_statements(text: str) -> tuple[ast.stmt, ...] | None:
    """The statements in ``text``; ``None`` when it is not Python, or nests too deeply to be looked at."""
    module = _parse(text, "exec")
    return tuple(module.body) if isinstance(module, ast.Module) else None


def _parse(text: str, mode: str) -> ast.AST | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd escapes and the like, which are no errors
            parsed: ast.AST = ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return parsed if _nests_at_most(parsed, _DEEPEST) else None


def _nests_at_most(tree: ast.AST, limit: int) -> bool:
    """Whether no node lies deeper than ``limit``, so that walking the tree by recursion is safe."""
    level: list[ast.AST] = [tree]
    for _ in range(limit):
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a piece of code: ``reads``, ``writes`` (also by ``def``, ``import`` and ``del``), ``imports``."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    mutates: bool = False


NO_NAMES: Final = Names()


@lru_cache(maxsize=4096)
def names_in(text: str, *, expression: bool = False) -> Names:
    """What ``text`` names, anywhere in it. Code that is not Python names nothing."""
    parsed: Iterable[ast.AST] | None
    if expression:
        found = parse_expression(text)
        parsed = None if found is None else (found,)
    else:
        parsed = parse_statements(text)
    if parsed is None:
        return NO_NAMES
    reads: set[str] = set()
    writes: set[str] = set()
    imports: set[str] = set()
    mutates = False
    for node in (inner for top in parsed for inner in ast.walk(top)):
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else writes).add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        imports.update(_bound_objects(node))
        writes.update(_bound_otherwise(node))
        if isinstance(node, ast.NamedExpr) or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _MUTATORS
        ):
            mutates = True
    return Names(frozenset(reads), frozenset(writes | imports), frozenset(imports), mutates)


def _bound_objects(node: ast.AST) -> Iterator[str]:
    """Names that ``import``, ``def`` and ``class`` give to things that are no data."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name


def _bound_otherwise(node: ast.AST) -> Iterator[str]:
    if (isinstance(node, ast.ExceptHandler) and node.name is not None) or (
        isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name is not None
    ):
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest


# ------------------------------------------------------------------- literals


def literal(node: ast.expr) -> Any:
    """The JSON value that ``node`` writes out, or :data:`NOT_DATA`. Nothing is computed but signs."""
    if isinstance(node, ast.Constant):
        value = node.value
        if value is None or isinstance(value, (bool, int, str)):
            return value
        return value if isinstance(value, float) and math.isfinite(value) else NOT_DATA
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = literal(node.operand)
        if isinstance(inner, bool) or not isinstance(inner, (int, float)):
            return NOT_DATA
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.List):
        items = [literal(item) for item in node.elts]
        return NOT_DATA if any(item is NOT_DATA for item in items) else items
    if isinstance(node, ast.Dict):
        return _literal_dict(node)
    return NOT_DATA


def _literal_dict(node: ast.Dict) -> Any:
    found: dict[str, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = None if key is None else literal(key)
        item = literal(value)
        # "@expr" and "@lang" would make an expression of it
        if not isinstance(name, str) or name.startswith("@") or item is NOT_DATA:
            return NOT_DATA
        found[name] = item
    return found


def constant_seconds(node: ast.expr) -> Decimal | None:
    """A number of seconds written as digits, with ``+ - * /`` at most."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float) and math.isfinite(node.value):  # type: ignore[arg-type]
        return Decimal(repr(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = constant_seconds(node.operand)
        return None if inner is None else -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        left, right = constant_seconds(node.left), constant_seconds(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div) and right:
            return left / right
    return None


def call_of(node: ast.expr, name: str) -> ast.expr | None:
    """The only argument of ``name(argument)``, if ``node`` is such a call."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == name
        and len(node.args) == 1
        and not node.keywords
        and not isinstance(node.args[0], ast.Starred)
    ):
        return node.args[0]
    return None


def literal_assignments(text: str) -> dict[str, Any] | None:
    """``{"x": 1}`` for code that is nothing but ``x = 1`` lines with literals; ``None`` for anything else."""
    statements = parse_statements(text)
    if statements is None:
        return None
    found: dict[str, Any] = {}
    for statement in statements:
        if does_nothing(statement):
            continue
        pair = literal_assignment(statement)
        if pair is None:
            return None
        found[pair[0]] = pair[1]
    return found


def literal_assignment(statement: ast.stmt) -> tuple[str, Any] | None:
    """``("x", 1)`` for ``x = 1``."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target: ast.expr = statement.target
        value = statement.value
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
    else:
        return None
    found = literal(value)
    if not isinstance(target, ast.Name) or found is NOT_DATA:
        return None
    # an annotation is evaluated, and lands in a variable of its own
    return (target.id, found) if isinstance(statement, ast.Assign) else None


def does_nothing(statement: ast.stmt) -> bool:
    """Whether ``statement`` is ``pass`` or a constant."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def is_no_operation(text: str) -> bool:
    """Whether running ``text`` does nothing: only ``pass`` and constants, or nothing at all."""
    statements = parse_statements(text)
    return statements is not None and all(map(does_nothing, statements))


# -------------------------------------------------------------- whole charts


def action_codes(chart: Chart) -> Iterator[Code]:
    """Entry, exit and transition code of ``chart``."""
    for state in chart.states.values():
        for code in (state.on_entry, state.on_exit, *(t.action for t in state.transitions)):
            if code is not None:
                yield code


def shadowed_names(chart: Chart) -> frozenset[str]:
    """Names that some code of ``chart`` gives a value: there they are variables, not sismic's own functions."""
    written: set[str] = set()
    for code in action_codes(chart):
        written |= names_in(code.text).writes
    if chart.preamble is not None:
        written |= names_in(chart.preamble.text).writes
    for transition in chart.transitions:
        if transition.guard is not None:
            written |= names_in(transition.guard.text, expression=True).writes
    return frozenset(written)
