"""The environments of the peers: made here, kept under ``benchmarks/.env``, made anew when what they hold changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
ENVIRONMENTS = HERE / ".env"
NODE = HERE / "node"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
BUILD_KIND = "from statecharts.build import COMPILED; print('compiled' if COMPILED else 'pure')"


class NotMeasuredError(Exception):
    """Something that a measurement needs is not here; the message says what."""


def peer_environment(name: str, requirements: Iterable[str], python: str = sys.executable) -> Path:
    """The Python of a virtual environment with ``requirements``.

    Raises :class:`NotMeasuredError` when they cannot be installed.
    """
    wanted = "\n".join((python, *requirements))
    folder = ENVIRONMENTS / name
    if _stamp(folder) != wanted:
        made = _new_environment(folder, python)
        _install(made, [*requirements], {})
        _write_stamp(folder, wanted)
    return _python_in(folder)


def own_environment(name: str, kind: str, python: str = sys.executable, beside: tuple[str, ...] = ()) -> Path:
    """The Python of an environment with this checkout installed, built ``pure`` or ``compiled``.

    ``beside``: requirements that are installed, too.

    Raises :class:`NotMeasuredError` when it does not build, or runs as something else.
    """
    folder = ENVIRONMENTS / name
    wanted = "\n".join((python, _fingerprint(), *beside))
    if _stamp(folder) != wanted:
        made = _new_environment(folder, python)
        variable = "STATECHARTS_COMPILED" if kind == "compiled" else "STATECHARTS_PURE"
        _install(made, [str(CHECKOUT), *beside], {variable: "1"})
        _write_stamp(folder, wanted)
    found = _python_in(folder)
    if build_kind(found, own_variables(kind)) != kind:
        raise NotMeasuredError(f"this checkout does not build {kind} code here")
    return found


def own_variables(kind: str) -> dict[str, str]:
    """What has to be in the environment for this library to run as ``kind``."""
    return {"STATECHARTS_PURE": "1"} if kind == "pure" else {}


def build_kind(python: Path, variables: Mapping[str, str]) -> str:
    """``"compiled"`` or ``"pure"``: what of this library runs there. A checkout that cannot say is pure."""
    done = _run([str(python), "-c", BUILD_KIND], variables)
    return done.stdout.strip() if done.returncode == 0 else "pure"


def node_environment() -> None:
    """XState beside the Node drivers. Raises :class:`NotMeasuredError`."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise NotMeasuredError("Node or npm is not here")
    lock, installed = NODE / "package-lock.json", NODE / "node_modules" / ".package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--silent")
    done = _run(["npm", "ci", "--prefix", str(NODE), *options], {})
    if done.returncode != 0:
        raise NotMeasuredError(f"npm ci failed: {_last_line(done)}")
    installed.touch()


def find_python(version: str) -> str:
    """An interpreter of that version (``3.13``): ours, one on the path, or one of pyenv's.

    Raises :class:`NotMeasuredError` when there is none.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    others = sorted(pyenv.glob(f"{version}*/bin/python"), reverse=True)
    for candidate in (sys.executable, shutil.which(f"python{version}"), *map(str, others)):
        if candidate and _version_of(candidate) == version:
            return candidate
    raise NotMeasuredError(f"no Python {version} here")


def _version_of(python: str) -> str | None:
    done = _run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], {})
    return done.stdout.strip() if done.returncode == 0 else None


def _fingerprint() -> str:
    """Changes whenever what would be installed changes."""
    digest = hashlib.sha256()
    files = [
        CHECKOUT / "pyproject.toml",
        *CHECKOUT.glob("*.py"),
        *sorted((CHECKOUT / "statecharts").rglob("*.py")),
    ]
    for file in files:
        digest.update(str(file.relative_to(CHECKOUT)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _new_environment(folder: Path, python: str) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    done = _run([python, "-m", "venv", str(folder)], {})
    if done.returncode != 0:
        raise NotMeasuredError(f"no virtual environment: {_last_line(done)}")
    return _python_in(folder)


def _install(python: Path, what: list[str], variables: Mapping[str, str]) -> None:
    done = _run([str(python), *PIP, *what], variables)
    if done.returncode != 0:
        names = ", ".join(Path(one).name for one in what)
        raise NotMeasuredError(f"{names} cannot be installed: {_last_line(done)}")


def _python_in(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_made(name: str) -> bool:
    """Whether there is an environment of that name."""
    return _stamp(ENVIRONMENTS / name) is not None


def _stamp(folder: Path) -> str | None:
    file = folder / ".holds"
    return file.read_text("utf-8") if file.exists() else None


def _write_stamp(folder: Path, text: str) -> None:
    (folder / ".holds").write_text(text, "utf-8")


def _run(command: list[str], variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=clean_environment(variables), capture_output=True, text=True, check=False, cwd=HERE
    )


def clean_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Our environment without what would put other code into a peer's process."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "NODE_OPTIONS", "NODE_ENV")
    }
    return {**kept, **variables}


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"exit code {done.returncode}"
