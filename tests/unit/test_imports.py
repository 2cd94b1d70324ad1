"""What importing costs, and that the face is whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import statecharts

ROOT = Path(statecharts.__file__).parent
EXTRAS = ("click", "rich", "cel_expr_python", "sqlite3", "uvloop", "hypothesis", "pytest", "jsonschema")


def loaded_after(code: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_importing_the_package_loads_nothing_optional() -> None:
    loaded = loaded_after("import statecharts")
    assert loaded.isdisjoint((*EXTRAS, "pydantic", "asyncio"))


def test_running_a_machine_loads_no_extra() -> None:
    code = (
        "import statecharts as s\n"
        "m = s.load_machine({'id': 'm', 'initial': 'a', 'states': {'a': {'on': {'GO': 'b'}}, 'b': {}}})\n"
        "assert s.simulate(m).send('GO').value == 'b'"
    )
    assert loaded_after(code).isdisjoint(EXTRAS)


@pytest.mark.parametrize("name", statecharts.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(statecharts, name) is not None
    assert name in dir(statecharts)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        statecharts.nonsense  # type: ignore[attr-defined]


def test_the_package_is_typed() -> None:
    assert (ROOT / "py.typed").exists()


def test_the_face_type_checks(tmp_path: Path) -> None:
    snippet = tmp_path / "face.py"
    snippet.write_text(
        "from typing import Any, TypedDict\n"
        "from statecharts import Implementations, Machine, Snapshot, load_machine, simulate, start, transition\n"
        "class Context(TypedDict):\n    n: int\n"
        "impl = Implementations()\n"
        "@impl.guard\ndef ready(context: Context) -> bool:\n    return context['n'] > 0\n"
        "@impl.update('add')\ndef add(context: Context) -> dict[str, Any]:\n    return {'n': context['n'] + 1}\n"
        "machine: Machine[Context, Any] = load_machine('m.json', impl)\n"
        "sim = simulate(machine)\n"
        "snapshot: Snapshot[Context] = sim.send('GO', n=1)\n"
        "count: int = snapshot.context['n']\n"
        "after, effects = transition(machine, snapshot, 'GO')\n"
        "async def main() -> int:\n"
        "    async with start(machine) as actor:\n"
        "        return (await actor.send('GO')).context['n']\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(snippet)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
