"""`docs/reference/cli.md` and the page about stores: their console blocks are real, and nothing is left out."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from cli_transcripts import CHECKOUT, UPDATE, parse, replay

from statecharts.cli.application import application
from statecharts.cli.prompt import COMMANDS
from statecharts.cli.steps_file import _VERBS, EXPECTATIONS

PAGE = CHECKOUT / "docs" / "reference" / "cli.md"
PAGES = [PAGE, CHECKOUT / "docs" / "how-to" / "store-command.md"]
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_console_blocks_are_real(page: Path, folder: Path) -> None:
    text = page.read_text("utf-8")

    def replayed(match: re.Match[str]) -> str:
        return "\n".join(replay(block).text(with_zero=False) for block in parse(match[0]))

    now = BLOCK.sub(replayed, text)
    if UPDATE:
        page.write_text(now, "utf-8")
        return
    assert now == text


@pytest.mark.parametrize("name", list(application.commands))
def test_every_option_is_described(name: str) -> None:
    text = PAGE.read_text("utf-8")
    section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
    command = application.commands[name]
    parameters = list(command.params)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            assert f"`{below}" in section, below
            found = command.get_command(context, below)
            assert found is not None
            parameters += found.params
    for parameter in parameters:
        for option in parameter.opts:
            assert not option.startswith("-") or f"`{option}" in section, option


def test_every_command_of_the_prompt_step_and_expectation_is_described() -> None:
    text = PAGE.read_text("utf-8")
    assert [command for command in COMMANDS if command not in text] == []
    assert [verb for verb in _VERBS if f'{{"{verb}":' not in text] == []
    assert [key for key in EXPECTATIONS if f"| `{key}` |" not in text] == []
