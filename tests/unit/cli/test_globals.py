"""Global options: before and after a command's name, with the later one winning."""

import json

import click
import pytest

from streamops.cli.command import Command, CommandGroup, Lazy
from streamops.cli.globals import Globals, Output, globals_of
from tests.support.cli.invented_console import InventedConsole
from tests.support.cli.running import Cli
from tests.support.tables import table


@click.command(cls=Command)
@click.option("--own", default="x")
@click.pass_context
def leaf(ctx: click.Context, own: str) -> tuple[str, Globals]:
    """Hand back what was given."""
    return own, globals_of(ctx)


TREE = CommandGroup(
    "tree",
    "A tree.",
    {"branch": CommandGroup("branch", "A branch.", {"leaf": Lazy(f"{__name__}:leaf", "A leaf.")})},
)


def given(*args: str) -> Globals:
    answer: tuple[str, Globals] = TREE.main(list(args), standalone_mode=False)
    return answer[1]


@table(
    "args",
    [
        ("-o", "json", "--limit", "3", "branch", "leaf"),
        ("branch", "-o", "json", "--limit", "3", "leaf"),
        ("branch", "leaf", "-o", "json", "--limit", "3"),
        ("-o", "csv", "branch", "--limit", "3", "leaf", "-o", "json"),
        ("--limit", "9", "branch", "--limit", "3", "-o", "plain", "leaf", "--own", "y", "--output=json"),
    ],
)
def test_options_are_taken_anywhere_and_the_later_one_wins(args: tuple[str, ...]) -> None:
    assert given(*args) == Globals(output=Output.JSON, limit=3)


def test_one_call_knows_nothing_of_the_last() -> None:
    given("--limit", "3", "branch", "leaf")
    assert given("branch", "leaf").limit is None


@pytest.mark.parametrize("where", [0, 1, 3])
def test_on_a_real_command(where: int, cli: Cli, invented: InventedConsole) -> None:
    assert invented.observation.streams
    words = ["streams", "show", "orders"]
    result = cli(*words[:where], "-o", "json", *words[where:])
    assert json.loads(result.out)["stream"] == "orders"


@pytest.mark.parametrize(
    "args",
    [
        ("--limit", "0", "status"),
        ("status", "--limit", "x"),
        ("--output", "xml", "status"),
        ("--timeout", "0", "status"),
        ("--timeout", "-1", "status"),
        ("--log-level", "loud", "status"),
        ("--contxt", "a", "status"),
        ("--limit",),
        ("nonsense",),
        ("streams", "nonsense"),
        ("streams",),
        (),
        ("streams", "show"),
        ("streams", "show", "a", "b"),
        ("groups", "show", "orders"),
        ("streams", "tail"),
        ("check", "--lag", "many"),
        ("check", "--lag", "-1"),
        ("check", "--time-lag", "1 fortnight"),
        ("check", "--format", "zabbix"),
        ("pending", "ls", "orders", "billing", "--after", "yesterday"),
        ("pending", "ls", "orders", "billing", "--min-deliveries", "-1"),
        ("streams", "search", "orders", "--since", "soon"),
        ("streams", "search", "orders", "--field", "status"),
        ("streams", "search", "orders", "--max-scan", "0"),
        ("streams", "search", "orders", "--from-id", "99999999999999999999999"),
        ("streams", "search", "orders", "--where", "fields.["),
        ("completion", "tcsh"),
        ("doctor", "--acl", "king"),
        ("demo", "--seconds", "0"),
        ("status", "--sample", "soon"),
        ("--url", "redis://h?timeoot=1", "status"),
        ("--url", "http://h", "status"),
        ("-c", "missing", "status"),
    ],
    ids=" ".join,
)
def test_bad_input_is_told_in_a_line_or_two_and_exits_2(args: tuple[str, ...], cli: Cli) -> None:
    result = cli(*args)
    assert result.code == 2
    assert result.out == ""
    assert "Traceback" not in result.err
    if not result.err.startswith("Usage: "):
        lines = result.err.splitlines()
        assert lines[0].startswith("error: ")
        assert [line.split(":")[0] for line in lines] in (["error"], ["error", "hint"])


def test_a_wrong_name_is_answered_with_the_right_one(cli: Cli) -> None:
    assert "'status'" in cli("statsu").err
    assert "Did you mean lag?" in cli("status", "--fields", "lagg").err
    assert "--limit" in cli("status", "--limt", "3").err
