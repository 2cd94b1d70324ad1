"""Tests against an installed package: a copy of the checkout that has everything but the package.

Run from the checkout itself, ``python -m pytest`` and every program that a
test starts there would import ``./statecharts`` instead of what is installed.
Usage: ``python tests/compiled/stage.py FOLDER``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("tests", "machines", "docs", "benchmarks", "examples", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")
LINKED = ("node_modules", ".cache")
"""Downloaded, ignored by git, and large."""


def stage(folder: Path) -> None:
    """Make ``folder`` the copy, in place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".env", *LINKED))
        else:
            shutil.copy2(source, folder / name)
    shared = ROOT.parent / "shared"  # measured reference material lies beside a checkout, where there is some
    beside = folder.parent / shared.name
    if shared.is_dir() and not beside.exists():
        beside.symlink_to(shared)
    for name in LINKED:
        for linked in (*ROOT.glob(f"tests/*/{name}"), *ROOT.glob(name)):
            (folder / linked.relative_to(ROOT)).symlink_to(linked.resolve())


if __name__ == "__main__":
    stage(Path(sys.argv[1]).resolve())
