"""SCION's own test scripts. Two follow the Recommendation's transition domain (see :data:`suite.LEGACY`)."""

from __future__ import annotations

import pytest
from runs import asyncio_scion_deviation, load, load_by_way_of_json, scion_deviation
from suite import ScionTest, SuiteMissing, scion_tests, suite_folder


def test_the_suite_is_whole() -> None:
    try:
        assert len(scion_tests(suite_folder())) == 127
    except SuiteMissing as missing:
        pytest.skip(str(missing))


def test_follows_the_script(scion_test: ScionTest) -> None:
    assert scion_deviation(scion_test, load(scion_test.path)) is None


def test_follows_the_script_when_saved_and_restored_before_every_event(scion_test: ScionTest) -> None:
    assert scion_deviation(scion_test, load(scion_test.path), saving=True) is None


def test_follows_the_script_by_way_of_json(scion_test: ScionTest) -> None:
    assert scion_deviation(scion_test, load_by_way_of_json(scion_test.path)) is None


def test_follows_the_script_on_asyncio(scion_test: ScionTest) -> None:
    assert asyncio_scion_deviation(scion_test) is None
