"""Transcripts: a shell session with its output, replayed command by command.

::

    $ statecharts run light.json        a command (`< file` at its end feeds a file)
    < :quit                             its standard input, line by line
    light                               what it writes to standard output
    ! statecharts: ...                  and to standard error
    [exit 0]                            its exit status; left out in documentation when it is 0

Commands run inside this process, except those that begin with ``python``.
``UPDATE_TRANSCRIPTS=1`` writes what happens into the file instead of comparing.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from statecharts._version import __version__
from statecharts.build import description
from statecharts.cli.application import application

CHECKOUT = Path(__file__).parents[2]
UPDATE = bool(os.environ.get("UPDATE_TRANSCRIPTS"))


@dataclass
class Block:
    """One command, its input, and everything it wrote."""

    command: str
    stdin: list[str] = field(default_factory=list)
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)
    code: int = 0

    def text(self, *, with_zero: bool = True) -> str:
        """The block as it stands in a file."""
        lines = [f"$ {self.command}", *(f"< {line}".rstrip() for line in self.stdin), *self.stdout]
        lines += [f"! {line}".rstrip() for line in self.stderr]
        if self.code or with_zero:
            lines.append(f"[exit {self.code}]")
        return "\n".join(lines) + "\n"


def parse(text: str) -> list[Block]:
    """The blocks of a transcript."""
    blocks: list[Block] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            blocks.append(Block(line[2:]))
        elif not blocks:
            assert not line or line.startswith("#"), (
                f"before the first command there are only comments: {line!r}"
            )
        elif line == "<" or line.startswith("< "):
            blocks[-1].stdin.append(line[2:])
        elif line == "!" or line.startswith("! "):
            blocks[-1].stderr.append(line[2:])
        elif line.startswith("[exit ") and line.endswith("]"):
            blocks[-1].code = int(line[6:-1])
        else:
            blocks[-1].stdout.append(line)
    for block in blocks:
        while block.stdout and not block.stdout[-1]:
            block.stdout.pop()
    return blocks


def replay(block: Block) -> Block:
    """The block as it is now."""
    command, redirected, file = block.command.partition(" < ")
    stdin = (
        Path(file.strip()).read_text("utf-8") if redirected else "".join(f"{line}\n" for line in block.stdin)
    )
    words = shlex.split(command)
    if words[0] == "python":
        run = subprocess.run(
            [sys.executable, *words[1:]],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHONUTF8": "1"},
            check=False,
        )
        stdout, stderr, code = run.stdout, run.stderr, run.returncode
    else:
        assert words[0] == "statecharts", block.command
        result = CliRunner().invoke(application, words[1:], input=stdin, prog_name="statecharts")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        stdout, stderr, code = result.stdout, result.stderr, result.exit_code
    stdout = stdout.replace(f"statecharts {__version__} ({description()})", "statecharts VERSION (BUILD)")
    return Block(block.command, block.stdin, _lines(stdout), _lines(stderr), code)


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    while lines and not lines[-1]:
        lines.pop()
    return lines
