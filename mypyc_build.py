"""Compiles the modules of the hot path with mypyc.

``hatch_build.py`` runs this while it builds a wheel. A developer may run it too::

    python mypyc_build.py --inplace     # extension modules beside the sources of this checkout
    python mypyc_build.py --annotate report.html     # which lines stay slow, and why
    python mypyc_build.py --clean       # and away with them

It needs ``mypy``, ``setuptools`` and a C compiler. Which modules are compiled
says ``[tool.statecharts-build]`` in ``pyproject.toml``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
GROUP = "statecharts.compiled"
"""Where the code goes: one shared library, ``statecharts/compiled__mypyc``, and a small loader for each module."""

CONFIG = """\
[mypy]
python_version = {version}
cache_dir = {nowhere}
# whether the types are right is said by `make types`, which has all the libraries at hand
follow_imports = silent
ignore_missing_imports = True
"""


def settings() -> dict[str, Any]:
    """``[tool.statecharts-build]``: ``requires`` and ``modules``."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)["tool"]["statecharts-build"]
    return found


def sources() -> list[str]:
    """The files to compile, relative to the checkout."""
    return [f"{name.replace('.', '/')}.py" for name in settings()["modules"]]


def compile_into(target: Path, annotate: str | None = None) -> None:
    """Compile, and put the extension modules under ``target`` as they lie in a wheel."""
    import setuptools  # first: mypyc asks whether it is there
    from mypyc.build import mypycify

    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="statecharts-mypyc-") as made:
        work = Path(made)
        config = work / "mypy.ini"
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        config.write_text(CONFIG.format(version=version, nowhere=os.devnull), encoding="utf-8")
        options = [f"--config-file={config}", *(["-a", annotate] if annotate else [])]
        extensions = mypycify(
            [*options, *sources()], group_name=GROUP, target_dir=str(work), opt_level="3", debug_level="0"
        )
        for extension in extensions:  # another compiler's new warning is no reason to go without
            extension.extra_compile_args = [flag for flag in extension.extra_compile_args if flag != "-Werror"]
        command = setuptools.Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
        command.build_lib = str(target)
        command.build_temp = str(work)
        command.ensure_finalized()
        command.run()


def clean() -> None:
    """Remove the extension modules of :option:`--inplace`."""
    for made in (ROOT / "statecharts").rglob("*"):
        if made.suffix in (".so", ".pyd"):
            made.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("target", nargs="?", type=Path, help="the folder to put the extension modules into")
    wanted.add_argument("--inplace", action="store_true", help="into this checkout")
    wanted.add_argument("--annotate", metavar="FILE", type=Path, help="mypyc's report of slow lines, as HTML")
    wanted.add_argument("--clean", action="store_true", help="remove them from this checkout")
    given = parser.parse_args()
    if given.clean:
        clean()
    elif given.annotate:
        with tempfile.TemporaryDirectory() as unused:
            compile_into(Path(unused), annotate=str(given.annotate.resolve()))
    else:
        compile_into(ROOT if given.inplace else given.target.resolve())


if __name__ == "__main__":
    main()
