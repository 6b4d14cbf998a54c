"""Help: every command says what it does, with examples that parse and its exit codes."""

import shlex
from collections.abc import Iterator
from itertools import groupby, takewhile

import click
import pytest

from streamops import __version__
from streamops.cli.command import Command, Family, Lazy
from streamops.main.program import ROOT
from tests.support.cli.running import Cli


def commands(family: Family, *path: str) -> Iterator[tuple[tuple[str, ...], Lazy]]:
    for name, member in family.members.items():
        if isinstance(member, Family):
            yield from commands(member, *path, name)
        else:
            yield (*path, name), member


COMMANDS = dict(commands(ROOT))
every_command = pytest.mark.parametrize("path", COMMANDS, ids=" ".join)


def loaded(path: tuple[str, ...]) -> Command:
    command = COMMANDS[path].load()
    assert isinstance(command, Command)
    return command


@every_command
def test_the_listed_summary_is_the_command_s_own(path: tuple[str, ...]) -> None:
    assert loaded(path).short_help == COMMANDS[path].summary
    assert len(COMMANDS[path].summary) <= 80
    assert COMMANDS[path].summary.endswith(".")


@every_command
def test_help_has_usage_examples_exit_codes_and_the_global_options(path: tuple[str, ...], cli: Cli) -> None:
    result = cli(*path, "--help")
    assert (result.code, result.err) == (0, "")
    for part in (
        f"Usage: streamops {' '.join(path)}",
        "Examples:",
        "Exit codes:",
        "Global options",
        "--context",
    ):
        assert part in result.out


@every_command
def test_every_option_is_explained(path: tuple[str, ...]) -> None:
    command = loaded(path)
    for param in command.params:
        if isinstance(param, click.Option):
            assert param.help is not None
            assert param.help.endswith("."), param.name


def own_words(line: str, path: tuple[str, ...]) -> list[str]:
    """The words of the command itself, of a line that may pipe from one into another."""
    parts = [list(group) for bar, group in groupby(shlex.split(line), "|".__eq__) if not bar]
    (own,) = [part for part in parts if part[: len(path) + 1] == ["streamops", *path]]
    return list(takewhile(lambda word: word not in {">", "<"}, own))


@every_command
def test_examples_parse(path: tuple[str, ...]) -> None:
    for line, what in loaded(path).examples:
        assert what
        words = own_words(line.removeprefix('eval "$(').removesuffix(')"'), path)
        with loaded(path).make_context(" ".join(path), words[len(path) + 1 :]) as ctx:
            assert not ctx.args


@pytest.mark.parametrize("path", [(), ("streams",), ("ctx",)], ids=" ".join)
def test_families_list_their_members(path: tuple[str, ...], cli: Cli) -> None:
    result = cli(*path, "--help")
    family = ROOT if not path else ROOT.members[path[0]]
    assert isinstance(family, Family)
    assert all(f"  {name} " in result.out for name in family.members)


def test_without_a_command_the_help_goes_to_stderr(cli: Cli) -> None:
    result = cli()
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: streamops")


def test_the_version(cli: Cli) -> None:
    assert cli("--version") == (0, f"streamops {__version__}\n", "")
