"""The build that runs is the one that is meant, and it says so."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
import tomllib
from importlib.machinery import ExtensionFileLoader
from pathlib import Path

import pytest

import statecharts
from statecharts import Machine, Simulation, __version__, _pure, build, load_machine, simulate

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["statecharts-build"]
PACKAGE = Path(build.__file__).parent
LIGHT = {"id": "light", "initial": "off", "states": {"off": {"on": {"T": "on"}}, "on": {"on": {"T": "off"}}}}


def run(code: str, **environment: str) -> str:
    """What a new process prints."""
    kept = {key: value for key, value in os.environ.items() if key != "STATECHARTS_PURE"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def source_of(module: str) -> Path:
    return PACKAGE.parent / f"{module.replace('.', '/')}.py"


def test_the_meant_build_runs() -> None:
    """``make compiled`` says which is meant."""
    assert os.environ.get("STATECHARTS_EXPECT") in (None, "compiled" if build.COMPILED else "pure")


@pytest.mark.parametrize("module", SETTINGS["modules"])
def test_modules_are_compiled_all_or_none(module: str) -> None:
    spec = importlib.import_module(module).__spec__
    assert spec is not None
    assert isinstance(spec.loader, ExtensionFileLoader) is build.COMPILED
    assert source_of(module).is_file(), "the source lies beside what was made of it"


def test_the_command_says_which_runs() -> None:
    said = run("from statecharts.cli import main; main(['--version'])")
    assert said == f"statecharts {__version__} ({build.description()})"
    assert said.endswith("(compiled with mypyc)") is build.COMPILED


def test_an_environment_variable_forces_the_sources() -> None:
    code = (
        "import sys, statecharts.build as b; from statecharts.interpreter import pure, macrostep;"
        "print(b.COMPILED, b.description(), pure.__file__[-3:], macrostep.__file__[-3:],"
        "[m for m in sys.modules if m.endswith('__mypyc')])"
    )
    assert run(code, STATECHARTS_PURE="1") == "False pure Python, STATECHARTS_PURE=1 .py .py []"
    assert run(code, STATECHARTS_PURE="0").startswith(f"{build.COMPILED} ")


def test_the_finder_knows_the_packages_sources_only(monkeypatch: pytest.MonkeyPatch) -> None:
    finder = _pure.SourceFinder
    folder = str(PACKAGE / "interpreter")
    found = finder.find_spec("statecharts.interpreter.pure", [str(PACKAGE / "nowhere"), folder])
    assert found is not None
    assert found.origin == str(PACKAGE / "interpreter" / "pure.py")
    package = finder.find_spec("statecharts.interpreter", [str(PACKAGE)])
    assert package is not None
    assert package.submodule_search_locations == [folder]
    assert finder.find_spec("statecharts.nothing", [str(PACKAGE)]) is None
    assert finder.find_spec("other.pure", [folder]) is None
    assert finder.find_spec("statecharts.pure") is None
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv("STATECHARTS_PURE", "1")
    importlib.reload(statecharts)
    importlib.reload(statecharts)
    assert sys.meta_path.count(finder) == 1


def test_a_build_that_failed_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build, "COMPILED", True)
    assert build.description() == "compiled with mypyc"
    monkeypatch.setattr(build, "COMPILED", False)
    monkeypatch.setattr(build, "FORCED_PURE", True)
    assert build.description() == "pure Python, STATECHARTS_PURE=1"
    monkeypatch.setattr(build, "FORCED_PURE", False)
    monkeypatch.setattr(build, "__file__", str(tmp_path / "build.py"))
    assert build.description() == "pure Python"
    (tmp_path / "pure_because.txt").write_text("no C compiler (cc) was found when it was built\n")
    assert build.description() == "pure Python: no C compiler (cc) was found when it was built"


@pytest.mark.parametrize("module", SETTINGS["modules"])
def test_compiled_modules_give_causes_by_hand(module: str) -> None:
    """mypyc forgets the ``from`` of a ``raise``, so :func:`statecharts.errors.caused_by` is used instead."""
    tree = ast.parse(source_of(module).read_text(encoding="utf-8"))
    forgotten = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.cause is not None]
    assert not forgotten, f"{module}: lines {forgotten}"


def test_public_classes_may_be_subclassed() -> None:
    class Own(Simulation[object]):
        """A simulation of the user's."""

        def send(self, event: object, **data: object) -> object:
            self.sent = [*getattr(self, "sent", []), event]
            return super().send(event, **data)  # type: ignore[arg-type]

    class OwnMachine(Machine[object, object]):
        """A machine of the user's."""

    made = load_machine(LIGHT)
    own = Own(OwnMachine(made.definition))
    own.send("T")
    assert own.snapshot.value == "on"
    assert own.sent == ["T"]


def test_wrong_calls_are_type_errors() -> None:
    sim = simulate(load_machine(LIGHT))
    with pytest.raises(TypeError):
        sim.send()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        sim.advance(seconds=1, hours=2)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        sim.snapshot.value = "on"  # type: ignore[misc]


def test_the_package_keeps_to_itself() -> None:
    """Everything made lies inside the package: nothing of ours stands beside it."""
    assert not list(PACKAGE.parent.glob("*__mypyc*statecharts*")) + list(PACKAGE.parent.glob("*statecharts*__mypyc*"))
    if build.COMPILED:
        assert list(PACKAGE.glob("compiled__mypyc.*"))
