"""Runs command lines in this process and tells what came out of them."""

import os
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from streamops.main.program import run


class Result(NamedTuple):
    """What a command line left behind."""

    code: int
    out: str
    err: str


class Cli(Protocol):
    """Runs one command line."""

    def __call__(self, *args: str) -> Result: ...


class Place:
    """A home and a working directory of a test's own, and nothing of ours in the environment."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = root / "home"
        self.cwd = root / "project"
        self.home.mkdir()
        self.cwd.mkdir()
        for variable in [
            name for name in os.environ if name.startswith(("STREAMOPS_", "XDG_", "_STREAMOPS"))
        ]:
            monkeypatch.delenv(variable)
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.chdir(self.cwd)
        self._monkeypatch = monkeypatch

    def configure(self, text: str) -> Path:
        """Write a configuration file into the working directory, and name it, as its user would."""
        path = self.cwd / "streamops.toml"
        path.write_text(text)
        self._monkeypatch.setenv("STREAMOPS_CONFIG", str(path))
        return path

    def hide(self, text: str) -> str:
        """Text without the directories that change from run to run."""
        return text.replace(str(self.home), "~").replace(str(self.cwd), ".")


def runner(capfd: pytest.CaptureFixture[str]) -> Cli:
    def cli(*args: str) -> Result:
        capfd.readouterr()
        code = run(args)
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return cli
