"""The package without click and rich: everything imports, and the command says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
BLOCK = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
"""


def python(code: str, *blocked: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCK.format(blocked=blocked) + code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        check=False,
    )


COMMANDS = [
    "from statecharts.cli import main; main(['validate', 'x.json'])",
    "from statecharts.cli import main; main(['--version'])",
]
DEMO = "from statecharts.cli.demo import main; main([])"


@pytest.mark.parametrize(
    ("missing", "code"), [*((m, c) for m in ("click", "rich") for c in COMMANDS), ("rich", DEMO)]
)
def test_a_missing_extra_is_named(missing: str, code: str) -> None:
    run = python(code, missing)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr == (
        f"statecharts: the command line needs the package {missing!r}, which is not installed. "
        "Install the extra `cli`: pip install 'statecharts[cli]'\n"
    )


def test_importing_needs_no_extra() -> None:
    code = "import statecharts.cli, statecharts.cli.demo, statecharts.api, statecharts.adapters.engines.simulation"
    assert python(code, "click", "rich").returncode == 0


def test_nothing_but_the_command_line_loads_the_extra() -> None:
    code = (
        "import sys, statecharts, statecharts.cli\n"
        "for name in statecharts.__all__: getattr(statecharts, name, None)\n"
        "m = statecharts.load_machine({'id': 'm', 'initial': 'a', 'states': {'a': {}}})\n"
        "statecharts.simulate(m)\n"
        "print(sorted({'click', 'rich'} & set(sys.modules)))"
    )
    run = python(code)
    assert run.stdout == "[]\n", run.stderr


def test_another_missing_module_is_not_blamed_on_the_extra() -> None:
    run = python("from statecharts.cli import main; main(['--version'])", "statecharts.cli.run", "json")
    assert run.returncode == 1
    assert "Traceback" in run.stderr
