"""Fixtures of the command line's tests."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli.invented_console import InventedConsole
from tests.support.cli.running import Cli, Place, runner


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Nothing of the developer's own configuration reaches a test; what a test writes is private, as secrets should be."""
    before = os.umask(0o077)
    yield Place(tmp_path, monkeypatch)
    os.umask(before)


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """Run a command line in this process, which forgets afterwards that logging was asked for."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield runner(capfd)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> InventedConsole:
    """Commands meet an invented console in place of a server, so that what they print is known beforehand."""
    console = InventedConsole()
    monkeypatch.setattr("streamops.operations.console.Console.open", console.open)
    return console
