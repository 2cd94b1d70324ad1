"""The build: hatchling, and a hook that compiles the hot path when it makes a wheel.

A wheel is compiled where that can be done: CPython, a C compiler and Python's
headers. Where it cannot, or where compiling fails, the wheel is the pure one,
which behaves the same; the reason is printed and kept in it for ``statecharts
--version``. Two environment variables decide otherwise while building:

* ``STATECHARTS_PURE=1``: no compilation;
* ``STATECHARTS_COMPILED=1``: a wheel that cannot be compiled is an error.

An editable install is always pure; ``python mypyc_build.py --inplace``
compiles a checkout. The functions at the end are PEP 517's: all are
hatchling's, but an editable install does without the compiler's packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from hatchling import build as _hatchling
from hatchling.build import *  # noqa: F403 -- the backend is hatchling's
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
REASON_FILE = "statecharts/pure_because.txt"
"""Read by :mod:`statecharts.build`."""


def is_set(variable: str) -> bool:
    """Whether an environment variable is there and is not ``0``."""
    return os.environ.get(variable, "") not in ("", "0")


def obstacle() -> str | None:
    """Why nothing can be compiled here; ``None`` if it can be tried."""
    if is_set("STATECHARTS_PURE"):
        return "STATECHARTS_PURE was set when it was built"
    if sys.implementation.name != "cpython":
        return f"mypyc compiles for CPython, not for {sys.implementation.name}"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "not yet compiled for free-threaded Python"
    if sys.platform == "win32":
        return None  # setuptools looks for its compiler itself
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        return f"no C compiler ({compiler}) was found when it was built"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "Python's headers (Python.h) were not found when it was built"
    return None


def compile_requires() -> list[str]:
    """What compiling needs beside hatchling; nothing where it will not be tried."""
    if obstacle() is not None:
        return []
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: list[str] = tomllib.loads(text)["tool"]["statecharts-build"]["requires"]
    return found


class CompiledHotPath(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the extension modules beside their sources in a wheel."""

    def dependencies(self) -> list[str]:
        return compile_requires()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._made = tempfile.TemporaryDirectory(prefix="statecharts-wheel-")
        made = Path(self._made.name)
        reason = obstacle() or self._compile(made)
        if reason is not None:
            self._go_pure(reason, made, build_data)
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for module in made.rglob("*"):
            if module.is_file():
                build_data["force_include"][str(module)] = module.relative_to(made).as_posix()

    def _compile(self, made: Path) -> str | None:
        """Why it failed. In a process of its own: mypyc ends the one it runs in when something is wrong."""
        command = [sys.executable, str(ROOT / "mypyc_build.py"), str(made)]
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode == 0:
            return None
        lines = done.stdout.splitlines()
        self.app.display_warning("\n".join(lines[-40:]))
        shutil.rmtree(made)
        made.mkdir()
        last = textwrap.shorten(lines[-1], 120) if lines else f"status {done.returncode}"
        return f"compiling failed when it was built: {last}"

    def _go_pure(self, reason: str, made: Path, build_data: dict[str, Any]) -> None:
        if is_set("STATECHARTS_COMPILED") and not is_set("STATECHARTS_PURE"):
            raise RuntimeError(f"STATECHARTS_COMPILED is set, but statecharts cannot be compiled: {reason}")
        self.app.display_warning(
            f"statecharts is built as pure Python, which behaves the same and is slower: {reason}"
        )
        note = made / "reason.txt"
        note.write_text(f"{reason}\n", encoding="utf-8")
        build_data["force_include"][str(note)] = REASON_FILE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._made.cleanup()


def get_requires_for_build_editable(  # type: ignore[no-redef]
    config_settings: dict[str, Any] | None = None,
) -> list[str]:
    """hatchling's, without what only compiling needs."""
    unused = set(compile_requires())
    return [name for name in _hatchling.get_requires_for_build_editable(config_settings) if name not in unused]
