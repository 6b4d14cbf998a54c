"""What streamops advises can be done: every command that its texts name exists, with the options that they name."""

import re
from pathlib import Path

import click

import streamops
from streamops.main.program import ROOT
from tests.support.tables import table

SOURCES = sorted(Path(streamops.__path__[0]).rglob("*.py"))
CALL = re.compile(r'\bcommand\(\s*"([a-z ]+)"(.*?)\)\n', re.DOTALL)
OPTION = re.compile(r"--[a-z][a-z-]+")


def named_commands() -> list[tuple[str, str]]:
    """The words of every command that an advice names, and its options."""
    found = [call for source in SOURCES for call in CALL.findall(source.read_text())]
    return [(words, " ".join(OPTION.findall(rest))) for words, rest in found]


@table(("words", "options"), named_commands())
def test_a_named_command_exists(words: str, options: str) -> None:
    command: click.Command = ROOT
    for word in words.split():
        assert isinstance(command, click.Group)
        member = command.get_command(click.Context(command), word)
        assert member is not None, f"streamops {words} does not exist"
        command = member
    known = {name for param in command.get_params(click.Context(command)) for name in param.opts}
    assert set(options.split()) <= known
