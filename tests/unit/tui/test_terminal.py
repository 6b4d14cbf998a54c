import pytest

from streamops.errors import ExitCode, SettingsError
from streamops.tui.app import run
from streamops.tui.terminal.output import require_terminal
from tests.support.tui import sample
from tests.support.tui.source import InventedSource, settings_for


class Pipe:
    def __init__(self, *, terminal: bool) -> None:
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


TERMINAL, PIPE = Pipe(terminal=True), Pipe(terminal=False)


def test_without_a_terminal_it_refuses_with_a_hint() -> None:
    for stdin, stdout, term in [
        (PIPE, TERMINAL, "xterm"),
        (TERMINAL, PIPE, "xterm"),
        (None, TERMINAL, "xterm"),
        (TERMINAL, None, "xterm"),
        (TERMINAL, TERMINAL, "dumb"),
        (TERMINAL, TERMINAL, ""),
    ]:
        with pytest.raises(SettingsError) as refused:
            require_terminal(stdin, stdout, {"TERM": term})
        assert refused.value.exit_code == ExitCode.USAGE
        assert refused.value.hint == "for plain output use: streamops status"


def test_a_terminal_is_accepted() -> None:
    require_terminal(TERMINAL, TERMINAL, {"TERM": "xterm-256color"})


def test_run_refuses_a_pipe() -> None:
    with pytest.raises(SettingsError, match="needs a terminal"):
        run(settings_for(InventedSource(sample.shop())))
