"""Getters: values as declared (constants, templates, a user's functions) made ready to be taken in a macrostep.

A getter is called with the frame of the macrostep and the params of the
action it belongs to. One that looks at nothing but context and event is
:class:`Given`, and needs no frame: what is made of such values can be
computed by itself (:mod:`.courses`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..callables import Fitted
from ..expressions import Template
from ..values import UNDEFINED, freeze

if TYPE_CHECKING:
    from .operations import Frame

VALUE: Final = 0
NOTHING: Final = 1
CONTEXT: Final = 2
EVENT: Final = 3
BOTH: Final = 4
OFFERED: Final = 5
"""What a user's function is called with: ``VALUE`` is no function at all, ``OFFERED`` takes all that is offered."""

_SHAPES: Final = {(): NOTHING, (0,): CONTEXT, (1,): EVENT, (0, 1): BOTH}


def shape_of(fitted: Fitted) -> int:
    """How to call ``fitted.function`` without a detour; ``OFFERED`` when there is no short way."""
    return OFFERED if fitted.takes is None else _SHAPES.get(fitted.takes, OFFERED)


Getter = Callable[["Frame", Any], Any]
"""A prepared value: ``(frame, params) -> value``."""


class Given(ABC):
    """A getter for what is a function of context and event alone."""

    __slots__ = ()

    @abstractmethod
    def of(self, context: Any, event: Any) -> Any:
        """The value for these."""

    def __call__(self, frame: Frame, params: Any) -> Any:
        return self.of(frame.context, frame.event)


class Known(Given):
    """A getter for a value that never changes; who is in a hurry takes ``value`` without calling it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def of(self, context: Any, event: Any) -> Any:
        return self.value


NO_VALUE: Final = Known(UNDEFINED)
"""Where nothing is given."""


class Computed(Given):
    """What a user's function makes of context and event. ``freezes``: whether the result may be anything but data."""

    __slots__ = ("freezes", "function", "shape")

    def __init__(self, function: Callable[..., Any], shape: int, freezes: bool) -> None:
        self.function = function
        self.shape = shape
        self.freezes = freezes

    def of(self, context: Any, event: Any) -> Any:
        shape = self.shape
        if shape == CONTEXT:
            value = self.function(context)
        elif shape == BOTH:
            value = self.function(context, event)
        elif shape == EVENT:
            value = self.function(event)
        else:
            value = self.function()
        return freeze(value) if self.freezes else value


class Filled(Given):
    """A template, filled in and frozen. With the params of its action it sees them too."""

    __slots__ = ("template",)

    def __init__(self, template: Template) -> None:
        self.template = template

    def of(self, context: Any, event: Any) -> Any:
        return freeze(self.template.evaluate({"context": context, "event": event}))

    def __call__(self, frame: Frame, params: Any) -> Any:
        if params is UNDEFINED:
            return self.of(frame.context, frame.event)
        variables = {"context": frame.context, "event": frame.event, "params": params}
        return freeze(self.template.evaluate(variables))
