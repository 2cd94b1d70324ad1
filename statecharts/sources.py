"""From whatever a user points at to a machine: reading, telling formats apart, giving a document its surroundings."""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .adapters.formats import xstate
from .definition import SCXML, Definition
from .environment import NO_ENVIRONMENT, Environment, Resolver
from .errors import DefinitionError, Problem, UsageError
from .implementations import Implementations
from .machine import Machine
from .scxml_definition import Lines, build_scxml_definition

Found = tuple[Machine[Any, Any], tuple[Problem, ...]]
"""A machine and the warnings about its document."""


# ---------------------------------------------------------------- reading


def read_source(
    source: str | os.PathLike[str] | Mapping[str, Any],
) -> tuple[str | Mapping[str, Any], str | None]:
    """Text or mapping, and the file it is from. Raises :class:`UsageError` for what cannot be read."""
    if isinstance(source, Mapping):
        return source, None
    if isinstance(source, str) and _is_text(source):
        return source, None
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(f"a machine is read from a path, a text or a dict, not {type(source).__name__}")
    path = Path(source)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"there is no file {str(path)!r}; pass a path, a text, or a dict") from None
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    encoding = encoding_of(data)
    try:
        return data.decode(encoding), str(path)
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == "utf-8-sig" else encoding
        raise UsageError(f"{path} is not {name} text: {error}") from None
    except LookupError:
        raise UsageError(f"{path} says its encoding is {encoding!r}, which is not known; save it as UTF-8") from None


