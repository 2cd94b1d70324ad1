"""What importing costs, and that the face is complete."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import statecharts

HEAVY = (
    "asyncio", "cel_expr_python", "click", "hypothesis", "jsonschema", "logging", "multiprocessing", "psycopg", "pydantic",
    "pytest", "quickjs", "referencing", "rich", "socket", "sqlite3", "ssl", "starlette", "temporalio", "uvloop",
)  # fmt: skip
ONE_MACHINE = """
machine = statecharts.load_machine({
    "id": "m", "initial": "a", "context": {"n": 0},
    "states": {"a": {"entry": "act", "after": {"10": "b"}, "on": {"GO": {"guard": "g", "target": "b"}}}, "b": {}},
}, {"actions": {"act": lambda: None}, "guards": {"g": True}})
"""
ONE_RUN = f"""{ONE_MACHINE}
sim = statecharts.simulate(machine)
sim.send("GO"); sim.advance(20); sim.to_xstate()
statecharts.simulate(machine, snapshot=sim.save())
snapshot, effects = statecharts.initial_transition(machine)
statecharts.transition(machine, snapshot, "GO")
"""


def loaded_after(code: str) -> set[str]:
    """The heavy modules that a fresh interpreter has after ``code``."""
    report = f"import sys; import statecharts\n{code}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


SAVED = f"{ONE_RUN}\nstatecharts.simulate(machine, snapshot=sim.save())"


@pytest.mark.parametrize("code", ["", ONE_MACHINE, ONE_RUN, SAVED], ids=["import", "load", "simulate", "save"])
def test_nothing_heavy_is_imported_by_what_does_not_need_it(code: str) -> None:
    assert loaded_after(code) == set()


def test_what_is_needed_is_imported_when_it_is() -> None:
    odd = "try: statecharts.simulate(machine, snapshot={**sim.save(), 'timers': 1})\nexcept statecharts.SnapshotError: pass"
    assert "pydantic" in loaded_after(f"{ONE_RUN}\n{odd}"), "which explains what is wrong with a saved envelope"
    assert "asyncio" in loaded_after("statecharts.Actor")
    schema = '{"id": "m", "initial": "a", "states": {"a": {}}, "schemas": {"context": {"type": "object"}}}'
    assert "jsonschema" in loaded_after(f"statecharts.load_machine({schema!r})")
    expression = '{"id": "m", "initial": "a", "states": {"a": {"always": {"guard": {"@expr": "false"}, "target": "b"}}, "b": {}}}'
    assert "cel_expr_python" in loaded_after(f"statecharts.load_machine({expression!r})")


def test_importing_the_package_imports_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules); import statecharts; print(*sorted(n for n in set(sys.modules) - before if n.startswith('statecharts')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["statecharts", "statecharts._version"]


@pytest.mark.parametrize("name", statecharts.__all__)
def test_every_name_of_the_face_is_there(name: str) -> None:
    assert getattr(statecharts, name) is not None
    assert name in dir(statecharts)


def test_names_of_the_face_come_from_where_they_are_defined() -> None:
    for name, module in statecharts._MODULE_OF.items():
        value = getattr(importlib.import_module(module), name)
        assert getattr(statecharts, name) is value


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'statecharts' has no attribute 'zzz'"):
        statecharts.zzz  # type: ignore[attr-defined]
    statecharts.__dict__.pop("load_machine", None)
    assert callable(statecharts.load_machine)


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(statecharts.__file__).parent / "py.typed").is_file()
