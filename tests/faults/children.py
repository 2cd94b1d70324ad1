"""A function in a forked process, which may be killed in the middle."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """How a child ended, and what it had said until then."""

    killed: bool
    code: int
    lines: tuple[str, ...]


Say = Callable[[str], None]


def in_child(function: Callable[[Say], None], timeout: float = 60) -> Ended:
    """Run ``function`` in a child. What it says is written at once, so it is here also when it is killed a moment later."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            function(lambda line: (os.write(writing, f"{line}\n".encode()), None)[1])
            code = 0
        except BaseException:
            traceback.print_exc(file=sys.stderr)
        finally:
            sys.stderr.flush()
            os._exit(code)  # nothing of the test run is ended here
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        text = _read(pipe, child, timeout)
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status)
    return Ended(killed, os.WTERMSIG(status) if killed else os.WEXITSTATUS(status), tuple(text.splitlines()))


def _read(pipe: object, child: int, timeout: float) -> str:
    import select

    parts: list[str] = []
    end = time.monotonic() + timeout
    fileno = pipe.fileno()  # type: ignore[attr-defined]
    while True:
        ready, _, _ = select.select([fileno], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError(f"the child said nothing more for {timeout} s; so far: {''.join(parts)!r}")
        data = os.read(fileno, 65536)
        if not data:
            return "".join(parts)
        parts.append(data.decode())


class Trigger:
    """Counts; at number ``at`` the process is killed, before or after what is counted."""

    def __init__(self, at: int | None, after: bool) -> None:
        self._numbers = itertools.count(1)
        self.count = 0
        self._at = at
        self._after = after

    def before(self) -> int:
        """Something is about to be done; its number."""
        number = self.count = next(self._numbers)  # one step, also with threads
        if number == self._at and not self._after:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    def after(self, number: int) -> None:
        """It is done."""
        if number == self._at and self._after:
            os.kill(os.getpid(), signal.SIGKILL)
