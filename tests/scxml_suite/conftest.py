"""The suites are fetched once; without them these tests are skipped (in CI a skip is a failure)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import suite


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each document."""
    wanted = {"w3c_test", "scion_test"} & set(metafunc.fixturenames)
    for name in wanted:
        try:
            folder = suite.suite_folder()
        except suite.SuiteMissing as missing:
            metafunc.parametrize(name, [pytest.param(None, marks=pytest.mark.skip(reason=str(missing)))])
            continue
        if name == "w3c_test":
            kinds = getattr(metafunc.function, "kinds", ("mandatory", "optional"))
            tests = [test for test in suite.w3c_tests(folder) if test.kind in kinds]
            metafunc.parametrize(name, tests, ids=[test.number for test in tests])
        else:
            scripts = suite.scion_tests(folder)
            metafunc.parametrize(name, scripts, ids=[script.name for script in scripts])
