"""A program on a terminal of tmux: keys go in as from a keyboard, and what comes out is the screen as it stands."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

PATIENCE: Final = 20.0
PAUSE: Final = 0.05
REQUIRE_TMUX: Final = "STREAMOPS_REQUIRE_TMUX"
CONFIGURATION: Final = """\
set -g status off
set -g remain-on-exit on
set -s escape-time 0
"""
TELL_ITS_END: Final = '"$@"; echo $? >"$0"'
ENDED: Final = "Pane is dead"
KEPT: Final = ("PATH", "HOME", "VIRTUAL_ENV", "PYTHONPATH", "TMPDIR")


def find_tmux() -> str:
    """Where tmux is; the test is skipped without it, or fails where it is asked for."""
    found = shutil.which("tmux")
    if found is None:
        reason = "tmux is not installed"
        if os.environ.get(REQUIRE_TMUX) == "1":
            pytest.fail(f"{reason}, and {REQUIRE_TMUX} asks for it")
        pytest.skip(reason)
    return found


class Tmux:
    """One terminal.

    Args:
        program: Where tmux is.
        directory: Where its socket is.
    """

    def __init__(self, program: str, directory: Path) -> None:
        configuration = directory / "conf"
        configuration.write_text(CONFIGURATION)
        self._ended = directory / "ended"
        self._tmux = [program, "-u", "-S", str(directory / "s"), "-f", str(configuration)]

    def start(self, command: Sequence[str], size: tuple[int, int], environment: Mapping[str, str]) -> None:
        """Run a program on a screen of so many columns and lines."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        columns, lines = map(str, size)
        self._do(
            "new-session", "-d", "-x", columns, "-y", lines, "--",
            "sh", "-c", TELL_ITS_END, str(self._ended), *command,
            environment={**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", **environment},
        )  # fmt: skip

    def end(self) -> None:
        """End the terminal, and what runs on it."""
        self._do("kill-server", check=False)

    def screen(self) -> str:
        """What stands on the screen now."""
        return self._do("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names or as they are."""
        self._do("send-keys", "--", *keys)

    def type(self, words: str) -> None:
        """Type words."""
        self._do("send-keys", "-l", "--", words)

    def wait_for(self, *words: str) -> None:
        """Wait until all these words stand on the screen."""
        self._until(lambda shown: all(each in shown for each in words), f"{words!r} do not stand")

    def wait_for_row(self, *words: str) -> None:
        """Wait until all these words stand in one line."""
        self._until(
            lambda shown: any(all(each in line for each in words) for line in shown.splitlines()),
            f"no line has {words!r}",
        )

    def exit_code(self) -> int:
        """What the program ended with; waits for its end."""
        deadline = time.monotonic() + PATIENCE
        while not self._ended.exists() or not (status := self._ended.read_text()):
            assert time.monotonic() < deadline, f"it goes on:\n{self.screen()}"
            time.sleep(PAUSE)
        return int(status)

    def _until(self, holds: Callable[[str], bool], complaint: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds(shown := self.screen()):
            if time.monotonic() > deadline or ENDED in shown:
                raise AssertionError(f"{complaint} on the screen:\n{shown}")
            time.sleep(PAUSE)

    def _do(self, *words: str, environment: Mapping[str, str] | None = None, check: bool = True) -> str:
        done = subprocess.run(
            [*self._tmux, *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0 or not check, f"tmux {words[0]}: {done.stderr}"
        return done.stdout


@contextmanager
def in_tmux(command: Sequence[str], size: tuple[int, int], environment: Mapping[str, str]) -> Iterator[Tmux]:
    """Run a program on a terminal of its own; both are ended on the way out."""
    # A socket's path has to be short.
    with tempfile.TemporaryDirectory(prefix="streamops-tmux-") as directory:
        terminal = Tmux(find_tmux(), Path(directory))
        terminal.start(command, size, environment)
        try:
            yield terminal
        finally:
            terminal.end()
