"""What a system still has to do, as an explicit stack of tasks.

XState nests: delivering to an idle actor runs it to the end before the
sender goes on. Here the nesting is a stack, so that a host can stop between
any two tasks to run a user's code.
"""

from __future__ import annotations

from typing import Any

from .deliveries import (
    Delivery,
)

Task = tuple[Any, ...]


class Agenda:
    """Tasks, last in first out, and the deliveries collected for the host. ``tasks``: what is left to do."""

    __slots__ = ("_at_stake", "_blocked", "_out", "tasks")

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self._out: list[Delivery] = []
        self._blocked = False
        self._at_stake: tuple[Any, Task | None] | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        return not self.tasks

    @property
    def at_rest(self) -> bool:
        """Whether nothing is left to do, for the host either."""
        return not self.tasks and not self._out

    def settled(self) -> bool:
        """Whether nothing is left to do, for the host either; then what is over is let go of, as by :meth:`run`."""
        if self.tasks or self._out:
            return False
        self._purge()
        return True

    def ready(self) -> list[Delivery]:
        """The deliveries there are already for the host, at rest."""
        batch = self._out
        if batch:
            self._out = []
        return batch

    def run(self, at_most: int = -1) -> list[Delivery]:
        """Go on until the host has something to do; an empty list means rest.

        ``at_most`` ends it after so many tasks, for a host that has to look
        elsewhere in between; then rest is when :attr:`idle` says so.
        """
        stack = self.tasks
        while stack and not self._blocked and at_most:
            at_most -= 1
            task = stack.pop()
            task[0](*task[1:])
        self._blocked = False
        if not stack and not self._out:
            self._purge()
        batch = self._out
        if batch:
            self._out = []
        return batch

    def _purge(self) -> None:
        """Called at rest, when nothing is left for the host."""

    def _push(self, task: Task) -> None:
        self.tasks.append(task)

    def _push_all(self, *tasks: Task) -> None:
        self.tasks.extend(reversed(tasks))

    def _block(self, cell: Any, planned: Task | None) -> None:
        """Wait for the host. Should it fail, so does ``cell``: ``planned`` is what it would do next."""
        self._blocked = True
        self._at_stake = (cell, planned)
