"""CEL's environment: the standard functions, with operators that take JSON's numbers.

The runtime refuses to *replace* an overload and to declare a standard
function twice, but it accepts more overloads, and the checker's declaration
of an operator can be excluded. So each operator below is excluded from the
standard library and declared anew: what the runtime has, plus ours.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .errors import ImplementationError
from .expressions import VARIABLES
from .expressions_cel_source import STRING_FUNCTION
from .values import js_number


def cel_runtime() -> Any:
    """The runtime's module. Raises :class:`ImplementationError` when the extra is not installed."""
    try:
        from cel_expr_python import cel
    except ImportError:
        raise ImplementationError(
            "expressions in CEL need an extra that is not installed: pip install 'statecharts[cel]'"
        ) from None
    return cel


@lru_cache(maxsize=1)
def environment() -> Any:
    """CEL's environment with our operators. Built once; environments are immutable and shared."""
    cel = cel_runtime()
    operators = _operators(cel.Type)
    excluded = "".join(f'    - name: "{name}"\n' for name in operators)
    functions = {**operators, STRING_FUNCTION: _texts(cel.Type)}
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(f"stdlib:\n  exclude_functions:\n{excluded}"),
        variables=dict.fromkeys(VARIABLES, cel.Type.DYN),
        functions=[_declared(cel, name, overloads) for name, overloads in functions.items()],
    )


_Overloads = list[tuple[tuple[Any, ...], Any, Callable[..., Any] | None]]
"""(parameter types, result type, our function or ``None`` where the runtime has its own)"""


def _declared(cel: Any, name: str, overloads: _Overloads) -> Any:
    declared = []
    for index, (parameters, result, function) in enumerate(overloads):
        own = {} if function is None else {"impl": function}
        declared.append(cel.Overload(f"{name}:{index}", result, list(parameters), False, **own))
    return cel.FunctionDecl(name, declared)


def _texts(types: Any) -> _Overloads:
    kinds = (
        types.INT,
        types.UINT,
        types.DOUBLE,
        types.BOOL,
        types.STRING,
        types.BYTES,
        types.TIMESTAMP,
        types.DURATION,
    )
    return [((kind,), types.STRING, _string) for kind in kinds]


def _operators(types: Any) -> dict[str, _Overloads]:
    """The operators whose declarations we widen. Overloads without a function are the runtime's own."""
    int_, double, uint, bool_, dyn = types.INT, types.DOUBLE, types.UINT, types.BOOL, types.DYN
    string, bytes_, list_, map_ = types.STRING, types.BYTES, types.LIST, types.MAP
    stamp, span = types.TIMESTAMP, types.DURATION

    def same(*kinds: Any) -> _Overloads:
        return [((kind, kind), kind, None) for kind in kinds]

    def mixed(function: Callable[[float, float], float]) -> _Overloads:
        return [((int_, double), double, function), ((double, int_), double, function)]

    def compared() -> _Overloads:
        numbers: _Overloads = [
            ((a, b), bool_, None) for a in (int_, double, uint) for b in (int_, double, uint)
        ]
        return numbers + [((kind, kind), bool_, None) for kind in (string, bytes_, bool_, stamp, span)]

    moments: _Overloads = [((stamp, span), stamp, None), ((span, span), span, None)]
    return {
        "_+_": [
            *same(int_, double, uint, string, bytes_, list_),
            *moments,
            ((span, stamp), stamp, None),
            *mixed(_add),
        ],
        "_-_": [*same(int_, double, uint), *moments, ((stamp, stamp), span, None), *mixed(_subtract)],
        "_*_": same(int_, double, uint) + mixed(_multiply),
        "_/_": same(double) + mixed(_divide),
        "_%_": [*same(int_, uint), ((double, double), double, _remainder), *mixed(_remainder)],
        **{name: compared() for name in ("_<_", "_<=_", "_>_", "_>=_")},
        **{name: [((dyn, dyn), bool_, None)] for name in ("_==_", "_!=_")},
        "@in": [((dyn, list_), bool_, None), ((dyn, map_), bool_, None)],
        "_?_:_": [((bool_, dyn, dyn), dyn, None)],
        "_[_]": [((list_, dyn), dyn, None), ((map_, dyn), dyn, None)],
    }


def _add(left: float, right: float) -> float:
    return float(left) + float(right)


def _subtract(left: float, right: float) -> float:
    return float(left) - float(right)


def _multiply(left: float, right: float) -> float:
    return float(left) * float(right)


def _divide(left: float, right: float) -> float:
    """IEEE division, as the runtime does it for two doubles."""
    if right:
        return float(left) / float(right)
    if not left or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _remainder(left: float, right: float) -> float:
    """What is left after cutting division; the sign is the dividend's, as in JavaScript."""
    if not right:
        raise ValueError("modulus by zero")
    return math.fmod(left, right)


def _string(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return js_number(value)
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.timedelta):
        return f"{js_number(value.total_seconds())}s"
    return bytes(value).decode() if isinstance(value, (bytes, bytearray)) else str(value)
