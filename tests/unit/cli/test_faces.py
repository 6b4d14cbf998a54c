"""The console, where there is no terminal."""

import pytest

from tests.support.cli.running import Cli


def test_the_console_needs_a_terminal(cli: Cli) -> None:
    result = cli("tui", "--url", "unix:///nonexistent")
    assert (result.code, result.out) == (2, "")
    assert "streamops status" in result.err


@pytest.mark.parametrize(
    ("command", "option", "hint"),
    [
        *(
            ("tui", option, "Recordings were removed: Prometheus keeps")
            for option in ("--record", "--record-max", "--replay")
        ),
        ("audit ls", "--id", "`streamops audit show AUDIT_ID` shows one action in full."),
    ],
)
def test_an_option_that_was_removed_is_refused_with_what_replaces_it(
    cli: Cli, command: str, option: str, hint: str
) -> None:
    result = cli(*command.split(), option, "1-1")
    assert (result.code, result.out) == (2, "")
    assert f"no such option '{option}'" in result.err
    assert f"hint: {hint}" in result.err


def test_a_command_that_was_removed_is_refused_with_what_replaces_it(cli: Cli) -> None:
    result = cli("tend", "orders", "billing")
    assert (result.code, result.out) == (2, "")
    assert "no such command 'tend'" in result.err
    assert "hint: `tend` is `streamops streams reclaim` now" in result.err
