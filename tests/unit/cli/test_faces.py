"""The console, where there is no terminal."""

import pytest

from tests.support.cli.running import Cli


def test_the_console_needs_a_terminal(cli: Cli) -> None:
    result = cli("tui", "--url", "unix:///nonexistent")
    assert (result.code, result.out) == (2, "")
    assert "streamops status" in result.err


@pytest.mark.parametrize("option", ["--record", "--record-max", "--replay"])
def test_an_option_that_was_removed_is_refused_with_what_replaces_it(cli: Cli, option: str) -> None:
    result = cli("tui", option, "night.rec")
    assert (result.code, result.out) == (2, "")
    assert f"no such option '{option}'" in result.err
    assert "hint: Recordings were removed: Prometheus keeps" in result.err


def test_a_command_that_was_removed_is_refused_with_what_replaces_it(cli: Cli) -> None:
    result = cli("tend", "orders", "billing")
    assert (result.code, result.out) == (2, "")
    assert "no such command 'tend'" in result.err
    assert "hint: `tend` is `streamops streams reclaim` now" in result.err
