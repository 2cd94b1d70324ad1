"""Pure mode in several threads at once: CPython allows one profiler to be installed at a time."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from statecharts.purity import run_pure


def test_threads_that_meet_while_installing_the_watch_do_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    # what CPython cannot raise it reports in whichever thread it happens; pytest's way to do that reads files, which is impure
    monkeypatch.setattr(sys, "unraisablehook", bool)
    faults: list[BaseException] = []

    ready = threading.Barrier(7)

    def work() -> None:
        ready.wait()
        try:
            for turn in range(400):
                assert run_pure(lambda turn=turn: [turn], "mine") == [turn]
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()  # a coverage tool installs its own tracer in each, which two threads cannot do at once
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        ready.wait()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert faults == []


def test_another_tool_that_installs_its_profiler_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    install, refusals = sys.setprofile, iter([True, True, False])

    def busy(function: Any) -> None:
        if next(refusals, False):
            raise RuntimeError("Cannot install a profile function while another profile function is being installed")
        install(function)

    monkeypatch.setattr(sys, "setprofile", busy)
    assert run_pure(lambda: 5, "mine") == 5


def test_a_tool_that_never_lets_go_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_function: Any) -> None:
        raise RuntimeError("Cannot install a profile function")

    monkeypatch.setattr(sys, "setprofile", never)
    with pytest.raises(RuntimeError, match="Cannot install"):
        run_pure(lambda: 5, "mine")
