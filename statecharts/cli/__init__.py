"""The command line: ``statecharts validate``, ``convert``, ``upgrade``, ``run`` and ``store``.

click and rich are the extra ``cli``. Importing this package needs neither;
:func:`main` says which extra to install when they are missing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

EXTRA_MISSING = (
    "statecharts: the command line needs the package {name!r}, which is not installed. "
    "Install the extra `cli`: pip install 'statecharts[cli]'"
)
_EXTRA = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 fine, 1 problems, 2 wrong usage, 130 interrupted."""
    try:
        from .application import application
    except ModuleNotFoundError as error:
        say_missing(error)
    application.main(args=None if arguments is None else list(arguments), prog_name="statecharts")
    raise AssertionError("the application exits by itself")  # pragma: no cover - click raises SystemExit


def say_missing(error: ModuleNotFoundError) -> NoReturn:
    """Exit with the name of the extra; any other missing module is a fault of ours and raised on."""
    name = (error.name or "").partition(".")[0]
    if name not in _EXTRA:
        raise error
    sys.stderr.write(EXTRA_MISSING.format(name=name) + "\n")
    raise SystemExit(2) from None
