"""Where formats, engines and the core meet: the functions a user calls."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from .definition import SCXML
from .environment import Resolver
from .errors import DefinitionError, Problem, UsageError
from .implementations import Implementations
from .machine import Machine
from .sources import format_of, read_source, scxml_environment, scxml_machine, sismic_machine, xstate_machine
from .values import UNDEFINED

if TYPE_CHECKING:
    from .adapters.engines.asyncio_host import Actor
    from .adapters.engines.simulation import Simulation

C = TypeVar("C")
E = TypeVar("E")
FORMATS = ("xstate", "scxml", "sismic")


class DefinitionWarning(UserWarning):
    """Something in a document that is harmless today and probably not meant."""


def load_machine(
    source: str | os.PathLike[str] | Mapping[str, Any],
    implementations: Implementations | Mapping[str, Any] | None = None,
    *,
    format: str | None = None,
    strict: bool = True,
    semantics: str | None = None,
    resolver: Resolver | None = None,
    processors: Mapping[str, Any] | None = None,
    datamodels: Mapping[str, Any] | None = None,
    trusted: bool = False,
) -> Machine[Any, Any]:
    """A machine from a path, a text or a mapping.

    A ``str`` that starts with ``{`` or ``<`` or holds a newline is text;
    otherwise it is a path. ``format`` (``"xstate"``, ``"scxml"``,
    ``"sismic"``) is told by the file's name or the content. ``strict``
    (default) makes everything that XState would silently drop, ignore or die
    of later a problem now, and everything the SCXML Recommendation forbids.
    ``semantics`` of an XState document is ``"xstate"`` (XState with numbered
    corrections; the default under strict) or ``"xstate-exact"``.

    ``trusted`` lets the Python in a sismic chart run; otherwise it is never
    evaluated, and what it stands for is to be bound by name.

    For SCXML: ``resolver`` finds what a ``src`` names (:func:`folder_resolver`
    for one), ``processors`` are I/O processors by type, ``datamodels`` replace
    or add to those that come with the library.

    Raises :class:`DefinitionError` with every problem found, and
    :class:`ImplementationError` for a callable that cannot be bound. Names
    that are not bound yet are no error; see :attr:`Machine.missing`.
    """
    document, file = read_source(source)
    kind = format if format is not None else format_of(document, file)
    if kind not in FORMATS:
        raise UsageError(f"format {kind!r} is not known; known: {', '.join(FORMATS)}")
    if kind == "scxml":
        if semantics not in (None, SCXML):
            raise UsageError(f"an SCXML document runs under semantics {SCXML!r}, not {semantics!r}")
        environment = scxml_environment(resolver, processors, datamodels, strict)
        machine, problems = scxml_machine(document, file, implementations, environment, strict=strict)
    elif kind == "sismic":
        machine, problems = sismic_machine(
            document, file, implementations, strict=strict, trusted=trusted
        )
    else:
        machine, problems = xstate_machine(
            document, file, implementations, strict=strict, semantics=semantics
        )
    definition = machine.definition
    unbound = machine.implementations.initial_context is UNDEFINED
    if strict and isinstance(definition.context, str) and unbound:
        raise DefinitionError([_unbound_context(file)], definition.id)
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
    return _simulation()(machine, input, snapshot, **options)


@cache
def _simulation() -> type[Simulation[Any]]:
    """Imported when the first one is made."""
    from .adapters.engines.simulation import Simulation as Host

    return Host


def start(
    machine: Machine[C, Any],
    input: Any = None,
    snapshot: Any = None,
    **options: Any,
) -> Actor[C]:
    """An asyncio actor for ``async with start(machine) as actor``; see :class:`Actor` for the options."""
    from .adapters.engines.asyncio_host import Actor as Host

    return Host(machine, input, snapshot, **options)
