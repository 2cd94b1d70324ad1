"""Starts a JavaScript engine and prepares its realm: pure, frozen, and with room for a document's variables."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module, resources
from typing import Any, NamedTuple

from ...errors import ImplementationError
from .ecmascript_scanner import open_starts


class Limits(NamedTuple):
    """``time`` in seconds of CPU for one evaluation, ``memory`` and ``stack`` in bytes for one engine."""

    time: float
    memory: int
    stack: int


class Text(NamedTuple):
    """What an engine is made for: the datamodel's ids, variables and top-level scripts."""

    ids: tuple[str | None, ...]
    variables: tuple[str, ...]
    scripts: tuple[str, ...]


def quickjs() -> Any:
    """The module ``quickjs``. Raises :class:`ImplementationError` saying how to install it."""
    try:
        return import_module("quickjs")
    except ImportError as error:
        raise ImplementationError(
            'datamodel="ecmascript" needs a JavaScript engine; run `pip install \'statecharts[scxml]\'`'
        ) from error


@lru_cache(maxsize=1)
def _realm() -> str:
    """The JavaScript that prepares a realm."""
    folder = resources.files(__package__)
    text = (folder / "ecmascript_realm.js").read_text("utf-8")
    for part in ("values", "dom", "purity"):
        name = f"ecmascript_{part}.js"
        text = text.replace(f"  //#include {name}\n", (folder / name).read_text("utf-8"))
    return text


def start(module: Any, limits: Limits, text: Text) -> tuple[Any, Callable[[str], Any]]:
    """A quickjs context, and what gives the operations of its realm by name. ``text.scripts`` are globalised."""
    js = module.Context()
    js.set_memory_limit(limits.memory)
    js.set_max_stack_size(limits.stack)
    js.set_time_limit(max(limits.time, 1.0))  # that of one evaluation may be too short to prepare a realm
    arguments = (text.ids, [(script, open_starts(script)) for script in text.scripts], text.variables)
    pick = js.eval(f"{_realm()}({', '.join(map(json.dumps, arguments))})")
    js.set_time_limit(limits.time)
    return js, pick


def message_of(error: Exception) -> str:
    """What JavaScript said, without the stack."""
    lines = [line for line in str(error).split("\n") if line and not line.startswith("    at ")]
    if len(lines) > 1 and lines[-1] == "undefined":
        lines.pop()
    message = "\n".join(lines) or "JavaScript raised an error without a message"
    return message if len(message) <= 1000 else message[:997] + "..."
