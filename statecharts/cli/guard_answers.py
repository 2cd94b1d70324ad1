"""Who answers for guards that nobody bound: options, the prompt, or nobody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..errors import UsageError
from ..interpreter.snapshot import EventOption
from ..json_text import dumps
from ..values import UNDEFINED


class Question(NamedTuple):
    """What a person is asked: a guard's name, the event and the params it was given."""

    name: str
    event: Any
    params: Any


Ask = Callable[[Question], bool | None]


class UnansweredGuard(UsageError):
    """A guard that is not bound was needed and nobody said what it answers."""

    def __init__(self, name: str, message: str | None = None) -> None:
        super().__init__(
            message
            or f"guard {name!r} is not bound and nobody answers for it; say --guard {name}=true or --guard {name}=false"
        )
        self.name = name


class GuardAnswers:
    """Answers for unbound guards; handed to the simulation as its ``guards``.

    An answer given once holds for the whole step, also when the machine asks
    again. ``fixed`` answers hold until they are changed.
    """

    def __init__(self, fixed: dict[str, bool] | None = None, ask: Ask | None = None) -> None:
        self.fixed: dict[str, bool] = dict(fixed or {})
        self.unanswered: str | None = None
        self.ask = ask
        self._peeking = False
        self._given: dict[tuple[str, str], bool] = {}

    def __call__(self, name: str, context: Any, event: Any, params: Any) -> bool:
        if name in self.fixed:
            return self.fixed[name]
        key = (name, "" if params is UNDEFINED else dumps(params))
        if key in self._given and not self._peeking:
            return self._given[key]
        if self._peeking:
            raise UnansweredGuard(name, f"guard {name!r} has no answer yet")
        answer = self.ask(Question(name, event, params)) if self.ask is not None else None
        if name in self.fixed:  # "from now on"
            return self.fixed[name]
        if answer is None:
            self.unanswered = name
            raise UnansweredGuard(name)
        self._given[key] = answer
        return answer

    def new_step(self) -> None:
        """Forget what was answered for the last step."""
        self._given.clear()
        self.unanswered = None

    @contextmanager
    def peeking(self) -> Iterator[None]:
        """Look at what is enabled without asking anybody."""
        self._peeking = True
        try:
            yield
        finally:
            self._peeking = False


_BROKEN_GUARD = re.compile(r"Unable to evaluate guard ('.*?') in transition .*?:\n(.*)", re.DOTALL)


def tidied(option: EventOption) -> EventOption:
    """What a guard said that could not answer, in a few words."""
    found = None if option.enabled is not None else _BROKEN_GUARD.search(option.reason or "")
    if found is None:
        return option
    name, said = found[1], found[2]
    if said != f"guard {name} has no answer yet":
        said = f"guard {name} cannot answer without the event's data ({said})"
    return option._replace(reason=said)
