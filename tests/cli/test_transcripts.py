"""Golden transcripts of every command and of every command of the prompt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_transcripts import UPDATE, parse, replay

from statecharts.cli.application import application
from statecharts.cli.prompt import COMMANDS

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, folder: Path) -> None:
    text = path.read_text("utf-8")
    comments = "".join(line + "\n" for line in text.partition("$ ")[0].splitlines())
    blocks = parse(text)
    replayed = [replay(block) for block in blocks]
    if UPDATE:
        path.write_text(comments + "\n".join(block.text() for block in replayed), "utf-8")
        return
    for before, now in zip(blocks, replayed, strict=True):
        assert now.text() == before.text()


def test_every_command_and_option_has_a_transcript() -> None:
    commands = [block.command for path in TRANSCRIPTS for block in parse(path.read_text("utf-8"))]
    words = {word.partition("=")[0] for command in commands for word in command.split()}
    for name, command in application.commands.items():
        assert name in words
        for parameter in command.params:
            assert not parameter.opts[0].startswith("-") or set(parameter.opts) & words, (
                name,
                parameter.opts,
            )
    assert {"--version", "--help"} <= words


def test_every_command_of_the_prompt_has_a_transcript() -> None:
    typed = {
        match[0]
        for path in TRANSCRIPTS
        for block in parse(path.read_text("utf-8"))
        for line in block.stdin
        if (match := re.match(r":[\w-]+", line))
    }
    assert set(COMMANDS) <= typed
