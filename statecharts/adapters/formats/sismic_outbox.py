"""What a piece of sismic code sends and changes, as actions of the machine.

The actions compare by what they do: pure mode runs code twice and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from statecharts.actions import Assign, Emit, Raise
from statecharts.values import UNDEFINED, freeze

from .sismic_actions import SENT, milliseconds
from .sismic_values import NotData, check_data, same_data


class Outbox:
    """What one piece of code sends, in order."""

    _RESERVED: Final = "type"

    def __init__(self) -> None:
        self.events: list[tuple[bool, str, dict[str, Any]]] = []

    def send(self, name: str, **parameters: Any) -> None:
        """Sismic's ``send``."""
        self.events.append((True, name, parameters))

    def notify(self, name: str, **parameters: Any) -> None:
        """Sismic's ``notify``."""
        self.events.append((False, name, parameters))

    def tell(self, listener: Callable[[str], None]) -> None:
        """Call ``listener`` with the name of each event."""
        for _, name, _ in self.events:
            listener(name)

    def actions(self) -> list[Any]:
        """The events as actions. Raises :class:`NotData` for what no event can carry."""
        found: list[Any] = []
        for is_internal, name, parameters in self.events:
            event = self._event(name, parameters)
            if is_internal:
                delay = _delay_of(name, parameters.get("delay", 0))
                found.append(_Raise(_Constant(event), delay=delay))
                event = freeze({"type": SENT, "event": event})
            found.append(_Emit(_Constant(event)))
        return found

    def _event(self, name: Any, parameters: dict[str, Any]) -> Any:
        if not isinstance(name, str):
            raise NotData(f"an event's name is text, not {name!r}")
        if self._RESERVED in parameters:
            raise NotData(
                f"the event {name!r} has a parameter `type`, which is where an event's name is kept; rename it"
            )
        for key, value in parameters.items():
            check_data({f"{key} of the event {name!r}": value})
        return freeze({"type": name, **parameters})


def _delay_of(name: str, seconds: Any) -> Any:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise NotData(f"the delay of the event {name!r} is {seconds!r}; it is a number of seconds")
    if seconds < 0:
        raise NotData(f"the delay of the event {name!r} is {seconds!r}; it cannot be negative")
    return milliseconds(seconds) if seconds else UNDEFINED


class _Constant:
    """A function that gives ``value``; in an action, a plain value could be read as an expression."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, *_: Any) -> Any:
        return self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant) and same_data(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]


class _Assign(Assign):
    """An update that equals another with the same changes: pure mode runs code twice and compares."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Assign) and self.assignment == other.assignment

    __hash__ = None  # type: ignore[assignment]


class _Raise(Raise):
    """A raised event, equal to another that is the same."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Raise) and self.event == other.event and self.delay == other.delay

    __hash__ = None  # type: ignore[assignment]


class _Emit(Emit):
    """An emitted event, equal to another that is the same."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Emit) and self.event == other.event

    __hash__ = None  # type: ignore[assignment]


def update_with(changes: Mapping[str, Any]) -> Assign:
    """An update that makes ``changes``."""
    return _Assign(_Constant(changes))
