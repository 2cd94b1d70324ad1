"""JavaScript's way with values, as far as the case protocol needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..values import UNDEFINED, js_number, js_to_number


class JsError(Exception):
    """An error as JavaScript code would throw it. ``js_name`` is the constructor's name."""

    def __init__(self, message: str, js_name: str = "Error") -> None:
        super().__init__(message)
        self.js_name = js_name


def js_type_error(message: str) -> JsError:
    """A JavaScript ``TypeError``."""
    return JsError(message, "TypeError")


# ------------------------------------------------------------------ values


def get_path(root: Any, path: Any) -> Any:
    """``root.a.b`` for path ``"a.b"``; ``UNDEFINED`` where it leads nowhere."""
    if path is UNDEFINED or path == "":
        return root
    current = root
    for part in js_string(path).split("."):
        current = member(current, part)
        if current is UNDEFINED:
            return UNDEFINED
    return current


def member(value: Any, key: str) -> Any:
    """JavaScript's ``value[key]`` for JSON values, errors and snapshots."""
    if value is None or value is UNDEFINED:
        return UNDEFINED
    if isinstance(value, dict):
        return value.get(key, UNDEFINED)
    if isinstance(value, str):
        return _character(value, key)
    if isinstance(value, list):
        if key == "length":
            return len(value)
        return value[int(key)] if key.isdigit() and int(key) < len(value) else UNDEFINED
    if isinstance(value, BaseException):
        return {"message": str(value), "name": getattr(value, "js_name", "Error")}.get(key, UNDEFINED)
    if isinstance(value, (int, float, bool)):
        return UNDEFINED
    found = getattr(value, key, UNDEFINED)
    return UNDEFINED if callable(found) else found


def _character(text: str, key: str) -> Any:
    """A string's length or a character of it, in UTF-16 units as JavaScript counts them."""
    units = text.encode("utf-16-le", "surrogatepass")
    if key == "length":
        return len(units) // 2
    if not key.isdigit() or int(key) * 2 >= len(units):
        return UNDEFINED
    return units[int(key) * 2 : int(key) * 2 + 2].decode("utf-16-le", "surrogatepass")


def js_string(value: Any) -> str:
    """JavaScript's ``String(value)`` for JSON values."""
    if isinstance(value, str):
        return value
    if value is None or value is UNDEFINED:
        return "null" if value is None else "undefined"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return js_number(value)
    if isinstance(value, list):
        return ",".join("" if item is None or item is UNDEFINED else js_string(item) for item in value)
    return "[object Object]"


def js_add(left: Any, right: Any) -> Any:
    """JavaScript's ``left + right``."""
    numbers = (int, float, type(None), type(UNDEFINED))
    if isinstance(left, numbers) and isinstance(right, numbers):
        return _number(left) + _number(right)
    return js_string(left) + js_string(right)


def _number(value: Any) -> Any:
    if value is UNDEFINED:
        return float("nan")
    if value is None:
        return 0
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return js_to_number(value)
    if isinstance(value, list):
        return js_to_number(js_string(value))
    return value if isinstance(value, (int, float)) else float("nan")


def compare(left: Any, right: Any, test: Callable[[Any, Any], bool]) -> bool:
    """A JavaScript relational comparison of JSON values."""
    if isinstance(left, (str, list, dict)) and isinstance(right, (str, list, dict)):
        return test(js_string(left), js_string(right))
    a, b = _number(left), _number(right)
    return test(a, b) if a == a and b == b else False


def has_dyn(value: Any) -> bool:
    """Whether ``value`` holds a ``$ctx``, ``$evt`` or ``$input`` somewhere."""
    if isinstance(value, (list, tuple)):
        return any(map(has_dyn, value))
    if not isinstance(value, Mapping):
        return False
    return "$ctx" in value or "$evt" in value or "$input" in value or any(map(has_dyn, value.values()))


def eval_dyn(value: Any, context: Any, event: Any, input: Any = UNDEFINED) -> Any:
    """``value`` with its dynamic parts replaced."""
    if isinstance(value, (list, tuple)):
        return [eval_dyn(item, context, event, input) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "$ctx" in value:
        return get_path(context, value["$ctx"])
    if "$evt" in value:
        return get_path(event, value["$evt"])
    if "$input" in value:
        return get_path(input, value["$input"])
    return {key: eval_dyn(item, context, event, input) for key, item in value.items()}


def dynamic(value: Any) -> Any:
    """``value`` itself, or a function of (context, event) when something in it is dynamic."""
    if not has_dyn(value):
        return value

    def evaluate(context: Any, event: Any) -> Any:
        given = event.get("input", UNDEFINED) if isinstance(event, dict) else UNDEFINED
        return eval_dyn(value, context, event, given)

    return evaluate


def as_event(event: Any) -> Any:
    """A type name as an event object."""
    return {"type": event} if isinstance(event, str) else event


def listed(value: Any) -> list[Any]:
    """Absent, one or many as a list."""
    if value is UNDEFINED:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
