"""Asking: whatever ends it, what is said next begins a line of its own."""

import pytest

from streamops.cli.acting.choices import ask
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy


class Interrupting:
    """A terminal on which Ctrl-C is pressed."""

    def readline(self) -> str:
        raise KeyboardInterrupt


def test_ctrl_c_at_the_prompt_ends_its_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Interrupting())
    with pytest.raises(KeyboardInterrupt):
        ask(ConfirmationPolicy(ConfirmationKind.ENTER))
    assert capfd.readouterr().err == "Apply? [y/N] \n"
