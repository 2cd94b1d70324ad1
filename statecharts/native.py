"""How classes tell mypyc what they need of it. Means nothing when the sources run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:
    Class = TypeVar("Class", bound=type)

    def mypyc_attr(*_names: str, **_options: object) -> Callable[[Class], Class]:
        """A decorator for a class; mypyc knows it by its name in ``mypy_extensions``."""
        return lambda made: made
