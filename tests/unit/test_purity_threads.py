"""Pure mode in several threads at once: CPython allows one profiler to be installed at a time."""

from __future__ import annotations

import sys
import threading

from statecharts.purity import run_pure


def test_threads_that_meet_while_installing_the_watch_do_not_fail() -> None:
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for turn in range(400):
                assert run_pure(lambda turn=turn: [turn], "mine") == [turn]
        except BaseException as error:
            faults.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert faults == []
