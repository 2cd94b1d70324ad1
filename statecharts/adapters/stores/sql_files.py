"""SQL in files: numbered migrations, and statements by name."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Migration(NamedTuple):
    """One step of the schema. ``reads``: the oldest schema a release may know and still work with this one."""

    number: int
    name: str
    reads: int
    text: str


@cache
def statements(dialect: str) -> dict[str, str]:
    """The statements of a dialect by their names."""
    text = (files(__package__) / "sql" / dialect / "statements.sql").read_text("utf-8")
    parts = _NAME.split(text)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


_READS = re.compile(r"^-- min_reader: (\d+)$", re.MULTILINE)


@cache
def migrations(dialect: str) -> tuple[Migration, ...]:
    """All migrations of a dialect, first first.

    ``-- min_reader: N`` in one says that releases which know the schema up to N
    may go on working; without it they need to know this very step.
    """
    found = []
    for file in (files(__package__) / "sql" / dialect).iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        if number.isdecimal():
            text = file.read_text("utf-8")
            reads = _READS.search(text)
            found.append(Migration(int(number), name, int(reads[1]) if reads else int(number), text))
    return tuple(sorted(found))
