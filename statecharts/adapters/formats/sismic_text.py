"""YAML text with the line of every value, as ruamel.yaml (which sismic uses) reads it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from statecharts.errors import DefinitionError, Problem, UsageError

from .sismic_codes import SismicCode

Path = tuple[str | int, ...]
"""Keys and indices from the top of the file down to a value."""

_MAX_DEPTH: Final = 400
_MAX_VALUES: Final = 200_000  # aliases can write a huge file in a few lines


def pointer_of(path: Path) -> str:
    """``path`` as a JSON pointer (RFC 6901)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


@dataclass(slots=True)
class YamlText:
    """A parsed file: ``data`` as sismic sees it; lines are 1-based."""

    data: Any
    file: str | None
    _lines: dict[Path, int] = field(default_factory=dict)
    _bodies: dict[Path, int] = field(default_factory=dict)

    def line_of(self, path: Path) -> int | None:
        """The line of the key (or list item) at ``path``, or of the nearest value around it."""
        while path:
            if path in self._lines:
                return self._lines[path]
            path = path[:-1]
        return self._lines.get(())

    def body_line(self, path: Path) -> int | None:
        """The line on which the text of the scalar at ``path`` starts: below the key, for a block."""
        return self._bodies.get(path, self.line_of(path))

    def problem(
        self, code: SismicCode, path: Path, message: str, hint: str | None = None, *, line: int | None = None
    ) -> Problem:
        """A problem at ``path``; ``line`` where a closer one is known."""
        at = line if line is not None else self.line_of(path)
        return Problem(code.slug, pointer_of(path), message, hint, code.severity, at, self.file)


def read_yaml(text: str, file: str | None = None) -> YamlText:
    """``text`` as data with positions.

    Raises :class:`DefinitionError` with one ``yaml-syntax`` problem, and
    :class:`UsageError` when the extra ``sismic`` is not installed.
    """
    require_sismic()
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    body = text.removeprefix("\ufeff")
    try:
        reader = YAML(typ="safe", pure=True)
        node = reader.compose(io.StringIO(body))
        data = None if node is None else reader.constructor.construct_document(node)
        found = YamlText(data, file)
        if node is not None:
            found._lines[()] = node.start_mark.line + 1
            _place(found, node, (), 0)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        _refuse(": ".join(str(part) for part in parts), mark.line + 1 if mark is not None else None, file)
    except YAMLError as error:
        _refuse(str(error).splitlines()[0] if str(error) else "it cannot be read", None, file)
    except RecursionError:
        _refuse("values nest too deeply, contain themselves, or are too many", None, file)
    except (
        ValueError,
        OverflowError,
    ) as error:  # a date or number that YAML recognises and Python cannot hold
        _refuse(str(error), None, file)
    return found


def require_sismic() -> None:
    """Raise :class:`UsageError` when sismic is not installed."""
    try:
        import sismic.io  # noqa: F401
    except ImportError:
        raise UsageError(
            "reading sismic files needs an extra that is not installed: pip install 'statecharts[sismic]'"
        ) from None


def _refuse(reason: str, line: int | None, file: str | None) -> NoReturn:
    where = f" at line {line}" if line is not None else ""
    hint = "Check indentation, colons and quotes there; code with a colon in it is best written below a `|`."
    problem = Problem(
        SismicCode.YAML_SYNTAX.slug, "", f"This is not YAML{where}: {reason}.", hint, line=line, file=file
    )
    raise DefinitionError([problem])


def _place(found: YamlText, node: Any, path: Path, depth: int) -> None:
    """Note where ``node`` and everything in it stands. Merged keys (``<<``) have no place of their own."""
    if depth > _MAX_DEPTH or len(found._lines) > _MAX_VALUES:
        raise RecursionError
    for step, inner, line in _members(node):
        below = (*path, step)
        found._lines.setdefault(below, line)
        if isinstance(inner.value, str):
            is_block = getattr(inner, "style", None) in ("|", ">")
            found._bodies[below] = inner.start_mark.line + (2 if is_block else 1)
        else:
            _place(found, inner, below, depth + 1)


def _members(node: Any) -> Iterator[tuple[str | int, Any, int]]:
    if getattr(node, "id", None) == "mapping":
        for key, value in node.value:
            if isinstance(key.value, str):
                yield key.value, value, key.start_mark.line + 1
    elif getattr(node, "id", None) == "sequence":
        for index, item in enumerate(node.value):
            yield index, item, item.start_mark.line + 1
