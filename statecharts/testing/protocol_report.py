"""How snapshots, errors and answers stand in the case protocol's lines."""

from __future__ import annotations

from typing import Any

from ..interpreter.queries import next_transitions
from ..interpreter.snapshot import Snapshot
from ..values import UNDEFINED, plain
from .protocol_values import JsError, get_path


def shown_value(snapshot: Any) -> Any:
    return snapshot._configuration.value if isinstance(snapshot, Snapshot) else snapshot.value


def or_null(value: Any) -> Any:
    return None if value is UNDEFINED else value


def context_at(snapshot: Any, path: str) -> Any:
    return or_null(plain(get_path(snapshot.context, path)))


def error_message(error: BaseException) -> str:
    """The text XState's error object would have."""
    if isinstance(error, RecursionError):
        return "Maximum call stack size exceeded"
    return str(getattr(error, "xstate_message", error))


def _error_name(error: BaseException) -> str:
    return "RangeError" if isinstance(error, RecursionError) else getattr(error, "js_name", "Error")


def json_error(error: Any) -> Any:
    """An error as a line shows it: name and message of an exception, else the value."""
    if isinstance(error, BaseException):
        return {"name": _error_name(error), "message": error_message(error)}
    return or_null(error)


def query_bare(query: Any) -> dict[str, Any]:
    """A snapshot without machine answers nothing; XState's has no such methods."""
    for key, name in (("matches", "matches"), ("hasTag", "hasTag")):
        if query.get(key):
            raise JsError(f"s.{name} is not a function")
    out: dict[str, Any] = {}
    if query.get("can"):
        out["can"] = [{"$error": "s.can is not a function"} for _ in query["can"]]
    if query.get("meta"):
        raise JsError("s.getMeta is not a function")
    if query.get("nextTransitions"):
        raise JsError("Cannot read properties of undefined (reading 'filter')")
    if query.get("context"):
        out["context"] = [None for _ in query["context"]]
    return out


def next_transition_rows(snapshot: Snapshot[Any]) -> list[dict[str, Any]]:
    found = []
    for transition in next_transitions(snapshot):
        shown: dict[str, Any] = {"eventType": transition.event_type, "source": transition.source.id}
        if transition.targets is not None:
            shown["target"] = [_target_id(node) for node in transition.targets]
        found.append(shown)
    return found


def _target_id(node: Any) -> str:
    if node is None:
        raise JsError("Cannot read properties of null (reading 'id')")
    return str(node.id)
