"""Help: every command says what it does, with examples that parse and its exit codes."""

import shlex
from collections.abc import Iterator
from itertools import groupby, takewhile

import click
import pytest

from streamops import __version__
from streamops.cli.command import Command, CommandGroup, Loaded, RenamedCommandError
from streamops.main.catalogue import SINGULARS
from streamops.main.program import ROOT
from streamops.model.removed import RENAMED
from tests.support.cli.running import Cli
from tests.support.tables import table


def commands(family: CommandGroup, *path: str) -> Iterator[tuple[tuple[str, ...], Loaded]]:
    for name, member in family.members.items():
        if isinstance(member, CommandGroup):
            yield from commands(member, *path, name)
        else:
            yield (*path, name), member


COMMANDS = dict(commands(ROOT))


def loaded(path: tuple[str, ...]) -> Command:
    command = COMMANDS[path].load()
    assert isinstance(command, Command)
    return command


def members(family: str) -> dict[str, Loaded | CommandGroup]:
    group = ROOT.members[family]
    assert isinstance(group, CommandGroup)
    return group.members


def resolved(*words: str) -> list[str]:
    """The names of the commands that some words call."""
    at: click.Command = ROOT
    context = click.Context(ROOT, info_name="streamops")
    for position, _ in enumerate(words):
        assert isinstance(at, click.Group)
        name, found, _ = at.resolve_command(context, [*words[position:]])
        assert found is not None
        at, context = found, click.Context(found, info_name=name, parent=context)
    return context.command_path.split()


def own_words(line: str, path: tuple[str, ...]) -> list[str]:
    """The words of the command itself, of a line that may pipe from one into another."""
    parts = [list(group) for bar, group in groupby(shlex.split(line), "|".__eq__) if not bar]
    (own,) = [part for part in parts if part[: len(path) + 1] == ["streamops", *path]]
    return list(takewhile(lambda word: word not in {">", "<"}, own))


@table("path", COMMANDS)
def test_command_explains_itself_with_examples_that_parse(path: tuple[str, ...]) -> None:
    command = loaded(path)
    assert len(COMMANDS[path].summary) <= 80
    for param in command.params:
        assert not isinstance(param, click.Option) or (param.help or "").endswith("."), param.name
    shown = command.get_help(click.Context(command, info_name=" ".join(path)))
    assert "Examples:" in shown
    assert shown.endswith("Global options, before or after any command: streamops options")
    for line, what in command.examples:
        assert what
        words = own_words(line.removeprefix('eval "$(').removesuffix(')"'), path)
        with command.make_context(" ".join(path), words[len(path) + 1 :]) as ctx:
            assert not ctx.args


def test_the_help_of_the_program_has_every_command_once() -> None:
    listed = [name for members in ROOT.sections.values() for name in members]
    assert listed == list(ROOT.members)


def test_the_help_of_a_list_fits_on_a_screen(cli: Cli) -> None:
    assert len(cli("groups", "ls", "--help").out.splitlines()) <= 20


def test_global_options_and_exit_codes_are_listed_once(cli: Cli) -> None:
    result = cli("options")
    assert (result.code, result.err) == (0, "")
    assert all(
        word in result.out for word in ("--context NAME", "--log-level", "Exit codes", "cannot connect")
    )


def test_help_is_a_command_too(cli: Cli) -> None:
    assert cli("help", "groups", "ls") == cli("groups", "ls", "--help")
    assert cli("help") == cli("--help")
    assert cli("help", "nothing").code == 2


def test_help_of_a_command_goes_to_stdout(cli: Cli) -> None:
    result = cli("streams", "ls", "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage: streamops streams ls")


@pytest.mark.parametrize("path", [(), ("streams",), ("ctx",)], ids=" ".join)
def test_families_list_their_members(path: tuple[str, ...], cli: Cli) -> None:
    result = cli(*path, "--help")
    family = ROOT if not path else ROOT.members[path[0]]
    assert isinstance(family, CommandGroup)
    assert all(f"  {name} " in result.out for name in family.members)


def test_without_a_command_the_help_goes_to_stderr(cli: Cli) -> None:
    result = cli()
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: streamops")


def test_the_version_is_printed_alone(cli: Cli) -> None:
    assert cli("--version") == cli("version") == (0, f"streamops {__version__}\n", "")


@table(("old", "new"), RENAMED.items())
def test_an_old_name_is_answered_with_the_new_one(old: str, new: str) -> None:
    with pytest.raises(RenamedCommandError, match=f"^{old} was renamed to {new}$"):
        resolved(*old.split())
    assert resolved(*new.split())


@table(("singular", "family"), SINGULARS.items())
def test_a_family_answers_to_its_singular(singular: str, family: str) -> None:
    assert resolved(singular) == resolved(family)
    assert resolved(singular, next(iter(members(family)))) == resolved(family, next(iter(members(family))))


def test_an_old_name_exits_2_and_says_what_to_run(cli: Cli) -> None:
    result = cli("scale", "get", "billing", "-o", "json")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error: scale get was renamed to pools show\nhint: Run `streamops pools show`, with the same arguments.\n"
    )


def test_the_old_name_of_a_family_leads_to_the_help_of_the_new_one(cli: Cli) -> None:
    assert cli("topics", "--help").err == (
        "error: topics was renamed to webhooks\nhint: See `streamops webhooks --help`.\n"
    )


@pytest.mark.parametrize("line", ["streamops scale ", "streamops nonsense x"])
def test_completion_after_a_wrong_name_offers_nothing_and_does_not_fail(
    line: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_STREAMOPS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    result = cli()
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize("words", [(), ("groups",), ("groups", "ls")], ids=" ".join)
def test_h_is_help(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli(*words, "-h") == cli(*words, "--help")
