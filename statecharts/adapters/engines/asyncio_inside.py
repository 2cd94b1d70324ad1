"""Whose code is running: so that nobody waits for an actor inside that actor's own work.

An action that awaits something is part of a step, and the step ends only
when the action does. If the action (or a task it waits for) sent to its own
actor and waited, both would wait for ever. A context variable, which tasks
inherit, tells such a send apart from one that may wait.
"""

from __future__ import annotations

from contextvars import ContextVar, Token


class Inside:
    """One piece of an actor's work, and what it was itself started from. ``active`` ends with the work."""

    __slots__ = ("active", "actor", "is_action", "outer")

    def __init__(self, actor: object, is_action: bool, outer: Inside | None) -> None:
        self.actor = actor
        self.is_action = is_action
        self.outer = outer
        self.active = True


_inside: ContextVar[Inside | None] = ContextVar("statecharts_inside", default=None)


def current() -> Inside | None:
    """The innermost work around the caller that is not over."""
    return live(_inside.get())


def live(inside: Inside | None) -> Inside | None:
    """``inside``, or the first around it that is not over."""
    while inside is not None and not inside.active:
        inside = inside.outer
    return inside


def enter(inside: Inside) -> Token[Inside | None]:
    """The caller's code belongs to ``inside`` from here on, until :func:`leave`."""
    return _inside.set(inside)


def leave(token: Token[Inside | None]) -> None:
    """Undo :func:`enter`."""
    _inside.reset(token)


def is_inside(actor: object, *, actions_only: bool = True) -> bool:
    """Whether the caller is part of an action of ``actor`` (or of any of its work) that is not over."""
    inside = _inside.get()
    while inside is not None:
        if inside.active and inside.actor is actor and (inside.is_action or not actions_only):
            return True
        inside = inside.outer
    return False
