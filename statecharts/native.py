"""What classes that may be compiled need: how they tell mypyc so, and how they are pickled in either build."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:
    Class = TypeVar("Class", bound=type)

    def mypyc_attr(*_names: str, **_options: object) -> Callable[[Class], Class]:
        """A decorator for a class; mypyc knows it by its name in ``mypy_extensions``. Does nothing to the sources."""
        return lambda made: made


def members(value: Any) -> dict[str, Any]:
    """What the slots of ``value`` hold, by name: a state for pickling that does not depend on the build."""
    kind = type(value)
    names = getattr(kind, "__mypyc_attrs__", None) or kind.__slots__
    return {name: getattr(value, name) for name in names}


def set_members(value: Any, state: dict[str, Any]) -> None:
    """The way back from :func:`members`."""
    for name, member in state.items():
        setattr(value, name, member)
