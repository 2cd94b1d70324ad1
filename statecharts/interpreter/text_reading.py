"""Reading the text of a saved snapshot, when it is exactly as it is written (:mod:`.texts`).

JSON is read from left to right, so a text that begins with ``{"status":"active","value":``,
goes on with a whole value, and so on to its end, is that object and no other;
nothing has to be guessed. Texts of state values are looked up, and so a state
value that was met before is not read again. Whatever differs in anything (a
space, an order, an escape, another status) is left to those who read the
object, who also say what is wrong.
"""

from __future__ import annotations

from typing import Any, Final

from ..errors import ExecutionError, UsageError
from ..json_text import loads, scan
from ..values import js_ordered
from .configuration import Configuration
from .persistence import context_alone, simple_history
from .program import Program
from .snapshot import NO_CHILDREN, NOTHING_ELSE, Rest, Snapshot
from .state_values import Found, configuration_of
from .texts import ACTIVE_STATES, CONTEXT, END, HISTORY, NO_HISTORY, size_of, states_text

UNREADABLE: Final = (ValueError, StopIteration, RecursionError)
"""What the scanner raises. A text that it cannot read is not read here; others then say what is wrong."""
_REFUSED: Final = (*UNREADABLE, ExecutionError, UsageError)
_NOTHING_REMEMBERED: Final = NO_HISTORY + CONTEXT


def snapshot_in_text(program: Program, text: str) -> Snapshot[Any] | None:
    """The snapshot that ``text`` is, or None when it is not exactly as we write it."""
    if text[2:3] != "s":  # as in "status"; an envelope begins with its format
        return None
    found = parts_at(program, text, 0)
    if found is None or found[3] != len(text):
        return None
    (configuration, order), context, rest, _ = found
    return Snapshot(configuration, order, context, rest, 0)


Parts = tuple[Found, Any, Rest, int]
"""Of a snapshot in a text: states, context, the rest; and where the text goes on behind it."""


def parts_at(program: Program, text: str, start: int) -> Parts | None:
    """The snapshot that begins at ``start``."""
    marked = text.find(HISTORY, start)
    if marked < 0:
        return None
    begun = text[start:marked]
    states = program.texts.get(begun) or _states_in(program, begun)
    if states is None:
        return None
    at = marked + len(HISTORY)
    rest = NOTHING_ELSE
    try:
        if text.startswith(_NOTHING_REMEMBERED, at):
            at += len(_NOTHING_REMEMBERED)
        else:
            saved, at = scan(text, at)
            history = simple_history(program, js_ordered(saved)) if type(saved) is dict else None
            if history is None or not text.startswith(CONTEXT, at):
                return None
            at += len(CONTEXT)
            rest = Rest(NO_CHILDREN, history)
        context, at = scan(text, at)
        if type(context) is dict and text.startswith(END, at):
            return states, context_alone(context), rest, at + len(END)
    except _REFUSED:
        pass
    return None


def _states_in(program: Program, begun: str) -> Found | None:
    """What the beginning of a text names, if that is a state value and no part of one. Remembers it for the next time."""
    if not begun.startswith(ACTIVE_STATES) or program.datamodel is not None:
        return None
    try:
        found = configuration_of(program, loads(begun[len(ACTIVE_STATES) :]))
    except _REFUSED:
        return None
    if program.memo.keeps and states_text(found[0]) == begun:
        _remember(program, begun, found)
    return found


def states_as_rebuilt(configuration: Configuration) -> Found | None:
    """What is read from the state value of ``configuration``: where it is the same, perhaps in another order.

    None where nothing can be: a name with a ``#`` is read as an id.
    """
    program = configuration.program
    text = configuration.text or states_text(configuration)
    found = program.texts.get(text)
    if found is None:
        try:
            found = configuration_of(program, configuration.value)
        except ExecutionError:
            return None
        if program.memo.keeps:
            _remember(program, text, found)
    return found


def _remember(program: Program, begun: str, found: Found) -> None:
    program.memo.charge(size_of(begun) + 200 + 8 * len(found[1] or ()))
    program.texts[begun] = found
