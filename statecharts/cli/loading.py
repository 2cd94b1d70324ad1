"""A machine as the command line runs it: the document, the Python beside it, and stand-ins for the rest."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ..api import DefinitionWarning, load_machine
from ..environment import Resolver
from ..errors import StatechartError, UsageError
from ..implementations import Implementations
from ..interpreter.actors import from_callback, from_event_observable, from_observable
from ..machine import Machine
from ..sources import folder_resolver
from ..validation.nearest import nearest
from .files import STDIN, read_text

ACTOR_KINDS = ("promise", "observable", "event-observable", "callback")


def resolver_for(name: str) -> Resolver | None:
    """What a document's ``src`` may name: files beside it. Nothing, for standard input."""
    path = Path(name)
    return folder_resolver(path.parent) if path.is_file() else None


def load(
    name: str, implementations: Any, *, loose: bool, warn: Callable[[str], None], trusted: bool = False
) -> Machine[Any, Any]:
    """The machine in a file or on standard input; warnings go to ``warn``."""
    source: Any = read_text(name) if name == STDIN else Path(name)
    if name == STDIN and "\n" not in source:
        source += "\n"  # one line of JSON is text, not a path
    if name != STDIN:
        read_text(name)  # for the message when it cannot be read
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DefinitionWarning)  # said one by one below
        machine = load_machine(
            source, implementations, strict=not loose, resolver=resolver_for(name), trusted=trusted
        )
    for problem in machine.warnings:
        warn(f"warning: {problem}")
    return machine


def implementations_from(app: str | None, path: str | None) -> Any:
    """What ``--app module:object`` or ``--impl path.py`` names; ``None`` for neither."""
    if app is not None:
        return _as_implementations(_named(app, "impl"), f"--app {app}")
    if path is not None:
        file, _, attribute = path.partition(":") if ":" in Path(path).name else (path, "", "")
        module = _import(lambda: _run_file(Path(file)), f"--impl {path}")
        found = (
            _attribute(module, attribute, f"--impl {path}")
            if attribute
            else _only_implementations(module, path)
        )
        return _as_implementations(found, f"--impl {path}")
    return None


def machines_from(app: str) -> list[Machine[Any, Any]]:
    """The machines that ``--app module:object`` names: one, several, or what a function returns."""
    shown, value = f"--app {app}", _named(app, "machines")
    if callable(value) and not isinstance(value, Machine):
        try:
            value = value()
        except StatechartError:
            raise
        except Exception as error:
            raise UsageError(f"{shown}: raises {type(error).__name__} when called: {error}") from error
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    for one in found:
        if not isinstance(one, Machine):
            raise UsageError(
                f"{shown}: is of type {type(one).__name__}; it must be a Machine (load_machine() makes one), a list of them, "
                "or a function that returns them"
            )
    if not found:
        raise UsageError(f"{shown}: has no machines in it")
    return found


def _named(app: str, example: str) -> Any:
    """The object that ``module:object`` names, in a module of the current folder too."""
    module_name, colon, attribute = app.partition(":")
    if not colon or not module_name or not attribute:
        raise UsageError(f"--app is module:object, for example my_service.machines:{example}; not {app!r}")
    sys.path.insert(0, os.getcwd())
    module = _import(lambda: importlib.import_module(module_name), f"--app {app}")
    return _attribute(module, attribute, f"--app {app}")


def _import(load_it: Callable[[], ModuleType], shown: str) -> ModuleType:
    try:
        return load_it()
    except StatechartError:
        raise
    except Exception as error:
        raise UsageError(f"{shown}: cannot be imported: {type(error).__name__}: {error}") from error


def _run_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    spec = importlib.util.spec_from_file_location(f"statecharts_run_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look their module up
    sys.path.insert(0, str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module


def _attribute(module: ModuleType, dotted: str, shown: str) -> Any:
    value: Any = module
    for name in dotted.split("."):
        if not hasattr(value, name):
            near = nearest(name, dir(value))
            raise UsageError(f"{shown}: there is no {name!r}{f'; did you mean {near!r}?' if near else ''}")
        value = getattr(value, name)
    return value


def _only_implementations(module: ModuleType, path: str) -> Any:
    found = {name: value for name, value in vars(module).items() if isinstance(value, Implementations)}
    if "impl" in found:
        return found["impl"]
    if len({id(value) for value in found.values()}) == 1:
        return next(iter(found.values()))
    what = f"has several ({', '.join(found)})" if found else "has no Implementations object"
    raise UsageError(f"--impl {path}: {what}; name the one to use: --impl {path}:NAME")


def _as_implementations(value: Any, shown: str) -> Any:
    if isinstance(value, Machine):
        return value.implementations
    if isinstance(value, (Implementations, Mapping)):
        return value
    raise UsageError(
        f"{shown}: is of type {type(value).__name__}; it must be Implementations, a dict of them, or a Machine"
    )


def with_stand_ins(
    machine: Machine[Any, Any], delays: Mapping[str, float], actors: Mapping[str, str]
) -> Machine[Any, Any]:
    """``machine`` with the unbound delays and actors that the options describe."""
    for kind, given in (("delay", delays), ("actor", actors)):
        for name in given:
            require_unbound(machine, kind, name)
    logics: dict[str, Callable[[], Any]] = {
        "observable": lambda: from_observable(_nothing),
        "event-observable": lambda: from_event_observable(_nothing),
        "callback": lambda: from_callback(_silent),
    }
    stubs = Implementations()
    stubs.delays.update(delays)
    stubs.actors.update({name: logics[kind]() for name, kind in actors.items() if kind in logics})
    return machine.provide(stubs)


def require_unbound(machine: Machine[Any, Any], kind: str, name: str) -> None:
    """Refuse an option about a name that is bound or not in the machine."""
    missing = [m.name for m in machine.missing if m.kind == kind]
    if name in missing:
        return
    if (kind, name) in set(machine.implementations.names()):
        raise UsageError(f"{kind} {name!r} is bound in Python, which answers for it")
    near = nearest(name, missing)
    known = f"did you mean {near!r}?" if near else f"unbound {kind}s: {', '.join(missing) or 'none'}"
    raise UsageError(f"this machine has no {kind} {name!r}; {known}")


async def _nothing() -> Any:
    """A stream that the prompt feeds; never iterated here."""
    yield  # pragma: no cover - makes this an async generator


def _silent(send_back: Any) -> None:
    """A callback that the prompt speaks for."""
