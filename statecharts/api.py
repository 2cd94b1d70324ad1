"""Where formats, engines and the core meet: the functions a user calls."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .adapters.formats import xstate
from .errors import DefinitionError, Problem, UsageError
from .implementations import Implementations
from .machine import Machine
from .values import UNDEFINED

if TYPE_CHECKING:
    from .adapters.engines.asyncio_host import Actor
    from .adapters.engines.simulation import Simulation

C = TypeVar("C")
E = TypeVar("E")
FORMATS = ("xstate",)


class DefinitionWarning(UserWarning):
    """Something in a document that is harmless today and probably not meant."""


def load_machine(
    source: str | os.PathLike[str] | Mapping[str, Any],
    implementations: Implementations | Mapping[str, Any] | None = None,
    *,
    format: str | None = None,
    strict: bool = True,
    semantics: str | None = None,
) -> Machine[Any, Any]:
    """A machine from a path, a text or a mapping.

    A ``str`` that starts with ``{`` or ``<`` or holds a newline is text;
    otherwise it is a path. ``strict`` (default) makes everything that XState
    would silently drop, ignore or die of later a problem now. ``semantics``
    is ``"xstate"`` (XState with numbered corrections; the default under
    strict) or ``"xstate-exact"``.

    Raises :class:`DefinitionError` with every problem found, and
    :class:`ImplementationError` for a callable that cannot be bound. Names
    that are not bound yet are no error; see :attr:`Machine.missing`.
    """
    document, file = _read(source)
    kind = format if format is not None else _format_of(document, file)
    if kind not in FORMATS:
        raise UsageError(f"format {kind!r} is not known; known: {', '.join(FORMATS)}")
    definition, problems = xstate.read_definition(
        document, strict=strict, semantics=semantics, file=file, bound=implementations is not None
    )
    bound = Implementations.of(implementations)
    if strict and isinstance(definition.context, str) and bound.initial_context is UNDEFINED:
        raise DefinitionError([_unbound_context(file)], definition.id)
    machine: Machine[Any, Any] = Machine(definition, bound)
    if strict:
        machine.warnings = (*problems, *surplus_problems(machine))
        _warn(machine)
    return machine


def _unbound_context(file: str | None) -> Problem:
    message = "The context is program text; with implementations given, a function must be bound for it."
    hint = "Use `@impl.context`, or write the initial context as JSON."
    return Problem("context-is-code", "/context", message, hint, file=file)


def _warn(machine: Machine[Any, Any]) -> None:
    """One Python warning for all of them; ``machine.warnings`` has them one by one."""
    if machine.warnings:
        lines = "\n".join(f"  {problem}" for problem in machine.warnings)
        noun = "warning" if len(machine.warnings) == 1 else "warnings"
        text = f"machine {machine.id!r} has {len(machine.warnings)} {noun}:\n{lines}"
        warnings.warn(text, DefinitionWarning, stacklevel=3)


def surplus_problems(machine: Machine[Any, Any]) -> list[Problem]:
    """Bound names the document does not use, as warnings, with the nearest name it does use."""
    from difflib import get_close_matches

    found = []
    for kind, name in machine.surplus:
        near = get_close_matches(name, [m.name for m in machine.missing if m.kind == kind], 1)
        hint = f"Did you mean {near[0]!r}?" if near else None
        found.append(Problem("surplus-name", "", f"{kind} {name!r} is bound but not used", hint, "warning"))
    return found


def _read(source: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[str | Mapping[str, Any], str | None]:
    if isinstance(source, Mapping):
        return source, None
    if isinstance(source, str) and _is_text(source):
        return source, None
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(f"a machine is read from a path, JSON text or a dict, not {type(source).__name__}")
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8-sig"), str(path)
    except FileNotFoundError:
        raise UsageError(f"there is no file {str(path)!r}; pass a path, JSON text, or a dict") from None
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error}") from None


def _is_text(source: str) -> bool:
    return source.lstrip("\ufeff \t").startswith(("{", "<")) or "\n" in source


def _format_of(document: str | Mapping[str, Any], file: str | None) -> str:
    suffix = Path(file).suffix.lower() if file is not None else ""
    if suffix in (".scxml", ".xml") or (
        isinstance(document, str) and document.lstrip("\ufeff \t\r\n").startswith("<")
    ):
        return "scxml"
    if suffix in (".yaml", ".yml"):
        return "sismic"
    return "xstate"


def simulate(
    machine: Machine[C, Any],
    input: Any = None,
    snapshot: Any = None,
    **options: Any,
) -> Simulation[C]:
    """Run ``machine`` synchronously on a virtual clock; see :class:`Simulation` for the options.

    ``stubs=True`` runs a machine nobody has bound: actions are recorded and
    ``guards={"name": True}`` answers for its guards.
    """
    from .adapters.engines.simulation import Simulation as Host

    return Host(machine, input, snapshot, **options)


def start(
    machine: Machine[C, Any],
    input: Any = None,
    snapshot: Any = None,
    **options: Any,
) -> Actor[C]:
    """An asyncio actor for ``async with start(machine) as actor``; see :class:`Actor` for the options."""
    from .adapters.engines.asyncio_host import Actor as Host

    return Host(machine, input, snapshot, **options)
