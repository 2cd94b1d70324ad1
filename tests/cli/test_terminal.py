"""The prompt at a real terminal, interruptions, colours, and streams with small character sets."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "statecharts.cli"]
PATIENCE = 20.0


def environment(**changes: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color", "COLUMNS": "100", **changes}


class Person:
    """Somebody at a terminal: types lines and waits for what is shown."""

    def __init__(self, *arguments: str, **changes: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment(**changes),
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - no threads here
        )
        os.close(slave)
        self.seen = ""

    def wait_for(self, text: str) -> str:
        """Read until ``text`` has been shown; returns what came up to there."""
        end = time.monotonic() + PATIENCE
        while text not in self.seen:
            ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"never saw {text!r} in {self.seen!r}"
            try:
                self.seen += os.read(self._master, 65536).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                break
        before, found, self.seen = self.seen.partition(text)
        assert found, f"never saw {text!r} in {before!r}"
        return before

    def type(self, text: str) -> None:
        """Type."""
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C, again when it came while nobody was listening."""
        for _ in range(10):
            self.type("\x03")
            try:
                self.process.wait(PATIENCE / 10)
            except subprocess.TimeoutExpired:
                continue
            return

    def leave(self) -> int:
        """Wait for the end; the exit code."""
        code = self.process.wait(PATIENCE)
        while select.select([self._master], [], [], 0)[0]:
            try:
                self.seen += os.read(self._master, 65536).decode("utf-8", "replace")
            except OSError:
                break
        return code

    def close(self) -> None:
        """Clean up after a failed test."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


def _take_terminal() -> None:
    """Make the terminal the controlling one, so that Ctrl-C reaches the process."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def people(folder: Path) -> Iterator[list[Person]]:
    made: list[Person] = []
    yield made
    for person in made:
        person.close()


def test_a_guard_is_asked_for(people: list[Person]) -> None:
    person = Person("run", "light.json")
    people.append(person)
    person.wait_for("> ")
    person.type("GO\n")
    person.wait_for("guard 'ok' for GO? [y/n, Y/N for good]")
    person.type("perhaps\n")
    person.wait_for("[y/n, Y/N for good]")
    person.type("N\n")
    person.wait_for("guard 'sure' for GO?")
    person.type("y\n")
    assert "\x1b[" in person.wait_for("blue")
    person.wait_for("> ")
    person.type("\x04")
    assert person.leave() == 0
    assert "Traceback" not in person.seen


def test_the_end_of_input_at_a_question_undoes_the_step(people: list[Person]) -> None:
    person = Person("run", "light.json", TERM="dumb")
    people.append(person)
    person.wait_for("> ")
    person.type("GO\n")
    person.wait_for("[y/n, Y/N for good]")
    person.type("\x04")
    assert "\x1b[3" not in person.wait_for("Nothing was done")
    person.wait_for("> ")
    person.type(":quit\n")
    assert person.leave() == 0


@pytest.mark.parametrize("typed", ["", "GO\n"])
def test_an_interruption_ends_with_130(people: list[Person], typed: str) -> None:
    person = Person("run", "light.json")
    people.append(person)
    person.wait_for("> ")
    if typed:
        person.type(typed)
        person.wait_for("for good]")
    person.interrupt()
    assert person.leave() == 130
    assert "Traceback" not in person.seen


def test_the_tab_key_completes(people: list[Person]) -> None:
    person = Person("run", "light.json", "--guard", "ok=true")
    people.append(person)
    person.wait_for("> ")
    person.type(":ti\t\n")
    person.wait_for("none")
    person.type(":quit\n")
    assert person.leave() == 0


def test_an_interruption_of_a_script_ends_with_130(folder: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "run", "light.json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        assert process.stdout is not None
        while "events" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in errors


def output(*arguments: str, stdin: str = "", **changes: str) -> str:
    run = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin.encode(),
        capture_output=True,
        env=environment(**changes),
        check=False,
    )
    assert not run.stderr, run.stderr
    return run.stdout.decode("utf-8")


def test_colours_only_where_they_are_wanted(folder: Path) -> None:
    assert "\x1b[" not in output("run", "light.json", stdin=":quit\n")
    assert "\x1b[" in output("run", "light.json", stdin=":quit\n", FORCE_COLOR="1")
    assert "\x1b[" not in output("run", "light.json", stdin=":quit\n", FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b[" not in output("run", "light.json", "--no-color", stdin=":quit\n", FORCE_COLOR="1")
    assert "\x1b[" not in output("validate", "light.json", FORCE_COLOR="1", NO_COLOR="1")


def test_colours_change_nothing_but_colours(folder: Path) -> None:
    plain = output("run", "light.json", stdin=":state\n")
    coloured = output("run", "light.json", stdin=":state\n", FORCE_COLOR="1")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_a_stream_that_speaks_ascii(folder: Path) -> None:
    (folder / "wide.json").write_text(
        '{"id": "宽", "initial": "é", "context": {"ß": "→"}, "states": {"é": {}}}', encoding="utf-8"
    )
    shown = output("run", "wide.json", PYTHONIOENCODING="ascii")
    assert shown.isascii()
    assert "* \\xe9" in shown
    line = output("run", "wide.json", "--json", PYTHONIOENCODING="ascii").splitlines()[1]
    assert '"states": ["\\u00e9"]' in line


def test_names_cannot_drive_the_terminal(folder: Path) -> None:
    (folder / "evil.json").write_text(
        '{"id": "e", "initial": "a\\u001b[31m", "states": {"a\\u001b[31m": {"on": {"[bold]\\u202eX": {}}}}}',
        encoding="utf-8",
    )
    shown = output("run", "evil.json", "--loose", stdin=":state\n:events\n")
    assert "\x1b" not in shown and "\u202e" not in shown
    assert "a\\x1b[31m" in shown and "[bold]\\u202eX" in shown


def test_a_reader_that_has_seen_enough(folder: Path) -> None:
    command = f"{' '.join(COMMAND)} run light.json < /dev/null | head -1; {' '.join(COMMAND)}.demo | head -1"
    run = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=environment(), check=False
    )
    assert "Traceback" not in run.stderr
    assert run.stdout.startswith("light\n")