_DECLARED = re.compile(rb"""<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def encoding_of(data: bytes) -> str:
    """UTF-8, unless an XML document says otherwise (XML 1.0 §4.3.3)."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    declared = _DECLARED.match(data)
    if declared is None or declared[1].lower() in (b"utf-8", b"utf8"):
        return "utf-8-sig"
    return declared[1].decode("ascii")


def _is_text(source: str) -> bool:
    return source.lstrip("\ufeff \t").startswith(("{", "<")) or "\n" in source


def format_of(document: str | Mapping[str, Any], file: str | None) -> str:
    """Which format a document is in, by its file's name or by its content."""
    suffix = Path(file).suffix.lower() if file is not None else ""
    if suffix in (".scxml", ".xml") or (isinstance(document, str) and _is_markup(document)):
        return "scxml"
    if suffix in (".yaml", ".yml"):
        return "sismic"
    if isinstance(document, Mapping):
        return "scxml" if document.get("semantics") == SCXML else "xstate"
    if '"scxml"' in document and _says_scxml(document):
        return "scxml"
    return "xstate" if suffix or document.lstrip("\ufeff \t\r\n").startswith(("{", "[")) else _by_lines(document)


def _is_markup(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def _says_scxml(text: str) -> bool:
    from .adapters.formats.positions import read_json

    try:
        data = read_json(text, None).data
    except DefinitionError:
        return False
    return isinstance(data, Mapping) and data.get("semantics") == SCXML


def _by_lines(text: str) -> str:
    """Text that is neither JSON nor XML: a sismic chart begins with ``statechart:``."""
    return "sismic" if any(line.startswith("statechart:") for line in text.splitlines()) else "xstate"


# ------------------------------------------------------------------ SCXML


def datamodels() -> dict[str, Any]:
    """The datamodels that come with this library, by the name a document uses."""
    from .adapters.datamodels.ecmascript import ecmascript
    from .adapters.datamodels.null import null

    return {"ecmascript": ecmascript(), "null": null()}


def scxml_environment(
    resolver: Resolver | None,
    processors: Mapping[str, Any] | None,
    given: Mapping[str, Any] | None,
    strict: bool,
) -> Environment:
    """What surrounds an SCXML document, and every document that it invokes."""
    known = {**datamodels(), **(given or {})}

    def read(document: Any, uri: str) -> Machine[Any, Any]:
        text = document if isinstance(document, (str, Mapping)) else read_source(document)[0]
        inner = scxml_environment(_based(resolver, uri), processors, known, strict)
        return scxml_machine(text, uri or None, None, inner, strict=strict)[0]

    return Environment(known, read, resolver, dict(processors or {}))


def _based(resolver: Resolver | None, uri: str) -> Resolver | None:
    """A resolver for what the document at ``uri`` names: relative to where it lies itself (RFC 3986 §5.1.3)."""
    folder = posixpath.dirname(uri.removeprefix("file:"))
    if resolver is None or not folder:
        return resolver

    def resolve(inner: str) -> Any:
        path = inner.removeprefix("file:")
        is_relative = ":" not in path.split("/", 1)[0] and not path.startswith("/")
        return resolver(posixpath.normpath(posixpath.join(folder, path)) if is_relative else inner)

    return resolve


def scxml_machine(
    source: str | Mapping[str, Any],
    file: str | None,
    implementations: Implementations | Mapping[str, Any] | None,
    environment: Environment,
    *,
    strict: bool,
) -> Found:
    """An SCXML document (XML, or its JSON) as a machine. Raises :class:`DefinitionError` with every problem."""
    document, lines, warnings = _scxml_document(source, file, strict, environment)
    if document.get("semantics") != SCXML:  # an XState machine that was exported
        return xstate_machine(document, file, implementations, strict=strict, semantics=None)
    try:
        definition = build_scxml_definition(document, resolve=_text_resolver(environment.resolve), lines=lines)
        _require_datamodel(definition, environment)
    except DefinitionError as error:
        located = [dataclasses.replace(p, line=_line(p, lines), file=p.file or file) for p in error.problems]
        raise DefinitionError(located, document.get("id")) from None
    return Machine(definition, Implementations.of(implementations), environment=environment), warnings


def _scxml_document(
    source: str | Mapping[str, Any], file: str | None, strict: bool, environment: Environment
) -> tuple[Mapping[str, Any], Lines | None, tuple[Problem, ...]]:
    if isinstance(source, Mapping):
        return source, None, ()
    if _is_markup(source):
        from .adapters.formats.scxml import read_document

        found = read_document(source, file, strict=strict, datamodels=environment.datamodels)
        return found.document, found.line_of, found.warnings
    from .adapters.formats.positions import read_json

    text = read_json(source, file)
    if not isinstance(text.data, Mapping):
        raise DefinitionError([Problem("not-an-object", "", "an SCXML document in JSON is an object", file=file)])
    return text.data, text.line_of, ()


def _line(problem: Problem, lines: Lines | None) -> int | None:
    return problem.line if problem.line is not None or lines is None else lines(problem.pointer)


def _require_datamodel(definition: Definition, environment: Environment) -> None:
    scxml = definition.scxml
    assert scxml is not None
    if scxml.datamodel not in environment.datamodels:
        known = ", ".join(environment.datamodels)
        message = f"there is no datamodel {scxml.datamodel!r}; there are {known}"
        raise DefinitionError([Problem("unknown-datamodel", "/datamodel", message)])


def _text_resolver(resolve: Resolver | None) -> Any:
    """A resolver for texts (``script/@src``, ``data/@src``); whatever goes wrong is a :class:`LookupError`."""
    if resolve is None:
        from .scxml_definition import no_documents

        return no_documents

    def text_of(uri: str) -> str:
        try:
            found = resolve(uri)
        except Exception as error:
            raise LookupError(f"{uri!r} cannot be resolved: {error}") from error
        if not isinstance(found, str):
            raise LookupError(f"{uri!r} resolves to {type(found).__name__}, not to a text")
        return found

    return text_of


def folder_resolver(folder: str | os.PathLike[str]) -> Resolver:
    """A resolver for ``src``: files in ``folder`` and below, by relative path (``child.scxml``, ``file:child.scxml``).

    Nothing outside the folder is read. Raises :class:`UsageError`, when asked,
    for what is not there.
    """
    root = Path(folder).resolve()

    def resolve(uri: str) -> str:
        path = (root / uri.removeprefix("file:").removeprefix("//")).resolve()
        if not path.is_relative_to(root):
            raise UsageError(f"{uri!r} lies outside the folder of the document")
        text, _ = read_source(path)
        assert isinstance(text, str)
        return text

    return resolve


# ----------------------------------------------------------------- sismic


def sismic_machine(
    text: str | Mapping[str, Any],
    file: str | None,
    implementations: Implementations | Mapping[str, Any] | None,
    *,
    strict: bool,
    trusted: bool,
) -> Found:
    """A sismic chart as a machine; what it does otherwise than under sismic is among the warnings.

    The chart's own Python is bound only when it is ``trusted``;
    ``implementations`` win over it.
    """
    if not isinstance(text, str):
        raise UsageError("a sismic chart is YAML text or a path, not a mapping")
    from .adapters.formats.sismic import read_definition

    found = read_definition(text, file=file, trusted=trusted, strict=strict)
    bound = found.implementations.merged(Implementations.of(implementations))
    return Machine(found.definition, bound), (*found.warnings, *found.differences)


# ----------------------------------------------------------------- XState


def xstate_machine(
    source: str | Mapping[str, Any],
    file: str | None,
    implementations: Implementations | Mapping[str, Any] | None,
    *,
    strict: bool,
    semantics: str | None,
) -> Found:
    """An XState document as a machine."""
    definition, problems = xstate.read_definition(
        source, strict=strict, semantics=semantics, file=file, bound=implementations is not None
    )
    bound = None if implementations is None else Implementations.of(implementations)
    return Machine(definition, bound, environment=NO_ENVIRONMENT), problems


__all__ = [
    "encoding_of",
    "folder_resolver",
    "format_of",
    "read_source",
    "scxml_environment",
    "scxml_machine",
    "sismic_machine",
    "xstate_machine",
]
