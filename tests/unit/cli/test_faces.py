"""The console, where there is no terminal."""

from tests.support.cli.running import Cli


def test_the_console_needs_a_terminal(cli: Cli) -> None:
    result = cli("tui", "--url", "unix:///nonexistent")
    assert (result.code, result.out) == (2, "")
    assert "streamops status" in result.err
