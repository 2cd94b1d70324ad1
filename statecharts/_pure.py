"""``STATECHARTS_PURE=1``: run the Python sources although compiled modules lie beside them.

Installed by :mod:`statecharts` before it imports anything else, so that no
module of the package has been loaded yet.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

PACKAGE = "statecharts."


@cache
def _sources_in(folder: str) -> FileFinder:
    return FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))


class SourceFinder:
    """Finds the package's modules as Python files only; what it does not find is left to the usual finders."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None or not fullname.startswith(PACKAGE):
            return None
        found = (_sources_in(folder).find_spec(fullname, target) for folder in path)
        return next((spec for spec in found if spec is not None), None)


def install() -> None:
    """From here on, the sources."""
    if SourceFinder not in sys.meta_path:
        sys.meta_path.insert(0, SourceFinder)
