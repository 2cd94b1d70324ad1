"""Who takes part, in which modes, and how a driver of theirs is started."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .environments import (
    HERE,
    NODE,
    NotMeasuredError,
    clean_environment,
    find_python,
    node_environment,
    own_environment,
    own_variables,
    peer_environment,
)

DRIVERS = HERE / "drivers"
NEWEST = "3.13"


@dataclass(frozen=True)
class Command:
    """How a driver is started: arguments before the task's path, and variables."""

    arguments: tuple[str, ...]
    variables: dict[str, str]


@dataclass(frozen=True)
class Peer:
    """``modes`` are its ways to handle an event, fastest public call first."""

    name: str
    modes: tuple[str, ...]
    prepare: Callable[[], Command]
    package: str
    """The distribution whose version is reported."""
    processes: int = 1
    """Over how many processes its repetitions are spread. Where a compiler decides anew
    in each, one process is a throw of dice: V8 runs ``transition()`` at one of two speeds."""


def _python_peer(name: str, requirement: str, driver: str) -> Command:
    python = peer_environment(name, [requirement])
    return Command((str(python), str(DRIVERS / driver)), {})


def _own(name: str, kind: str, version: str | None = None) -> Command:
    python = own_environment(name, kind, find_python(version)) if version else own_environment(name, kind)
    return Command((str(python), str(DRIVERS / "drive_statecharts.py")), own_variables(kind))


def _tinyactors() -> Command:
    python = peer_environment("tinyactors", ["tinyactors==0.1.0"], find_python(NEWEST))
    return Command((str(python), str(DRIVERS / "drive_tinyactors.py")), {})


def _xstate() -> Command:
    node_environment()
    return Command(("node", "--expose-gc", str(NODE / "driver.mjs")), {})


OWN_MODES = ("transition", "send", "asyncio")
PURE, COMPILED, XSTATE, TINYACTORS = "pure", "compiled", "xstate", "tinyactors"
PURE_NEWEST, COMPILED_NEWEST = f"pure-{NEWEST}", f"compiled-{NEWEST}"
PYTHON_PEERS = ("xstate-statemachine", "python-statemachine", "sismic", "transitions", "harel")

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer(PURE, OWN_MODES, partial(_own, "own-pure", "pure"), "statecharts"),
        Peer(COMPILED, OWN_MODES, partial(_own, "own-compiled", "compiled"), "statecharts"),
        Peer(XSTATE, ("send", "transition"), _xstate, "xstate", processes=5),
        *(
            Peer(name, modes, partial(_python_peer, name, requirement, driver), name)
            for name, modes, requirement, driver in (
                (
                    "xstate-statemachine",
                    ("send",),
                    "xstate-statemachine==0.11.0",
                    "drive_xstate_statemachine.py",
                ),
                (
                    "python-statemachine",
                    ("send",),
                    "python-statemachine==3.2.2",
                    "drive_python_statemachine.py",
                ),
                ("sismic", ("send",), "sismic==1.6.14", "drive_sismic.py"),
                ("transitions", ("send",), "transitions==0.9.3", "drive_transitions.py"),
                ("harel", ("process", "send"), "harel==0.9.0", "drive_harel.py"),
            )
        ),
        Peer(TINYACTORS, ("send", "batch"), _tinyactors, "tinyactors"),
        Peer(PURE_NEWEST, ("send", "scxml"), partial(_own, PURE_NEWEST, "pure", NEWEST), "statecharts"),
        Peer(
            COMPILED_NEWEST,
            ("send", "scxml"),
            partial(_own, COMPILED_NEWEST, "compiled", NEWEST),
            "statecharts",
        ),
    )
}


def version_of(peer: Peer, command: Command) -> str:
    """Version of the peer and of what runs it, as ``sismic 1.6.14 on Python 3.11.7``."""
    if peer.name == XSTATE:
        package = json.loads((NODE / "node_modules" / "xstate" / "package.json").read_text("utf-8"))
        return f"xstate {package['version']} on Node {_said('node', '--version').removeprefix('v')}"
    code = f"import importlib.metadata as m, platform as p; print(m.version({peer.package!r}), 'on Python', p.python_version())"
    return f"{peer.package} {_said(command.arguments[0], '-c', code)}"


def _said(*command: str) -> str:
    done = subprocess.run(command, env=clean_environment({}), capture_output=True, text=True, check=True)
    return done.stdout.strip()


def processor() -> str:
    """The processor's name as the system has it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    if shutil.which("sysctl"):
        return _said("sysctl", "-n", "machdep.cpu.brand_string")
    return platform.processor() or platform.machine()


__all__ = ["COMPILED", "PEERS", "PURE", "PYTHON_PEERS", "TINYACTORS", "XSTATE", "NotMeasuredError", "Peer"]
