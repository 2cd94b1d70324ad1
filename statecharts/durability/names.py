"""What instances, events and namespaces may be called."""

from __future__ import annotations

from ..errors import UsageError

MAX_LENGTH = 200
RESERVED = ("result:", "timer:", "send:")
"""How ids begin that are made here, of the effect or timer that an event comes from."""


def checked_name(name: object, what: str) -> str:
    """``name`` if it may be one. Raises :class:`UsageError` saying what is wrong with it.

    A name is text of 1 to 200 characters without blanks at its ends, control
    characters or lone surrogates: it has to survive every log, address and
    shell on its way.
    """
    if not isinstance(name, str):
        raise UsageError(f"{what} is text, not {type(name).__name__}")
    if not name or name != name.strip():
        raise UsageError(f"{what} {name!r} is empty or has blanks at its ends; give it a name of 1 to {MAX_LENGTH} characters")
    if len(name) > MAX_LENGTH:
        raise UsageError(f"{what} has {len(name)} characters; {MAX_LENGTH} are allowed")
    for character in name:
        if not character.isprintable():
            raise UsageError(f"{what} {name!r} has the character {character!r}, which cannot be printed")
    return name


def checked_event_id(id: object) -> str:
    """``id`` if an event from outside may have it: a name, and none that an effect or a timer will want for its own event."""
    name = checked_name(id, "an event's id")
    if name.startswith(RESERVED):
        raise UsageError(f"event id {name!r} begins with {name.partition(':')[0]}:, as those made here do; give your events ids of your own")
    return name
