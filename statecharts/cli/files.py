"""Reading text and writing it whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import DefinitionError, UsageError
from ..sources import encoding_of

STDIN = "-"
MACHINE_FILES = (".json", ".scxml", ".yaml", ".yml")
_SKIPPED_FOLDERS = ("node_modules", "__pycache__")


def read_text(name: str) -> str:
    """The text of a file, or of standard input for ``-``. Raises :class:`UsageError` that names the file."""
    shown = shown_name(name)
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{shown}: there is no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{shown}: is a folder; name a file in it") from None
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror or error}") from None
    declared = encoding_of(data)
    try:
        return data.decode("utf-8" if declared == "utf-8-sig" else declared)
    except LookupError:
        raise UsageError(f"{shown}: its encoding {declared!r} is not known; save it as UTF-8") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{shown}: is not UTF-8 text (line {line}, byte {error.start}); save it as UTF-8"
        ) from None


def shown_name(name: str) -> str:
    """How a file is called in messages."""
    return "<stdin>" if name == STDIN else name


def read_json_file(name: str) -> Any:
    """The JSON value in a file of ours (steps, a snapshot). Raises :class:`UsageError` with the line."""
    from ..adapters.formats.positions import read_json

    try:
        return read_json(read_text(name)).data
    except DefinitionError as error:
        problem = error.problems[0]
        hint = f" {problem.hint}" if problem.hint else ""
        raise UsageError(f"{shown_name(name)}: {problem.message}{hint}") from None


def write_text(name: str, text: str) -> None:
    """Write a file so that readers see the old or the new text, never a part. Raises :class:`UsageError`."""
    path = Path(os.path.realpath(name))  # a link stays a link
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode_of(path))
        os.replace(temporary, path)
    except OSError as error:
        _forget(temporary)
        raise UsageError(f"{name}: cannot be written: {error.strerror or error}") from None
    except BaseException:
        _forget(temporary)
        raise


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _forget(temporary: str | None) -> None:
    if temporary is not None and os.path.exists(temporary):
        os.unlink(temporary)


def machine_files(folder: str) -> Iterator[str]:
    """Every file below a folder that may hold a machine, by name; hidden folders and ``node_modules`` are left out."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            if name.lower().endswith(MACHINE_FILES):
                yield os.path.join(parent, name)
