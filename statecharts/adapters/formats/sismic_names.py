"""Names for pieces of code: readable, the same at every reading, one for each thing that can be bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from .sismic_chart import ChartTransition, Code
from .sismic_code import CLOCK, names_in

_LONGEST: Final = 60
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Moment:
    """When a piece of code runs: on ``entry`` or ``exit`` of a state, when it has been ``left``, or with a ``transition``."""

    kind: Literal["entry", "exit", "left", "transition"]
    state: str
    transition: ChartTransition | None = None

    @property
    def place(self) -> str:
        """Words for messages and names."""
        if self.transition is None:
            return f"{self.kind} of {self.state}"
        target = f" -> {self.transition.target}" if self.transition.target is not None else ""
        event = f" on {self.transition.event}" if self.transition.event is not None else ""
        return f"{self.state}{target}{event}"

    @property
    def has_event(self) -> bool:
        """Whether sismic shows the code an event."""
        return self.transition is not None and self.transition.event is not None


@dataclass(frozen=True, slots=True)
class CodePiece:
    """Code behind a name in the document: what has to be bound, or (trusted) is bound to it.

    ``text`` is Python as it stands in the file (or a part of it) and ``line``
    where it starts. ``facts`` says which states the name takes to be active
    or not, where a guard asks for that in the middle of an expression.
    """

    kind: Literal["guard", "action"]
    name: str
    text: str
    line: int | None
    moment: Moment
    facts: Mapping[str, bool] = field(default_factory=dict)

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line is not None else "the file"
        return f"{self.kind} {self.name!r} ({self.moment.place}, {where}):\n    " + self.text.replace(
            "\n", "\n    "
        )


class NameBook:
    """Gives each piece of code its name, and the same name to the same code where that can make no difference."""

    def __init__(self) -> None:
        self.pieces: dict[str, CodePiece] = {}
        self._known: dict[object, str] = {}

    def guard(self, text: str, code: Code, moment: Moment, facts: Mapping[str, bool] | None = None) -> str:
        """The name of the guard ``text``, which stands in ``code``."""
        reads = names_in(text, expression=True).reads
        sees_event = "event" in reads and moment.has_event
        timed = moment.state if reads & CLOCK else None
        assumed = tuple(sorted((facts or {}).items()))
        suffix = "".join(f" [{state}{'' if active else ' not'} active]" for state, active in assumed)
        return self._name(
            "guard", text, code, moment, (text, sees_event, timed, assumed), suffix, dict(assumed)
        )

    def action(self, code: Code, moment: Moment) -> str:
        """The name of an action."""
        reads = names_in(code.text).reads
        own: object = (moment.kind, moment.state, moment.transition) if "active" in reads else None
        sees_event = "event" in reads and moment.has_event
        return self._name("action", code.text, code, moment, (code.text, sees_event, own), "", {})

    def _name(
        self,
        kind: Literal["guard", "action"],
        text: str,
        code: Code,
        moment: Moment,
        key: tuple[object, ...],
        suffix: str,
        facts: Mapping[str, bool],
    ) -> str:
        known = self._known.get((kind, key))
        if known is not None:
            return known
        name = self._free(kind, _readable(text, moment) + suffix, moment)
        self._known[kind, key] = name
        self.pieces[f"{kind} {name}"] = CodePiece(kind, name, text, code.line, moment, facts)
        return name

    def _free(self, kind: str, name: str, moment: Moment) -> str:
        if f"{kind} {name}" not in self.pieces:
            return name
        placed = f"{name} ({moment.place})"
        number = 1
        while f"{kind} {placed}" in self.pieces:
            number += 1
            placed = f"{name} ({moment.place}, {number})"
        return placed


def _readable(text: str, moment: Moment) -> str:
    flat = "; ".join(line.strip() for line in text.splitlines() if line.strip())
    if flat and len(flat) <= _LONGEST and not flat.startswith(("xstate.", "@xstate.")):
        return flat
    return f"{moment.place}: {flat[:_SHOWN]}{'…' if len(flat) > _SHOWN else ''}"
